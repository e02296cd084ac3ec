"""An answer from rows says that these are not compared."""

from __future__ import annotations

import pytest

from openbook.answering.refusals import ROWS_NOTE, note_on_rows
from tests.unit.retrieval.material import chunk_of

TABLE = chunk_of("thick,3,80", "ropes.csv", language="csv", kind="data", context=("rope,strands,total_length",))


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("Which rope has the most strands?", ROWS_NOTE),
        ("Welches Seil hat die meisten Litzen?", ROWS_NOTE),
        ("How many strands has the thick rope?", ""),
        ("What is the total length of the thick rope?", ""),
    ],
)
def test_a_question_that_compares_rows_is_told_that_they_are_not(question: str, note: str) -> None:
    assert note_on_rows(question, [TABLE]) == note
    assert note_on_rows(question, [chunk_of("The most strands are in the thick rope.")]) == ""
