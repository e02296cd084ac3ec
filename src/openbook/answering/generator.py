"""From a question to an answer: retrieve, show, quote, check; and the statistics of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal

from openbook.answering.citations import TextNow, cite
from openbook.answering.context import build_context
from openbook.answering.extractive import compose, marks_of, missing_words, pick
from openbook.embedding.protocol import Embedder
from openbook.index.protocol import Index
from openbook.retrieval.fields import embedding_text, terms_of
from openbook.retrieval.names import Query, read_query
from openbook.retrieval.ranking import coverage, rarities, relevance
from openbook.retrieval.search import EVERYTHING, Retriever
from openbook.types import Filter, GenerationResult, RetrievalResult

# Below this no passage is worth quoting. `benchmarks/refusal.py` prints the curve it was read from.
RELEVANCE_FLOOR = 0.34

# Results an answer is picked from: beyond ten, less than one right passage in a hundred is found.
_DEFAULT_TOP_K = 10

# Several results come from one place, so a question for places needs more of them to choose from.
_PLACES_FACTOR = 3

# Places named when there is no answer.
_NEAREST = 3


@dataclass(frozen=True, slots=True)
class GenerationStats:
    """What a generator did since it was made or reset."""

    total_generations: int = 0
    refused: int = 0
    with_citations: int = 0
    total_tokens: int = 0
    total_ms: float = 0.0


class Generator:
    """Writes answers from one library. Threads may share it."""

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        text_now: TextNow,
        context_tokens: int,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Prepare.

        Args:
            index: The library.
            embedder: The one that made the index.
            text_now: Gives the text of a document as it is now, for checking citations.
            context_tokens: Budget of what an answer is written from.
            clock: Seconds, for `took_ms`.
        """
        self._index = index
        self._embedder = embedder
        self._text_now = text_now
        self._context_tokens = context_tokens
        self._clock = clock
        self._stats = GenerationStats()
        self._lock = threading.Lock()

    def generate_with_retrieval(
        self, query: str, top_k: int = _DEFAULT_TOP_K, min_score: float = 0.0, *, where: Filter = EVERYTHING
    ) -> GenerationResult:
        """Retrieve and answer.

        Args:
            query: The question.
            top_k: Most results to write from.
            min_score: Results with a lower score are not used. Scores compare within one query.
            where: Documents that may be found.

        Raises:
            QueryError: The question is empty, too long, or holds no word.
        """
        started = self._clock()
        wanted = top_k * _PLACES_FACTOR if read_query(query).asks_for_places else top_k
        results = Retriever(self._index, self._embedder).search(query, limit=wanted, where=where, view="passages")
        return self._answer(query, [result for result in results if result.score >= min_score], None, started)

    def generate_answer(
        self, query: str, results: Sequence[RetrievalResult], *, max_context_tokens: int | None = None
    ) -> GenerationResult:
        """Answer from results at hand, in their order. None gives a refusal.

        Raises:
            QueryError: The question is empty, too long, or holds no word.
        """
        return self._answer(query, results, max_context_tokens, self._clock())

    def get_generation_stats(self) -> dict[str, float]:
        """Give the statistics by name."""
        return asdict(self._stats)

    def reset_generation_stats(self) -> None:
        """Start counting anew."""
        with self._lock:
            self._stats = GenerationStats()

    def _answer(
        self, text: str, results: Sequence[RetrievalResult], max_tokens: int | None, started: float
    ) -> GenerationResult:
        query = read_query(text)
        answer = self._extract(query, results, self._context_tokens if max_tokens is None else max_tokens)
        answer = replace(answer, cost_usd=Decimal(0), took_ms=(self._clock() - started) * 1000)
        self._count(answer)
        return answer

    def _extract(self, query: Query, results: Sequence[RetrievalResult], max_tokens: int) -> GenerationResult:
        with self._index.snapshot():
            frequencies, chunks = self._index.frequencies(query.tokens), self._index.stats().chunks
        rarity = rarities(query, frequencies, chunks)
        missing = missing_words(query, frequencies)
        if not results:
            return _refusal(query, "nothing found", (), missing)
        if max(self._relevance(query, result, rarity) for result in results) < RELEVANCE_FLOOR:
            return _refusal(query, "nothing relevant", tuple(results[:_NEAREST]), missing)
        context = build_context(results, max_tokens)
        picked = pick(query, context, self._embedder, rarity)
        if not picked:
            return _refusal(query, "nothing that could be quoted", tuple(results[:_NEAREST]), missing)
        citations = cite(marks_of(picked), context, self._text_now)
        shown = tuple(entry.result for entry in context.shown)
        return GenerationResult(query.text, compose(picked), citations, shown)

    def _relevance(self, query: Query, result: RetrievalResult, rarity: Mapping[str, float]) -> float:
        """Give the relevance of a result, measuring it if the caller found it elsewhere."""
        if result.relevance is not None:
            return result.relevance
        terms = terms_of(result.chunk)
        words = frozenset(word for field in terms for word in field)
        asked, found = self._embedder.embed([query.text, embedding_text(result.chunk)])
        return relevance(coverage(words, rarity), float(asked @ found))

    def _count(self, answer: GenerationResult) -> None:
        with self._lock:
            self._stats = GenerationStats(
                total_generations=self._stats.total_generations + 1,
                refused=self._stats.refused + answer.refused,
                with_citations=self._stats.with_citations + answer.has_citations,
                total_tokens=self._stats.total_tokens + answer.usage.input_tokens + answer.usage.output_tokens,
                total_ms=self._stats.total_ms + answer.took_ms,
            )


def _refusal(
    query: Query, reason: str, nearest: tuple[RetrievalResult, ...], missing: Sequence[str]
) -> GenerationResult:
    answer = f"The sources do not answer this: {reason}."
    if missing:
        answer += f" No source mentions {', '.join(repr(word) for word in missing)}."
    return GenerationResult(query.text, answer, results=nearest, refused=True, reason=reason)
