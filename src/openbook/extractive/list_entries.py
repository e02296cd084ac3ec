"""Definition lists in results: options, settings and terms with their descriptions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from openbook.entries import (
    END_OF_HEADING,
    described_objects,
    entry_heads,
    first_cell,
    indent_of,
    names_of,
    object_name,
)
from openbook.extractive.context import ContextItem, units_of
from openbook.types import Chunk, Unit

# Cached chunks: a search reads the entries of ten results once per passage.
_CACHED_CHUNKS = 64


@dataclass(frozen=True, slots=True)
class ListEntry:
    """One or several heads with a description. Positions are inclusive indexes of units."""

    first: int
    head: int
    """The last line of the head."""
    last: int
    name: str
    """The text of the head."""
    names: tuple[str, ...]
    """The names that a question may use."""
    is_row: bool = False
    """It is a row of a table, named by its first cell."""


def entries_in(shown: ContextItem) -> Sequence[ListEntry]:
    """Return the entries that begin in a result, in order; none for code."""
    return _entries(shown.result.chunk) if shown.is_prose else ()


def entry_at(shown: ContextItem, position: int) -> ListEntry | None:
    """Return the entry of a unit, if any."""
    return next((each for each in entries_in(shown) if each.first <= position <= each.last), None)


@lru_cache(maxsize=_CACHED_CHUNKS)
def _entries(chunk: Chunk) -> tuple[ListEntry, ...]:
    return tuple(_found(chunk, units_of(chunk)))


def _found(chunk: Chunk, every: Sequence[Unit]) -> Iterator[ListEntry]:
    base = chunk.span.start_char
    starts = {start for start, _ in entry_heads(chunk.text, chunk.language)}
    if chunk.language == "rst":
        starts.update(described_objects(chunk.text))
    heads = [place for place, unit in enumerate(every) if unit.span.start_char - base in starts]
    place = 0
    while place < len(heads):
        first = head = heads[place]
        while place + 1 < len(heads) and heads[place + 1] == head + 1:
            place, head = place + 1, head + 1
        place += 1
        behind = heads[place] if place < len(heads) else len(every)
        last = _last(chunk, every, head, behind)
        said = [object_name(first_cell(unit.text.strip())) for unit in every[first : head + 1]]
        names = tuple(name for each in said for name in names_of(each))
        is_row = every[first].text.startswith("|")
        yield ListEntry(first, head, last, " ".join(said), names, is_row)


def _last(chunk: Chunk, every: Sequence[Unit], head: int, behind: int) -> int:
    """Return the last unit of an entry: before the next one that is not indented deeper than the head, or a heading."""
    is_deeper = head + 1 < behind and indent_of(every[head + 1].text) > indent_of(every[head].text)
    for place in range(head + 1, behind):
        if is_heading(chunk, every[place]) or (
            is_deeper and indent_of(every[place].text) <= indent_of(every[head].text)
        ):
            return place - 1
    return behind - 1


def is_heading(chunk: Chunk, unit: Unit) -> bool:
    """Return whether a reader has marked a line as a heading."""
    return chunk.text.startswith(END_OF_HEADING, unit.span.end_char - chunk.span.start_char)
