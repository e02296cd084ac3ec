"""Parses the marks of an answer, such as `[2:14-18]`, as a whole or from a stream.

Parsing never fails. Marks inside code are not marks.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from openbook.grounding.blocks import Fence, may_open_fence, read_line

# Fits thirty ranges. Longer text is not a mark, which bounds how much of a stream is held back.
_MAX_MARK_CHARS = 200

_RANGE = r"\d{1,6}(?: ?[-–] ?\d{1,6})?"
_MARK = re.compile(rf"\[(\d{{1,4}})(?:: ?({_RANGE}(?:, ?{_RANGE})*))?\]")
_MAY_BE_MARK = re.compile(rf"\[[\d:,\-– ]{{0,{_MAX_MARK_CHARS - 2}}}")
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
    """Number of the cited result, as written: 0 and numbers that were never shown are possible."""
    ranges: tuple[tuple[int, int], ...]
    """First and last unit of each range, as written. Empty for the whole result."""


def parse_mark(text: str, start_char: int = 0) -> CitationMark | None:
    """Parse one mark; None if the text is not a mark.

    Example:
        >>> parse_mark("[2:14-18, 20]").ranges
        ((14, 18), (20, 20))
    """
    match = _MARK.fullmatch(text) if len(text) <= _MAX_MARK_CHARS else None
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


def with_marks_replaced(text: str, replacement: Callable[[str], str]) -> str:
    """Replace each mark of a text, except in code.

    Example:
        >>> with_marks_replaced("It waits [2:14].", lambda mark: f"({mark[1:-1]})")
        'It waits (2:14).'
    """
    parts, end = [], 0
    for mark in find_marks(text):
        parts += [text[end : mark.start_char], replacement(mark.text)]
        end = mark.end_char
    return "".join([*parts, text[end:]])


def read_marks(answer: str) -> tuple[list[CitationMark], list[tuple[int, int]]]:
    """List the marks of a whole answer and the half-open ranges of its inline code, each in order."""
    reader = MarkParser()
    pieces = [*reader.feed(answer), *reader.close()]
    return [piece for piece in pieces if isinstance(piece, CitationMark)], sorted(reader.code)


@dataclass(slots=True)
class _PossibleMark:
    """A possible mark, pending the decision whether it is inside code."""

    mark: CitationMark
    is_mark: bool | None = None


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of backticks. It opens or closes code if its block has another run of the same length."""

    start_char: int
    length: int


class MarkParser:
    """Parses marks from a stream. The result does not depend on how the answer is split into deltas.

    Text is held back only while it is undecided whether it, or text before it, is a mark.

    Example:
        >>> reader = MarkParser()
        >>> [reader.feed(delta) for delta in ("Yes [2", ":1", "].")], reader.close()
        ([['Yes '], [], [CitationMark(start_char=4, end_char=9, text='[2:1]', number=2, ranges=((1, 1),)), '.']], [])
    """

    def __init__(self) -> None:
        self.code: list[tuple[int, int]] = []
        """Half-open ranges of inline code read so far, backticks included."""
        self._offset = 0
        self._rest = ""  # end of the last delta: possibly the beginning of a mark
        self._run = 0  # number of backticks directly before the offset
        self._fence: Fence | None = None
        self._line: list[str] = []
        self._is_certain: bool | None = None  # the line is not code and continues nothing; None: undecided
        self._of_line: list[_Run | _PossibleMark] = []  # tokens of an undecided line
        self._open: list[_Run | _PossibleMark] = []  # tokens since the backticks that may open code
        self._queue: deque[str | _PossibleMark] = deque()

    def feed(self, delta: str) -> list[str | CitationMark]:
        """Add a delta, and return the text and marks that are decided by now, in order.

        Texts are never empty. Concatenated with the texts of the marks, they reproduce the answer.
        """
        return self._read(self._rest + delta, final=False)

    def close(self) -> list[str | CitationMark]:
        """Return the rest. Do not call `feed` afterwards."""
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
                if end == len(text) and not final and end - at < _MAX_MARK_CHARS - 1:
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
            held = _PossibleMark(mark)
            self._queue.append(held)
            self._see(held)
        self._line.append(piece)
        self._offset += len(piece)

    def _end_run(self) -> None:
        if self._run:
            self._see(_Run(self._offset - self._run, self._run))
            self._run = 0

    def _see(self, token: _Run | _PossibleMark) -> None:
        """Route a token by the kind of its line, as far as the beginning of the line decides it."""
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
            _rule_out_marks(self._of_line)
        else:
            for token in self._of_line:
                self._push(token)
        if kind not in ("text", "item"):
            self._settle()
        self._line, self._of_line, self._is_certain = [], [], None

    def _push(self, token: _Run | _PossibleMark) -> None:
        """Add a token to its block. Earlier tokens are either closed code or all in `_open`."""
        opening = self._open[0] if self._open else None
        if isinstance(token, _Run) and isinstance(opening, _Run) and token.length == opening.length:
            self._is_code(self._open, opening, token)
            self._open = []
        elif isinstance(token, _Run) or opening is not None:
            self._open.append(token)
        else:
            token.is_mark = True

    def _settle(self) -> None:
        """Decide the open tokens at the end of a block: unclosed backticks do not open code."""
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
            if isinstance(token, _PossibleMark):
                token.is_mark = True
            elif partner[position] and isinstance(last, _Run):
                self._is_code(tokens[position : partner[position]], token, last)
                position = partner[position]
            position += 1

    def _is_code(self, tokens: Iterable[_Run | _PossibleMark], first: _Run, last: _Run) -> None:
        self.code.append((first.start_char, last.start_char + last.length))
        _rule_out_marks(tokens)

    def _flush(self) -> list[str | CitationMark]:
        pieces: list[str | CitationMark] = []
        texts: list[str] = []
        while self._queue:
            piece = self._queue[0]
            if isinstance(piece, _PossibleMark) and piece.is_mark is None:
                break
            self._queue.popleft()
            if isinstance(piece, _PossibleMark) and piece.is_mark:
                if texts:
                    pieces.append("".join(texts))
                pieces.append(piece.mark)
                texts = []
            else:
                texts.append(piece if isinstance(piece, str) else piece.mark.text)
        if texts:
            pieces.append("".join(texts))
        return pieces


def _rule_out_marks(tokens: Iterable[_Run | _PossibleMark]) -> None:
    for token in tokens:
        if isinstance(token, _PossibleMark):
            token.is_mark = False
