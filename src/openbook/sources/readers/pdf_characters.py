"""The characters of one PDF page, with their positions."""

from __future__ import annotations

import ctypes
import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain
from typing import Any

from openbook.sources.readers.pdf_glyphs import NOTHING, meanings
from openbook.sources.readers.pdf_visible import Box

WORD_GAP = 0.12
"""Minimum white space between words, as a share of the height. Between letters it is less."""

# Bitmap fonts of TeX do not map their codes to characters. Old text fonts have ligatures from 0B on, newer ones from 1B
# on, with dashes and quotes below. Most of these codes are brackets in formula fonts, which stand alone; the copyright
# sign is a circle with one letter in it.
_TEX = dict(
    zip(
        "\x0b\x0c\r\x0e\x0f\x1b\x1c\x1d\x1e\x1f\x15\x16\x10\x11",
        "\ufb00\ufb01\ufb02\ufb03\ufb04" * 2 + "\u2013\u2014\u201c\u201d",
        strict=True,
    )
)
_OF_TEX = re.compile(r"[\x0b\x0c\x0e-\x1f]|\r(?!\n)")
_COPYRIGHT = re.compile(r"\rc(?= \d)")
_IN_WORDS = re.compile(
    r"(?<=[^\W\d_])(?!\r\n)[\x0b-\x0f\x1b-\x1f]|[\x0b-\x0f](?=[^\W\d_A-Z]{2})|[\x1b-\x1f](?=[^\W\d_A-Z])"
    r"|(?<=\w)[\x15\x16](?=\w)|(?<=\w )[\x15\x16](?= \w)"
    r"|(?<!\w)\x10(?=[\w\x1b-\x1f])|(?<=[\w.,;:?!)\x1b-\x1f])\x11(?!\w)"
)

# A word that may be two. PDFium misses about 1 space in 50 words in many Ghostscript files, and all but 4 % of those
# are on a page that also has such words of ten characters. Checking only these costs a fifth of checking all. The white
# space there is at least 0.18 of the height. Han characters have gaps anyway.
_LONG = re.compile(r"[^\s.\u2e80-\ufaff\ufe30-\uffff]{10,}")
_WORD = re.compile(r"[^\s\u2e80-\ufaff\ufe30-\uffff]{2,}")
_MISSING_SPACE_GAP = 0.15

# Bitmap fonts seldom have a height: a character's box is its shape then, except for dots. In other fonts, only
# parentheses and large signs fill their box. One of nine characters of a line is an ascender or a capital.
_FULL = 0.94
_LOOKED_AT = 9

# Bold fonts: by the usual words, by those of Times (`Medi`), and by the names of TeX (`CMBX12`).
_BOLD = re.compile(rb"Bold|Black|Heavy|Demi|Medi(?!um)|\b(?:CM|EC|SF|TC)BX")
_MAX_FONT_CHARS = 200

# Letter-spaced text has such gaps between most letters.
_MAX_GAPS = 1 / 3

# Superscript digits are smaller than the text before them, with a higher top and bottom.
_NUMBER = re.compile(r"(?:\r\n)?(?P<raised>[\u2212\u2013-]?(?P<digits>\d+))")
_SMALLER = 0.85
_RAISED = 0.2
_LEVEL = 0.05
_BEARS_POWER = ")]}|+\u2019\u201d'\""
BEARS_NOTE = ".,;:!?\u2026\u3002\uff0c"


