"""The chunks of one document in their order: which goes on in the next one, and several as one slice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import takewhile

from openbook.answering.outlines import opens_with_heading
from openbook.index.protocol import Index
from openbook.retrieval.definitions import defines_type
from openbook.types import Chunk, Filter


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
