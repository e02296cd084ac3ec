"""The figures that only published benchmarks ask for, on rankings small enough to be worked out by hand."""

from __future__ import annotations

from benchmarks.metrics import reciprocal_rank, span_figures
from openbook.evals.metrics import ExpectedSpan


def test_the_reciprocal_rank_is_that_of_the_first_relevant_item() -> None:
    assert reciprocal_rank([7, 1, 2], {1, 2}) == 0.5


def test_an_empty_ranking_has_no_reciprocal_rank() -> None:
    assert reciprocal_rank([], {"a"}) == 0.0


def test_span_figures_count_all_files_and_all_spans_at_once() -> None:
    wanted = [ExpectedSpan("a.py", 1, 5), ExpectedSpan("a.py", 50, 60), ExpectedSpan("b.py", 1, 1)]
    found = [ExpectedSpan("a.py", 4, 9), ExpectedSpan("c.py", 1, 9)]

    figures = span_figures([(found, wanted), ([], [ExpectedSpan("d.py", 3, 3)])])

    assert figures == {
        "any file@10": 1 / 2,
        "file recall@10": 1 / 3,
        "span recall@10": 1 / 4,
    }


def test_a_wanted_file_without_lines_is_no_span() -> None:
    figures = span_figures([([ExpectedSpan("a.py", 1, 9)], [ExpectedSpan("a.py")])])

    assert figures["file recall@10"] == 1.0
    assert figures["span recall@10"] == 0.0
