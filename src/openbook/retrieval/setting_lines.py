"""The lines around one that names a setting: its comment above, its block below, and the lines that enclose it."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from openbook.entries import SECTION
from openbook.retrieval.setting_patterns import (
    ATTRIBUTE,
    COMMENT,
    GOES_ON,
    MARGIN,
    PARENT,
    SENTENCE_END,
    UNDERLINE,
)
from openbook.text import indentation
from openbook.types import Kind

# Longer comments and values are cut. The longest in `benchmarks/cases/dotted_questions.jsonl` has 16 lines.
MAX_COMMENT_LINES, MAX_VALUE_LINES = 16, 8
# Search range for the enclosing keys of a line.
_MAX_LINES_ABOVE = 10_000
_MAX_LINE_CHARS = 1_500  # longer lines are data, and count as blank
_MAX_ATTRIBUTE_LINES = 12  # longer attributes are not read


class SettingLines:
    """The lines of a text, and what belongs to each."""

    def __init__(self, text: str, kind: Kind) -> None:
        self._is_prose, self._is_code, self._has_sections = kind == "docs", kind == "code", kind == "config"
        every = text.split("\n")
        self._lines = [line if len(line) <= _MAX_LINE_CHARS else "" for line in every]
        self._starts = [0, *accumulate(len(line) + 1 for line in every)]

    def place_of(self, offset: int) -> int:
        """Return the number of the line of a character, from 0."""
        return bisect_right(self._starts, offset) - 1

    def _over(self, place: int, *, is_key: bool) -> tuple[tuple[str, ...], list[str], bool]:
        """Return the enclosing keys of a line, outermost first, its enclosing lines, and whether there may be more."""
        parents: list[str] = []
        over: list[str] = []
        indent = indentation(self._lines[place])
        for at in range(place - 1, max(place - _MAX_LINES_ABOVE, 0) - 1, -1):
            line = self._lines[at]
            if is_key and (section := SECTION.match(line)):
                return (section["name"].strip(), *parents), [*over, line], False
            if self._is_prose and line.startswith("##"):
                over.append(line)
                break
            if line.strip() and indentation(line) < indent and not COMMENT.match(line):
                over.append(line)
                indent = indentation(line)
                if parent := PARENT.match(line):
                    parents.insert(0, parent["name"])
            if not (indent or self._has_sections):
                break
        # Lines without indentation have no enclosing key, except in files with sections.
        return tuple(parents), over, indent > 0 or self._has_sections

    def _start_of_attributes(self, place: int) -> int:
        """Return the first line of the attributes or annotations directly above a field, which may have several."""
        first, indent = place, indentation(self._lines[place])
        for at in range(place - 1, max(place - _MAX_ATTRIBUTE_LINES, 0) - 1, -1):
            line = self._lines[at]
            if indentation(line) == indent and ATTRIBUTE.match(line):
                first = at
            elif indentation(line) <= indent and line.strip()[:1] not in (")", "]", "}"):
                break
        return first

    def _start_of_comment(self, place: int) -> int:
        """Return the first line of the comment directly above a key."""
        first, indent = place, indentation(self._lines[place])
        while first and place - first < MAX_COMMENT_LINES:
            above = self._lines[first - 1]
            # The stars of a block comment are indented by one more column.
            if not COMMENT.match(above) or abs(indentation(above) - indent) > 1:
                break
            first -= 1
        if place - first == MAX_COMMENT_LINES:  # perhaps cut: begin with a paragraph
            blank = (at for at in range(first, place) if not self._lines[at].strip(" \t#/;*"))
            first = next(blank, first - 1) + 1
        return first

    def _end_of_block(self, place: int, most: int = MAX_VALUE_LINES, *, with_paragraphs: bool = False) -> int:
        """Return the last line of the block indented below a line, also within a comment, with its closing bracket.

        `most` limits its lines; `with_paragraphs` goes on over blank lines.
        """
        last, is_comment = place, COMMENT.match(self._lines[place]) is not None
        margin = _column(self._lines[place], is_comment=is_comment)
        for at, below in enumerate(self._lines[place + 1 : place + most], place + 1):
            column = _column(below, is_comment=is_comment)
            if column < 0 and with_paragraphs:
                continue
            if column <= margin:
                return at if last > place and column == margin and below.strip()[:1] in ("}", "]", ")") else last
            last = at
        return last

    def _end_of_item(self, place: int) -> int:
        """Return the last line of an item of prose, whose text may go on at the margin, as in AsciiDoc."""
        last = self._end_of_block(place)
        for at in range(last + 1, min(place + MAX_VALUE_LINES, len(self._lines))):
            if not GOES_ON.match(self._lines[at]) or self._is_heading(at):
                break
            last = at
        return last

    def _is_in_sentence(self, place: int) -> bool:
        """Return whether a line of a comment belongs to a sentence of the line above or below it."""
        line, above, below = (self._comment_at(at) for at in (place, place - 1, place + 1))
        is_begun = line[:1].isspace() and bool(above.strip()) and not SENTENCE_END.search(above)
        return is_begun or (below[:1].isspace() and below.lstrip()[:1].islower())

    def _comment_at(self, place: int) -> str:
        """Return the text of a comment after its sign; empty for other lines."""
        line = self._lines[place] if 0 <= place < len(self._lines) else ""
        return line.lstrip().lstrip("#;") if COMMENT.match(line) else ""

    def _is_heading(self, place: int) -> bool:
        line, below = (*self._lines[place : place + 2], "")[:2]
        is_underlined = bool(line.strip()) and not line[:1].isspace() and UNDERLINE.match(below) is not None
        return is_underlined or line.startswith("##")


def _column(line: str, *, is_comment: bool) -> int:
    """Return the column of the text of a line after indentation and comment marker; -1 for a blank line."""
    opening = MARGIN.match(line) if is_comment else None
    column = opening.end() if opening else indentation(line)
    return column if line[column:].strip() else -1
