"""Fuses the evidence and the results of several searches, without near-duplicates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, islice

from openbook.index.protocol import Index, Matches
from openbook.types import RetrievalResult, Span

# Chunks with at least this share of equal lines are duplicates: vendored copies, generated files, versions of a page.
_SAME_LINES = 0.8

# Cached lines: consecutive questions share many texts. About 4 KB each.
_CACHED_TEXTS = 1024


def add_evidence(matches: Matches, others: Matches, index: Index) -> Matches:
    """Add the evidence of other matches to that of a question, in the order of source and span."""
    evidence = {each.id: each for each in (*others.evidence, *matches.evidence)}
    outlines = sorted(index.outlines(list(evidence)), key=lambda outline: (outline.source, outline.span))
    return replace(matches, evidence=tuple(evidence[outline.id] for outline in outlines))


def without_duplicates(results: Iterable[RetrievalResult]) -> Iterator[RetrievalResult]:
    """Yield results, best first, without near-duplicates of better ones."""
    kept: list[frozenset[str]] = []
    for result in results:
        lines = _lines_of(result.chunk.text)
        if not any(_are_same(lines, others) for others in kept):
            kept.append(lines)
            yield result


@lru_cache(maxsize=_CACHED_TEXTS)
def _lines_of(text: str) -> frozenset[str]:
    return frozenset(stripped for line in text.splitlines() if (stripped := line.strip()))


def _are_same(lines: frozenset[str], others: frozenset[str]) -> bool:
    return len(lines & others) >= _SAME_LINES * len(lines | others)


# The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009). With expansions that belong to
# another question, 10 keeps more results of the first search than 60; with correct ones it finds as much:
# `benchmarks/expansion.py`.
_SMOOTHING = 10

# Total weight of the searches that an agent adds to its question, which has weight 1. With 2, one correct search among
# wrong ones helps less; with 1, correct ones help less: `benchmarks.agent_tokens --replies`.
_OTHERS_OF_AGENT = 1.5


def fuse(
    first: Sequence[RetrievalResult], others: Sequence[Sequence[RetrievalResult]], of_others: float = 1.0
) -> list[RetrievalResult]:
    """Merge results by reciprocal rank fusion, ordered by `(-score, source, span)`, as many as the longest list has.

    The signals of a merged result are the terms of its sum: `rank` for the first search, `expansion` for the others.
    Empty ones count as well. `of_others` is their total weight; the first has weight 1.
    """
    by_chunk: dict[tuple[str, Span], RetrievalResult] = {}
    for name, weight, results in (
        ("rank", 1.0, first),
        *(("expansion", of_others / len(others), found) for found in others),
    ):
        for rank, result in enumerate(results, start=1):
            kept = by_chunk.setdefault(result.chunk.key, replace(result, score=0.0, signals={}))
            gained = weight / (_SMOOTHING + rank)
            signals = {**kept.signals, name: kept.signals.get(name, 0.0) + gained}
            by_chunk[result.chunk.key] = replace(kept, score=sum(signals.values()), signals=signals)
    ranked = sorted(by_chunk.values(), key=lambda each: (-each.score, each.chunk.source, each.chunk.span))
    longest = max(map(len, chain([first], others)), default=0)
    return list(islice(without_duplicates(ranked), longest))


def fuse_keeping_best(found: Sequence[list[RetrievalResult]], limit: int) -> list[RetrievalResult]:
    """Merge the results of several searches by reciprocal rank fusion, and keep the best result of each.

    The first result of a well-worded search is often right even if no other search finds it.
    """
    if len(found) == 1:
        return found[0][:limit]
    ranked = fuse(found[0], found[1:], _OTHERS_OF_AGENT)[:limit]
    best = {results[0].chunk.key: results[0] for results in found if results}
    shown = {result.chunk.key for result in ranked}
    others = (result for key, result in best.items() if key not in shown)
    missing = list(without_duplicates([*ranked, *others]))[len(ranked) :]
    room = limit - len(missing) - sum(result.chunk.key in best for result in ranked)
    passed_over = [result.chunk.key for result in ranked if result.chunk.key not in best][max(0, room) :]
    return [*(result for result in ranked if result.chunk.key not in passed_over), *missing][:limit]
