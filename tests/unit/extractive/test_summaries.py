"""The central sentences of a lesson."""

from __future__ import annotations

import pytest

from openbook.extractive.context import build_context
from openbook.extractive.summaries import central_passages
from openbook.testing import HashEmbedder
from openbook.types import Lesson, RetrievalResult
from tests.unit.retrieval.material import chunk_of

HIVE = "A hive is a box in which a colony of bees lives and stores its honey."
VISIT = "The keeper opens the hive only on warm and dry days, because the brood must not get cold."
CELLS = [
    ("part", "what it does in the hive", "weight in grams"),
    ("honey super", "the room where the bees of the hive store honey", "2900"),
    ("brood box", "the room where the queen of the hive lays her eggs", "4100"),
    ("inner cover", "a lid that keeps the warmth of the bees in the hive", "900"),
]


def summary(text: str, language: str) -> list[str]:
    lesson = Lesson("Bees", 2, "The Hive")
    chunk = chunk_of(text, f"2.{language}", kind="course", language=language, lesson=lesson)
    return [each.text for each in central_passages(build_context([RetrievalResult(chunk, 1.0)], 6_000), HashEmbedder())]


@pytest.mark.parametrize(
    ("language", "border", "edge"),
    [("markdown", " | ", "|"), ("docx", " | ", ""), ("pdf", "  ", "")],
)
def test_rows_of_a_table_are_no_sentences(language: str, border: str, edge: str) -> None:
    rows = "\n".join(f"{edge} {border.join(row)} {edge}".strip() for row in CELLS)

    assert summary(f"{HIVE}\n\n{rows}\n\n{VISIT}", language) == [HIVE, VISIT]


def test_a_lesson_of_nothing_but_rows_is_summed_up_by_them() -> None:
    rows = [f"| {' | '.join(row)} |" for row in CELLS[1:]]

    assert summary("\n".join(rows), "markdown") == rows


def test_a_bar_in_code_makes_no_row() -> None:
    said = "The number of the hives in a list is counted by `cat hives.txt | wc -l` in a shell."

    assert summary(f"{HIVE}\n\n{said}", "markdown") == [HIVE, said]
