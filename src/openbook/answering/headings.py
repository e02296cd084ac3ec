"""Headings inside of a chunk, which holds several short sections."""

from __future__ import annotations

import re
from itertools import takewhile

from openbook.types import Chunk

# Headings of Markdown, and of reStructuredText, whose underline is no shorter than three.
HEADING = re.compile(r"^(?:#{1,6}[ \t]+\S.*|\S.*(?=\r?\n([=\-~^\"'`#*+.:_])\1{2,}[ \t]*\r?$))", re.MULTILINE)


def heading_over(chunk: Chunk, at: int) -> str:
    """Return the headings over a place in a chunk, outermost first, in one string."""
    found = list(HEADING.finditer(chunk.text, 0, at))
    if not found:
        return " / ".join(chunk.context)
    first = found[0].group().strip("# \t\r")
    # Of the headings of a chunk that begins with one, those before it are over all of it.
    outer = chunk.context[: chunk.context.index(first)] if first in chunk.context else ()
    inner: list[tuple[str, str]] = []
    for each in found:
        mark = each[1] or re.match("#*", each.group())[0]  # type: ignore[index]
        # A mark of reStructuredText that was there before closes what stands below it; so does one "#" what has two.
        inner = list(takewhile(lambda above, mark=mark: above[0] != mark and not above[0].startswith(mark), inner))  # type: ignore[misc]
        inner.append((mark, each.group()))
    return " / ".join([*outer, *(title for _, title in inner)])
