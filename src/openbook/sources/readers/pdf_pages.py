"""The lines of one PDF page with their positions, its annotations, and its filled form fields."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from unicodedata import normalize

from openbook.sources.readers.pdf_characters import BEARS_NOTE, WORD_GAP, PageText
from openbook.sources.readers.pdf_glyphs import HYPHEN
from openbook.sources.readers.pdf_visible import Shown
from openbook.sources.readers.reading import storable

# PDFium's line ends.
_BREAK = re.compile("\r\n|\n")
_SPACES = re.compile(" +")

# White space as wide as the line is high separates columns and cells. The widest seen between words of justified text
# was 0.8 of the height, the narrowest between table cells 1.2.
_WIDE_GAP = 1.0

# Share of the height by which parts of the same line may differ in vertical position.
_SAME_LINE = 0.2

# TeX sets accents as separate characters before the letter.
_ACCENTS = dict(zip("`\u00b4\u02c6\u02dc\u00a8\u02da\u02c7", "\u0300\u0301\u0302\u0303\u0308\u030a\u030c", strict=True))
_ACCENTED = re.compile(rf"([{''.join(_ACCENTS)}]) ?([^\W\d_])")

# Words of right-to-left scripts, without digits. Some programs, such as browsers, store each word from left to right,
# and some store presentation forms instead of letters.
_LEFTWARD = re.compile("[\u0590-\u065f\u066a-\u06ef\u06fa-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+")

# The number before a footnote, in a smaller font, without a space after it.
_FOOTNOTE = re.compile(r"\d{1,2}(?=[^\W\d_])")
_SMALLER = 0.85

_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
_CONTROL: dict[int, str | None] = dict.fromkeys([*range(9), *range(11, 32), 0x7F, 0xAD, 0xFEFF, 0xFFFF], None)
# Hyphens of typesetting programs: as such, and without a break behind it.
_HYPHENS = dict.fromkeys((0x2010, 0x2011), "-")
_CHARACTERS: dict[int, str | None] = {**_CONTROL, **_LIGATURES, **_HYPHENS, 0xA0: " "}
# One of them at the end of a line. PDFium itself marks a word broken at another hyphen.
_BREAKS_WORD = re.compile("(?<=[^\\W\\d_])[\u2010\u2011]$")


@dataclass(frozen=True, slots=True)
class PageLine:
    """A line of a page, or a part of one between wide gaps. In points, from the lower left corner of the page."""

    text: str
    """Not blank. Contains `HYPHEN` where a word was joined with its rest on the next line of the page."""
    left: float
    right: float
    bottom: float
    top: float
    height: float
    """Font height with ascenders and descenders; 0 if unknown."""
    reach: float
    """Right edge of its longest line, if words were joined."""
    angle: int = 0
    """Rotation in degrees, from 0 to 359."""
    is_bold: bool = False
    """Whether its first and last character are in a bold font."""


Row = tuple[PageLine, ...]
"""The parts of one line, from left to right. Never empty."""


def rows_of(text_page: Any) -> list[Row]:
    """List the lines of a page in file order."""
    characters = PageText(text_page)
    shown = Shown(text_page)
    text = characters.text
    rows: list[list[PageLine]] = []
    start = 0
    for found in [*_BREAK.finditer(text), None]:
        end = len(text) if found is None else found.start()
        row = list(_parts(characters, shown, start, end))
        if row and rows and _continues(rows[-1][-1], row[0]):
            rows[-1][-1:] = [*_joined(rows[-1][-1], row[0]), *row[1:]]
        elif row:
            rows.append(row)
        start = end if found is None else found.end()
    return list(map(tuple, rows))


def _continues(before: PageLine, line: PageLine) -> bool:
    """Return whether PDFium broke a line at a very wide gap, as between cells, or after a superscript number."""
    if line.text[0] == "^" and abs(line.left - before.right) < WORD_GAP * before.height:
        return -_SAME_LINE * before.height < line.bottom - before.bottom < before.height
    return abs(line.bottom - before.bottom) < _SAME_LINE * line.height and line.left > before.right


def _joined(before: PageLine, line: PageLine) -> tuple[PageLine, ...]:
    """Join two parts of a line, unless they are cells."""
    gap = line.left - before.right
    if gap > _WIDE_GAP * line.height:
        return before, line
    is_note = before.text[-1] in BEARS_NOTE and line.text[0].isdigit()
    space = " " if is_note or (gap > WORD_GAP * line.height and line.text[0] != "^") else ""
    text = f"{before.text}{space}{line.text}"
    return (replace(before, text=text, right=line.right, reach=max(before.reach, line.reach)),)


def _parts(characters: PageText, shown: Shown, start: int, end: int) -> Iterator[PageLine]:
    """Split a line at its wide gaps."""
    first = start
    for space in _SPACES.finditer(characters.text, start, end):
        is_inside = first < space.start() and space.end() < end
        if is_inside and characters.gap(space.start() - 1, space.end()) > _WIDE_GAP:
            yield from _line(characters, shown, first, space.start())
            first = space.end()
    yield from _line(characters, shown, first, end)


def _line(characters: PageText, visible: Shown, start: int, end: int) -> Iterator[PageLine]:
    words = characters.text[start:end]
    start += len(words) - len(words.lstrip())
    words = words.strip()
    if not words:
        return
    end = start + len(words)
    legible = _BREAKS_WORD.sub(HYPHEN, _legible(characters, words, start))
    shown = legible.translate(_CHARACTERS).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if not shown.strip():
        return
    first, last = characters.at(start), characters.at(end - 1)
    if all(visible.is_cut_off(characters.index(at), box) for at, box in ((start, first), (end - 1, last))):
        return
    # After a joined word, the text continues on another line.
    joined = words.find(HYPHEN)
    left, right = min(first[0], last[0]), max(first[2], last[2])
    reach = right if joined < 0 else max(right, characters.at(start + joined)[2])
    angle = visible.angle(characters.index(start))
    height, is_bold = characters.height(start, end), all(map(characters.is_bold, (start, end - 1)))
    yield PageLine(shown, left, right, min(first[1], last[1]), first[3], height, reach, angle, is_bold)


def _legible(characters: PageText, words: str, start: int) -> str:
    """Combine accents with their letters, add a space after a footnote number, and restore the reading order."""

    def in_order(match: re.Match[str]) -> str:
        first, last = characters.at(start + match.start()), characters.at(start + match.end() - 1)
        return normalize("NFKC", match[0][::-1] if first[0] < last[0] else match[0])

    def accented(match: re.Match[str]) -> str:
        accent, letter = characters.at(start + match.start()), characters.at(start + match.start(2))
        one = normalize("NFC", match[2].replace("\u0131", "i") + _ACCENTS[match[1]])
        # An apostrophe or opening quote is before the letter, not above it.
        return one if len(one) == 1 and accent[0] + accent[2] > 2 * letter[0] else match[0]

    if words.isascii() and "`" not in words and not words[0].isdigit():
        return words  # most lines
    if _LEFTWARD.search(words):
        return _LEFTWARD.sub(in_order, words)
    text = _ACCENTED.sub(accented, words)
    if found := _FOOTNOTE.match(words):
        mark, letter = characters.at(start), characters.at(start + found.end())
        if mark[3] - mark[1] < _SMALLER * (letter[3] - letter[1]):
            return f"{found[0]} {text[found.end() :]}"
    return text


_MAX_ANNOTATIONS = 2_000
_MAX_UNITS = 20_000

# An empty field, and an unticked box.
_EMPTY = frozenset({"", "Off"})


def notes_of(page: Any) -> tuple[str, ...]:
    """Return the annotations of a page in order: `Note: words`, and `name: value` for form fields."""
    import pypdfium2.raw as pdfium

    found = []
    for index in range(min(max(0, pdfium.FPDFPage_GetAnnotCount(page.raw)), _MAX_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page.raw, index)
        if not annotation:
            continue
        try:
            kind = pdfium.FPDFAnnot_GetSubtype(annotation)
            if kind == pdfium.FPDF_ANNOT_WIDGET:
                found.append(_field(annotation))
            elif kind not in (pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP):
                words = _string(annotation, b"Contents")
                found.append(f"Note: {words}" if words else "")
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)
    return tuple(filter(None, found))


def _field(annotation: Any) -> str:
    name, value = _string(annotation, b"T"), _string(annotation, b"V")
    return "" if value in _EMPTY else f"{name or 'Field'}: {value}"


def _string(annotation: Any, key: bytes) -> str:
    import pypdfium2.raw as pdfium

    buffer = (ctypes.c_ushort * _MAX_UNITS)()
    length = pdfium.FPDFAnnot_GetStringValue(annotation, key, buffer, ctypes.sizeof(buffer))
    if not 0 < length <= ctypes.sizeof(buffer):
        return ""
    text = bytes(buffer)[: length - 2].decode("utf-16-le", "replace")
    return " ".join(storable(text).split())
