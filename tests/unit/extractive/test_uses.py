"""Questions for where something is used."""

from __future__ import annotations

from pathlib import Path

import pytest

from openbook.answering.evidence import EvidenceFinder
from openbook.extractive.scoring import has_name
from openbook.questions.question import read_question
from openbook.types import Filter
from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import Library, chunk_of


def test_a_name_stands_in_a_text_as_a_whole_word() -> None:
    query = read_question("Who calls moor_ship?")

    assert has_name(query, "dock.moor_ship(self)")
    assert not has_name(query, "dock.unmoor_ships(self)")


@pytest.mark.parametrize(
    "statement",
    [
        "from dock import moor_ship",
        "from dock import (\n    lock,\n    moor_ship,\n)",
        "import { lock, moor_ship } from './dock';",
        "import {\n  lock,\n  moor_ship,\n} from './dock';",
        "export { moor_ship } from './dock';",
        "use dock::{lock, moor_ship};",
        '#include "moor_ship.h"',
        'require "moor_ship"',
    ],
)
def test_an_import_is_no_use_unless_imports_are_asked_for(statement: str) -> None:
    assert not has_name(read_question("Who calls moor_ship?"), statement)
    assert has_name(read_question("Who calls moor_ship?"), f"{statement}\nmoor_ship(1)")
    assert has_name(read_question("Who imports moor_ship?"), statement)


def test_that_a_function_calls_itself_is_told_after_its_other_callers() -> None:
    own = chunk_of("if rest:\n    moor_ship(rest)", "dock.py", kind="code", symbol="Dock.moor_ship")
    use = chunk_of("dock = Dock(quay)\ndock.moor_ship(ship)", "quay.py", kind="code", symbol="Quay.open")

    assert "Dock(quay)" in quotes(picked("Who calls moor_ship?", own, use))[0]


def test_callers_of_far_lower_scores_are_pointed_to_and_passages_without_the_name_are_not() -> None:
    long = "moor_ship(" + ", ".join(f"rope{number}" for number in range(120)) + ")"
    code = [chunk_of(long, "a.py", kind="code"), chunk_of("tug = moor_ship(tug, 2)", "b.py", kind="code")]
    note = chunk_of("Who calls a ship to moor pays.", "note.md")

    found = picked("Who calls moor_ship?", *code, note, scores=(10.0, 1.0, 9.0))

    assert [item.passage.text for item in found if item.is_pointer] == ["tug = moor_ship(tug, 2)"]
    assert not any("pays" in item.passage.text for item in found)


def test_callers_are_found_before_the_definition_unless_more_is_asked(tmp_path: Path) -> None:
    library = Library(tmp_path / "uses.db")
    library.put("dock.py", "def moor_ship(ship):\n    tie(ship)", kind="code", symbol="moor_ship")
    for number in range(3):
        library.put(f"quay{number}.py", f"if storm:\n    moor_ship({number})", kind="code")
    finder = EvidenceFinder(library.index, library.embedder, library.text_now)

    def paths(question: str) -> list[str]:
        return [result.chunk.span.path for result in finder.find(read_question(question), 3, Filter())]

    assert "dock.py" not in paths("Who calls moor_ship?")
    assert "dock.py" in paths("Who calls moor_ship, and what does it return?")
