"""Results that say what a better one says already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from openbook.types import RetrievalResult

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
