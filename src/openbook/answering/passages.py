"""Which runs of units can be quoted on their own: sentences of prose, blocks of code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
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
_TITLE = re.compile(r"\s*(?:#{1,6}\s|(?:#{1,6}\s+|\*\*)?Lesson\s+(?:\d+|Link)\s*:)")

# A row of a table or an item of a list says one thing of its own, and what follows may belong to it.
_ROW = re.compile(r"\s*(?:\||[-*+]\s|\d{1,3}[.)]\s)")

# The line between the head of a table, which only names the columns, and its rows.
_TABLE_RULE = re.compile(r"\s*\|[\s|:-]+")

# A line in the header of a course says one thing too, and nothing belongs to it.
_FACT = re.compile(r"\s*Course (?:Title|Link|Instructor)\s*:")

# What stands before a name where it is defined, in the languages that have grammars.
_KEYWORD = re.compile(
    r"\b(?:def|defp|defmodule|defmacro|class|func|fn|fun|function|interface|struct|enum|trait|type|const|let|var|val|"
    r"object|module|protocol|record|union|macro_rules!|public|private|protected|static|void|int|bool|char|double)\b"
)
_BORDER = re.compile(r"\b")

# What opens a line that sets, types or calls a name, and what stands behind the name there.
_BLANKS = re.compile(r"\s*")
_OWNER = re.compile(r"\w+\.")
_IS_SET = re.compile(r"\s*[=:(]")

_COMMENT = re.compile(r"\s*(?://|/\*|\*|#|--|;|@|\[)")

# Fewer words are a title, a bracket or a list marker, and say nothing alone.
_FEWEST_WORDS = 3


@dataclass(frozen=True, slots=True)
class Passage:
    """Consecutive units of one result."""

    shown: Shown
    first: Unit
    last: Unit
    defines: str = ""
    """Name that a head defines; empty for what is no head."""
    is_head: bool = False
    """It is the head of a definition: signature and summary."""

    @property
    def text(self) -> str:
        """Exact slice of the document from the first to the last unit."""
        base = self.shown.result.chunk.span.start_char
        return self.shown.result.chunk.text[self.first.span.start_char - base : self.last.span.end_char - base]


def passages_of(shown: Shown) -> list[Passage]:
    """List what can be quoted of a result, in order, distinct, possibly overlapping."""
    return _of_prose(shown) if shown.is_prose else _of_code(shown)


def _of_prose(shown: Shown) -> list[Passage]:
    found: dict[tuple[int, int], Passage] = {}
    before: list[Unit] = []
    for paragraph in _paragraphs(shown.units, _opens_prose):
        if len(paragraph) == 1 and _TABLE_RULE.fullmatch(paragraph[0].text):
            if before and before[-1].span.end_line + 1 == paragraph[0].span.start_line:
                found.pop((before[0].number, before[-1].number), None)
            continue
        short = _count_words(Passage(shown, paragraph[0], paragraph[-1]).text) < _FEWEST_WORDS
        if short:
            # "8080" answers "What is the default port?" together with the heading that asks it.
            opening = before[-_LONGEST_QUOTE_LINES:] or paragraph
            ranges = [(opening[0], paragraph[-1])] if before or len(paragraph) == len(shown.units) else []
        else:
            ranges = list(_sentences(shown, paragraph))
        for first, last in ranges:
            passage = Passage(shown, first, last)
            if short or (_count_words(passage.text) >= _FEWEST_WORDS and not _TITLE.match(passage.text)):
                found.setdefault((first.number, last.number), passage)
        before = paragraph
    return [found[place] for place in sorted(found)]


def _of_code(shown: Shown) -> list[Passage]:
    heads = _heads(shown)
    found = {(head.first.number, head.last.number): head for head in heads}
    inside = {number for head in heads for number in range(head.first.number, head.last.number + 1)}
    starts = {head.first.number for head in heads}
    for paragraph in _paragraphs(shown.units, lambda _, unit: unit.number in starts):
        rest = [unit for unit in paragraph if unit.number not in inside]
        for first, last in _blocks(rest):
            passage = Passage(shown, first, last)
            if _count_words(passage.text) >= _FEWEST_WORDS:
                found.setdefault((first.number, last.number), passage)
    return [found[place] for place in sorted(found)]


def _count_words(text: str) -> int:
    # Chinese has no spaces between words, so that a whole sentence would be one.
    return len(text.split() if text.isascii() else tokenize(text))


def _heads(shown: Shown) -> list[Passage]:
    """Give the heads of the definitions in a chunk, the one that it opens with first."""
    opening = _head(shown)
    heads = [opening] if opening else []
    for name in shown.result.chunk.defines:
        position = next((i for i, unit in enumerate(shown.units) if _defines(unit.text, name)), -1)
        if position >= 0 and not any(
            head.first.number <= shown.units[position].number <= head.last.number for head in heads
        ):
            first = shown.units[_start_of_comment(shown.units, position)]
            last = shown.units[_end_of_signature(shown.units, position)]
            heads.append(Passage(shown, first, last, defines=name, is_head=True))
    return heads


def _defines(line: str, name: str) -> bool:
    """Say whether a line defines a name: it stands behind a keyword, or opens the line and is set, typed or called."""
    # By hand: a pattern for each name of each chunk took half of the time of an answer.
    place = line.find(name)
    if place < 0:
        return False
    keyword = _KEYWORD.search(line)
    while keyword and place >= 0:
        borders = _BORDER.match(line, place), _BORDER.match(line, place + len(name))
        if place >= keyword.end() and all(borders):
            return True
        place = line.find(name, place + 1)
    blanks = _BLANKS.match(line)
    start = blanks.end() if blanks else 0
    owner = _OWNER.match(line, start)
    starts = (start, owner.end()) if owner else (start,)
    return any(line.startswith(name, at) and _IS_SET.match(line, at + len(name)) for at in starts)


def _start_of_comment(units: Sequence[Unit], position: int) -> int:
    """Find the first line of the comments and decorators that stand directly above a definition."""
    start = position
    while start > max(0, position - _LONGEST_QUOTE_LINES):
        above, below = units[start - 1], units[start]
        if above.span.end_line + 1 != below.span.start_line or not _COMMENT.match(above.text):
            break
        start -= 1
    return start


def _end_of_signature(units: Sequence[Unit], position: int) -> int:
    """Find the last line of a signature, and of the line that a docstring opens with."""
    end, depth = position, 0
    for end in range(position, min(position + _LONGEST_QUOTE_LINES, len(units))):
        depth += units[end].text.count("(") - units[end].text.count(")")
        if depth <= 0:
            break
    if end + 1 < len(units) and units[end + 1].text.lstrip(" \trbu").startswith(('"""', "'''")):
        end += 1
    return end


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
    opening = chunk.span.start_char + max(chunk.text.find(chunk.signature), 0)
    position = next((i for i, unit in enumerate(shown.units) if unit.span.end_char > opening), 0)
    units = [unit for unit in shown.units[_start_of_comment(shown.units, position) :] if unit.span.start_char < end]
    if len(units) > _LONGEST_HEAD_LINES:
        return None
    return Passage(shown, units[0], units[-1], defines=chunk.symbol.rpartition(".")[2], is_head=True)