class PageText:
    """The text of a page, and the position of each character. Positions are computed on demand.

    Line ends are as PDFium writes them. Added is what PDFium misses: spaces between separate words, a `^` before
    superscript digits, and a space between a sentence and a footnote number.
    """

    def __init__(self, text_page: Any) -> None:
        import pypdfium2.raw as pdfium

        self._page = text_page.raw
        self._look_up = pdfium.FPDFText_GetLooseCharBox
        self._box = pdfium.FS_RECTF()  # reused, because pages have 1,000 spaces
        self._look_up_shape = pdfium.FPDFText_GetCharBox
        self._shape = tuple(ctypes.c_double() for _ in range(4))
        self._look_up_font = pdfium.FPDFText_GetFontInfo
        self._font = ctypes.create_string_buffer(_MAX_FONT_CHARS)
        self._inserted: list[int] = []
        self.text = _text_of(text_page)
        found = sorted(chain(self._missing_spaces(), self._raised_digits()))
        pieces, last = [], 0
        for number, (index, character) in enumerate(found):
            pieces += [self.text[last:index], character]
            self._inserted.append(index + number)
            last = index
        self.text = "".join([*pieces, self.text[last:]])

    def at(self, index: int) -> Box:
        """Return the box of a character; an inserted one has that of the next."""
        box = self._fill(index)
        return box.left, box.bottom, box.right, box.top

    def gap(self, before: int, behind: int) -> float:
        """Return the white space between two characters of a line, in heights of the second; 0 without one."""
        right = self._fill(before).right
        box = self._fill(behind)
        height: float = box.top - box.bottom
        return (box.left - right) / height if height > 0 else 0.0

    def height(self, start: int, end: int) -> float:
        """Return the font height of a line, by the characters in its middle; 0 if unknown."""
        middle = start + len(self.text[start : (start + end) // 2 + 1].rstrip()) - 1  # a space may have no height
        if self._fills_box(middle):
            letters = [at for at in range(start, end, max(1, (end - start) // _LOOKED_AT)) if self.text[at] != " "]
            if sum(map(self._fills_box, letters)) > len(letters) / 2:
                return max(top - bottom for _, bottom, _, top in map(self.at, letters))
        _, bottom, _, top = self.at(middle)
        return max(0.0, top - bottom)

    def index(self, index: int) -> int:
        """Return PDFium's index of a character; an inserted one has that of the next."""
        return index - bisect_right(self._inserted, index - 1) if self._inserted else index

    def is_bold(self, index: int) -> bool:
        """Return whether a character is in a bold font, by the name of the font."""
        self._look_up_font(self._page, self.index(index), self._font, len(self._font), None)
        return _BOLD.search(self._font.value) is not None

    def _fill(self, index: int) -> Any:
        if self._inserted:
            index -= bisect_right(self._inserted, index - 1)
        self._look_up(self._page, index, self._box)
        return self._box

    def _fills_box(self, index: int) -> bool:
        """Return whether a character is as high as its box, which happens if a font has no height."""
        box = self._fill(index)
        height = box.top - box.bottom
        self._look_up_shape(self._page, self.index(index), *self._shape)
        _, _, bottom, top = self._shape
        return bool(top.value - bottom.value > _FULL * height > 0)

    def _missing_spaces(self) -> Iterator[tuple[int, str]]:
        if any(self._gaps(match) for match in _LONG.finditer(self.text)):
            for match in _WORD.finditer(self.text):
                yield from ((index, " ") for index in self._gaps(match))

    def _gaps(self, word: re.Match[str]) -> list[int]:
        start, end = word.span()
        look_up, page, box = self._look_up, self._page, self._box
        look_up(page, start, box)
        gaps, right = [], box.right
        for index in range(start + 1, end):
            look_up(page, index, box)
            if box.left - right > _MISSING_SPACE_GAP * (box.top - box.bottom) > 0 and self.text[index].isalnum():
                gaps.append(index)
            right = box.right
        return gaps if len(gaps) <= _MAX_GAPS * (end - start) else []

    def _raised_digits(self) -> Iterator[tuple[int, str]]:
        text = self.text
        for match in _NUMBER.finditer(text):
            before, start, (first, end) = match.start() - 1, match.start("raised"), match.span("digits")
            mark = _mark_behind(text[before]) if before >= 0 else ""
            if mark and self._is_raised(first, before) and abs(self.gap(before, start)) < WORD_GAP:
                yield start, mark
            elif end - first > 1 and self._is_raised(end - 1, first):
                yield next(index for index in range(first + 1, end) if self._is_raised(index, first)), "^"

    def _is_raised(self, digit: int, before: int) -> bool:
        _, bottom, _, top = self.at(before)
        _, low, _, high = self.at(digit)
        height = top - bottom
        is_higher = low - bottom > _RAISED * height and high - top > -_LEVEL * height
        return is_higher and 0 < high - low < _SMALLER * height


def _mark_behind(character: str) -> str:
    if character.isalnum() or character in _BEARS_POWER:
        return "^"
    return " " if character in BEARS_NOTE else ""


def _text_of(text_page: Any) -> str:
    """Return the characters of a page, one for each index of PDFium.

    Characters outside the Basic Multilingual Plane count as two.
    """
    import pypdfium2.raw as pdfium

    count = max(pdfium.FPDFText_CountChars(text_page), 0)
    buffer = (ctypes.c_ushort * (count + 1))()
    written = pdfium.FPDFText_GetText(text_page, 0, count, buffer) - 1
    # Characters without a mapping are in the list, but not in the text.
    codes = buffer[:count] if written == count else [pdfium.FPDFText_GetUnicode(text_page, n) for n in range(count)]
    return meanings(text_page, "".join(map(chr, codes)), _of_dots)


def _of_dots(text: str) -> str:
    if not _OF_TEX.search(text):
        return text
    return _COPYRIGHT.sub(f"©{NOTHING}", _IN_WORDS.sub(lambda match: _TEX[match[0]], text))
