"""What raises an error, and what handles it."""

from __future__ import annotations

import pytest

from openbook.questions.question import read_question
from openbook.retrieval.raising import raising_places, tells_cause
from openbook.retrieval.signals import cause_strength
from tests.unit.retrieval.material import Library, chunk_of


@pytest.mark.parametrize(
    "code",
    [
        "raise Full",
        "raise exceptions.Full(dock)",
        "raise Full if berths == 0",
        "throw new Full(dock);",
        "return nil, dock.Full",
        'return fmt.Errorf("%s: %w", name, Full)',
        'return nil, fmt.Errorf(\n    "%s: %w",\n    Full,\n)',
        "return {\n    error: Full\n}",
        "return [\n    1,\n    Full\n]",
        "#define LATE return Full",
        "return free or Full",
        "Err(DockError::Full)",
        "done <- Full",
        "err = Full",
        "false => Err(DockError::Full(name)),",
        "Dock::Quay(name) => DockError::Full { name },",
        ".ok_or(DockError::Full)?",
        ".ok_or_else(|| DockError::Full)?",
        ".map_err(|_| DockError::Full)?",
        "bail!(DockError::Full)",
        "ensure!(free, DockError::Full)",
        "orElseThrow(Full::new)",
        "rethrow Full",
        "reject(new Full())",
        "fail Full",
        "panic(Full)",
        "future.set_exception(Full(dock))",
        "ErrorRaise(Full)",
        "err := Full",
        "exc = Full(dock)",
        "ret = -Full;",
        "rc = Full;",
        "result = Full;",
        "status = Full;",
        "statusCode = Full;",
        "raise Late if late else Full",
        "except KeyError: raise Full",
        "return -Full;",
    ],
)
def test_code_raises_an_error(code: str) -> None:
    assert raising_places(code, "Full")


@pytest.mark.parametrize(
    "code",
    [
        "except Full:",
        "except (Empty, Full) as error:",
        "} catch (Full e) {",
        "rescue Full => e",
        "if errors.Is(err, Full) {",
        "return errors.Is(err, Full)",
        "return err == Full",
        "if err != Full {",
        "return isinstance(error, Full)",
        "return error instanceof Full",
        "return errors.As(err, Full)",
        "try { return moor() } catch (e: Full) { return 1 }",
        "void moor() throws Full {",
        "Err(DockError::Full { .. }) => continue,",
        "Err(DockError::Full(name)) if late => continue,",
        "if let Err(Full) = moor() {",
        "with pytest.raises(Full):",
        "self.assertRaises(Full)",
        "from dock import Full",
        "class Full(Exception):",
        'Full = errors.New("full")',
        "# raise Full",
        "// throw new Full",
        "/* throw new Full */",
        " * throw new Full",
        "-- raise Full",
        "raise Fuller",
        "raise QuayFull",
        "return Full == err",
        "return err != Full",
        "src = Full",
        "return moor()\nFull",
        f"return ({'1,' * 200}\nFull)",
    ],
)
def test_code_that_handles_or_defines_an_error_does_not_raise_it(code: str) -> None:
    assert not raising_places(code, "Full")


@pytest.mark.parametrize(
    "text",
    [
        "It may raise `Full`.",
        "Raises `Full` at night.",
        "A `Full` is thrown.",
        "This returns Full",
        "It fails with Full",
        "What causes a Full",
        "Full can happen at night",
        "Full occurs at night",
        "Full means that it is late",
        "Full indicates that it is late",
        "moor() signals Full",
        "Full: If no berth is free",
        "`Full` - when no berth is free",
    ],
)
def test_prose_tells_when_an_error_is_raised(text: str) -> None:
    assert tells_cause(text, "Full")


@pytest.mark.parametrize(
    "text",
    [
        "Full is a class.",
        "It is thrown. Then Full",
        "See Full. It is thrown",
        "See Full. If it is late, go",
        "A full quay is what it returns",
        f"Full is a class {'of ropes ' * 12}and returns",
        f"This returns ropes {'of ropes ' * 12}and Full",
    ],
)
def test_other_prose_tells_no_cause(text: str) -> None:
    assert not tells_cause(text, "Full")


def test_a_cause_counts_outside_of_tests_unless_these_are_asked_for() -> None:
    code, told = "if full:\n    raise QuayFull", "Raises `QuayFull` if no berth is free."
    query = read_question("when is QuayFull raised?")

    assert cause_strength(query, chunk_of(code, "dock.py", kind="code")) == 1.0
    assert 0 < cause_strength(query, chunk_of(told, "dock.md")) < 1
    assert not cause_strength(query, chunk_of(code, "tests/test_dock.py", kind="code"))
    assert cause_strength(query, chunk_of("```\nif full:\n    raise QuayFull\n```", "rules.md")) != 1
    assert not cause_strength(query, chunk_of("except QuayFull:\n    return 1", "dock.py", kind="code"))
    assert cause_strength(query, chunk_of("QuayFull", "dock.py", kind="code", docstring=told)) == 0.5
    assert not cause_strength(read_question("what is QuayFull"), chunk_of(code, "dock.py", kind="code"))
    in_tests = read_question("which tests raise QuayFull")
    assert cause_strength(in_tests, chunk_of(code, "tests/test_dock.py", kind="code")) == 1.0


@pytest.fixture
def library(library: Library) -> Library:
    for number in range(90):  # more than are ranked
        handled = f"try:\n    moor({number})\nexcept QuayFull:\n    print('quay full', QuayFull, {number})"
        library.put(f"quays/{number}.py", handled, kind="code")
    other = " ".join(f"rope{number}()" for number in range(60))
    library.put("dock.py", f"def moor(ship):\n    {other}\n    raise QuayFull", kind="code")
    return library


def test_what_raises_an_error_is_found_below_much_that_handles_it(library: Library) -> None:
    found = library.search("why do I get QuayFull?", view="passages")

    assert found[0].chunk.span.path == "dock.py"
    assert found[0].signals["cause"] > 0
