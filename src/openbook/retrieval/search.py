"""The pipeline: question, two legs, fusion, signals, results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from openbook.embedding.protocol import Embedder
from openbook.index.protocol import Index
from openbook.retrieval.names import Query, read_query
from openbook.retrieval.ranking import Candidate, relevance, signals_of
from openbook.types import Filter, RetrievalResult

# Candidates of each leg. Beyond the first hundred a leg is noise that the signals have to undo.
_DEPTH = 100

# Tokens of a question that the lexical leg looks up: the rarest ones of a long text say what it is
# about, and the time of a look-up grows with their number.
_LEXICAL_TOKENS = 48

EVERYTHING = Filter()


class Retriever:
    """Finds chunks of one library."""

    def __init__(self, index: Index, embedder: Embedder) -> None:
        self._index = index
        self._embedder = embedder

    def search(self, text: str, *, limit: int = 10, where: Filter = EVERYTHING) -> list[RetrievalResult]:
        """Rank chunks for a question, at most `limit`, ordered by `(-score, source, span)`.

        Chunks with the same text as a better one are left out. An empty library gives [].

        Raises:
            QueryError: See `read_query`.
        """
        query = read_query(text)
        with self._index.snapshot():
            frequencies = self._index.frequencies(query.tokens)
            words = sorted(frequencies, key=lambda token: (frequencies[token], token))[:_LEXICAL_TOKENS]
            lexical = dict(self._index.lexical(words, _DEPTH, where))
            dense = dict(self._index.dense(self._embedder.embed([query.text])[0], _DEPTH, where))
            found = self._index.fetch([*lexical, *(id_ for id_ in dense if id_ not in lexical)])
            chunks = self._index.stats().chunks
        candidates = [
            Candidate(
                item.chunk,
                frozenset((*item.terms.path, *item.terms.names, *item.terms.context, *item.terms.body)),
                lexical.get(item.id, 0.0),
                dense.get(item.id, 0.0),
            )
            for item in found
        ]
        ranked = _ranked(query, candidates, frequencies, chunks)
        return list(_distinct(ranked))[: max(limit, 0)]


def _ranked(
    query: Query, candidates: Sequence[Candidate], frequencies: dict[str, int], chunks: int
) -> list[RetrievalResult]:
    results = [
        RetrievalResult(
            candidate.chunk,
            sum(signals.values()),
            signals,
            relevance(query, candidate, frequencies, chunks),
        )
        for candidate, signals in zip(candidates, signals_of(query, candidates), strict=True)
    ]
    return sorted(results, key=lambda result: (-result.score, result.chunk.key))


def _distinct(results: Iterable[RetrievalResult]) -> Iterable[RetrievalResult]:
    seen: set[str] = set()
    for result in results:
        text = result.chunk.text
        if text not in seen:
            seen.add(text)
            yield result
