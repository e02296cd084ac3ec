"""Figures that only published benchmarks ask for. The others are those of `openbook eval`.

All results lie between 0 and 1. An empty ranking is worth 0.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence

from openbook.evals.metrics import ExpectedSpan


def reciprocal_rank(ranked: Sequence[Hashable], relevant: Collection[Hashable]) -> float:
    """Return 1 / rank of the first relevant item."""
    return next((1 / rank for rank, item in enumerate(ranked, start=1) if item in relevant), 0.0)


def span_figures(
    pairs: Iterable[tuple[Sequence[ExpectedSpan], Sequence[ExpectedSpan]]], depth: int = 10
) -> dict[str, float]:
    """Return recall of files and of spans, counted over all questions at once.

    Args:
        pairs: For each question, what was found, best first, and what was wanted. Several wanted
            places may share a file, which then counts once.
        depth: Ranks that count.
    """
    any_file = questions = files = found_files = spans = found_spans = 0
    for found, wanted in pairs:
        paths = {place.path for place in found[:depth]}
        hits = [path in paths for path in {place.path for place in wanted}]
        lines = [place for place in wanted if not place.is_whole_file]
        questions += 1
        any_file += any(hits)
        files += len(hits)
        found_files += sum(hits)
        spans += len(lines)
        found_spans += sum(any(place.overlaps(seen) for seen in found[:depth]) for place in lines)
    return {
        f"any file@{depth}": any_file / max(questions, 1),
        f"file recall@{depth}": found_files / max(files, 1),
        f"span recall@{depth}": found_spans / max(spans, 1),
    }
