"""Fills the room of a context: the rest of what results break off in, definitions of names, and neighbours.

This is for what a model reads. Quotes are picked from results as search gave them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from openbook.answering.context import most_tokens
from openbook.answering.document_chunks import DocumentChunks
from openbook.answering.outlines import unseen
from openbook.answering.symbols import chunks_defining, chunks_naming
from openbook.index.protocol import Index
from openbook.questions.question import Question
from openbook.tokens import tokenize
from openbook.types import Chunk, Filter, RetrievalResult

# Results in which names are looked for, and how often such a name may be defined. `benchmarks/context_use.py` on
# procrastinate, fzf and execa: with one result one question of 54 fewer has all it needs, with five or ten none more;
# with a name that is defined up to four times one fewer, as other definitions of it take the room.
_NAMING_RESULTS = 3
_MOST_DEFINITIONS = 2

_NAME = re.compile(r"[^\W\d]\w{2,}")

_Member = tuple[str, str, int]
"""A chunk by source, path and place."""


def fill_context(
    results: Sequence[RetrievalResult], question: Question, index: Index, where: Filter, max_tokens: int
) -> list[RetrievalResult]:
    """Return results with what else fits into a context and helps to understand them.

    First what is left of the definitions and sections that results break off in, then definitions
    of names that the question or the best results name, then the chunks before and behind results.
    Neighbours become one result, in the place of the best of them, so nothing is there twice. What is
    added alone comes last, with a score of 0. Results that leave no room are only joined.

    Args:
        results: Best first.
        question: What they were found for.
        index: The library.
        where: What may be seen at all.
        max_tokens: Estimated tokens of the context that `build_context` makes of them.
    """
    with index.snapshot():
        filler = _Filler(index, where, max_tokens)
        if filler.take(results):
            filler.complete()
            filler.define(question)
            filler.surround()
        return filler.results()


def with_ends(results: Sequence[RetrievalResult], index: Index, where: Filter) -> list[RetrievalResult]:
    """Return results that say where the definitions and sections end that they break off in."""
    documents = _Documents(index, where)
    return [replace(result, goes_on_to=documents.end_of(result.chunk)) for result in results]


class _Documents:
    """The documents that results come from, each read once."""

    def __init__(self, index: Index, where: Filter) -> None:
        self._index = index
        self._where = where
        self._read: dict[tuple[str, str], DocumentChunks] = {}

    def of(self, source: str, path: str) -> DocumentChunks:
        if (source, path) not in self._read:
            self._read[source, path] = DocumentChunks(self._index, source, path, self._where)
        return self._read[source, path]

    def end_of(self, chunk: Chunk) -> int:
        """Return the last line of what a chunk breaks off in; 0 if it is whole, or no chunk of the index."""
        document = self.of(chunk.source, chunk.span.path)
        place = document.place_of(chunk)
        return 0 if place is None else document.goes_on_to(place)


class _Filler:
    """One context on its way."""

    def __init__(self, index: Index, where: Filter, max_tokens: int) -> None:
        self._index = index
        self._where = where
        self._left = max_tokens
        self._documents = _Documents(index, where)
        # Both in the order of their worth; a slice that is no chunk of the index stays as it is.
        self._members: dict[_Member, RetrievalResult | None] = {}
        self._slices: list[tuple[int, RetrievalResult]] = []
        self._behind: list[RetrievalResult] = []
        self._given: list[_Member] = []

    def take(self, results: Sequence[RetrievalResult]) -> bool:
        """Take results for as long as they fit, and return whether all did."""
        for position, result in enumerate(results):
            chunk = result.chunk
            place = self._documents.of(chunk.source, chunk.span.path).place_of(chunk)
            member = None if place is None else (chunk.source, chunk.span.path, place)
            if not self._add(member, chunk, result):
                self._behind = list(results[position:])
                return False
        self._given = list(self._members)
        return True

    def complete(self) -> None:
        """Add what is left of definitions and sections, of the best results first."""
        for member in self._given:
            self._add_rest(member)

    def define(self, query: Question) -> None:
        """Add the definitions of names that are not defined in what is shown."""
        shown = {name for chunk in self._chunks() if chunk.kind == "code" for name in chunk.defines}
        names = {name: owners for name, owners in self._names(query).items() if name not in shown}
        outlines = [each for each in chunks_naming(self._index, names, self._where) if each.kind == "code"]
        chosen = [chunks_defining(outlines, name, owners) for name, owners in names.items()]
        ids = dict.fromkeys(each.id for found in chosen if len(found) <= _MOST_DEFINITIONS for each in found)
        for chunk in self._index.fetch(list(ids)):
            place = self._documents.of(chunk.source, chunk.span.path).place_of(chunk)
            member = (chunk.source, chunk.span.path, place or 0)
            if place is not None and self._add(member, chunk):
                self._add_rest(member)

    def surround(self) -> None:
        """Add the chunks behind and before the results, in their order."""
        for source, path, place in self._given:
            document = self._documents.of(source, path)
            for first, neighbour in ((place, place + 1), (place - 1, place - 1)):
                if document.are_one(first):
                    self._add((source, path, neighbour), document[neighbour])

    def results(self) -> list[RetrievalResult]:
        """Return what was taken and added: runs of neighbours and slices by their best, then what did not fit."""
        order = {member: position for position, member in enumerate(self._members)}
        places: dict[tuple[str, str], list[int]] = {}
        for source, path, place in self._members:
            places.setdefault((source, path), []).append(place)
        found = list(self._slices)
        for (source, path), each in places.items():
            document = self._documents.of(source, path)
            for run in _runs(document, sorted(each)):
                best = min(((source, path, place) for place in run), key=order.__getitem__)
                given, joined = self._members[best], document.joined(run[0], run[-1])
                result = RetrievalResult(joined, 0.0) if given is None else replace(given, chunk=joined)
                found.append((order[best], replace(result, goes_on_to=document.goes_on_to(run[-1]))))
        shown = [result for _, result in sorted(found, key=lambda pair: pair[0])]
        for result in self._behind:
            chunk, end = _without_repeats(result.chunk, shown), self._documents.end_of(result.chunk)
            shown.append(replace(result, chunk=chunk, goes_on_to=end))
        return shown

    def _chunks(self) -> Iterator[Chunk]:
        for source, path, place in self._members:
            yield self._documents.of(source, path)[place]

    def _names(self, query: Question) -> Mapping[str, Sequence[str]]:
        """Return names with what they were said to stand in: of the question, then those of its words in results."""
        names: dict[str, Sequence[str]] = dict(zip(query.identifiers, query.owners, strict=True))
        wanted = set(query.tokens)
        for chunk in list(self._chunks())[:_NAMING_RESULTS]:
            for name in dict.fromkeys(_NAME.findall(chunk.text)):
                if name not in names and not wanted.isdisjoint(tokenize(name)):
                    names[name] = ()
        return names

    def _add_rest(self, member: _Member) -> None:
        source, path, place = member
        document = self._documents.of(source, path)
        for other in document.rest_of(place):
            if not self._add((source, path, other), document[other]):
                return

    def _add(self, member: _Member | None, chunk: Chunk, result: RetrievalResult | None = None) -> bool:
        """Add a chunk if it fits, and return whether it is there."""
        if member in self._members:
            return True
        needed = most_tokens(chunk, is_joined=member is not None and self._joins(member))
        if needed > self._left:
            return False
        self._left -= needed
        if member is not None:
            self._members[member] = result
        elif result is not None:
            self._slices.append((len(self._members), result))
        return True

    def _joins(self, member: _Member) -> bool:
        source, path, place = member
        document = self._documents.of(source, path)
        before, behind = (source, path, place - 1) in self._members, (source, path, place + 1) in self._members
        return (before and document.are_one(place - 1)) or (behind and document.are_one(place))


def _without_repeats(chunk: Chunk, shown: Sequence[RetrievalResult]) -> Chunk:
    """Return a chunk without the sentences that it shares with its neighbours."""
    others = (result.chunk for result in shown)
    key = (chunk.source, chunk.span.path)
    return unseen(chunk, [other.span for other in others if (other.source, other.span.path) == key])


def _runs(document: DocumentChunks, places: Sequence[int]) -> list[list[int]]:
    """Divide places, which rise, into runs of those that can be shown as one."""
    runs = [[places[0]]]
    for before, place in pairwise(places):
        if place == before + 1 and document.are_one(before):
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs
