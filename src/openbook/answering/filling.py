"""Fills the room of a context with the rest of what results break off in.

This is for what a model reads. Quotes are picked from results as search gave them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise, takewhile

from openbook.answering.context import most_tokens
from openbook.answering.outlines import opens_with_heading, unseen
from openbook.index.protocol import Index
from openbook.retrieval.signals import defines_type
from openbook.types import Chunk, Filter, RetrievalResult


class DocumentChunks:
    """The chunks of one document, as far as a filter shows them. Places count from 0, in order."""

    def __init__(self, index: Index, source: str, path: str, where: Filter) -> None:
        """Read the chunks. A document that is gone, or that the filter leaves out, has none."""
        self._index = index
        self._document = (source, path)
        chunks = index.chunks(source, path)
        self._chunks = [chunk for chunk in chunks if is_visible(chunk, where)]
        self._places = {chunk.span: place for place, chunk in enumerate(self._chunks)}

    def __len__(self) -> int:
        return len(self._chunks)

    def __getitem__(self, place: int) -> Chunk:
        return self._chunks[place]

    def place_of(self, chunk: Chunk) -> int | None:
        """Return the place of a chunk; None for a slice that the index does not hold as it is."""
        return self._places.get(chunk.span)

    def are_one(self, place: int) -> bool:
        """Check whether a chunk and the next one can be shown as one: nothing is between them, no border either."""
        if not 0 <= place < len(self) - 1:
            return False
        first, second = self._chunks[place : place + 2]
        if (first.lesson, first.anchor) != (second.lesson, second.anchor):
            return False
        return not self._text[first.span.end_char : second.span.start_char].strip()

    def goes_on(self, place: int) -> bool:
        """Check whether a chunk breaks off in a definition or in a section, which the next one goes on with."""
        if not self.are_one(place):
            return False
        first, second = self._chunks[place : place + 2]
        if second.kind == "docs":
            return bool(first.context) and first.context == second.context and not opens_with_heading(second)
        if second.kind != "code" or second.defines:
            return False
        if not second.symbol:  # cut by lines: no grammar says what is open
            return bool(first.defines or first.symbol) and second.text[:1].isspace()
        if first.symbol == second.symbol:
            return True
        # Behind a function in a function, the outer one goes on; behind a method, the class is no rest of it.
        return first.symbol.startswith(f"{second.symbol}.") and not _opens_type(second)

    def rest_of(self, place: int) -> Iterator[int]:
        """Return the other places of the definition or section that a chunk is part of: before it, then behind it."""
        first = place
        while self.goes_on(first - 1):
            first -= 1
            yield first
        while self.goes_on(place):
            place += 1
            yield place

    def last_of(self, place: int) -> int:
        """Return the place of the last chunk of what a chunk breaks off in, members of a type included."""
        last = place
        while self.goes_on(last):
            last += 1
        while self._opens(place, last + 1):
            last += 1
        return last

    def goes_on_to(self, place: int) -> int:
        """Return the last line of what a chunk breaks off in; 0 if it is whole."""
        last = self.last_of(place)
        return self._chunks[last].span.end_line if last > place else 0

    def joined(self, first: int, last: int) -> Chunk:
        """Return neighbours as one chunk, both ends included. It is called by what all of them stand in."""
        if first == last:
            return self._chunks[first]
        chunks = self._chunks[first : last + 1]
        span = replace(chunks[0].span, end_char=chunks[-1].span.end_char, end_line=chunks[-1].span.end_line)
        symbol = ".".join(_shared([chunk.symbol.split(".") for chunk in chunks]))
        return replace(
            chunks[0],
            span=span,
            text=self._text[span.start_char : span.end_char],
            symbol=symbol,
            defines=tuple(dict.fromkeys(name for chunk in chunks for name in chunk.defines)),
            signature=chunks[0].signature if chunks[0].symbol == symbol else "",
            docstring=chunks[0].docstring if chunks[0].symbol == symbol else "",
            context=tuple(_shared([chunk.context for chunk in chunks])),
        )

    def whole(self, chunk: Chunk) -> Chunk:
        """Return a chunk with the rest of the definition or section that it is a part of."""
        place = self.place_of(chunk)
        places = [place, *self.rest_of(place)] if place is not None else []
        return self.joined(min(places), max(places)) if places else chunk

    @cached_property
    def _text(self) -> str:
        document = self._index.document(*self._document)
        return document.text if document is not None else ""

    def _opens(self, place: int, behind: int) -> bool:
        """Check whether a chunk opens the type that a later chunk is a member of."""
        if behind >= len(self):
            return False
        first, member = self._chunks[place], self._chunks[behind]
        if not (first.symbol and _opens_type(first) and first.symbol.rpartition(".")[2] in first.defines):
            return False
        # In Go, methods stand behind a type that is whole.
        return member.symbol.startswith(f"{first.symbol}.") and _indent(member) > _indent(first)


def is_visible(chunk: Chunk, where: Filter) -> bool:
    """Check whether a filter by lesson shows a chunk of a document that the filter lets through."""
    return where.allows_lesson(chunk.lesson)


def _opens_type(chunk: Chunk) -> bool:
    """Check whether a chunk is around members, which are definitions of their own and do not complete each other."""
    return defines_type(chunk.signature, chunk.symbol.rpartition(".")[2])


def _indent(chunk: Chunk) -> int:
    line = chunk.text.partition("\n")[0]
    return len(line) - len(line.lstrip())


def _shared(paths: Sequence[Sequence[str]]) -> list[str]:
    """Return what all paths begin with."""
    together = takewhile(lambda parts: len(set(parts)) == 1, zip(*paths, strict=False))
    return [parts[0] for parts in together]


_Member = tuple[str, str, int]
"""A chunk by source, path and place."""


def fill_context(
    results: Sequence[RetrievalResult], index: Index, where: Filter, max_tokens: int
) -> list[RetrievalResult]:
    """Return results with what is left of the definitions and sections that they break off in, as far as it fits.

    Neighbours become one result, in the place of the best of them, so nothing is there twice. Results that leave no
    room are only joined.

    Args:
        results: Best first.
        index: The library.
        where: What may be seen at all.
        max_tokens: Estimated tokens of the context that `build_context` makes of them.
    """
    with index.snapshot():
        filler = _Filler(index, where, max_tokens)
        if filler.take(results):
            filler.complete()
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
        self._left = max_tokens
        self._documents = _Documents(index, where)
        # Both in the order of their worth; a slice that is no chunk of the index stays as it is.
        self._members: dict[_Member, RetrievalResult] = {}
        self._slices: list[tuple[int, RetrievalResult]] = []
        self._behind: list[RetrievalResult] = []

    def take(self, results: Sequence[RetrievalResult]) -> bool:
        """Take results for as long as they fit, and return whether all did."""
        for position, result in enumerate(results):
            chunk = result.chunk
            place = self._documents.of(chunk.source, chunk.span.path).place_of(chunk)
            member = None if place is None else (chunk.source, chunk.span.path, place)
            if not self._add(member, chunk, result):
                self._behind = list(results[position:])
                return False
        return True

    def complete(self) -> None:
        """Add what is left of definitions and sections, of the best results first."""
        for (source, path, place), result in list(self._members.items()):
            document = self._documents.of(source, path)
            for other in document.rest_of(place):
                if not self._add((source, path, other), document[other], result):
                    break

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
                joined, end = document.joined(run[0], run[-1]), document.goes_on_to(run[-1])
                found.append((order[best], replace(self._members[best], chunk=joined, goes_on_to=end)))
        shown = [result for _, result in sorted(found, key=lambda pair: pair[0])]
        for result in self._behind:
            chunk, end = _without_repeats(result.chunk, shown), self._documents.end_of(result.chunk)
            shown.append(replace(result, chunk=chunk, goes_on_to=end))
        return shown

    def _add(self, member: _Member | None, chunk: Chunk, result: RetrievalResult) -> bool:
        """Add a chunk if it fits, and return whether it is there."""
        if member in self._members:
            return True
        needed = most_tokens(chunk, is_joined=member is not None and self._joins(member))
        if needed > self._left:
            return False
        self._left -= needed
        if member is not None:
            self._members[member] = result
        else:
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
