"""Glyphs that a PDF gives no meaning are what their font says, or U+FFFD and a remark."""

from __future__ import annotations

import pytest

from openbook.errors import SkippedFileError
from openbook.sources.readers.pdf import read_pdf
from openbook.sources.readers.reading import Reading
from tests.unit.sources.readers.pdf_files import pdf_of_font, pdf_of_glyphs

UNKNOWN = "signs without a meaning, shown as \ufffd, on page 1"


def read_glyphs(shown: str, characters: str) -> Reading:
    return read_pdf(pdf_of_glyphs(f"BT /F 12 Tf 90 200 Td ({shown}) Tj ET", characters), "a.pdf")


def read_font(name: str, shown: str, glyphs: dict[int, str]) -> str:
    content = f"BT /H 12 Tf 90 200 Td (Text ) Tj /F 12 Tf ({shown}) Tj /H 12 Tf ( end) Tj ET"
    return read_pdf(pdf_of_font(content, name, glyphs), "a.pdf").text


def test_a_minus_without_a_meaning_does_not_vanish() -> None:
    reading = read_glyphs("a0.9393 of b", "\0\x01")

    assert reading.text == "\ufffd0.9393 of \ufffd"
    assert reading.remarks == (UNKNOWN,)


def test_characters_of_private_use_are_brackets_bullets_or_unknown() -> None:
    assert read_glyphs("xa1b", "\uf8eb\uf8f6").text == "x\u239b1\u239e"
    assert read_glyphs("a more words", "\ue123").text == "\u2022 more words"
    assert read_glyphs("4 a 5", "\ue123").text == "4 \ufffd 5"


@pytest.mark.parametrize(
    ("font", "shown", "glyphs", "text"),
    [
        ("CMSY10", "hxi", {104: "angbracketleft", 105: "angbracketright", 120: "x"}, "Text \u27e8x\u27e9 end"),
        ("CMSY10", "6=", {54: "negationslash", 61: "equal"}, "Text \u2260 end"),
        ("CMEX10", "P", {80: "summationtext"}, "Text \u2211 end"),
        ("CMSY10", "x", {120: "strangesign"}, "Text \ufffd end"),
    ],
)
def test_fonts_of_tex_are_read_by_their_tables(font: str, shown: str, glyphs: dict[int, str], text: str) -> None:
    assert read_font(font, shown, glyphs) == text


def test_letters_that_only_a_font_of_signs_uses_are_signs_and_those_of_a_text_are_letters() -> None:
    letters = "abcdefghik"

    assert read_font("Notes", "h", {104: "noteheads.s2"}) == "Text \ufffd end"
    assert read_font("Book", letters, {ord(one): f"G{ord(one)}" for one in letters}) == f"Text {letters} end"


def test_a_pdf_in_cyrillic_of_old_fonts_is_refused() -> None:
    words = "\xed\xee\xe2\xee\xe5 \xe2\xe5\xea\xee\xe2 \xe4\xe5\xeb\xe0\xe5\xec"
    content = f"BT /H 12 Tf 90 200 Td ({words}) Tj ET"

    with pytest.raises(SkippedFileError, match="garbled letters"):
        read_pdf(pdf_of_font(content, "Book", {}), "a.pdf")
