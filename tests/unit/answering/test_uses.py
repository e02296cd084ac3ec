"""Questions for where something is used."""

from __future__ import annotations

import pytest

from openbook.answering.uses import asks_for_uses, has_name
from openbook.retrieval.names import read_query


@pytest.mark.parametrize(
    "question",
    [
        "Who calls `moor`?",
        "What uses Harbour.moor?",
        "Which tests cover moor_ship?",
        "Where is MoorError thrown?",
        "How is moor_ship used?",
        "callers of moor_ship",
        "tests for moor_ship",
        "Wer ruft moor_ship auf?",
        "Wo wird moor_ship benutzt?",
    ],
)
def test_questions_for_uses_are_told(question: str) -> None:
    assert asks_for_uses(question)


@pytest.mark.parametrize(
    "question", ["What does moor_ship call?", "Where is moor_ship defined?", "What is moor_ship?", "How do I use it?"]
)
def test_questions_for_what_something_is_or_does_are_not(question: str) -> None:
    assert not asks_for_uses(question)


def test_a_name_stands_in_a_text_as_a_whole_word() -> None:
    query = read_query("Who calls moor_ship?")

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
    assert not has_name(read_query("Who calls moor_ship?"), statement)
    assert has_name(read_query("Who calls moor_ship?"), f"{statement}\nmoor_ship(1)")
    assert has_name(read_query("Who imports moor_ship?"), statement)
