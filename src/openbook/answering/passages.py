"""Which runs of units can be quoted on their own: sentences of prose, blocks of code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from openbook.answering.context import Shown
from openbook.retrieval.tokens import tokenize
from openbook.spans import sentences
from openbook.types import Unit

# A quote is read at a glance. Longer blocks are offered in pieces of this many lines.
_LONGEST_QUOTE_LINES = 6

# The head of a definition: its signature and what its author says of it.
_LONGEST_HEAD_LINES = 12

# Lines that name a place in a course or a page, and say nothing else.
_TITLE = re.compile(r"\s*(?:#|\*\*Lesson|(?:Lesson|Course)\b[^.!?]{0,40}:)")

# A row of a table or an item of a list says one thing of its own.
_ROW = re.compile(r"\s*(?:\||[-*+]\s|\d{1,3}[.)]\s)")

# Fewer words are a title, a bracket or a list marker, and say nothing alone.
_FEWEST_WORDS = 3


@dataclass(frozen=True, slots=True)
class Passage:
    """Consecutive units of one result."""

    shown: Shown
    first: Unit
    last: Unit
    is_head: bool = False
    """It is the head of a definition: signature and summary."""

    @property
    def text(self) -> str:
        """Exact slice of the document from the first to the last unit."""
        base = self.shown.result.chunk.span.start_char
        return self.shown.result.chunk.text[self.first.span.start_char - base : self.last.span.end_char - base]


def passages_of(shown: Shown) -> list[Passage]:
    """List what can be quoted of a result, in order, distinct, possibly overlapping."""
    prose = shown.is_prose
    found: dict[tuple[int, int], Passage] = {}
    head = _head(shown)
    if head:
        found[head.first.number, head.last.number] = head
    for paragraph in _paragraphs(shown.units, prose=prose):
        for first, last in _sentences(shown, paragraph) if prose else _blocks(paragraph):
            passage = Passage(shown, first, last)
            inside_head = head is not None and passage.last.number <= head.last.number
            if not inside_head and _count_words(passage.text) >= _FEWEST_WORDS and not _is_title(passage, prose):
                found.setdefault((first.number, last.number), passage)
    return list(found.values())


def _count_words(text: str) -> int:
    # Chinese has no spaces between words, so that a whole sentence would be one.
    return len(text.split() if text.isascii() else tokenize(text))


def _head(shown: Shown) -> Passage | None:
    """Give the definition that a chunk opens with, up to the end of its signature and summary."""
    chunk = shown.result.chunk
    if not chunk.signature or not shown.units:
        return None
    summary = chunk.docstring.partition("\n")[0]
    ends = [start + len(part) for part in (chunk.signature, summary) if part and (start := chunk.text.find(part)) >= 0]
    if not ends:
        return None
    end = chunk.span.start_char + max(ends)
    units = [unit for unit in shown.units if unit.span.start_char < end]
    if len(units) > _LONGEST_HEAD_LINES:
        return None
    return Passage(shown, units[0], units[-1], is_head=True)


def _is_title(passage: Passage, prose: bool) -> bool:
    return prose and passage.first is passage.last and _TITLE.match(passage.text) is not None


def _paragraphs(units: Sequence[Unit], *, prose: bool) -> Iterator[list[Unit]]:
    """Cut at blank lines and, in prose, at titles and before each row of a table or item of a list."""
    paragraph: list[Unit] = []
    for unit in units:
        if paragraph:
            before = paragraph[-1]
            follows = unit.span.start_line == before.span.end_line + 1
            new = prose and (_TITLE.match(unit.text) or _TITLE.match(before.text) or _ROW.match(unit.text))
            if not follows or new:
                yield paragraph
                paragraph = []
        paragraph.append(unit)
    if paragraph:
        yield paragraph


def _blocks(paragraph: Sequence[Unit]) -> Iterator[tuple[Unit, Unit]]:
    for start in range(0, len(paragraph), _LONGEST_QUOTE_LINES):
        piece = paragraph[start : start + _LONGEST_QUOTE_LINES]
        yield piece[0], piece[-1]


def _sentences(shown: Shown, paragraph: Sequence[Unit]) -> Iterator[tuple[Unit, Unit]]:
    """Cover each sentence with whole units; a sentence that runs too long is offered in blocks."""
    base = shown.result.chunk.span.start_char
    start, end = paragraph[0].span.start_char - base, paragraph[-1].span.end_char - base
    for a, b in sentences(shown.result.chunk.text, start, end):
        covering = [unit for unit in paragraph if unit.span.start_char - base < b and unit.span.end_char - base > a]
        if covering:
            yield from _blocks(covering)