def _opens_prose(before: Unit, unit: Unit) -> bool:
    alone = any(pattern.match(other.text) for pattern in (_TITLE, _FACT) for other in (before, unit))
    return alone or _ROW.match(unit.text) is not None


def _paragraphs(units: Sequence[Unit], opens: Callable[[Unit, Unit], bool]) -> Iterator[list[Unit]]:
    """Cut at blank lines, and between two units where the second one `opens` something new."""
    paragraph: list[Unit] = []
    for unit in units:
        if paragraph:
            before = paragraph[-1]
            if unit.span.start_line != before.span.end_line + 1 or opens(before, unit):
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


def overlap(a: Passage, b: Passage) -> bool:
    """Say whether two passages share characters of a document."""
    # Compared in the document: course chunks overlap, so one sentence can be shown twice.
    if (a.shown.result.chunk.source, a.first.span.path) != (b.shown.result.chunk.source, b.first.span.path):
        return False
    return a.first.span.start_char < b.last.span.end_char and b.first.span.start_char < a.last.span.end_char


def joins(before: Passage, after: Passage) -> bool:
    """Say whether one passage follows another in the same paragraph."""
    follows = before.shown is after.shown and before.last.number + 1 == after.first.number
    return follows and before.last.span.end_line + 1 >= after.first.span.start_line
