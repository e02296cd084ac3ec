"""What the characters of a PDF mean where its fonts or its spaces do not say so."""

from __future__ import annotations

import pytest
from fpdf import FPDF

from openbook.sources.readers.pdf import read_pdf
from tests.unit.sources.readers.pdf_files import Draw, pdf, pdf_of_glyphs


def read_coded(words: str) -> str:
    """Read words of a font that gives its codes as the meanings of its characters."""
    meanings = sorted(set(words) - {" "})
    drawn = "".join(chr(97 + meanings.index(character)) if character != " " else " " for character in words)
    return read_pdf(pdf_of_glyphs(f"BT /F 12 Tf 90 200 Td ({drawn}) Tj ET", "".join(meanings)), "a.pdf").text


def operators(content: str) -> Draw:
    return lambda file: file._out(f"BT /F1 11 Tf 60 700 Td {content} ET")


def raised(*parts: str) -> Draw:
    """Write parts, every second one smaller and higher."""

    def draw(file: FPDF) -> None:
        for number, part in enumerate(parts):
            file.char_vpos = "SUP" if number % 2 else "LINE"
            file.write(text=part)

    return draw


@pytest.mark.parametrize(
    ("coded", "text"),
    [
        ("the e\x1bect of \x10con\x1cdence\x11 50\x1559", "the effect of “confidence” 50–59"),
        ("\x1crst di\x1ecult \x16 o\x1b \x1f", "first difficult — off �"),
        ("di\x0berent \x0cles, \rexible", "different files, flexible"),
        ("of \rc 1999 \x10 |x| \x1c 1", "of © 1999 � |x| � 1"),
    ],
)
def test_codes_of_tex_are_ligatures_dashes_and_quotes_beside_letters_alone(coded: str, text: str) -> None:
    assert read_coded(coded) == text


def test_words_that_are_apart_have_a_space_where_the_pdf_tells_of_none() -> None:
    # As groff does: two letters are as far apart as the words that they end and begin.
    content = "(It remove) Tj 3.8 Tc (ss) Tj 0 Tc [345 (ubgraphs of i)] TJ 3.8 Tc (ts) Tj 0 Tc [345 (et.)] TJ"

    assert read_pdf(pdf(operators(content)), "a.pdf").text == "It removes subgraphs of it set."


def test_letters_that_are_spaced_out_are_one_word() -> None:
    assert read_pdf(pdf(operators("2.4 Tc (EXTRAORDINARY) Tj")), "a.pdf").text == "EXTRAORDINARY"


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (("it has 10", "6", " cells of 106 kinds"), "it has 10^6 cells of 106 kinds"),
        (("about x", "2", "+y", "2"), "about x^2+y^2"),
        (("some 10", "-6", " metres"), "some 10^-6 metres"),
        (("says Miller", "3", " of it"), "says Miller^3 of it"),
        (("It ends.", "3", " It begins."), "It ends. 3 It begins."),
    ],
)
def test_raised_digits_are_no_digits_of_a_number_and_no_letters_of_a_word(parts: tuple[str, ...], text: str) -> None:
    assert read_pdf(pdf(raised(*parts)), "a.pdf").text == text


def test_lowered_digits_are_as_they_are_written() -> None:
    def draw(file: FPDF) -> None:
        file.write(text="H")
        file.char_vpos = "SUB"
        file.write(text="2")
        file.char_vpos = "LINE"
        file.write(text="O")

    assert read_pdf(pdf(draw), "a.pdf").text == "H2O"


def pdf_of_dots(*lines: str) -> bytes:
    """Write lines in a font that has no height: each of its letters is a box, 500 high, or 700 for `b` and `d`."""
    letters = [(letter, 700 if letter in "bd" else 500) for letter in "abcde"]
    content = " ".join(f"BT /F 10 Tf 50 {700 - 12 * at} Td ({line}) Tj ET" for at, line in enumerate(lines))
    drawn = [f"600 0 0 0 500 {height} d1 0 0 500 {height} re f" for _, height in letters]
    shapes = " ".join(f"/{letter} {6 + at} 0 R" for at, (letter, _) in enumerate(letters))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        f"<</Length {len(content)}>>stream\n{content}\nendstream",
        f"<</Type/Font/Subtype/Type3/FontBBox[0 0 500 0]/FontMatrix[.001 0 0 .001 0 0]/CharProcs<<{shapes}>>"
        "/Encoding<</Differences[97/a/b/c/d/e]>>/FirstChar 97/LastChar 101/Widths[600 600 600 600 600]>>",
        *(f"<</Length {len(each)}>>stream\n{each}\nendstream" for each in drawn),
    ]
    body = "".join(f"{number} 0 obj\n{each}\nendobj\n" for number, each in enumerate(objects, start=1))
    return f"%PDF-1.4\n{body}trailer<</Root 1 0 R>>\n%%EOF".encode()


def test_a_line_of_a_font_without_a_height_is_no_heading_for_a_tall_letter_in_its_middle() -> None:
    reading = read_pdf(pdf_of_dots("abaaebaadca", "caaaabeadae", "baeacaceaad", "eabaacaadae"), "a.pdf")

    assert [block.level for block in reading.blocks] == [0]
