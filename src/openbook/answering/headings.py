"""Finds the headings above a place in a chunk of prose."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from openbook.answering.context import units_of
from openbook.answering.displaying import examples_of
from openbook.grounding.readable import readable
from openbook.sources.front_matter import FRONT_MATTER
from openbook.types import Chunk

# Headings of Markdown; of reStructuredText, with an underline of at least three; and those marked by a reader.
HEADING = re.compile(
    r"^(?:#{1,6}[ \t]+\S.*|\S.*(?=\r?\n([=\-~^\"'`#*+.:_])\1{2,}[ \t]*\r?$)|[^\n\f]*\S(?=\f\f))", re.MULTILINE
)

# Attributes of a heading, as `{#id}`, and the signs of its markup.
_ATTRIBUTES = re.compile(r"\s*\{[#.:][^{}\n]*\}\s*$")
_SIGNS = re.compile(r"`+|\*\*|(?<![\w*])\*(\w[^*\n]*)\*(?![\w*])|:[\w+:-]+:(?=`)")

# Consecutive passages are of the same chunk.
_CACHED_CHUNKS = 64


class ChunkHeading(NamedTuple):
    """A heading in a chunk."""

    start: int
    """Offset in the chunk."""
    end: int
    mark: str
    """The signs before it, or the character of its underline, twice if it has a line above as well."""
    title: str
    """Its visible text."""

    def is_below(self, other: ChunkHeading) -> bool:
        """Return whether it can stand in the section of one above: a repeated underline closes the deeper ones."""
        return len(other.mark) < len(self.mark) if self.mark.startswith("#") else other.mark != self.mark


@lru_cache(maxsize=_CACHED_CHUNKS)
def headings_in(chunk: Chunk) -> tuple[ChunkHeading, ...]:
    """Return the headings in a chunk of prose in order; comments in examples are none."""
    front = FRONT_MATTER.match(chunk.text) if chunk.span.start_char == 0 else None
    found = [_heading(chunk.text, each) for each in HEADING.finditer(chunk.text, front.end() if front else 0)]
    if not found:
        return ()
    every, before = units_of(chunk), chunk.span.start_char
    examples = [
        (every[max(0, each.opening)].span.start_char, every[min(each.closing, len(every) - 1)].span.end_char)
        for each in examples_of(every, chunk.language)
    ]
    return tuple(each for each in found if not any(a <= each.start + before < b for a, b in examples))


def _heading(text: str, found: re.Match[str]) -> ChunkHeading:
    signs = found[0][: len(found[0]) - len(found[0].lstrip("#"))]
    above = text[: found.start()].rpartition("\n")[0].rpartition("\n")[2].strip()
    is_overlined = found[1] is not None and len(above) > 1 and above == found[1] * len(above)
    mark = found[1] * (1 + is_overlined) if found[1] else signs
    title = _SIGNS.sub(r"\1", readable(_ATTRIBUTES.sub("", found[0]))).strip("# \t\r")
    return ChunkHeading(found.start(), found.end(), mark, " ".join(title.split()))


def headings_over(chunk: Chunk, at: int) -> tuple[str, ...]:
    """Return the headings above an offset of a chunk, outermost first: those above all of it, then those in it."""
    inner: list[ChunkHeading] = []
    for heading in headings_in(chunk):
        if heading.end > at:
            break
        inner = [*takewhile(heading.is_below, inner), heading]
    return (*chunk.context, *(heading.title for heading in inner if heading.title not in chunk.context))
