"""Reads reStructuredText: headings by their adornment, literal blocks, paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from openbook.containers import DIRECTIVE, leads_to_code
from openbook.entries import indent_of
from openbook.sources.readers.reading import Reading, fill_gaps
from openbook.text import LineIndex
from openbook.types import Block

# One punctuation character repeated. docutils accepts lines shorter than the title from 4 on.
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*")
_MIN_LOOSE = 4
# docutils has tab stops of eight columns.
_TAB = 8

# List items are separate blocks, so that a long list can be split into chunks.
_ITEM = re.compile(r"(?:[-*+•]|\(?(?:\d+|#)[.)])\s")
_BULLET = re.compile(r"[-*+•]\s")

# Longer lines are not titles, and unclosed markup in them would take quadratic time.
_MAX_TITLE_CHARS = 500

_ROLE = re.compile(r":[\w:+.-]+:`([^`<]*?)\s*(?:<[^`>]*>)?`")
_MARKUP = re.compile(r"``(.+?)``|`([^`<]*?)\s*(?:<[^`>]*>)?`__?|`([^`]+)`|\*\*(.+?)\*\*|\*(.+?)\*|\|(.+?)\|_?")

# A name that stands for something else, and the definition of one that stands for a picture, such as a badge.
_SUBSTITUTED = re.compile(r"\|[^|\n]{1,200}\|")
_PICTURE = re.compile(rf"^\.\. ({_SUBSTITUTED.pattern})[ \t]+image::", re.MULTILINE)


def read_rst(text: str, path: str = "") -> Reading:
    r"""Read reStructuredText. The text is not changed.

    As docutils does, levels of headings follow the order in which their adornments first appear. Literal blocks are
    code, without headings.

    Example:
        >>> [(block.level, block.title) for block in read_rst("A\n=\n\nB\n-\n\ntext\n").blocks]
        [(1, 'A'), (2, 'B'), (0, '')]
    """
    return Reading(text, "docs", "rst", fill_gaps(text, _Scanner(text).blocks()))


class _Scanner:
    def __init__(self, text: str) -> None:
        self._lines = [line.rstrip() for line in text.split("\n")]
        self._index = LineIndex(text)
        self._styles: list[tuple[str, bool]] = []
        self._pictures = frozenset(_PICTURE.findall(text))

    def blocks(self) -> Iterator[Block]:
        line = 0
        while line < len(self._lines):
            if not self._lines[line]:
                line += 1
                continue
            height = self._heading_height(line)
            if height:
                yield self._heading(line, height)
                line += height
                continue
            end = self._paragraph_end(line)
            yield self._block(line, end)
            begun, line = line, end
            opener = self._literal_opener(begun, end - 1)
            if opener is not None:
                end = self._literal_end(line, self._indent(opener))
                if end > line:
                    yield self._literal(line, end)
                    line = end

    def _heading_height(self, line: int) -> int:
        """Return the number of lines of the heading that begins here; 0 without one."""
        rows = [self._lines[i] if i < len(self._lines) else "" for i in range(line, line + 3)]
        if _is_adornment(rows[0]):
            framed = rows[2] == rows[0] and rows[1] and not _is_adornment(rows[1])
            return 3 if framed and _fits(rows[1].strip(), rows[2]) else 0
        titled = rows[0][:1].strip() and _is_adornment(rows[1]) and _fits(rows[0], rows[1])
        return 2 if titled and not _BULLET.match(rows[0]) else 0

    def _heading(self, line: int, height: int) -> Block:
        style = (self._lines[line + height - 1][0], height == 3)
        if style not in self._styles:
            self._styles.append(style)
        title = self._lines[line + height - 2].strip()
        title = _plain(_SUBSTITUTED.sub(lambda found: "" if found[0] in self._pictures else found[0], title))
        start, end = self._range(line, line + height)
        return Block(start, end, "heading", self._styles.index(style) + 1, title)

    def _paragraph_end(self, line: int) -> int:
        """Return the line after the paragraph: blank, or the next list item at the margin."""
        end = line + 1
        while end < len(self._lines) and self._lines[end] and not _ITEM.match(self._lines[end]):
            end += 1
        return end

    def _literal_opener(self, begun: int, last: int) -> int | None:
        """Return the line below which indented text is literal; None if the paragraph does not end in `::`."""
        line = last
        if self._lines[last].endswith("::") and not self._lines[last].lstrip().startswith(".. "):
            # A definition is indented below its term: go back to the first line of this item.
            while line > begun and self._indent(line - 1) >= self._indent(line):
                line -= 1
            return line
        while line > begun and self._lines[line].lstrip().startswith(":"):
            line -= 1  # options of the directive
        opener = self._lines[line]
        return line if DIRECTIVE.match(opener) and leads_to_code(opener, 0, len(opener)) else None

    def _literal_end(self, line: int, indent: int) -> int:
        end = line
        for position in range(line, len(self._lines)):
            if self._lines[position]:
                if self._indent(position) <= indent:
                    break
                end = position + 1
        return end

    def _literal(self, line: int, end: int) -> Block:
        while not self._lines[line]:
            line += 1
        start, stop = self._range(line, end)
        return Block(start, stop, "code")

    def _block(self, line: int, end: int) -> Block:
        start, stop = self._range(line, end)
        return Block(start, stop, "code" if self._lines[line].lstrip().startswith(">>> ") else "text")

    def _range(self, line: int, end: int) -> tuple[int, int]:
        return self._index.start_of(line + 1), self._index.start_of(end) + len(self._lines[end - 1])

    def _indent(self, line: int) -> int:
        return indent_of(self._lines[line], _TAB)


def _is_adornment(line: str) -> bool:
    return _ADORNMENT.fullmatch(line) is not None


def _fits(title: str, adornment: str) -> bool:
    return len(adornment) >= min(len(title), _MIN_LOOSE)


def _plain(title: str) -> str:
    """Remove roles and inline markup from a title."""
    if len(title) > _MAX_TITLE_CHARS:
        return title
    title = _ROLE.sub(r"\1", title)
    title = _MARKUP.sub(lambda match: next(group for group in match.groups() if group is not None), title)
    return " ".join(title.split())
