"""Composes a reading from the parts of a file whose text is extracted: office formats and books."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from openbook.entries import END_OF_HEADING
from openbook.sources.readers.reading import Reading, storable
from openbook.types import Anchor, Block, BlockKind

# Soft hyphen: marks where a word may be broken at the end of a line. Within a line it would prevent matches.
_SOFT_HYPHEN = "\u00ad"

CELL_BORDER = " | "
"""Separates the cells of a table. A row is one line."""

_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"

# Roman numerals end there, and an item label of 30 letters is useless.
_MAX_ROMAN, _MAX_LETTER = 3999, 30 * len(_LETTERS)


class Composer:
    """Builds a reading from headings, texts and anchors in order.

    Parts are separated by a blank line; consecutive lines of a list, table or listing are one part. Blank parts, and
    anchors without text after them, are dropped. Headings are marked, since no signs in the text tell them apart.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._blocks: list[Block] = []
        self._anchors: list[Anchor] = []
        self._length = 0
        self._label: str | None = None
        self._run = ""

    def __len__(self) -> int:
        """Return the number of characters so far."""
        return self._length

    def anchor(self, label: str) -> None:
        """Set the anchor of the next part."""
        self._label = label

    def heading(self, title: str, level: int) -> None:
        """Add a heading; level 1 is the top. Line ends in it become spaces."""
        title = " ".join(_storable(title).split())
        if title:
            self._add(title, Block(0, len(title), "heading", level, title))
            self._put(END_OF_HEADING + "\f" * (level - 1))

    def text(self, text: str) -> None:
        """Add a paragraph of one or more lines."""
        text = "\n".join(filter(None, map(_line, _storable(text).split("\n"))))
        self._add(text, Block(0, len(text)) if text else None)

    def code(self, text: str) -> None:
        """Add lines of code with their indentation."""
        lines = _storable(text).strip("\n").rstrip()
        if lines.strip() or self._run == "code":
            self._line_of("code", lines, "code")

    def item(self, text: str, mark: str = "-", depth: int = 0) -> None:
        """Add a list item after its bullet or number, indented by two spaces for each outer list."""
        words = " ".join(_storable(text).split())
        if words:
            self._line_of("list", f"{'  ' * depth}{mark} {words}")

    def row(self, cells: Iterable[str]) -> None:
        words = [" ".join(_storable(cell).split()) for cell in cells]
        if any(words):
            self._line_of("table", CELL_BORDER.join(words).strip())

    def part(self) -> None:
        """End a list or table, so that the next one starts a new part."""
        self._run = ""

    def reading(self, language: str, remarks: Iterable[str] = ()) -> Reading:
        text = "".join(self._pieces)
        return Reading(text, "docs", language, tuple(self._blocks), tuple(self._anchors), tuple(remarks))

    def _line_of(self, run: str, line: str, kind: BlockKind = "text") -> None:
        if self._run == run and self._label is None:
            self._put(f"\n{line}")
            # A blank line is part of a listing if another line follows.
            end = self._length if line.strip() else self._blocks[-1].end_char
            self._blocks[-1] = Block(self._blocks[-1].start_char, end, kind)
        else:
            self._add(line, Block(0, len(line), kind))
            self._run = run

    def _add(self, text: str, block: Block | None) -> None:
        self._run = ""
        if block is None:
            return
        if self._length:
            self._put("\n\n")
        if self._label is not None:
            self._anchors.append(Anchor(self._length, self._label))
            self._label = None
        start = self._length
        self._put(text)
        self._blocks.append(Block(start, self._length, block.kind, block.level, block.title))

    def _put(self, piece: str) -> None:
        self._pieces.append(piece)
        self._length += len(piece)


def remark_on(what: str, numbers: Collection[int]) -> str:
    """Return a remark on numbered places, with consecutive ones as ranges. Empty without numbers.

    Example:
        >>> remark_on("no text on slide", {2, 4, 5, 6, 9}), remark_on("no text on slide", {7})
        ('no text on slides 2, 4 to 6 and 9', 'no text on slide 7')
    """
    runs = ranges(numbers)
    listed = " and ".join(filter(None, (", ".join(runs[:-1]), *runs[-1:])))
    return f"{what}{'s' if len(numbers) > 1 else ''} {listed}" if listed else ""


def ranges(numbers: Collection[int]) -> list[str]:
    """Return sorted numbers, with consecutive ones as ranges.

    Example:
        >>> ranges({9, 2, 4, 5, 6})
        ['2', '4 to 6', '9']
    """
    firsts = [number for number in sorted(numbers) if number - 1 not in numbers]
    lasts = [number for number in sorted(numbers) if number + 1 not in numbers]
    return [str(a) if a == b else f"{a} to {b}" for a, b in zip(firsts, lasts, strict=True)]


def numeral(number: int, form: str) -> str:
    """Format a list number. Numbers out of range for a format, and unknown formats, are decimal.

    Example:
        >>> [numeral(number, form) for number, form in ((3, "1"), (3, "a"), (28, "A"), (14, "i"), (0, "I"))]
        ['3', 'c', 'BB', 'xiv', '0']
    """
    shown = ""
    if form in {"a", "A"} and 0 < number <= _MAX_LETTER:
        times, letter = divmod(number - 1, len(_LETTERS))
        shown = _LETTERS[letter] * (times + 1)
    elif form in {"i", "I"} and 0 < number <= _MAX_ROMAN:
        shown = _roman(number)
    return (shown.upper() if form.isupper() else shown) or str(number)


def _roman(number: int) -> str:
    signs = []
    for worth, sign in _ROMAN:
        times, number = divmod(number, worth)
        signs.append(sign * times)
    return "".join(signs)


def _line(text: str) -> str:
    return text.strip(" \t\r\f\v")


def _storable(text: str) -> str:
    return storable(text.replace(_SOFT_HYPHEN, ""))
