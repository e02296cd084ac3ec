"""Finds the headings above a place in a chunk of prose."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple, get_args

from openbook.containers import (
    HEADING,
    OPENS_BODY,
    html_headings,
    is_title_of,
    questions_in,
    section_title,
    without_pictures,
)
from openbook.entries import END_OF_HEADING, indent_of
from openbook.extractive.context import units_of
from openbook.extractive.displaying import examples_of, indented_code
from openbook.extractive.unshown import unshown
from openbook.grounding.readable import readable
from openbook.sources.formats import SingleFormat
from openbook.sources.front_matter import FRONT_MATTER
from openbook.types import Chunk

# Those of Markdown. A line of `:::` or of backticks below a text ends its box, or opens an example.
_UNDERLINES = "=-"

# Languages whose readers mark headings, or tell where they are.
_WITHOUT_SIGNS = frozenset((*get_args(SingleFormat), "html"))

# Those behind a heading that a reader has marked: one more than its level.
_MAX_FEEDS = 7

# A heading in a body of MkDocs, or what may open such a body.
_IN_BODY = re.compile(rf"^[ \t]+#{{1,6}}[ \t]+\S.*|{OPENS_BODY.pattern}", re.MULTILINE)
_BODY_COLUMNS = 4
_OPENS_SECTION = "==="

# The mark of a question in bold or with a label, which opens its answer.
_ASKS = "?"

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
    """The signs before it, as many as its level if a reader has marked it; or the character of its underline, twice if
    it has a line above as well; or a question mark if it is only a question."""
    title: str
    """Its visible text."""
    depth: int = 0
    """The number of bodies that it is in, as those of tabs."""
    until: int = sys.maxsize
    """Where the body ends that it opens or is in."""

    def is_below(self, other: ChunkHeading) -> bool:
        """Return whether it can stand in the section of one above: a repeated underline closes the deeper ones."""
        if _ASKS in (self.mark, other.mark):
            return other.mark != _ASKS
        if self.depth != other.depth:
            return other.depth < self.depth
        if _OPENS_SECTION in (self.mark, other.mark):
            return True  # a tab that does not go on has ended
        return len(other.mark) < len(self.mark) if self.mark.startswith("#") else other.mark != self.mark


@lru_cache(maxsize=_CACHED_CHUNKS)
def headings_in(chunk: Chunk) -> tuple[ChunkHeading, ...]:
    """Return the headings in a chunk of prose in order; lines of comments are none, nor those of examples.

    The questions of a FAQ are headings, also if they are only in bold or have a label.
    """
    front = FRONT_MATTER.match(chunk.text) if chunk.span.start_char == 0 else None
    found = [
        _heading(chunk.text, each)
        for each in HEADING.finditer(chunk.text, front.end() if front else 0)
        if _tells_of_heading(chunk, each)
    ]
    found += [ChunkHeading(start, end, _ASKS, title) for start, end, title in questions_in(chunk.text)]
    found += _headings_in_html(chunk.text) if chunk.language == "markdown" else []
    found += [_heading_in_body(chunk.text, each) for each in _lines_of_bodies(chunk) if _is_titled(each[0])]
    found = [each for each in found if not _is_in_example(chunk, each.start)]
    hidden = _ranges_unshown(chunk) if found else []
    return tuple(sorted(each for each in found if not any(start <= each.start < end for start, end in hidden)))


def _headings_in_html(text: str) -> Iterator[ChunkHeading]:
    for start, end, level, title in html_headings(text):
        yield ChunkHeading(start, end, "#" * level, " ".join(readable(without_pictures(title)).split()))


def _tells_of_heading(chunk: Chunk, found: re.Match[str]) -> bool:
    """Return whether the signs of a heading are those of the language; `#` heads a column in the table of a PDF."""
    if chunk.language in _WITHOUT_SIGNS:
        return chunk.text.startswith(END_OF_HEADING, found.end())
    return chunk.language != "markdown" or (found[1] or "=") in _UNDERLINES


@lru_cache(maxsize=_CACHED_CHUNKS)
def lines_of_questions(chunk: Chunk) -> frozenset[int]:
    """Return the numbers of the lines in a document that are nothing but questions of a FAQ."""
    found: set[int] = set()
    for each in headings_in(chunk):
        behind = (chunk.text.find("\n", each.end) + 1 or len(chunk.text) + 1) - 1
        if each.mark == _ASKS and not chunk.text[each.end : behind].strip("*_ \t\r"):
            first, last = (chunk.span.start_line + chunk.text.count("\n", 0, at) for at in (each.start, each.end))
            found.update(range(first, last + 1))
    return frozenset(found)


@lru_cache(maxsize=_CACHED_CHUNKS)
def ends_of_bodies(chunk: Chunk) -> tuple[int, ...]:
    """Return the offsets in a chunk of Markdown where bodies of admonitions and tabs end."""
    opened = [(each.start(), indent_of(each[0]) + 1) for each in _lines_of_bodies(chunk) if each["box"]]
    if chunk.language == "markdown" and (columns := indent_of(chunk.text)) >= _BODY_COLUMNS:
        opened.append((0, columns))  # it begins in a body
    ends = (_end_of_body(chunk.text, start, columns) for start, columns in opened)
    return tuple(end for end in ends if end < len(chunk.text))


def _lines_of_bodies(chunk: Chunk) -> list[re.Match[str]]:
    """Find the lines of Markdown that open bodies, and the headings in these."""
    found = list(_IN_BODY.finditer(chunk.text)) if chunk.language == "markdown" else []
    if not found:
        return []
    code = indented_code(chunk)
    lines = ((each, chunk.span.start_line + chunk.text.count("\n", 0, each.start())) for each in found)
    return [each for each, line in lines if line not in code and not _is_in_example(chunk, each.start())]


def _is_titled(line: str) -> bool:
    return line.lstrip().startswith("#") or bool(section_title(line))


def _is_in_example(chunk: Chunk, at: int) -> bool:
    return any(start <= at < end for start, end in _ranges_of_examples(chunk))


def _ranges_unshown(chunk: Chunk) -> list[tuple[int, int]]:
    base, numbers = chunk.span.start_char, unshown(chunk)
    hidden = (unit.span for unit in units_of(chunk) if unit.number in numbers)
    return [(span.start_char - base, span.end_char - base) for span in hidden]


@lru_cache(maxsize=_CACHED_CHUNKS)
def _ranges_of_examples(chunk: Chunk) -> tuple[tuple[int, int], ...]:
    every, base = units_of(chunk), chunk.span.start_char
    found = examples_of(chunk, every) if every else ()
    ends = ((every[max(0, each.opening)], every[min(each.closing, len(every) - 1)]) for each in found)
    return tuple((first.span.start_char - base, last.span.end_char - base) for first, last in ends)


def _heading_in_body(text: str, found: re.Match[str]) -> ChunkHeading:
    heading, columns = _heading(text, found, section_title(found[0])), indent_of(found[0])
    is_section = not found[0].lstrip().startswith("#")
    return heading._replace(
        mark=_OPENS_SECTION if is_section else heading.mark,
        depth=columns // _BODY_COLUMNS,
        until=_end_of_body(text, found.start(), columns + is_section),
    )


def _end_of_body(text: str, start: int, columns: int) -> int:
    """Return the offset of the first line below a place that is indented less; the length of the text if none is."""
    at = text.find("\n", start) + 1
    while 0 < at < len(text):
        behind = text.find("\n", at) + 1 or len(text)
        if text[at:behind].strip() and indent_of(text[at:behind]) < columns:
            return at
        at = behind
    return len(text)


def _heading(text: str, found: re.Match[str], title: str = "") -> ChunkHeading:
    line = found[0].lstrip(" \t")
    feeds = text[found.end() : found.end() + _MAX_FEEDS]
    signs = line[: len(line) - len(line.lstrip("#"))] or "#" * (len(feeds) - len(feeds.lstrip("\f")) - 1)
    above = text[: found.start()].rpartition("\n")[0].rpartition("\n")[2].strip()
    underline = found[1] if found.re is HEADING else None
    is_overlined = underline is not None and len(above) > 1 and above == underline * len(above)
    mark = underline * (1 + is_overlined) if underline else signs
    title = _SIGNS.sub(r"\1", readable(without_pictures(_ATTRIBUTES.sub("", title or line)))).lstrip("# \t").rstrip()
    # A closing row of signs is apart from the title, other than that of `copy#`.
    bare = title.rstrip("#")
    title = bare.rstrip() if not bare or bare[-1].isspace() else title
    return ChunkHeading(found.start(), found.end(), mark, " ".join(title.split()))


def headings_over(chunk: Chunk, at: int) -> tuple[str, ...]:
    """Return the headings above an offset of a chunk, outermost first: those above all of it, then those in it."""
    inner: list[ChunkHeading] = []
    for heading in headings_in(chunk):
        if heading.end > at:
            break
        inner = [*takewhile(heading.is_below, inner), heading]
    titles = dict.fromkeys(heading.title for heading in inner if heading.until > at)
    lesson = chunk.lesson
    known = {*chunk.context, *(title for title in titles if lesson is not None and is_title_of(title, lesson))}
    return (*chunk.context, *(title for title in titles if title not in known))
