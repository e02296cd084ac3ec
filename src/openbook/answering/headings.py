"""Headings inside of a chunk, which holds several short sections."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from openbook.types import Chunk

# Headings of Markdown, and of reStructuredText, whose underline is no shorter than three.
HEADING = re.compile(r"^(?:#{1,6}[ \t]+\S.*|\S.*(?=\r?\n([=\-~^\"'`#*+.:_])\1{2,}[ \t]*\r?$))", re.MULTILINE)


def heading_over(chunk: Chunk, at: int) -> str:
    """Return the headings over a place in a chunk, outermost first, in one string."""
    found = [heading for heading in _headings(chunk.text) if heading.end <= at]
    if not found:
        return " / ".join(chunk.context)
    first = found[0].title.strip("# \t\r")
    # Of the headings of a chunk that begins with one, those before it are over all of it.
    outer = chunk.context[: chunk.context.index(first)] if first in chunk.context else ()
    inner: list[tuple[str, str]] = []
    for _, mark, title in found:
        # A mark of reStructuredText that was there before closes what stands below it; so does one "#" what has two.
        inner = list(takewhile(lambda above, mark=mark: above[0] != mark and not above[0].startswith(mark), inner))  # type: ignore[misc]
        inner.append((mark, title))
    return " / ".join([*outer, *(title for _, title in inner)])


class _Heading(NamedTuple):
    end: int
    mark: str
    """The signs before it, or one of those below it."""
    title: str


# The passages of a chunk ask one after the other.
@lru_cache(maxsize=64)
def _headings(text: str) -> tuple[_Heading, ...]:
    return tuple(
        _Heading(found.end(), found[1] or found[0][: len(found[0]) - len(found[0].lstrip("#"))], found[0])
        for found in HEADING.finditer(text)
    )
