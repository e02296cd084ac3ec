"""Splits results of prose into paragraphs, rows and items."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from openbook.containers import section_title
from openbook.entries import BAR_OF_ROW
from openbook.extractive.context import ContextItem
from openbook.extractive.headings import lines_of_questions
from openbook.extractive.list_entries import entries_in, is_heading
from openbook.types import Chunk, Unit

# Titles of lessons and pages.
TITLE = re.compile(r"\s*(?:#{1,6}\s|(?:#{1,6}\s+|\*\*)?Lesson\s+(?:\d+|Link)\s*:)")

# Table rows and list items, which may have continuation lines.
_ROW = re.compile(rf"\s*(?:{BAR_OF_ROW}|(?:[-*+•]|(?:\d{{1,3}}|#)[.)])(?:\s|$))")
# An option with its description in a second column, as in the help of a program.
_OPTION_ROW = re.compile(r"\s*-{1,2}\w[^\n]{0,80}?\S\s{2,}[^\s-]")

# A field in the header of a course, which has no continuation lines.
COURSE_FACT = re.compile(r"\s*Course (?:Title|Link|Instructor)\s*:")


def is_row(text: str) -> bool:
    """Return whether a text begins with a table row or a list item."""
    return _ROW.match(text) is not None or _OPTION_ROW.match(text) is not None


def is_table_rule(text: str) -> bool:
    """Return whether a text is the delimiter row of a Markdown table, between header and rows."""
    return text.lstrip().startswith("|") and not text.strip(" \t|:-")


def has_paragraphs(chunk: Chunk) -> bool:
    """Return whether a result is documentation in paragraphs; pages of HTML have parts of their own."""
    return chunk.kind == "docs" and chunk.language != "html"


def paragraphs_in(shown: ContextItem, units: Sequence[Unit]) -> Iterator[list[Unit]]:
    """Split some units of a result into its paragraphs."""
    opens = _openings(shown)
    paragraph: list[Unit] = []
    for unit in units:
        if paragraph and opens(paragraph[-1], unit):
            yield paragraph
            paragraph = []
        paragraph.append(unit)
    if paragraph:
        yield paragraph


def _openings(shown: ContextItem) -> Callable[[Unit, Unit], bool]:
    """Return a predicate for whether a unit begins a new paragraph: after blank lines, at headings, and at list items.

    The head of a list entry and its body are one paragraph, and all cells of a row.
    """
    entries = entries_in(shown)
    begin = {each.first for each in entries} | {each.last + 1 for each in entries}
    cells = {place for each in entries if each.is_row for place in range(each.first + 1, each.last + 1)}
    bodies = {each.head + 1 for each in entries if each.head < each.last}
    asked = lines_of_questions(shown.result.chunk)

    def opens(before: Unit, unit: Unit) -> bool:
        if unit.number - 1 in begin:
            return True
        if unit.number - 1 in cells:
            return False
        if any(_is_alone(shown.result.chunk, each) for each in (before, unit)):
            return True
        if (before.span.start_line in asked) != (unit.span.start_line in asked):
            return True
        if unit.number - 1 in bodies:
            return is_row(unit.text)
        return unit.span.start_line != before.span.end_line + 1 or is_row(unit.text)

    return opens


def _is_alone(chunk: Chunk, unit: Unit) -> bool:
    if section_title(unit.text):
        return True
    return is_heading(chunk, unit) or any(pattern.match(unit.text) for pattern in (TITLE, COURSE_FACT))
