"""Searches while a user types: without a model, in separate threads, and few per caller."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TypeVar

from openbook.errors import QueryError
from openbook.extractive.context import label_of
from openbook.index.filters import filter_predicate
from openbook.libraries.registration import check_known
from openbook.library import Library
from openbook.server.failures import RequestRefusedError
from openbook.server.presenting import NEAREST_CHARS, near
from openbook.server.schemas import FilterRequest, SearchHitResponse, SearchRequest, SearchResponse
from openbook.server.served_library import ServedLibrary
from openbook.types import Excerpt, Filter, RetrievalResult

# Half as many as for questions, which need more CPU.
_THREADS = 2

# A page has one running search and a new one; two tabs have twice as many.
_MAX_PER_CALLER = 4

# Continuous typing starts about five searches per second.
_PER_MINUTE = 300

# Characters of a truncated excerpt from its first match on; the rest precedes it.
_MATCHING_CHARS = 240

# Callers whose rate is remembered. Those without a search for longest are dropped.
_MAX_CALLERS = 10_000


T = TypeVar("T")


def narrowing(asked: FilterRequest, assistant: Library) -> Filter:
    """Return the filter of a request."""
    check_known(asked.sources, assistant.index)
    where = Filter(frozenset(asked.kinds), tuple(asked.globs), frozenset(asked.sources))
    filter_predicate(where)  # reject invalid filters while an error status can still be sent
    return where


def shortened(excerpt: Excerpt) -> Excerpt:
    """Shorten an excerpt to the part with most matches, beginning with a whole word; short ones are not changed.

    Example:
        >>> long = Excerpt("sea " * 100 + "tide", 1, 1, ((400, 404),))
        >>> shortened(long).text[-8:], shortened(long).matches
        ('sea tide', ((56, 60),))
    """
    if len(excerpt.text) <= NEAREST_CHARS:
        return excerpt
    starts = [start for start, _ in excerpt.matches]
    # The first of the parts that begin with a match and have most matches.
    best = max(
        starts, key=lambda first: (sum(first <= each < first + _MATCHING_CHARS for each in starts), -first), default=0
    )
    begin = max(0, best - (NEAREST_CHARS - _MATCHING_CHARS))
    begin = excerpt.text.find(" ", begin, best) + 1 or begin if begin else 0
    end = begin + NEAREST_CHARS
    return replace(
        excerpt,
        text=excerpt.text[begin:end],
        start_line=excerpt.start_line + excerpt.text.count("\n", 0, begin),
        matches=tuple(
            (start - begin, stop - begin) for start, stop in excerpt.matches if begin <= start and stop <= end
        ),
    )


class SearchService:
    """Runs searches of many callers. Only for the event loop."""

    def __init__(self, library: ServedLibrary, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._library = library
        self._clock = clock
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="openbook-search")
        self._turns = asyncio.Semaphore(_THREADS)
        self._open: Counter[str] = Counter()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    async def run(self, work: Callable[[], T], party: str) -> T:
        """Run other work in the threads of searches, so that it takes none from questions."""
        with self._admitted(party):
            async with self._turns:
                return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def search(self, asked: SearchRequest, party: str) -> SearchResponse:
        """Return the results, best first. A search that is cancelled before its turn costs nothing."""
        return await self.run(partial(self._found, asked), party)

    @contextmanager
    def _admitted(self, party: str) -> Iterator[None]:
        now = self._clock()
        left, since = self._left.pop(party, (float(_PER_MINUTE), now))
        left = min(float(_PER_MINUTE), left + (now - since) * _PER_MINUTE / 60)
        self._left[party] = (max(0.0, left - 1), now)
        if len(self._left) > _MAX_CALLERS:
            self._left.popitem(last=False)
        if left < 1 or self._open[party] >= _MAX_PER_CALLER:
            raise RequestRefusedError(429, "too many searches at once", hint="wait a second", retry_after_s=1.0)
        self._open[party] += 1
        try:
            yield
        finally:
            self._open[party] -= 1
            if not self._open[party]:
                del self._open[party]

    def _found(self, asked: SearchRequest) -> SearchResponse:
        started = time.perf_counter()
        with self._library.in_use() as assistant:
            where = narrowing(asked.filters or FilterRequest(), assistant)
            try:
                results = assistant.search(asked.query, limit=asked.limit, where=where, view=asked.view)
            except QueryError as exc:
                # A half-typed question may not be valid yet: an error would only disturb.
                return SearchResponse(hits=[], reason=str(exc), took_ms=_ms_since(started))
            hits = [self._hit(result, result.excerpt) for result in results if result.excerpt is not None]
        return SearchResponse(hits=hits, reason="", took_ms=_ms_since(started))

    def _hit(self, result: RetrievalResult, excerpt: Excerpt) -> SearchHitResponse:
        shown = shortened(excerpt)
        place = near(result.chunk, shown, label_of(result), self._library).model_dump()
        return SearchHitResponse(**place, kind=result.chunk.kind, first_line=shown.start_line)

    def close(self) -> None:
        self._threads.shutdown()


def _ms_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
