"""One ranked list from those of several searches, in which nothing is said twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, islice

from openbook.types import RetrievalResult, Span

# Chunks that share this many of their lines say the same: vendored copies, generated files, versions
# of a page.
_SAME_LINES = 0.8

# The next question finds many of the same texts again. The lines of one take about 4 KB.
_KEPT_TEXTS = 1024


def without_duplicates(results: Iterable[RetrievalResult]) -> Iterator[RetrievalResult]:
    """Yield results, best first, without those whose lines are nearly those of a better one."""
    kept: list[frozenset[str]] = []
    for result in results:
        lines = _lines_of(result.chunk.text)
        if not any(_are_same(lines, others) for others in kept):
            kept.append(lines)
            yield result


@lru_cache(maxsize=_KEPT_TEXTS)
def _lines_of(text: str) -> frozenset[str]:
    return frozenset(stripped for line in text.splitlines() if (stripped := line.strip()))


def _are_same(lines: frozenset[str], others: frozenset[str]) -> bool:
    return len(lines & others) >= _SAME_LINES * len(lines | others)


# Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): ranks are added to this before they are inverted.
# With searches that belong to another question, 10 keeps more of what the first search found than 60 does, and with
# right ones it finds as much: `benchmarks/expansion.py`.
_SMOOTHING = 10

# What all searches weigh that an agent gives beside its question, which weighs 1. With 2, one right search among wrong
# ones helps less, and with 1 all right ones do: `benchmarks.agent_tokens --replies`.
_OTHERS_OF_AGENT = 1.5


def fuse(
    first: Sequence[RetrievalResult], others: Sequence[Sequence[RetrievalResult]], of_others: float = 1.0
) -> list[RetrievalResult]:
    """Merge results by reciprocal rank, ordered by `(-score, source, span)`, as many as there are in the longest list.

    The signals of a merged result are what its ranks add: `rank` for the first search, `expansion` for the others.

    Args:
        first: What the question found, best first.
        others: What each other search found, best first. Empty ones count as well.
        of_others: What all others together count; the first one counts 1.
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
    """Merge the results of several searches by reciprocal rank, and keep the best result of each.

    A search whose words were guessed well is right at its first rank, and may agree with no other one.

    Args:
        found: What each search found, best first.
        limit: Most results.
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
