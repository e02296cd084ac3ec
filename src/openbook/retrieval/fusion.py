"""One ranked list from those of several searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, islice

from openbook.retrieval.duplicates import without_duplicates
from openbook.types import RetrievalResult, Span

# Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): ranks are added to this before they are inverted.
# With searches that belong to another question, 10 keeps more of what the first search found than 60 does, and with
# right ones it finds as much: `benchmarks/expansion.py`.
_SMOOTHING = 10


def fuse(first: Sequence[RetrievalResult], others: Sequence[Sequence[RetrievalResult]]) -> list[RetrievalResult]:
    """Merge results by reciprocal rank, ordered by `(-score, source, span)`, as many as there are in the longest list.

    All other searches together count as much as the first one. The signals of a merged result are what its ranks
    add: `rank` for the first search, `expansion` for the others.

    Args:
        first: What the question found, best first.
        others: What each other search found, best first. Empty ones count as well.
    """
    by_chunk: dict[tuple[str, Span], RetrievalResult] = {}
    for name, weight, results in (("rank", 1.0, first), *(("expansion", 1 / len(others), found) for found in others)):
        for rank, result in enumerate(results, start=1):
            kept = by_chunk.setdefault(result.chunk.key, replace(result, score=0.0, signals={}))
            gained = weight / (_SMOOTHING + rank)
            signals = {**kept.signals, name: kept.signals.get(name, 0.0) + gained}
            by_chunk[result.chunk.key] = replace(kept, score=sum(signals.values()), signals=signals)
    ranked = sorted(by_chunk.values(), key=lambda each: (-each.score, each.chunk.source, each.chunk.span))
    longest = max(map(len, chain([first], others)), default=0)
    return list(islice(without_duplicates(ranked), longest))
