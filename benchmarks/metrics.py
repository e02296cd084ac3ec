"""What a ranked list is worth against what was wanted, and a mean over collections of questions.

All results lie between 0 and 1. An empty ranking is worth 0.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """Lines of a file. Both ends are included and 1-based; without lines it stands for the whole file."""

    path: str
    start_line: int = 1
    end_line: int = 1_000_000_000

    def overlaps(self, other: Place) -> bool:
        """Tell whether both have a line in common."""
        return self.path == other.path and self.start_line <= other.end_line and other.start_line <= self.end_line


def ndcg(ranked: Sequence[Hashable], relevant: Collection[Hashable], depth: int = 10) -> float:
    """Give NDCG: a gain of 1 at the first rank of each relevant item, against all of them on top.

    Example:
        >>> ndcg(["a.py", "b.py"], ["b.py"])
        0.6309297535714575
    """
    ranks = [ranked.index(item, 0, depth) + 1 for item in set(relevant) if item in ranked[:depth]]
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(relevant), depth) + 1))
    return sum(1 / math.log2(rank + 1) for rank in ranks) / ideal if ideal else 0.0


def recall(ranked: Sequence[Hashable], relevant: Collection[Hashable], depth: int) -> float:
    """Give the share of what is relevant among the first `depth` (Pass@k, R@k, P@1); 0 if nothing is."""
    return len(set(ranked[:depth]) & set(relevant)) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranked: Sequence[Hashable], relevant: Collection[Hashable]) -> float:
    """Give 1 / rank of the first relevant item."""
    return next((1 / rank for rank, item in enumerate(ranked, start=1) if item in relevant), 0.0)


def span_figures(pairs: Iterable[tuple[Sequence[Place], Sequence[Place]]], depth: int = 10) -> dict[str, float]:
    """Give recall of files and of spans, counted over all questions at once.

    Args:
        pairs: For each question, what was found, best first, and what was wanted. Several wanted
            places may share a file, which then counts once.
        depth: Ranks that count.
    """
    any_file = questions = files = found_files = spans = found_spans = 0
    for found, wanted in pairs:
        paths = {place.path for place in found[:depth]}
        hits = [path in paths for path in {place.path for place in wanted}]
        lines = [place for place in wanted if place != Place(place.path)]
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


def mean(values: Collection[float]) -> float:
    """Give the mean; 0 of nothing."""
    return sum(values) / len(values) if values else 0.0
