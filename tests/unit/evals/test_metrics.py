"""The figures, on rankings and citations small enough to be worked out by hand."""

from __future__ import annotations

import math

import pytest

from openbook.evals.metrics import (
    ExpectedSpan,
    facts_found,
    line_precision,
    line_recall,
    mean,
    ndcg,
    place_ndcg,
    place_recall,
    recall,
)


def test_ndcg_is_one_when_all_that_is_relevant_stands_on_top_in_any_order() -> None:
    assert ndcg(["b", "a", "c"], {"a", "b"}) == pytest.approx(1.0)


def test_ndcg_falls_with_the_logarithm_of_the_rank() -> None:
    assert ndcg(["x", "y", "a"], {"a"}) == pytest.approx(1 / math.log2(4))


def test_ndcg_counts_a_file_that_is_found_twice_once_and_at_its_first_rank() -> None:
    assert ndcg(["x", "a", "a"], {"a"}) == pytest.approx(1 / math.log2(3))


def test_ndcg_takes_a_missing_file_for_a_loss() -> None:
    ideal = 1 + 1 / math.log2(3)

    assert ndcg(["a"], {"a", "b"}) == pytest.approx(1 / ideal)


def test_ndcg_does_not_look_below_its_depth() -> None:
    assert ndcg([*"0123456789", "a"], {"a"}) == 0.0


def test_places_below_the_tenth_are_not_looked_at() -> None:
    ranked = [ExpectedSpan(f"{number}.py", 1, 9) for number in range(11)]

    assert place_ndcg(ranked, [ranked[9]]) > 0 == place_ndcg(ranked, [ranked[10]])
    assert (place_recall(ranked, [ranked[9]]), place_recall(ranked, [ranked[10]])) == (1.0, 0.0)


def test_ndcg_can_be_one_when_more_is_relevant_than_the_depth_holds() -> None:
    assert ndcg(list(range(10)), set(range(12))) == pytest.approx(1.0)


def test_an_empty_ranking_is_worth_nothing() -> None:
    place = ExpectedSpan("a.py", 1, 2)

    assert ndcg([], {"a"}) == recall([], {"a"}, 5) == 0.0
    assert place_ndcg([], [place]) == place_recall([], [place]) == 0.0


def test_where_nothing_is_wanted_nothing_is_found() -> None:
    place = ExpectedSpan("a.py", 1, 2)

    assert recall(["a"], set(), 5) == place_recall([place], []) == place_ndcg([place], []) == 0.0
    assert line_precision([place], []) == line_recall([place], []) == facts_found("yes", []) == 0.0


def test_recall_is_the_share_that_was_found_within_the_depth() -> None:
    assert recall([1, 2, 3, 4], {1, 4, 9}, 3) == pytest.approx(1 / 3)


def test_places_overlap_when_they_share_a_line_of_one_file() -> None:
    place = ExpectedSpan("a.py", 10, 20)

    assert place.overlaps(ExpectedSpan("a.py", 20, 30))
    assert not place.overlaps(ExpectedSpan("a.py", 21, 30))
    assert not place.overlaps(ExpectedSpan("b.py", 10, 20))


def test_a_place_is_written_with_its_lines_if_it_has_some() -> None:
    assert [str(ExpectedSpan("a.py")), str(ExpectedSpan("a.py", 3, 9))] == ["a.py", "a.py:3-9"]


def test_a_place_is_found_by_a_result_that_shares_one_of_its_lines() -> None:
    ranked = [ExpectedSpan("b.py", 1, 9), ExpectedSpan("a.py", 1, 5)]

    assert place_recall(ranked, [ExpectedSpan("a.py", 5, 8), ExpectedSpan("a.py", 6, 8)]) == 0.5
    assert place_ndcg(ranked, [ExpectedSpan("a.py", 5, 8)]) == pytest.approx(1 / math.log2(3))


def test_places_are_not_looked_for_below_the_depth() -> None:
    ranked = [ExpectedSpan("b.py", 1, 9), ExpectedSpan("a.py", 1, 5)]

    assert place_recall(ranked, [ExpectedSpan("a.py", 5, 8)], depth=1) == 0.0


def test_one_result_that_shows_two_places_is_worth_no_more_than_all() -> None:
    assert place_ndcg([ExpectedSpan("a.py", 1, 9)], [ExpectedSpan("a.py", 1, 2), ExpectedSpan("a.py", 8, 9)]) == 1.0


@pytest.mark.parametrize(
    ("cited", "precision", "found"),
    [
        pytest.param([ExpectedSpan("a.py", 3, 4)], 1.0, 0.5, id="a-part"),
        pytest.param([ExpectedSpan("a.py", 1, 8)], 0.5, 1.0, id="too-much"),
        pytest.param([ExpectedSpan("a.py", 3, 4), ExpectedSpan("a.py", 4, 5)], 1.0, 0.75, id="a-line-cited-twice"),
        pytest.param([ExpectedSpan("a.py", 7, 8)], 0.0, 0.0, id="beside"),
        pytest.param([ExpectedSpan("b.py", 3, 6)], 0.0, 0.0, id="another-file"),
        pytest.param([], 0.0, 0.0, id="nothing"),
    ],
)
def test_citations_are_measured_by_lines(cited: list[ExpectedSpan], precision: float, found: float) -> None:
    wanted = [ExpectedSpan("a.py", 3, 6)]

    assert (line_precision(cited, wanted), line_recall(cited, wanted)) == (precision, found)


def test_lines_wanted_twice_count_once() -> None:
    wanted = [ExpectedSpan("a.py", 1, 4), ExpectedSpan("a.py", 3, 8)]

    assert line_recall([ExpectedSpan("a.py", 1, 4)], wanted) == 0.5


def test_any_line_of_a_file_that_is_wanted_whole_is_precise() -> None:
    assert line_precision([ExpectedSpan("a.py", 700, 703)], [ExpectedSpan("a.py")]) == 1.0


@pytest.mark.parametrize(
    "answer",
    ["The port is 8000.", "the\nPORT  is 8000.", "> the port\n> is 8000. [1:2]", "  > > The port is 8000"],
    ids=["as-it-is", "case-and-space", "quoted", "quoted-twice"],
)
def test_a_fact_stands_in_an_answer_however_it_is_set(answer: str) -> None:
    assert facts_found(answer, ["the port is 8000"]) == 1.0


def test_a_fact_in_other_words_is_not_found() -> None:
    assert facts_found("It listens on 8000.", ["8000", "the port is 8000"]) == 0.5


def test_the_mean_of_nothing_is_zero() -> None:
    assert mean([]) == 0.0
    assert mean([1.0, 0.0]) == 0.5
