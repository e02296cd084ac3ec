"""Questions for where something is used."""

from __future__ import annotations

import pytest

from openbook.answering.scoring import has_name
from openbook.questions.question import read_question


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
