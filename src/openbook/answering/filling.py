"""Fills the token budget of a context with the rest of definitions and sections that results break off.

For contexts of models. Quotes are selected from the results of the search, which only docstrings complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise, takewhile

from openbook.extractive.context import max_chunk_tokens
from openbook.extractive.outlines import opens_with_heading, unseen
from openbook.extractive.parameter_passages import is_on, opens_parameters
from openbook.index.protocol import Index
from openbook.questions.settings_asked import AskedSetting
from openbook.retrieval.definitions import defines_type
from openbook.retrieval.setting_entries import setting_entries
from openbook.types import Chunk, Filter, RetrievalResult


class DocumentChunks:
    """The visible chunks of a document. Places are their indexes in order."""

    def __init__(self, index: Index, source: str, path: str, where: Filter) -> None:
        """Read the chunks. A document that is deleted or filtered out has none."""
        self._index = index
        self._document = (source, path)
        chunks = index.chunks(source, path)
        self._chunks = [chunk for chunk in chunks if is_visible(chunk, where)]
        self._places = {chunk.span: place for place, chunk in enumerate(self._chunks)}

    def __len__(self) -> int:
        return len(self._chunks)

    def __getitem__(self, place: int) -> Chunk:
        return self._chunks[place]

    def __iter__(self) -> Iterator[Chunk]:
        return iter(self._chunks)

    def place_of(self, chunk: Chunk) -> int | None:
        """Return the place of a chunk; None for a slice that is not in the index."""
        return self._places.get(chunk.span)

    def are_one(self, place: int) -> bool:
        """Check whether a chunk and the next one can be joined: they are adjacent, without a border between."""
        if not 0 <= place < len(self) - 1:
            return False
        first, second = self._chunks[place : place + 2]
        if (first.lesson, first.anchor) != (second.lesson, second.anchor):
            return False
        return not self.text[first.span.end_char : second.span.start_char].strip()

    def goes_on(self, place: int) -> bool:
        """Check whether the next chunk continues the definition or section of a chunk."""
        if not self.are_one(place):
            return False
        first, second = self._chunks[place : place + 2]
        if second.kind == "docs":
            return bool(first.context) and first.context == second.context and not opens_with_heading(second)
        if second.kind != "code" or second.defines:
            return False
        if not second.symbol:  # split by lines, without a grammar
            return bool(first.defines or first.symbol) and second.text[:1].isspace()
        if first.symbol == second.symbol:
            return True
        # After a nested function, the outer one continues; after a method, the class is not its continuation.
        return first.symbol.startswith(f"{second.symbol}.") and not _opens_type(second)

    def rest_of(self, place: int) -> Iterator[int]:
        """Yield the other places of the definition or section of a chunk: those before it, then those after it."""
        first = place
        while self.goes_on(first - 1):
            first -= 1
            yield first
        while self.goes_on(place):
            place += 1
            yield place

    def last_of(self, place: int) -> int:
        """Return the last place of the definition or section of a chunk, including the members of a type."""
        last = place
        while self.goes_on(last):
            last += 1
        while self._opens(place, last + 1):
            last += 1
        return last

    def goes_on_to(self, place: int) -> int:
        """Return the last line of the definition or section that a chunk breaks off; 0 if it is complete."""
        last = self.last_of(place)
        return self._chunks[last].span.end_line if last > place else 0

    def joined(self, first: int, last: int) -> Chunk:
        """Join adjacent chunks, both ends included. The result is named after their common scope."""
        if first == last:
            return self._chunks[first]
        chunks = self._chunks[first : last + 1]
        span = replace(chunks[0].span, end_char=chunks[-1].span.end_char, end_line=chunks[-1].span.end_line)
        symbol = ".".join(_shared([chunk.symbol.split(".") for chunk in chunks]))
        return replace(
            chunks[0],
            span=span,
            text=self.text[span.start_char : span.end_char],
            symbol=symbol,
            defines=tuple(dict.fromkeys(name for chunk in chunks for name in chunk.defines)),
            signature=chunks[0].signature if chunks[0].symbol == symbol else "",
            docstring=chunks[0].docstring if chunks[0].symbol == symbol else "",
            context=tuple(_shared([chunk.context for chunk in chunks])),
        )

    def whole(self, chunk: Chunk) -> Chunk:
        """Return a chunk with the rest of its definition or section."""
        place = self.place_of(chunk)
        places = [place, *self.rest_of(place)] if place is not None else []
        return self.joined(min(places), max(places)) if places else chunk

    @cached_property
    def text(self) -> str:
        """The indexed text of the document; empty if it is deleted."""
        document = self._index.document(*self._document)
        return document.text if document is not None else ""

    def _opens(self, place: int, behind: int) -> bool:
        """Check whether a chunk opens the type that a later chunk is a member of."""
        if behind >= len(self):
            return False
        first, member = self._chunks[place], self._chunks[behind]
        if not (first.symbol and _opens_type(first) and first.symbol.rpartition(".")[2] in first.defines):
            return False
        # In Go, methods follow a complete type.
        return member.symbol.startswith(f"{first.symbol}.") and _indent(member) > _indent(first)


def is_visible(chunk: Chunk, where: Filter) -> bool:
    """Check whether a filter by lesson allows a chunk of an allowed document."""
    return where.allows_lesson(chunk.lesson)


def _opens_type(chunk: Chunk) -> bool:
    """Check whether a chunk is a type with members, which are definitions of their own."""
    return defines_type(chunk.signature, chunk.symbol.rpartition(".")[2])


def _indent(chunk: Chunk) -> int:
    line = chunk.text.partition("\n")[0]
    return len(line) - len(line.lstrip())


def _shared(paths: Sequence[Sequence[str]]) -> list[str]:
    """Return the common prefix of paths."""
    together = takewhile(lambda parts: len(set(parts)) == 1, zip(*paths, strict=False))
    return [parts[0] for parts in together]


# Longer docstrings are cut. A chunk has about 25 lines, so it gets two or three more.
_MAX_DOCSTRING_LINES = 80

# Results that begin within longer comments stay as they are. The comments of Rust have chapters of examples.
_MAX_COMMENT_LINES = 200

# A thing may have a page as a resource and one as a source of data.
_MAX_PAGES = 2

_Member = tuple[str, str, int]
"""A chunk by source, path and place."""


def fill_context(
    results: Sequence[RetrievalResult], index: Index, where: Filter, max_tokens: int
) -> list[RetrievalResult]:
    """Return results with the rest of the definitions and sections that they break off, as far as it fits.

    Adjacent chunks become one result, at the rank of the best of them. If there is no room, results are only joined.
    `max_tokens` is the budget of the context that `build_context` makes of them.
    """
    with index.snapshot():
        filler = _Filler(index, where, max_tokens)
        if filler.take(results):
            filler.complete()
        return filler.results()


def with_ends(results: Sequence[RetrievalResult], index: Index, where: Filter) -> list[RetrievalResult]:
    """Return results with the ends of the definitions and sections that they break off."""
    documents = _Documents(index, where)
    return [replace(result, goes_on_to=documents.end_of(result.chunk)) for result in results]


def with_docstrings(results: Sequence[RetrievalResult], index: Index, where: Filter) -> list[RetrievalResult]:
    """Return results with the rest of the docstrings that they break off, each part once."""
    return _each_once(results, _Documents(index, where).to_end_of_docstring)


def with_comments(
    results: Sequence[RetrievalResult], index: Index, where: Filter, is_asked_for: Callable[[Chunk], bool]
) -> list[RetrievalResult]:
    """Return results with the beginning of the comments above definitions that are asked for, each part once."""
    documents = _Documents(index, where)
    return _each_once(results, lambda chunk: documents.from_start_of_comment(chunk) if is_asked_for(chunk) else chunk)


def with_entries(
    results: Sequence[RetrievalResult], index: Index, where: Filter, settings: Sequence[AskedSetting]
) -> list[RetrievalResult]:
    """Return results with the rest of the entries of settings that they break off, each part once."""
    documents = _Documents(index, where)
    return _each_once(results, lambda chunk: documents.to_end_of_entry(chunk, settings))


def with_parameter_sections(
    results: Sequence[RetrievalResult], index: Index, where: Filter, name: str
) -> list[RetrievalResult]:
    """Return results behind the sections on parameters in the first pages among them that are on a thing."""
    of_pages: dict[tuple[str, str], RetrievalResult] = {}
    for each in results:
        if each.chunk.kind == "docs" and is_on(name, each.chunk):
            of_pages.setdefault((each.chunk.source, each.chunk.span.path), each)
    opened: list[RetrievalResult] = []
    for (source, path), first in list(of_pages.items())[:_MAX_PAGES]:
        chunks = DocumentChunks(index, source, path, where)
        section = next((chunk for chunk in chunks if is_on(name, chunk) and opens_parameters(chunk)), None)
        opened += [replace(first, chunk=section)] if section else []
    keys = {each.chunk.key for each in opened}
    return [*opened, *(each for each in results if each.chunk.key not in keys)]


def _each_once(results: Sequence[RetrievalResult], longer: Callable[[Chunk], Chunk]) -> list[RetrievalResult]:
    """Return results with longer chunks, each in place of the best result that is a part of it."""
    wholes = [replace(result, chunk=longer(result.chunk)) for result in results]
    joined = [whole for whole, result in zip(wholes, results, strict=True) if whole.chunk is not result.chunk]
    found: dict[Chunk, RetrievalResult] = {}
    for each in wholes:
        whole = next((one for one in joined if _is_part(each.chunk, one.chunk)), each)
        found.setdefault(whole.chunk, replace(whole, score=each.score))
    return list(found.values())


class _Documents:
    """The documents of results, each read once."""

    def __init__(self, index: Index, where: Filter) -> None:
        self._index = index
        self._where = where
        self._read: dict[tuple[str, str], DocumentChunks] = {}

    def of(self, source: str, path: str) -> DocumentChunks:
        if (source, path) not in self._read:
            self._read[source, path] = DocumentChunks(self._index, source, path, self._where)
        return self._read[source, path]

    def end_of(self, chunk: Chunk) -> int:
        """Return the last line of what a chunk breaks off; 0 if it is complete, or not in the index."""
        document = self.of(chunk.source, chunk.span.path)
        place = document.place_of(chunk)
        return 0 if place is None else document.goes_on_to(place)

    def to_end_of_docstring(self, chunk: Chunk) -> Chunk:
        """Return a chunk of code up to the end of a docstring that it breaks off, if that is in the index."""
        document = self.of(chunk.source, chunk.span.path)
        first = last = document.place_of(chunk) if _breaks_off_docstring(chunk) else None
        if first is None or last is None:
            return chunk
        whole = chunk
        while _breaks_off_docstring(whole) and document.goes_on(last):
            last += 1
            longer = document.joined(first, last)
            if longer.span.end_line - longer.span.start_line >= _MAX_DOCSTRING_LINES:
                break
            whole = longer
        return whole

    def from_start_of_comment(self, chunk: Chunk) -> Chunk:
        """Return a chunk of code from the chunk on in which the comment above its definition begins.

        Its docstring is the beginning of that comment. It keeps its own names.
        """
        said = chunk.docstring.partition("\n")[0]
        if not said or said in chunk.text:
            return chunk
        document = self.of(chunk.source, chunk.span.path)
        last = document.place_of(chunk) or 0
        for first in range(last - 1, -1, -1):
            above = document[first]
            is_other = above.defines and not chunk.symbol.startswith(f"{above.symbol}.")
            is_long = chunk.span.end_line - above.span.start_line >= _MAX_COMMENT_LINES
            if is_other or is_long:
                break
            if said in above.text:
                whole = document.joined(first, last)
                return replace(chunk, span=whole.span, text=whole.text)
        return chunk

    def to_end_of_entry(self, chunk: Chunk, settings: Sequence[AskedSetting]) -> Chunk:
        """Return a chunk up to the end of the entry of a setting that it breaks off. It keeps its own names."""
        read = partial(setting_entries, kind=chunk.kind, language=chunk.language)
        said = [each for setting in settings for each in read(chunk.text, setting.name, setting.owners)]
        if all(chunk.text[each.end :].strip() for each in said):
            return chunk
        document = self.of(chunk.source, chunk.span.path)
        first = last = document.place_of(chunk)
        if first is None or last is None:
            return chunk
        part = (chunk.span.start_char, chunk.span.end_char)
        wholes = (each for setting in settings for each in read(document.text, setting.name, setting.owners, part=part))
        end = max((each.end for each in wholes), default=0)
        while document[last].span.end_char < end and document.are_one(last):
            last += 1
        whole = document.joined(first, last)
        return chunk if last == first else replace(chunk, span=whole.span, text=whole.text)


class _Filler:
    """Builds one context."""

    def __init__(self, index: Index, where: Filter, max_tokens: int) -> None:
        self._left = max_tokens
        self._documents = _Documents(index, where)
        # Both in the order of the ranking; slices that are not in the index stay as they are.
        self._members: dict[_Member, RetrievalResult] = {}
        self._slices: list[tuple[int, RetrievalResult]] = []
        self._behind: list[RetrievalResult] = []

    def take(self, results: Sequence[RetrievalResult]) -> bool:
        """Add results as long as they fit, and return whether all did."""
        for position, result in enumerate(results):
            chunk = result.chunk
            place = self._documents.of(chunk.source, chunk.span.path).place_of(chunk)
            member = None if place is None else (chunk.source, chunk.span.path, place)
            if not self._add(member, chunk, result):
                self._behind = list(results[position:])
                return False
        return True

    def complete(self) -> None:
        """Add the rest of definitions and sections, starting with the best results."""
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
        needed = max_chunk_tokens(chunk, is_joined=member is not None and self._joins(member))
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


def _breaks_off_docstring(chunk: Chunk) -> bool:
    return bool(chunk.defines) and any(chunk.text.count(sign) % 2 for sign in ('"""', "'''"))


def _is_part(chunk: Chunk, whole: Chunk) -> bool:
    if (chunk.source, chunk.span.path) != (whole.source, whole.span.path):
        return False
    return whole.span.start_char <= chunk.span.start_char and chunk.span.end_char <= whole.span.end_char


def _runs(document: DocumentChunks, places: Sequence[int]) -> list[list[int]]:
    """Divide places, which rise, into runs of those that can be shown as one."""
    runs = [[places[0]]]
    for before, place in pairwise(places):
        if place == before + 1 and document.are_one(before):
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs
