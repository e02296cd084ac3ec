"""Offsets, lines, sentences and units: the basis of exact citations.

No function changes text; all results are offsets into the given text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from openbook.types import BEGIN_OF_CODE, END_OF_CODE, Chunk, Span, Unit

# Longer lines are cited by sentence. Prose files wrap below 200 characters and code below 120;
# transcripts have a whole lesson in one line.
LONG_LINE_CHARS = 400

# A longer "sentence" is a list, a table or minified code, and is split at whitespace. The limit equals
# the size of a course chunk, so that a chunk always fits a whole unit.
LONG_SENTENCE_CHARS = 800

# Punctuation ends a sentence only before whitespace (or, in CJK, always). The HTML reader marks the
# border of a block element with a form feed, without adding a line. Runs are matched possessively and
# from their first character only; otherwise a page of dots would take quadratic time. Code in backticks is skipped.
_SENTENCE_END = re.compile(
    r"(?P<code>`{1,3}+)(?=\S)(?:[^`\n\f]|\n(?![ \t]*\n))*+(?<=\S)(?P=code)"
    r"|(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?=\s)|[。！？]+[”’」』）]*|(?<![ \t])[ \t]*+\f"
)

# A full stop after these does not end a sentence, nor does one that a bracket follows: list item numbers and
# abbreviations.
_ABBREVIATION = re.compile(
    r"(?:^|\n)[ \t]*\d{1,3}\.$"
    r"|(?:^|[\s(\[])(?:[A-Z]|e\.g|i\.e|cf|vs|etc|al|Dr|Mr|Mrs|Ms|Prof|St|Fig|No|Nr|approx|Inc|Ltd|z\.B|d\.h|bzw)\.$"
)
_MAX_ABBREVIATION_CHARS = 8

CLOCK = re.compile(r"\d+:\d\d:\d\d")
"""A time in a recording, as our readers label it: `0:01:30`."""

_BETWEEN_BORDERS = re.compile(r"[^\f]+")


class LineIndex:
    """Maps character offsets of a text to lines. Lines end at a line feed."""

    def __init__(self, text: str) -> None:
        self._length = len(text)
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def __len__(self) -> int:
        """Return the number of lines. A final line feed does not start another line, except in empty text."""
        return max(1, len(self._starts) - (self._starts[-1] == self._length))

    def line_at(self, offset: int) -> int:
        """Return the 1-based number of the line that contains the character at `offset`."""
        return bisect_right(self._starts, offset)

    def start_of(self, line: int) -> int:
        """Return the offset of the first character of a 1-based line."""
        return self._starts[line - 1]

    def end_of(self, line: int) -> int:
        """Return the end offset of a 1-based line, including its line feed."""
        return self._starts[line] if line < len(self._starts) else self._length

    def span(self, path: str, start_char: int, end_char: int) -> Span:
        r"""Return a half-open character range as a span.

        Example:
            >>> str(LineIndex("a\nb\nc").span("x.txt", 2, 4))
            'x.txt:2-2'
        """
        last = max(start_char, end_char - 1)
        return Span(path, start_char, end_char, self.line_at(start_char), self.line_at(last))


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Shrink a range to exclude whitespace at both ends. A blank range becomes empty at `start`.

    Example:
        >>> trim("  ab ", 0, 5)
        (2, 4)
    """
    # By character: for each sentence of a long line, a slice would copy the rest of the line.
    left = start
    while left < end and text[left].isspace():
        left += 1
    if left == end:
        return start, start
    while text[end - 1].isspace():
        end -= 1
    return left, end


def lines(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    r"""Yield the non-blank lines of a range, with indentation but without trailing whitespace.

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
    r"""Yield the paragraphs of a range: lines between blank lines, including the indentation of the first.

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

    Every non-blank character of the range is in exactly one of them. Handles Latin and CJK
    punctuation; a full stop after an abbreviation or an initial, or in code, does not end a sentence.

    Example:
        >>> text = "See e.g. Smith. It works!"
        >>> [text[a:b] for a, b in sentences(text)]
        ['See e.g. Smith.', 'It works!']
    """
    end = len(text) if end is None else end
    opened = start
    for match in _SENTENCE_END.finditer(text, start, end):
        if match["code"]:
            continue
        # A slice, because text before the range must not influence where its first word begins.
        stop = match.start() + 1
        before = text[max(opened, stop - _MAX_ABBREVIATION_CHARS) : stop]
        if match.group().rstrip(")]") == "." and _ABBREVIATION.search(before):
            continue
        yield from _pieces(text, opened, match.end())
        opened = match.end()
    yield from _pieces(text, opened, end)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split ranges longer than 800 characters, at whitespace if possible."""
    start, end = trim(text, start, end)
    while end - start > LONG_SENTENCE_CHARS:
        limit = start + LONG_SENTENCE_CHARS
        # Search only the second half, to avoid a tiny piece before a huge one.
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
    r"""Split a chunk into numbered units, in order.

    A unit is a line with its indentation but without its line end. A line longer than 400 characters is
    split into sentences, and a line with form feeds, as in pages of HTML, into the parts between them, of which only
    code keeps its indentation.
    Blank lines are not units and have no number.

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
            first, last = trim(text, *match.span())
            before, behind = match.start() - 2, match.end() + 1
            is_code = text.startswith(BEGIN_OF_CODE, max(0, before)) or text.startswith(END_OF_CODE, behind)
            yield match.start() if is_code else first, last


def indentation(line: str) -> int:
    """Return the number of leading whitespace characters of a line; for a blank one, its length."""
    return len(line) - len(line.lstrip())


def counted(number: int, word: str) -> str:
    """Format a count: `1 file`, `2 files`.

    Example:
        >>> counted(1, "file"), counted(0, "file")
        ('1 file', '0 files')
    """
    return f"{number} {word}{'' if number == 1 else 's'}"


def size_text(size_bytes: int) -> str:
    """Format a size with two digits: `0.3 MB`, `25 MB`, `1.2 GB`.

    Example:
        >>> size_text(300_000), size_text(25_100_000), size_text(1_200_000_000)
        ('0.3 MB', '25 MB', '1.2 GB')
    """
    number, unit = (size_bytes / 1e9, "GB") if size_bytes >= 1e9 else (size_bytes / 1e6, "MB")
    return f"{number:.1f} {unit}" if number < 10 else f"{number:.0f} {unit}"
