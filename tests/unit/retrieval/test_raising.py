"""What raises an error, and what handles it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

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
        "throw new Full(dock);",
        "return nil, dock.Full",
        'return fmt.Errorf("%s: %w", name, Full)',
        'return nil, fmt.Errorf(\n    "%s: %w",\n    Full,\n)',
        "done <- Full",
        "err = Full",
        "false => Err(DockError::Full(name)),",
        "Dock::Quay(name) => DockError::Full { name },",
        ".ok_or(DockError::Full)?",
        "orElseThrow(() -> new Full(dock))",
        "reject(new Full())",
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
        "raise Fuller",
        "return 1; Full",
        "return moor()\nFull",
        "return (\n1,\n2,\n3,\n4,\n5,\nFull)",
        "will raise a Full",
        "will raise `Full`",
    ],
)
def test_code_that_handles_or_defines_an_error_does_not_raise_it(code: str) -> None:
    assert not raising_places(code, "Full")


def test_prose_tells_when_an_error_is_raised() -> None:
    assert tells_cause("A `Full` is thrown.", "Full")
    assert tells_cause("moor() raises Full if no berth is free", "Full")
    assert tells_cause("Full: If no berth is free", "Full")
    assert not tells_cause("Full is a class.", "Full")
    assert not tells_cause("It is thrown. Then Full", "Full")


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
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(tmp_path / "lib.db")
    for number in range(90):  # more than are ranked
        handled = f"try:\n    moor({number})\nexcept QuayFull:\n    print('quay full', QuayFull, {number})"
        made.put(f"quays/{number}.py", handled, kind="code")
    other = " ".join(f"rope{number}()" for number in range(60))
    made.put("dock.py", f"def moor(ship):\n    {other}\n    raise QuayFull", kind="code")
    yield made
    made.close()


def test_what_raises_an_error_is_found_below_much_that_handles_it(library: Library) -> None:
    found = library.search("why do I get QuayFull?", view="passages")

    assert found[0].chunk.span.path == "dock.py"
    assert found[0].signals["cause"] > 0
