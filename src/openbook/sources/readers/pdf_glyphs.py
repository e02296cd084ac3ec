"""Maps glyphs without a Unicode mapping: by font, for TeX and Symbol fonts; else to U+FFFD."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from openbook.sources.readers.symbols import FIRST_PICTURE, SYMBOLS

UNKNOWN = "\ufffd"
"""Replaces a visible glyph of unknown meaning."""

HYPHEN = "\ufffe"
"""Marks a word broken at the end of a line."""

# PDFium's marks of a broken word, in its list of characters and in its text. It also writes glyphs with these codes so.
_BROKEN = re.compile("[\x02\ufffe]")
_NUL = "\0"

# Codes that are not characters, and private use. Of control characters, PDFium itself writes only line ends.
_NO_CHARACTER = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ue000-\uf8ff\ufffd]|\r(?!\n)|(?<!\r)\n")

# An unmapped glyph among letters is mostly at an end of a word: `hvaluei` for a value between angle brackets. Checking
# only these takes a third of the time.
_ENDS = re.compile(r"(?<![^\W_])\w|\w(?![^\W_])|[^\w\s.,;:()-]")

# Text fonts use many letters per page; fonts of notes, arrows and other signs use few. If a text font's glyph names are
# unknown, its codes are still letters.
_MIN_LETTERS = 8

_MAX_NAME_CHARS = 200

# TeX fonts by name prefix: the characters at codes whose glyphs have TeX-specific names.
_TEX_SIGNS = {
    "CMSY": dict(zip("0367`abcde", "′∋\u0338\u2e24⊢⊣⌊⌋⌈⌉", strict=True))  # noqa: RUF001
    | dict(zip("hijkpr'\r", "⟨⟩|∥√∇≃◯", strict=True)),
    "CMMI": {"`": "ℓ", "\x0f": "ϵ"},  # noqa: RUF001
    "CMEX": dict(zip("PQRSTXYZLM", "∑∏∫⋃⋂∑∏∫⊕⊕", strict=True))  # noqa: RUF001
    | dict(zip(map(chr, range(16)), "()[]⌊⌋⌈⌉{}⟨⟩|∥/\\", strict=True))
    | dict(zip('\x10\x11\x12\x13\x14\x15\x1a\x1b !"#hipqrst', "()()[]{}()[][]√√√√√", strict=True)),
}
_TEX_SIGNS["CMBSY"] = _TEX_SIGNS["CMSY"]

# Characters that TeX composes of two glyphs.
_COMPOSED = {"\u0338=": "\u2260", "\u0338\u2208": "\u2209", "\u25efc": "\u00a9", "\u2e24\u2192": "\u21a6"}
_PAIR = re.compile("|".join(map(re.escape, _COMPOSED)))

NOTHING = "\ufeff"
"""Replaces an invisible character, so that indices do not change."""

# Parts of large brackets, by Adobe's private use codes.
_PRIVATE = {0xF8E6: "⏐", 0xF8E7: "⎯", **dict(enumerate("⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪⎮⎞⎟⎠⎤⎥⎦⎫⎬⎭", 0xF8EB))}
# Bullets of symbol fonts, unknown elsewhere.
_PRIVATE |= dict.fromkeys([0xF076, 0xF0A7, 0xF0B7, 0xF0D8, 0xF0FC], "\u2022")

# An unknown glyph at the beginning of a line, before words, is a bullet.
_AT_BEGINNING = re.compile(rf"(?:\A|(?<=\n)){UNKNOWN}(?= *[^\W\d_]{{2}})")


class _Font:
    """A font of a page, and what was seen of it there."""

    def __init__(self, name: str, *, is_embedded: bool) -> None:
        self.name: str = name
        self._is_embedded = is_embedded
        self.seen: list[int] = []

    def signs(self, text: str) -> Mapping[str, str] | None:
        """Return the mapping of its codes; None if they are ordinary characters, or unknown."""
        signs = next((signs for start, signs in _TEX_SIGNS.items() if self.name.startswith(start)), None)
        if signs is not None:
            return signs
        if not self.name or not self._is_embedded:
            return None
        letters = {text[index] for index in self.seen if text[index].isalpha()}
        return {} if len(letters) < _MIN_LETTERS else None


class _Glyphs:
    """Looks up the glyphs of one page."""

    def __init__(self, text_page: Any) -> None:
        import pypdfium2.raw as pdfium

        self._pdfium = pdfium
        self._page = text_page.raw
        # Called for every third character, and without argument checks takes half the time.
        prototype = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
        self._is_unmapped = prototype(ctypes.cast(pdfium.FPDFText_HasUnicodeMapError, ctypes.c_void_p).value or 0)
        self._address = ctypes.cast(self._page, ctypes.c_void_p).value
        self._fonts: dict[int, _Font] = {}
        self._shape = tuple(ctypes.c_double() for _ in range(4))

    def unmapped(self, indices: Iterable[int]) -> list[int]:
        """Return the indices whose glyphs have no Unicode mapping."""
        look_up, page = self._is_unmapped, self._address
        return [index for index in indices if look_up(page, index)]

    def is_hyphen(self, index: int) -> bool:
        return bool(self._pdfium.FPDFText_IsHyphen(self._page, index) == 1)

    def is_generated(self, index: int) -> bool:
        return bool(self._pdfium.FPDFText_IsGenerated(self._page, index) == 1)

    def is_visible(self, index: int) -> bool:
        """Return whether a glyph has a shape."""
        self._pdfium.FPDFText_GetCharBox(self._page, index, *self._shape)
        left, right, bottom, top = (edge.value for edge in self._shape)
        return right > left and top > bottom

    def font(self, index: int) -> _Font:
        font = self._pdfium.FPDFTextObj_GetFont(self._pdfium.FPDFText_GetTextObject(self._page, index))
        key = ctypes.cast(font, ctypes.c_void_p).value or 0
        if key not in self._fonts:
            buffer = ctypes.create_string_buffer(_MAX_NAME_CHARS)
            written = self._pdfium.FPDFFont_GetBaseFontName(font, buffer, _MAX_NAME_CHARS) if key else 0
            name = buffer.value.decode("latin-1").rpartition("+")[2] if 0 < written <= _MAX_NAME_CHARS else ""
            self._fonts[key] = _Font(name, is_embedded=self._pdfium.FPDFFont_GetIsEmbedded(font) == 1)
        return self._fonts[key]


def meanings(text_page: Any, text: str, dots: Callable[[str], str]) -> str:
    """Return the characters of a page, with unmapped glyphs replaced.

    `text` has one character for each index of PDFium; `dots` decodes bitmap fonts, which have no names.

    Returns:
        The same number of characters: `HYPHEN` where a word was broken, `UNKNOWN` for unknown glyphs, `NOTHING` for
        invisible ones.
    """
    glyphs = _Glyphs(text_page)
    characters = list(text)
    for found in _BROKEN.finditer(text):
        index = found.start()
        characters[index] = HYPHEN if glyphs.is_hyphen(index) else _NUL if found[0] == HYPHEN else found[0]
    text = "".join(characters)
    unmapped = glyphs.unmapped(match.start() for match in _ENDS.finditer(text))
    if unmapped:
        unmapped = glyphs.unmapped(index for index, character in enumerate(text) if not character.isspace())
    odd = {match.start() for match in _NO_CHARACTER.finditer(text)}
    odd = {index for index in odd if not glyphs.is_generated(index)}
    if not unmapped and not odd:
        return text
    for index, character in _of_fonts(glyphs, text, sorted(odd.union(unmapped))):
        characters[index] = character
    known = dots("".join(characters))
    return _AT_BEGINNING.sub("\u2022", "".join(_settled(glyphs, known, odd)))


def _of_fonts(glyphs: _Glyphs, text: str, indices: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Yield the characters that are mapped by font, with their indices."""
    fonts = {}
    for index in indices:
        fonts[index] = font = glyphs.font(index)
        font.seen.append(index)
    tables = {font: font.signs(text) for font in dict.fromkeys(fonts.values())}
    for index, font in fonts.items():
        character, table = text[index], tables[font]
        if font.name.startswith("Symbol") and ord(character) - FIRST_PICTURE in SYMBOLS:
            yield index, SYMBOLS[ord(character) - FIRST_PICTURE]
        elif ord(character) in _PRIVATE:
            yield index, _PRIVATE[ord(character)]
        elif table is not None:
            yield index, table.get(character) or (UNKNOWN if glyphs.is_visible(index) else NOTHING)


def _settled(glyphs: _Glyphs, text: str, odd: Iterable[int]) -> list[str]:
    """Replace the remaining unmapped characters, and compose those made of two glyphs."""
    characters = list(text)
    for index in odd:
        if _NO_CHARACTER.match(characters[index]):
            characters[index] = UNKNOWN if glyphs.is_visible(index) else NOTHING
    for found in _PAIR.finditer("".join(characters)):
        characters[found.start()], characters[found.start() + 1] = _COMPOSED[found[0]], NOTHING
    return characters
