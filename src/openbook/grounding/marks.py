"""Parses the marks of an answer, such as `[2:14-18]`, as a whole or while it is streamed.

Every text has its marks, if only none. What stands in code is none.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from openbook.grounding.blocks import Fence, may_open_fence, read_line

# Thirty ranges fit. What is longer is no mark, so that never more than this is held back of a stream.
_LONGEST_MARK = 200

_RANGE = r"\d{1,6}(?: ?[-–] ?\d{1,6})?"
_MARK = re.compile(rf"\[(\d{{1,4}})(?:: ?({_RANGE}(?:, ?{_RANGE})*))?\]")
_MAY_BE_MARK = re.compile(rf"\[[\d:,\-– ]{{0,{_LONGEST_MARK - 2}}}")
_BOUNDS = re.compile(r"(\d+)(?: ?[-–] ?(\d+))?")
_BACKTICKS = re.compile(r"`+")
_TELLING = re.compile(r"[\n`]|\[(?=\d|\Z)")


@dataclass(frozen=True, slots=True)
class CitationMark:
    """A mark and its position."""

    start_char: int
    """Offset in the answer."""
    end_char: int
    text: str
    number: int
    """Of the result that it names, as written: 0 and others that were never shown are possible."""
    ranges: tuple[tuple[int, int], ...]
    """First and last unit of each range, as written. Empty for a whole result."""


def parse_mark(text: str, start_char: int = 0) -> CitationMark | None:
    """Read one mark; None if the text is none.

    Example:
        >>> parse_mark("[2:14-18, 20]").ranges
        ((14, 18), (20, 20))
    """
    match = _MARK.fullmatch(text) if len(text) <= _LONGEST_MARK else None
    if match is None:
        return None
    ranges = ((int(bounds[1]), int(bounds[2] or bounds[1])) for bounds in _BOUNDS.finditer(match[2] or ""))
    return CitationMark(start_char, start_char + len(text), text, int(match[1]), tuple(ranges))


def find_marks(answer: str) -> list[CitationMark]:
    """List the marks of a whole answer, in order.

    Example:
        >>> [mark.text for mark in find_marks("It waits [2:14-18][5:3], not `argv[1]`.")]
        ['[2:14-18]', '[5:3]']
    """
    return read_marks(answer)[0]


def read_marks(answer: str) -> tuple[list[CitationMark], list[tuple[int, int]]]:
    """List the marks of a whole answer, and the half-open ranges of code within its sentences, each in order."""
    reader = MarkParser()
    pieces = [*reader.feed(answer), *reader.close()]
    return [piece for piece in pieces if isinstance(piece, CitationMark)], sorted(reader.code)


@dataclass(slots=True)
class _Held:
    """A possible mark, until it is known whether it is in code."""

    mark: CitationMark
    is_mark: bool | None = None


@dataclass(frozen=True, slots=True)
class _Run:
    """Backticks in a row: they open or close code if as many stand elsewhere in their block."""

    start_char: int
    length: int


class MarkParser:
    """Reads an answer while it is written. Whatever the deltas, the marks are those of the whole answer.

    Only what may still turn out to be a mark, or not to be one, is held back, and what follows it.

    Example:
        >>> reader = MarkParser()
        >>> [reader.feed(delta) for delta in ("Yes [2", ":1", "].")], reader.close()
        ([['Yes '], [], [CitationMark(start_char=4, end_char=9, text='[2:1]', number=2, ranges=((1, 1),)), '.']], [])
    """

    def __init__(self) -> None:
        self.code: list[tuple[int, int]] = []
        """Ranges of code within sentences that were read so far, half-open, backticks included."""
        self._offset = 0
        self._rest = ""  # of a delta: what may be the beginning of a mark
        self._run = 0  # backticks right before the offset
        self._fence: Fence | None = None
        self._line: list[str] = []
        self._is_certain: bool | None = None  # that the line is no code and goes on with nothing; None: not asked yet
        self._of_line: list[_Run | _Held] = []  # of a line that is not certain
        self._open: list[_Run | _Held] = []  # since the backticks that may open code
        self._queue: deque[str | _Held] = deque()

    def feed(self, delta: str) -> list[str | CitationMark]:
        """Add a piece of the answer, and return what is certain by now: text and marks, in order.

        Texts are never empty; joined with the texts of the marks, they are the answer.
        """
        return self._read(self._rest + delta, final=False)

    def close(self) -> list[str | CitationMark]:
        """Return the rest. The reader cannot be fed again."""
        pieces = self._read(self._rest, final=True)
        self._end_run()
        self._end_line()
        self._settle()
        return [*pieces, *self._flush()]

    def _read(self, text: str, *, final: bool) -> list[str | CitationMark]:
        at, start, self._rest = 0, self._offset, ""
        while at < len(text):
            if text[at] == "`":
                end = self._after(_BACKTICKS, text, at)
                self._run += end - at
                self._take(text[at:end])
                at = end
                continue
            self._end_run()
            mark = None
            if text[at] == "[":
                end = self._after(_MAY_BE_MARK, text, at)
                if end == len(text) and not final and end - at < _LONGEST_MARK - 1:
                    self._rest = text[at:]
                    break
                mark = parse_mark(text[at : end + 1], self._offset)
            if mark is not None:
                self._take(mark.text, mark)
            elif text[at] == "\n":
                self._take("\n")
                self._end_line()
            else:
                telling = _TELLING.search(text, at + 1)
                self._take(text[at : telling.start() if telling else len(text)])
            at = self._offset - start
        return self._flush()

    @staticmethod
    def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
        match = pattern.match(text, at)
        return match.end() if match else at

    def _take(self, piece: str, mark: CitationMark | None = None) -> None:
        if mark is None:
            self._queue.append(piece)
        else:
            held = _Held(mark)
            self._queue.append(held)
            self._see(held)
        self._line.append(piece)
        self._offset += len(piece)

    def _end_run(self) -> None:
        if self._run:
            self._see(_Run(self._offset - self._run, self._run))
            self._run = 0

    def _see(self, token: _Run | _Held) -> None:
        """Judge a token by its line, as far as that is known from its beginning."""
        if self._is_certain is None:
            line = "".join(self._line)
            in_fence = self._fence is not None and self._fence.holds(line)
            self._is_certain = not (self._open or in_fence or may_open_fence(line))
        if self._is_certain:
            self._push(token)
        else:
            self._of_line.append(token)

    def _end_line(self) -> None:
        kind, self._fence = read_line("".join(self._line).removesuffix("\n"), self._fence)
        if kind != "text" and not self._is_certain:
            self._settle()
        if kind == "code":
            _decide(self._of_line, is_mark=False)
        else:
            for token in self._of_line:
                self._push(token)
        if kind not in ("text", "item"):
            self._settle()
        self._line, self._of_line, self._is_certain = [], [], None

    def _push(self, token: _Run | _Held) -> None:
        """Add a token to its block, whose tokens before it are closed code or all kept in `_open`."""
        opening = self._open[0] if self._open else None
        if isinstance(token, _Run) and isinstance(opening, _Run) and token.length == opening.length:
            self._is_code(self._open, opening, token)
            self._open = []
        elif isinstance(token, _Run) or opening is not None:
            self._open.append(token)
        else:
            token.is_mark = True

    def _settle(self) -> None:
        """Decide what is open at the end of a block: backticks that nothing closes open nothing."""
        tokens, self._open = self._open, []
        closing: dict[int, int] = {}
        partner = [0] * len(tokens)
        for position in range(len(tokens) - 1, -1, -1):
            token = tokens[position]
            if isinstance(token, _Run):
                partner[position] = closing.get(token.length, 0)
                closing[token.length] = position
        position = 0
        while position < len(tokens):
            token, last = tokens[position], tokens[partner[position]]
            if isinstance(token, _Held):
                token.is_mark = True
            elif partner[position] and isinstance(last, _Run):
                self._is_code(tokens[position : partner[position]], token, last)
                position = partner[position]
            position += 1

    def _is_code(self, tokens: Iterable[_Run | _Held], first: _Run, last: _Run) -> None:
        self.code.append((first.start_char, last.start_char + last.length))
        _decide(tokens, is_mark=False)

    def _flush(self) -> list[str | CitationMark]:
        pieces: list[str | CitationMark] = []
        texts: list[str] = []
        while self._queue:
            piece = self._queue[0]
            if isinstance(piece, _Held) and piece.is_mark is None:
                break
            self._queue.popleft()
            if isinstance(piece, _Held) and piece.is_mark:
                if texts:
                    pieces.append("".join(texts))
                pieces.append(piece.mark)
                texts = []
            else:
                texts.append(piece if isinstance(piece, str) else piece.mark.text)
        if texts:
            pieces.append("".join(texts))
        return pieces


def _decide(tokens: Iterable[_Run | _Held], *, is_mark: bool) -> None:
    for token in tokens:
        if isinstance(token, _Held):
            token.is_mark = is_mark
