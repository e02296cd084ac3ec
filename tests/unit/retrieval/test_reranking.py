"""The second stage: what a reranker may change, and what it may not."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import pytest

from openbook.errors import OverloadedError
from openbook.retrieval.reranking import ADDED, RERANKED, rerank
from openbook.types import Chunk, RetrievalResult, Span


class Table:
    """Scores texts by the number that stands at their end, or as it is told."""

    name = "table"
    weight = 0.0

    def __init__(self, scores: Sequence[float] | None = None, *, fails: bool = False) -> None:
        self.asked: list[str] = []
        self._scores = scores
        self._fails = fails

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Score them."""
        self.asked = list(texts)
        if self._fails:
            raise OverloadedError("busy")
        return [float(text.split()[-1]) for text in texts] if self._scores is None else list(self._scores)


def results(*pairs: tuple[float, float]) -> list[RetrievalResult]:
    """Make results: of each the score of the first stage, and what `Table` says."""
    found = []
    for number, (score, value) in enumerate(pairs):
        text = f"score {value}"
        chunk = Chunk("s", Span(f"file{number:02}.md", 0, len(text), 1, 1), text, "docs")
        found.append(RetrievalResult(chunk, score, {"words": score}))
    return found


def paths(found: Sequence[RetrievalResult]) -> list[str]:
    return [result.chunk.span.path for result in found]


def test_the_best_of_the_reranker_comes_first_and_scores_stay_those_of_the_first_stage() -> None:
    first = results((3.0, 1), (2.0, 5), (1.0, 3))

    found = rerank("q", first, Table())

    assert paths(found) == ["file01.md", "file02.md", "file00.md"]
    assert [result.score for result in found] == [3.0, 2.0, 1.0]


def test_what_a_result_gained_or_lost_is_a_signal_and_signals_still_add_up() -> None:
    found = rerank("q", results((3.0, 1), (2.0, 5), (1.0, 0)), Table())

    assert [result.signals.get("rerank", 0.0) for result in found] == [1.0, -1.0, 0.0]
    assert [sum(result.signals.values()) for result in found] == [result.score for result in found]


def test_a_reranker_with_a_weight_is_added_to_the_first_stage() -> None:
    reranker = Table()
    first = results((3.0, 1), (2.5, 3), (1.0, 4))

    reranker.weight = 0.5

    assert paths(rerank("q", first, reranker)) == ["file01.md", "file00.md", "file02.md"]
    reranker.weight = 0.1
    assert rerank("q", first, reranker) == first


def test_a_reranker_with_a_weight_is_not_asked_where_the_first_result_is_far_ahead() -> None:
    reranker = Table()
    reranker.weight = 100.0
    first = results((3.0, 1), (2.0, 5))

    assert rerank("q", first, reranker) == first
    assert reranker.asked == []


def test_a_reranker_with_a_weight_reads_fewer_results() -> None:
    reranker = Table()
    reranker.weight = 100.0
    first = results(*[(9 - number / 10, number) for number in range(ADDED + 5)])

    found = rerank("q", first, reranker)

    assert len(reranker.asked) == ADDED
    assert paths(found) == [f"file{number:02}.md" for number in (*reversed(range(ADDED)), *range(ADDED, ADDED + 5))]


def test_equal_scores_of_the_reranker_leave_the_first_order() -> None:
    first = results((3.0, 7), (2.0, 7), (1.0, 7))

    assert rerank("q", first, Table()) == first


def test_equal_scores_of_the_first_stage_end_in_one_strict_order() -> None:
    found = rerank("q", results((1.0, 1), (1.0, 2), (1.0, 3)), Table())

    assert paths(found) == ["file02.md", "file01.md", "file00.md"]
    assert sorted(found, key=lambda result: (-result.score, result.chunk.key)) == found
    assert found[0].score > found[1].score > found[2].score


def test_only_the_first_results_are_read_and_the_others_stay_behind_them() -> None:
    count = RERANKED + 5
    table = Table()

    found = rerank("q", results(*[(count - number, number) for number in range(count)]), table)

    assert len(table.asked) == RERANKED
    assert paths(found)[0] == f"file{RERANKED - 1:02}.md"
    assert paths(found)[RERANKED:] == [f"file{number:02}.md" for number in range(RERANKED, count)]


def test_a_reranker_reads_where_a_text_stands_too() -> None:
    table = Table()

    rerank("q", results((1.0, 4)), table)

    assert table.asked == ["file00\nscore 4"]


@pytest.mark.parametrize(
    "table",
    [
        pytest.param(Table(fails=True), id="fails"),
        pytest.param(Table([1.0]), id="too-few"),
        pytest.param(Table([1.0, float("nan")]), id="not-a-number"),
    ],
)
def test_a_reranker_that_fails_loses_nothing_and_is_told_of(table: Table, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    first = results((2.0, 1), (1.0, 5))

    found = rerank("q", first, table)

    assert found == first
    assert "the reranker table failed, so results stay in their first order" in caplog.text


def test_no_results_are_no_error() -> None:
    assert rerank("q", [], Table()) == []
