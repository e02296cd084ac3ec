"""The pipeline: question, two legs, fusion, signals, results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from openbook.embedding.protocol import Embedder
from openbook.index.protocol import Index, Matches
from openbook.retrieval.closeness import closeness, related
from openbook.retrieval.names import Query, choose_view, read_query
from openbook.retrieval.ranking import Ranked, near_together, rank, rarities
from openbook.retrieval.tokens import tokenize
from openbook.types import VIEWS, Chunk, Filter, RetrievalResult, View

# Candidates of each leg. 60 lose a little on mixed libraries, 150 gain nothing.
_DEPTH = 80

# Passages whose texts are read for closeness; a text takes about .2 ms to split.
_READ = 24

# Chunks that share this many of their lines say the same: vendored copies, generated files, versions
# of a page.
_SAME_LINES = 0.8

EVERYTHING = Filter()


class Retriever:
    """Finds chunks of one library."""

    def __init__(self, index: Index, embedder: Embedder) -> None:
        self._index = index
        self._embedder = embedder

    def search(
        self, text: str, *, limit: int = 10, where: Filter = EVERYTHING, view: View = "auto"
    ) -> list[RetrievalResult]:
        """Rank chunks for a question, at most `limit`, ordered by `(-score, source, span)`.

        A chunk that says the same as a better one is left out. An empty library gives [].

        Args:
            text: The question.
            limit: Most results.
            where: Documents that may be found.
            view: `files` gives each file once, with its best chunk; `passages` may give several of one
                file; `auto` decides by the question, see `choose_view`, and gives passages of a course.

        Raises:
            QueryError: See `read_query`.
            ValueError: There is no such view.
        """
        if view not in VIEWS:
            raise ValueError(f"view {view!r} is none of {', '.join(VIEWS)}")
        query = read_query(text)
        if view == "auto":
            # A course is one file, or a few: each of them once would be next to nothing.
            in_course = where.courses or where.lesson is not None
            view = "passages" if in_course else choose_view(query)
        with self._index.snapshot():
            matches = self._index.match(query.tokens, self._embedder.embed([query.text])[0], _DEPTH, where)
            outlines = self._index.outlines([evidence.id for evidence in matches.evidence])
            ranked = rank(query, view, matches, outlines)
            if view == "passages":
                ranked = self._closest(query, matches, ranked)
            pairs = self._with_text(ranked, max(limit, 1))
            return list(_distinct(pairs, max(limit, 0)))

    def _closest(self, query: Query, matches: Matches, ranked: Sequence[Ranked]) -> list[Ranked]:
        """Order the best passages again, now that their texts are read."""
        rarity = rarities(query, matches.frequencies, matches.chunks)
        best = ranked[:_READ]
        chunks = self._index.fetch([each.outline.id for each in best])
        closenesses = [closeness(related(tokenize(chunk.text), query.tokens), rarity) for chunk in chunks]
        return [*near_together(best, closenesses), *ranked[_READ:]]

    def _with_text(self, ranked: Sequence[Ranked], limit: int) -> Iterator[tuple[Ranked, Chunk]]:
        for start in range(0, len(ranked), limit):
            part = ranked[start : start + limit]
            yield from zip(part, self._index.fetch([each.outline.id for each in part]), strict=True)


def _distinct(pairs: Iterable[tuple[Ranked, Chunk]], limit: int) -> Iterator[RetrievalResult]:
    kept: list[frozenset[str]] = []
    for ranked, chunk in pairs:
        if len(kept) >= limit:
            return
        lines = frozenset(stripped for line in chunk.text.splitlines() if (stripped := line.strip()))
        if not any(_same(lines, others) for others in kept):
            kept.append(lines)
            yield RetrievalResult(chunk, ranked.score, ranked.signals)


def _same(lines: frozenset[str], others: frozenset[str]) -> bool:
    return len(lines & others) >= _SAME_LINES * len(lines | others)
