"""Metrics of ranked lists, citations and answers.

Pure functions. All results are between 0 and 1; an empty ranking scores 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass

# Larger than the last line of any file.
_NO_END = 1_000_000_000

_QUOTE_SIGNS = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)


@dataclass(frozen=True, slots=True, order=True)
class ExpectedSpan:
    """Lines of a file, inclusive and 1-based; without lines, the whole file."""

    path: str
    start_line: int = 1
    end_line: int = _NO_END

    @property
    def is_whole_file(self) -> bool:
        """Whether it has no line range."""
        return self.end_line == _NO_END

    def overlaps(self, other: ExpectedSpan) -> bool:
        """Return whether the two have a line in common."""
        return self.path == other.path and self.start_line <= other.end_line and other.start_line <= self.end_line

    def __str__(self) -> str:
        return self.path if self.is_whole_file else f"{self.path}:{self.start_line}-{self.end_line}"


def ndcg(ranked: Sequence[Hashable], relevant: Collection[Hashable], depth: int = 10) -> float:
    """Return NDCG, with a gain of 1 at the first rank of each relevant item.

    Example:
        >>> ndcg(["a.py", "b.py"], ["b.py"])
        0.6309297535714575
    """
    ranks = [ranked.index(item, 0, depth) + 1 for item in set(relevant) if item in ranked[:depth]]
    return _gain(ranks, len(relevant), depth)


def recall(ranked: Sequence[Hashable], relevant: Collection[Hashable], depth: int) -> float:
    """Return the share of the relevant items in the first `depth` (Pass@k, R@k, P@1); 0 if none are relevant."""
    return len(set(ranked[:depth]) & set(relevant)) / len(relevant) if relevant else 0.0


def place_ndcg(ranked: Sequence[ExpectedSpan], wanted: Collection[ExpectedSpan], depth: int = 10) -> float:
    """Return NDCG, with a gain of 1 for each wanted place at the first rank that shares a line with it.

    One rank may show several wanted places; the maximum is 1.
    """
    ranks = [_first_rank(ranked[:depth], place) for place in wanted]
    return min(1.0, _gain([rank for rank in ranks if rank], len(wanted), depth))


def place_recall(ranked: Sequence[ExpectedSpan], wanted: Collection[ExpectedSpan], depth: int = 10) -> float:
    """Return the share of wanted places that share a line with a result within `depth`; 0 if none are wanted."""
    return sum(_first_rank(ranked[:depth], place) > 0 for place in wanted) / len(wanted) if wanted else 0.0


def _first_rank(ranked: Sequence[ExpectedSpan], wanted: ExpectedSpan) -> int:
    """Return the 1-based rank of the first result that shares a line with `wanted`; 0 if none does."""
    return next((rank for rank, place in enumerate(ranked, start=1) if place.overlaps(wanted)), 0)


def _gain(ranks: Collection[int], relevant: int, depth: int) -> float:
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(relevant, depth) + 1))
    return sum(1 / math.log2(rank + 1) for rank in ranks) / ideal if ideal else 0.0


def line_precision(cited: Iterable[ExpectedSpan], wanted: Collection[ExpectedSpan]) -> float:
    """Return the share of the cited lines that are wanted, each line counted once.

    Example:
        >>> line_precision([ExpectedSpan("a.py", 1, 4)], [ExpectedSpan("a.py", 3, 9)])
        0.5
    """
    return _shared(_lines(cited), _lines(wanted))


def line_recall(cited: Iterable[ExpectedSpan], wanted: Collection[ExpectedSpan]) -> float:
    """Return the share of the wanted lines that are cited, each line counted once."""
    return _shared(_lines(wanted), _lines(cited))


def _lines(places: Iterable[ExpectedSpan]) -> list[ExpectedSpan]:
    """Merge places into sorted, disjoint ones."""
    merged: list[ExpectedSpan] = []
    for place in sorted(places):
        if merged and place.overlaps(merged[-1]):
            last = merged.pop()
            place = ExpectedSpan(place.path, last.start_line, max(last.end_line, place.end_line))
        merged.append(place)
    return merged


def _shared(ours: Sequence[ExpectedSpan], others: Sequence[ExpectedSpan]) -> float:
    """Return the share of the lines of `ours` that `others` contain."""
    total = sum(place.end_line - place.start_line + 1 for place in ours)
    both = sum(
        min(place.end_line, other.end_line) - max(place.start_line, other.start_line) + 1
        for place in ours
        for other in others
        if place.overlaps(other)
    )
    return both / total if total else 0.0


def facts_found(answer: str, facts: Collection[str]) -> float:
    r"""Return the share of the facts that an answer contains, ignoring case, whitespace and quote markers.

    Example:
        >>> facts_found("> The port\n> is 8000.", ["port is 8000", "IPv6"])
        0.5
    """
    said = _plain(answer)
    return sum(_plain(fact) in said for fact in facts) / len(facts) if facts else 0.0


def _plain(text: str) -> str:
    return " ".join(_QUOTE_SIGNS.sub("", text).split()).casefold()


def mean(values: Collection[float]) -> float:
    """Return the mean; 0 for no values."""
    return sum(values) / len(values) if values else 0.0
