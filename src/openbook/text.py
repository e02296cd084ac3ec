"""Offsets, lines, sentences and units: the arithmetic that exact citations stand on.

Nothing here changes text. Every function answers with offsets into what it was given.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from openbook.types import Chunk, Span, Unit

# A longer line is cited by sentence. Prose files wrap below 200 and code below 120; transcripts
# hold a whole lesson in one line.
LONG_LINE_CHARS = 400

# A "sentence" longer than this is a list, a table or minified code, and is cut at white space.
# It equals the size of a course chunk, so that a chunk can always hold one whole unit.
LONG_SENTENCE_CHARS = 800

# The mark ends a sentence only before white space (or, in CJK, at once). A form feed is how the
# HTML reader keeps the border of a block element without adding a line. A run is tried from its
# first character only, and whole: else a page of dots takes the square of its length.
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?=\s)|[。！？]+[”’」』）]*|(?<![ \t])[ \t]*+\f")

# After these a full stop ends nothing: the number of an item in a list, and abbreviations.
_ABBREVIATION = re.compile(
    r"(?:^|\n)[ \t]*\d{1,3}\.$"
    r"|(?:^|[\s(\[])(?:[A-Z]|e\.g|i\.e|cf|vs|etc|al|Dr|Mr|Mrs|Ms|Prof|St|Fig|No|Nr|approx|Inc|Ltd|z\.B|d\.h|bzw)\.$"
)
_LONGEST_ABBREVIATION = 8

_BETWEEN_BORDERS = re.compile(r"[^\f]+")


class LineIndex:
    """Map character offsets of one text to lines. Lines end at a line feed."""

    def __init__(self, text: str) -> None:
        self._length = len(text)
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def __len__(self) -> int:
        """Count lines. A final line feed does not open another line, except in empty text."""
        return max(1, len(self._starts) - (self._starts[-1] == self._length))

    def line_at(self, offset: int) -> int:
        """Return the 1-based line that holds the character at `offset`."""
        return bisect_right(self._starts, offset)

    def start_of(self, line: int) -> int:
        """Return the offset of the first character of a 1-based line."""
        return self._starts[line - 1]

    def end_of(self, line: int) -> int:
        """Return the offset behind a 1-based line, its line feed included."""
        return self._starts[line] if line < len(self._starts) else self._length

    def span(self, path: str, start_char: int, end_char: int) -> Span:
        r"""Name the half-open range of characters as a span.

        Example:
            >>> str(LineIndex("a\nb\nc").span("x.txt", 2, 4))
            'x.txt:2-2'
        """
        last = max(start_char, end_char - 1)
        return Span(path, start_char, end_char, self.line_at(start_char), self.line_at(last))


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Move both ends inwards over white space. All-blank gives an empty range at `start`.

    Example:
        >>> trim("  ab ", 0, 5)
        (2, 4)
    """
    # By character: a slice would copy the rest of a long line for each of its sentences.
    left = start
    while left < end and text[left].isspace():
        left += 1
    if left == end:
        return start, start
    while text[end - 1].isspace():
        end -= 1
    return left, end


def lines(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    r"""Yield the non-blank lines of a range: indentation kept, white space behind them left out.

    Example:
        >>> list(lines("ab\n\n  c \n", 0, 9))
        [(0, 2), (4, 7)]
    """
    end = len(text) if end is None else end
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        if length := len(text[start:stop].rstrip()):
            yield start, start + length
        start = stop + 1


def paragraphs(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    r"""Yield the runs of lines between blank lines. Indentation of the first line belongs to its run.

    Example:
        >>> list(paragraphs("\n  ab\ncd \n \nef"))
        [(1, 8), (12, 14)]
    """
    opened = closed = -1
    for line_start, line_end in lines(text, start, end):
        if opened < 0:
            opened = line_start
        elif text.count("\n", closed, line_start) > 1:
            yield opened, closed
            opened = line_start
        closed = line_end
    if opened >= 0:
        yield opened, closed


def sentences(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a range as trimmed, non-blank ranges of at most 800 characters.

    Every non-blank character of the range lies in exactly one of them. Works for Latin and CJK
    punctuation; a full stop after an abbreviation or an initial ends nothing.

    Example:
        >>> text = "See e.g. Smith. It works!"
        >>> [text[a:b] for a, b in sentences(text)]
        ['See e.g. Smith.', 'It works!']
    """
    end = len(text) if end is None else end
    opened = start
    for match in _SENTENCE_END.finditer(text, start, end):
        # A slice, because what lies before the range must not decide where its first word begins.
        before = text[max(opened, match.end() - _LONGEST_ABBREVIATION) : match.end()]
        if match.group() == "." and _ABBREVIATION.search(before):
            continue
        yield from _pieces(text, opened, match.end())
        opened = match.end()
    yield from _pieces(text, opened, end)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut what is longer than 800 characters, at white space where there is some."""
    start, end = trim(text, start, end)
    while end - start > LONG_SENTENCE_CHARS:
        limit = start + LONG_SENTENCE_CHARS
        # Only the second half is searched: a piece of three words before a huge one helps nobody.
        window = text[start + LONG_SENTENCE_CHARS // 2 : limit]
        blank = max(window.rfind(" "), window.rfind("\t"), window.rfind("\n"))
        cut = limit if blank < 0 else start + LONG_SENTENCE_CHARS // 2 + blank
        piece = trim(text, start, cut)
        if piece[0] < piece[1]:
            yield piece
        start, end = trim(text, cut, end)
    if start < end:
        yield start, end


def units(chunk: Chunk) -> tuple[Unit, ...]:
    r"""Cut a chunk into numbered units, in order.

    A unit is a line without its line end, indentation kept; where the line is longer than 400
    characters, a sentence; where it has form feeds, as pages of HTML do, each part between them.
    Blank lines are no units and take no number.

    Example:
        >>> chunk = Chunk("s", Span("a.py", 10, 25, 3, 5), "def f():\n\n  ...", "code")
        >>> [(unit.number, str(unit.span), unit.text) for unit in units(chunk)]
        [(1, 'a.py:3-3', 'def f():'), (2, 'a.py:5-5', '  ...')]
    """
    found: list[Unit] = []
    text, base, offset = chunk.text, chunk.span, 0
    for line, content in enumerate(text.split("\n"), start=base.start_line):
        end = offset + len(content.rstrip())
        for a, b in _units_of_line(text, offset, end):
            if text[a:b].strip():
                place = Span(base.path, base.start_char + a, base.start_char + b, line, line)
                found.append(Unit(len(found) + 1, place, text[a:b]))
        offset += len(content) + 1
    return tuple(found)


def _units_of_line(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if end - start > LONG_LINE_CHARS:
        yield from sentences(text, start, end)
    elif text.find("\f", start, end) < 0:
        yield start, end
    else:
        for match in _BETWEEN_BORDERS.finditer(text, start, end):
            yield trim(text, *match.span())


def indentation(line: str) -> int:
    """Return how many white-space characters a line begins with; all of a blank one."""
    return len(line) - len(line.lstrip())


def counted(number: int, word: str) -> str:
    """Write a number of things: `1 file`, `2 files`.

    Example:
        >>> counted(1, "file"), counted(0, "file")
        ('1 file', '0 files')
    """
    return f"{number} {word}{'' if number == 1 else 's'}"
