"""A method that is called by the name of a subclass is found in the class that defines it."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from openbook.index.protocol import Outline
from openbook.questions.question import read_question
from openbook.retrieval.inheritance import inherited
from openbook.types import Filter, Span
from tests.unit.retrieval.material import Library

QUESTION = "What does Barge.moor do?"


@pytest.fixture
def library(library: Library) -> Library:
    library.put(
        "hulls.py", "class Hull:\n    pass", kind="code", symbol="Hull", defines=("Hull",), signature="class Hull:"
    )
    library.put(
        "ships.py",
        "class Ship(Hull):\n    sails = 3",
        "    def moor(self):\n        tie(self)",
        kind="code",
        symbol="Ship",
        defines=("Ship", "moor"),
        signature="class Ship(Hull):",
    )
    library.put(
        "barges.py",
        "class Barge(Ship, kind=Flat):\n    load = 4  # where a Barge may moor",
        kind="code",
        symbol="Barge",
        defines=("Barge",),
        signature="class Barge(Ship, kind=Flat):",
    )
    # Another ship, which no barge is.
    library.put("toys.py", "def moor(self):\n    float(self)", kind="code", symbol="Ship.moor", defines=("moor",))
    for number in range(120):  # more than are candidates
        library.put(
            f"docs/{number}.md", f"What does a barge do at pier {number}? A barge may moor, and a barge may load."
        )
    return library


def test_the_method_of_the_base_class_comes_first(library: Library) -> None:
    found = library.search(QUESTION)

    assert found[0].chunk.span.path == "ships.py"
    assert "inherited" in found[0].signals
    assert not any("inherited" in result.signals for result in found if result.chunk.span.path != "ships.py")


def test_a_method_of_the_class_itself_is_not_inherited(library: Library) -> None:
    library.put(
        "barges.py",
        "class Barge(Ship):\n    def moor(self):\n        wait()",
        kind="code",
        symbol="Barge",
        defines=("Barge", "moor"),
        signature="class Barge(Ship):",
    )

    assert not any("inherited" in result.signals for result in library.search(QUESTION))


def test_a_filter_holds_for_the_base_class(library: Library) -> None:
    where = Filter(within=frozenset({("src", "barges.py"), ("src", "docs")}))

    assert "ships.py" not in {result.chunk.span.path for result in library.search(QUESTION, where=where)}


def _outline(number: int, name: str, signature: str, path: str, *methods: str) -> Outline:
    return Outline(number, "src", Span(path, 0, 10, 1, 1), "code", "python", name, (name, *methods), signature, ())


@pytest.mark.parametrize(
    ("head", "bases"),
    [
        ("class Barge(Ship):", "Ship"),
        ("class Barge(hulls.Ship, metaclass=Meta):", "Ship"),
        ("class Barge extends Ship implements Crane {", "Ship"),
        ("class Barge < Ship", "Ship"),
        ("class Barge : public Ship {", "Ship"),
        ("class Barge(size: Int) : Ship(size)", "Ship"),
    ],
)
def test_the_classes_in_the_head_of_a_class_are_its_bases(head: str, bases: str) -> None:
    barge, ship = _outline(1, "Barge", head, "b.py"), _outline(2, bases, f"class {bases}:", "s.py", "moor")

    found = inherited(read_question(QUESTION), [barge], lambda name, files: [ship] if name == bases or files else [])

    assert found == [ship]


def test_a_method_of_the_class_itself_that_is_no_candidate_is_found_as_well() -> None:
    barge, ship = _outline(1, "Barge", "class Barge(Ship):", "b.py"), _outline(2, "Ship", "class Ship:", "s.py", "moor")
    own = Outline(
        3, "src", Span("b.py", 20, 30, 3, 3), "code", "python", "Barge.moor", ("moor",), "def moor(self):", ()
    )

    assert inherited(read_question(QUESTION), [barge], lambda *_: [own, ship]) == [own]


def test_a_method_is_defined_by_the_classes_in_its_chunk() -> None:
    barge = _outline(1, "Barge", "class Barge(Ship):", "b.py")
    both = Outline(2, "src", Span("s.py", 0, 9, 1, 1), "code", "", "Hull", ("Hull", "Ship", "moor"), "class Ship:", ())
    other = Outline(3, "src", Span("s.py", 10, 19, 2, 2), "code", "", "Hull.moor", ("moor",), "def moor(self):", ())

    assert inherited(read_question(QUESTION), [barge], lambda *_: [both, other]) == [both]


def test_classes_are_followed_some_steps() -> None:
    chain = [_outline(n, f"Ship{n}", f"class Ship{n}(Ship{n + 1}):", f"{n}.py") for n in range(4)]
    chain.append(_outline(4, "Ship4", "class Ship4(Ship0):", "4.py", "moor"))

    def found(start: int) -> list[Outline]:
        question = read_question(f"What does Ship{start}.moor do?")
        return inherited(question, chain[:4], lambda name, files: [each for each in chain if name in each.defines])

    assert (found(2), found(1)) == ([chain[4]], [])


def test_the_base_class_is_the_one_in_its_file() -> None:
    barge, ship = _outline(1, "Barge", "class Barge(Ship):", "b.py"), _outline(2, "Ship", "class Ship:", "s.py", "moor")
    other = _outline(3, "Ship", "", "toys.py", "moor")

    toy = _outline(4, "Toy", "class Toy:", "toys.py")
    searched: list[Collection[tuple[str, str]]] = []

    def lookup(name: str, files: Collection[tuple[str, str]]) -> list[Outline]:
        searched.append(files)
        return [each for each in (other, ship) if not files or ("src", each.span.path) in files]

    assert inherited(read_question(QUESTION), [barge, other, toy], lookup) == [ship]
    assert [files for files in searched if files] == [{("src", "b.py")}, {("src", "s.py")}]


def test_names_without_a_class_and_modules_are_not_looked_up() -> None:
    def lookup(*_: object) -> list[Outline]:
        raise AssertionError

    ship = _outline(1, "Ship", "class Ship:", "s.py", "moor")
    for question in ("What does moor_ship do?", "What does harbour.moor do?", "What does Ship.moor do?"):
        assert inherited(read_question(question), [ship], lookup) == []


def test_unknown_classes_have_no_methods() -> None:
    ship = _outline(1, "Ship", "class Ship:", "s.py", "moor")

    assert inherited(read_question("What does Tug.moor do?"), [ship], lambda *_: [ship]) == []
