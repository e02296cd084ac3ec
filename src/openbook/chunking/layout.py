"""Arranges definitions and lines into chunks: what stays whole, and where the rest is split."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from openbook.chunking.outline import MAX_CHUNK_CHARS, Definition, flatten
from openbook.text import LineIndex, sentences
from openbook.types import Chunk, Document

# Maximum size of joined neighbours: below the limit for one definition, so that a chunk with several things stays
# easier to distinguish from others.
_MAX_JOINED_CHARS = 1000

# A piece shorter than two lines is joined up to the full limit: alone it would rank high because it is short, and
# answer nothing.
_TINY_CHARS = 160

# Target size when splitting a large range. The margin up to the limit lets each split find a good place.
_EVEN_CHARS = 1300

# Ends of definitions, which are meaningless alone.
_CLOSING = re.compile(r"(?:[\W_]|\b(?:end|fi|done|esac|else)\b)*")

COMMENT_LINE = re.compile(r"\s*(?:#(?![a-z!\[])|//|--(?!-)|;|%|<!--|/\*|\*[\s/])")
"""Matches a comment line in most languages. It describes the code below, or continues there."""

# The last share of a chunk in which to split; earlier splits would leave pieces of a few lines.
_CUT_WINDOW = 0.5


@dataclass(frozen=True, slots=True)
class Piece:
    """A range of text that will become a chunk."""

    start_char: int
    end_char: int
    owner: Definition | None = None
    """The innermost definition around the beginning of the piece."""
    holds: Literal["between", "definitions", "part"] = "between"
    """Text between definitions, whole definitions, or part of one long line."""

    @property
    def scope(self) -> tuple[str, ...]:
        """Path of the owner."""
        return self.owner.path if self.owner is not None else ()


class Layout:
    """Splits one text. All lines are 1-based and inclusive."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines: LineIndex = LineIndex(text)

    def pieces(self, definitions: Sequence[Definition]) -> list[Piece]:
        """Arrange the whole text around its definitions, joining small neighbours."""
        pieces = list(self._around(definitions, 1, len(self.lines), None))
        return self._join(self._join(pieces, self._are_small), self._is_one_tiny)

    def pack(
        self, first: int, last: int, owner: Definition | None = None, openers: Collection[int] = ()
    ) -> Iterator[Piece]:
        """Split lines into pieces of similar size within the limit, in order.

        Splits are before the lines `openers` if possible, else at blank lines, else where the indentation is smallest.
        Blank lines at the ends of pieces are dropped.
        """
        while first <= last:
            if self._is_blank(first):
                first += 1
            elif self._size(first, first) > MAX_CHUNK_CHARS:
                yield from self._cut_line(first, owner)
                first += 1
            elif self._size(first, last) <= MAX_CHUNK_CHARS:
                yield self._piece(first, last, owner)
                return
            else:
                end = self._best_end(first, last, owner, openers)
                yield self._piece(first, end, owner)
                first = end + 1

    def _around(
        self, definitions: Sequence[Definition], first: int, last: int, owner: Definition | None
    ) -> Iterator[Piece]:
        """Arrange the lines of one level: definitions, and the text between them."""
        for group in _sharing_lines(definitions):
            begin, end = max(first, group[0].first_line), min(last, max(each.last_line for each in group))
            yield from self.pack(first, begin - 1, owner)
            if len(group) > 1 or self._size(begin, end) <= MAX_CHUNK_CHARS:
                for piece in self.pack(begin, end, owner):
                    yield piece if piece.holds == "part" else replace(piece, holds="definitions")
            else:
                yield from self._around(group[0].inner, begin, end, group[0])
            first = max(first, end + 1)
        yield from self.pack(first, last, owner)

    def _join(self, pieces: Sequence[Piece], belong_together: Callable[[Piece, Piece], bool]) -> list[Piece]:
        joined: list[Piece] = []
        for piece in pieces:
            left = joined[-1] if joined else None
            if left is None or "part" in {left.holds, piece.holds} or not belong_together(left, piece):
                joined.append(piece)
            else:
                owner = piece.owner if len(piece.scope) > len(left.scope) else left.owner
                holds = left.holds if left.holds == piece.holds else "definitions"
                joined[-1] = Piece(left.start_char, piece.end_char, owner, holds)
        return joined

    def _are_small(self, left: Piece, right: Piece) -> bool:
        return left.scope == right.scope and right.end_char - left.start_char <= _MAX_JOINED_CHARS

    def _is_one_tiny(self, left: Piece, right: Piece) -> bool:
        """Return whether one of two pieces is too small to stand alone, and fits the other."""
        if right.end_char - left.start_char > MAX_CHUNK_CHARS:
            return False
        left_is_tiny = left.end_char - left.start_char <= _TINY_CHARS
        right_is_tiny = right.end_char - right.start_char <= _TINY_CHARS
        if left.scope == right.scope:
            return left_is_tiny or right_is_tiny
        if right_is_tiny and _CLOSING.fullmatch(self.text, right.start_char, right.end_char):
            return True
        # Imports or a header, followed by what they introduce.
        return left_is_tiny and left.holds == "between" and right.scope[: len(left.scope)] == left.scope

    def _best_end(self, first: int, last: int, owner: Definition | None, openers: Collection[int]) -> int:
        """Choose the line after which to split, so that the rest divides evenly."""
        start = self.lines.start_of(first)
        count = -(-self._size(first, last) // _EVEN_CHARS)
        target = self._size(first, last) / count
        best, best_rank = first, None
        line = first
        while line < last and self.lines.end_of(line) - 1 - start <= MAX_CHUNK_CHARS:
            size = self.lines.end_of(line) - start
            rank = (size < target * _CUT_WINDOW, *self._cut_cost(line + 1, owner, openers), abs(size - target))
            if best_rank is None or rank <= best_rank:
                best, best_rank = line, rank
            line += 1
        return best

    def _cut_cost(self, line: int, owner: Definition | None, openers: Collection[int]) -> tuple[int, int]:
        """Return the cost of a split before this line; lower is better."""
        if owner is not None and owner.first_line < line <= owner.line and not self._is_blank(line):
            return 3 if COMMENT_LINE.match(self._line(line)) else 4, 0  # within its comment, or from what is above
        if COMMENT_LINE.match(self._line(line - 1)):
            return 3, 0
        if line in openers:
            return 0, 0
        if self._is_blank(line):
            return 1, 0
        content = self._line(line)
        return 2, len(content) - len(content.lstrip())

    def _cut_line(self, line: int, owner: Definition | None) -> Iterator[Piece]:
        """Split a line that is longer than a chunk, at sentence ends or white space."""
        opened = closed = -1
        for start, end in sentences(self.text, self.lines.start_of(line), self.lines.end_of(line)):
            if opened >= 0 and end - opened > MAX_CHUNK_CHARS:
                yield Piece(opened, closed, owner, "part")
                opened = -1
            opened, closed = (start if opened < 0 else opened), end
        if opened >= 0:
            yield Piece(opened, closed, owner, "part")

    def _piece(self, first: int, last: int, owner: Definition | None) -> Piece:
        start, end = self.lines.start_of(first), self.lines.end_of(last)
        return Piece(start, start + len(self.text[start:end].rstrip()), owner)

    def _size(self, first: int, last: int) -> int:
        """Count the characters of lines, without the last line feed."""
        if last < first:
            return 0
        end = self.lines.end_of(last)
        return end - self.lines.start_of(first) - (self.text[end - 1 : end] == "\n")

    def _line(self, line: int) -> str:
        return self.text[self.lines.start_of(line) : self.lines.end_of(line)]

    def _is_blank(self, line: int) -> bool:
        content = self._line(line)
        return not content or content.isspace()


def build_chunks(
    document: Document, lines: LineIndex, pieces: Sequence[Piece], definitions: Sequence[Definition]
) -> list[Chunk]:
    """Build chunks from pieces. Each gets the definitions whose own first line it contains."""
    found = sorted(flatten(definitions), key=lambda each: each.line)
    starts = [lines.start_of(each.line) for each in found]
    chunks: list[Chunk] = []
    taken = 0
    for piece in pieces:
        # A definition starts before its indentation, which is trimmed, so search from the end of the last piece.
        behind = bisect_right(starts, piece.end_char - 1)
        chunks.append(_chunk(document, lines, piece, found[taken:behind]))
        taken = behind
    return chunks


def _chunk(document: Document, lines: LineIndex, piece: Piece, definitions: Sequence[Definition]) -> Chunk:
    named = [each for each in definitions if each.role != "element"]
    first = next((each for each in named if each.role not in {"constant", "scope"}), named[0] if named else None)
    if first and first.role == "scope" and len(piece.scope) > len(first.path):
        first = None  # the comment of a member, behind the line that opens an `impl`
    span = lines.span(document.path, piece.start_char, piece.end_char)
    if piece.owner and first and 2 * first.first_line > span.start_line + span.end_line + 1:
        first = None  # mostly the rest of a class's documentation and fields; its first method does not describe it
    shown = first or piece.owner
    path = shown.path if shown is not None else ()
    return Chunk(
        source=document.source,
        span=span,
        text=document.text[piece.start_char : piece.end_char],
        kind=document.kind,
        language=document.language,
        symbol=".".join(path),
        defines=tuple(dict.fromkeys(name for each in named for name in each.names)),
        signature=shown.signature if shown is not None else "",
        docstring=first.docstring if first is not None else "",
        context=path[:-1] if first is not None else path,
    )


def _sharing_lines(definitions: Sequence[Definition]) -> Iterator[list[Definition]]:
    """Group definitions that cannot be separated, because one begins on the last line of another."""
    group: list[Definition] = []
    end = 0
    for definition in definitions:
        if group and definition.first_line > end:
            yield group
            group = []
        group.append(definition)
        end = max(end, definition.last_line)
    if group:
        yield group
