"""The figures, on rankings small enough to be worked out by hand."""

from __future__ import annotations

import math

import pytest

from benchmarks.metrics import Place, mean, ndcg, recall, reciprocal_rank, span_figures


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


def test_ndcg_can_be_one_when_more_is_relevant_than_the_depth_holds() -> None:
    assert ndcg(list(range(10)), set(range(12))) == pytest.approx(1.0)


def test_an_empty_ranking_is_worth_nothing() -> None:
    assert ndcg([], {"a"}) == recall([], {"a"}, 5) == reciprocal_rank([], {"a"}) == 0.0


def test_recall_is_the_share_that_was_found_within_the_depth() -> None:
    assert recall([1, 2, 3, 4], {1, 4, 9}, 3) == pytest.approx(1 / 3)


def test_the_reciprocal_rank_is_that_of_the_first_relevant_item() -> None:
    assert reciprocal_rank([7, 1, 2], {1, 2}) == 0.5


def test_places_overlap_when_they_share_a_line_of_one_file() -> None:
    place = Place("a.py", 10, 20)

    assert place.overlaps(Place("a.py", 20, 30))
    assert not place.overlaps(Place("a.py", 21, 30))
    assert not place.overlaps(Place("b.py", 10, 20))


def test_span_figures_count_all_files_and_all_spans_at_once() -> None:
    wanted = [Place("a.py", 1, 5), Place("a.py", 50, 60), Place("b.py", 1, 1)]
    found = [Place("a.py", 4, 9), Place("c.py", 1, 9)]

    figures = span_figures([(found, wanted), ([], [Place("d.py", 3, 3)])])

    assert figures == {
        "any file@10": 1 / 2,
        "file recall@10": 1 / 3,
        "span recall@10": 1 / 4,
    }


def test_a_wanted_file_without_lines_is_no_span() -> None:
    figures = span_figures([([Place("a.py", 1, 9)], [Place("a.py")])])

    assert figures["file recall@10"] == 1.0
    assert figures["span recall@10"] == 0.0


def test_the_mean_of_nothing_is_zero() -> None:
    assert mean([]) == 0.0
    assert mean([1.0, 0.0]) == 0.5
