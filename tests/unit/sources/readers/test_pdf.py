"""The text of a PDF in reading order, anchored by pages, without what only its layout needs."""

from __future__ import annotations

from io import BytesIO

import pytest
from fpdf import FPDF
from PIL import Image

from openbook.errors import SkippedFileError
from openbook.settings import Secret
from openbook.sources.readers.pdf import read_pdf
from openbook.sources.readers.reading import PdfOptions, Reading
from openbook.types import Anchor
from tests.unit.sources.readers.pdf_files import FACT, Draw, blank, lines, pdf, pdf_of_glyphs, picture, text, together


def read(*pages: Draw, of: type[FPDF] = FPDF) -> Reading:
    return read_pdf(pdf(*pages, of=of), "a.pdf")


def refusal(raw: bytes, password: str = "", max_pages: int = 10) -> str:
    with pytest.raises(SkippedFileError) as caught:
        read_pdf(raw, "a.pdf", PdfOptions(max_pages, Secret(password) if password else None))
    return caught.value.reason


def test_pages_are_anchors_and_are_counted_as_viewers_do() -> None:
    reading = read(text("One."), blank, text("Two."), text("Three."))

    assert reading.text == "One.\n\nTwo.\n\nThree."
    assert reading.anchors == (Anchor(0, "p. 1"), Anchor(6, "p. 3"), Anchor(12, "p. 4"))
    assert (reading.kind, reading.language, reading.remarks) == ("docs", "pdf", ())


def test_a_paragraph_is_one_line_and_a_line_of_its_own_stays_one() -> None:
    header = ["Course Title: Bread", "Course Instructor: Ada"]

    reading = read(together(lines(*header), text(FACT * 4)))

    assert reading.text.split("\n") == [*header, "", (FACT * 4).strip()]


def test_columns_are_read_one_after_the_other_though_lines_go_across_them() -> None:
    left = [f"the left column says in line {number} that" for number in range(8)]
    right = [f"the right column says in line {number} that" for number in range(8)]

    def draw(file: FPDF) -> None:
        for number in range(8):
            file.text(20, 30 + 5 * number, left[number])
            file.text(110, 30 + 5 * number, right[number])

    assert read(draw).text.split() == " ".join(left + right).split()


def test_columns_that_are_written_one_after_the_other_stay_so() -> None:
    def draw(file: FPDF) -> None:
        with file.text_columns(ncols=2, gutter=10, text_align="J") as columns:
            columns.write(" ".join(f"word{number}" for number in range(900)))

    assert read(draw).text.split() == [f"word{number}" for number in range(900)]


def test_a_table_is_read_row_by_row() -> None:
    def draw(file: FPDF) -> None:
        with file.table() as table:
            for cells in [("Plan", "Price", "Seats"), ("Free", "0", "3"), ("Team", "25 USD", "50")]:
                row = table.row()
                for cell in cells:
                    row.cell(cell)

    rows = [line for line in read(draw).text.split("\n") if line]

    assert rows == ["Plan  Price  Seats", "Free  0  3", "Team  25 USD  50"]


@pytest.mark.parametrize("hyphen", ["\u2010", "\u2011"])
def test_typographic_hyphens_are_those_of_keyboards_and_words_broken_at_them_are_whole(hyphen: str) -> None:
    signs = f"entrhabou{hyphen}"
    first, second = (
        "".join(chr(97 + signs.index(each)) if each in signs else each for each in line)
        for line in (f"re{hyphen}enter har{hyphen}", "bour at ten.")
    )
    raw = pdf_of_glyphs(f"BT /F 12 Tf 90 200 Td ({first}) Tj 0 -14 Td ({second}) Tj ET", signs)

    assert read_pdf(raw, "a.pdf").text.startswith("re-enter harbour at")


def test_words_that_are_broken_at_the_end_of_a_line_are_whole() -> None:
    reading = read(lines("A light-weight and infor-", "mation rich, light-", "weight pre-", "2020 Net-", "Work."))

    assert reading.text == "A light-weight and information rich, light-weight pre-2020 Net-Work."


def test_a_compound_that_is_only_ever_broken_at_its_hyphen_keeps_it() -> None:
    reading = read(
        lines("An OPTIONAL word that is clear and signed is clear-", "signed, re-", "run and OP-", "TIONAL.")
    )

    assert reading.text == "An OPTIONAL word that is clear and signed is clear-signed, rerun and OPTIONAL."


def test_accents_that_stand_over_letters_are_part_of_them_and_quotes_are_not() -> None:
    def draw(file: FPDF) -> None:
        # As TeX does: a step back behind the accent, in thousandths of the size of the font.
        moves = r"(Gr) -110 (\250) 443 (unbach says \264ni and `no`.)"
        file._out(rf"BT /F1 11 Tf 60 700 Td [{moves}] TJ ET")

    assert read(draw).text == "Gr\u00fcnbach says \u00b4ni and `no`."


def test_letters_of_scripts_that_run_leftward_are_in_the_order_of_reading() -> None:
    word = "\u0642\u062f\u064a\u0645"
    leftward, rightward = "[(a) 1200 (b) 1200 (c) 1200 (d)]", "[(dcba)]"

    texts = [
        read_pdf(pdf_of_glyphs(f"BT /F 12 Tf 90 200 Td {drawn} TJ ET", word), "a.pdf").text
        for drawn in (leftward, rightward)
    ]

    assert texts == [word, word]


def test_small_raised_numbers_are_apart_from_what_they_stand_before() -> None:
    def draw(file: FPDF) -> None:
        file.set_font(size=6)
        file.text(20, 19, "1")
        width = file.get_string_width("1")
        file.set_font(size=11)
        file.text(20 + width, 20, "The copies of 2nd rank.")

    assert read(draw).text == "1 The copies of 2nd rank."


def test_a_word_that_goes_on_overleaf_is_whole() -> None:
    reading = read(text("We speak of retrie-"), text("val, and more."))

    assert reading.text == "We speak of retrieval,\n\nand more."
    assert [anchor.label for anchor in reading.anchors] == ["p. 1", "p. 2"]


def test_a_footnote_that_goes_on_overleaf_is_not_joined_to_the_text_of_that_page() -> None:
    page = together(text(FACT * 3), text("We speak in a note of retrie-", size=8))

    reading = read(page, text(f"immediately said. {FACT * 3}"))

    assert "retrie-\n\nimmediately said." in reading.text


def test_soft_hyphens_and_ligatures_are_resolved() -> None:
    assert read(text("docu\u00admen\u00adta\u00adtion")).text == "documentation"


def test_lines_of_larger_fonts_are_headings_by_their_size() -> None:
    part = together(text("Baking\nBread", size=24), text(FACT * 3), text("Flour", size=16), text(FACT * 3))

    reading = read(part, together(text("Water", size=16), text(FACT * 3)))

    headings = [(block.level, block.title) for block in reading.blocks if block.level]
    assert headings == [(1, "Baking Bread"), (2, "Flour"), (2, "Water")]
    assert all(reading.text[block.start_char : block.end_char].strip() for block in reading.blocks)


def test_bold_lines_with_a_number_are_headings_below_those_of_larger_fonts() -> None:
    def bold(words: str) -> Draw:
        def draw(file: FPDF) -> None:
            file.set_font(style="B", size=11)
            file.multi_cell(0, text=words, new_x="LMARGIN", new_y="NEXT")
            file.set_font(style="")

        return draw

    titles = ["V7 Ropes", "V7.3 Rope Timeout", "1. Pull the rope, then let go.", "24 ropes hold", "Ropes 2", "2.1 1999"]
    raw = pdf(together(text("Moorings", size=20), *(part for each in titles for part in (bold(each), text(FACT * 3)))))

    headings = [(block.level, block.title) for block in read_pdf(raw, "a.pdf").blocks if block.level]

    assert headings == [(1, "Moorings"), (2, "V7 Ropes"), (3, "V7.3 Rope Timeout")]


def test_a_bullet_in_a_larger_font_makes_no_heading() -> None:
    def listed(file: FPDF) -> None:
        for number in range(3):
            at = 60 + 10 * number
            file.set_font("zapfdingbats", size=18)
            file.text(20, at, "l")
            file.set_font("helvetica", size=11)
            file.text(35, at, f"The rope number {number} must hold a ship")

    assert not [block for block in read(together(text(FACT), listed)).blocks if block.level]


def test_what_stands_below_a_title_on_a_page_of_its_own_is_no_heading() -> None:
    title = together(text("Baking", size=24), text("Ada Miller", size=16))

    reading = read(title, together(text("Flour", size=16), text(FACT * 3)))

    assert [(block.level, block.title) for block in reading.blocks if block.level] == [(1, "Baking"), (2, "Flour")]


def test_running_heads_are_removed_and_numbered_text_stays() -> None:
    class Handbook(FPDF):
        def header(self) -> None:
            self.set_font("helvetica", size=8)
            self.cell(text="Handbook, second edition", new_x="LMARGIN", new_y="NEXT")

        def footer(self) -> None:
            self.set_y(-15)
            self.cell(text=f"Page {self.page_no()} of 6")

    reading = read(*(text(f"Fact {number} is told. {FACT}") for number in (3, 1, 4, 1, 5, 9)), of=Handbook)

    assert "Handbook" not in reading.text
    assert "Page" not in reading.text
    assert [line.split(" is ")[0] for line in reading.text.split("\n\n")] == [f"Fact {n}" for n in (3, 1, 4, 1, 5, 9)]


def test_a_line_that_stands_on_few_pages_stays() -> None:
    assert read(text("Note."), text("Note."), text("Note.")).text == "Note.\n\nNote.\n\nNote."


def test_pages_that_hold_no_text_are_named_unless_they_are_blank() -> None:
    pages = [text("One."), blank, picture, picture, picture, text("Six."), picture]

    assert read(*pages).remarks == ("no text on pages 3 to 5 and 7",)
    assert read(text("One."), picture).remarks == ("no text on page 2",)


def test_a_page_with_a_running_head_alone_is_blank_unless_it_shows_a_picture() -> None:
    class Handbook(FPDF):
        def header(self) -> None:
            self.set_font("helvetica", size=11)
            self.cell(text="Handbook, second edition", border="B", new_x="LMARGIN", new_y="NEXT")

    scan = BytesIO()
    Image.new("L", (8, 8)).save(scan, "PNG")

    reading = read(text(FACT), blank, text("Two."), lambda file: file.image(scan, w=100), text("Three."), of=Handbook)

    assert reading.remarks == ("no text on page 4",)


def test_a_pdf_whose_letters_are_given_as_signs_is_refused_and_one_with_bullets_is_not() -> None:
    garbled = pdf_of_glyphs("BT /F 12 Tf 90 200 Td (abcba cabac) Tj ET", "\u274b\u2751\ue00c")
    listed = pdf_of_glyphs("BT /F 12 Tf 90 200 Td (a bcb) Tj 0 -20 Td (a cbc) Tj ET", "\u2713xy")

    assert refusal(garbled) == "garbled letters: they need OCR"
    assert read_pdf(listed, "a.pdf").remarks == ()


def test_a_page_whose_letters_are_garbled_is_left_out_and_named() -> None:
    def garbled(file: FPDF) -> None:
        file.set_font("zapfdingbats", size=11)
        file.multi_cell(0, text="abcba cabac " * 20)

    reading = read(text("One."), garbled, text("Three."))

    assert reading.text == "One.\n\nThree."
    assert reading.remarks == ("cannot read the letters of page 2",)


def test_a_pdf_without_any_text_is_refused() -> None:
    assert refusal(pdf(picture, picture)) == "no text: scanned pages need OCR"
    assert refusal(pdf(blank)) == "no text"


def test_an_encrypted_pdf_is_read_with_its_password_alone() -> None:
    raw = pdf(text(FACT), password="sesame")

    assert refusal(raw) == "encrypted; give its password with OPENBOOK_PDF_PASSWORD"
    assert refusal(raw, "x") == "encrypted with another password than OPENBOOK_PDF_PASSWORD"
    assert read_pdf(raw, "a.pdf", PdfOptions(password=Secret("sesame"))).text == FACT.strip()


def test_a_pdf_with_more_pages_than_allowed_is_refused() -> None:
    raw = pdf(text("One."), text("Two."))

    assert refusal(raw, max_pages=1) == "more than 1 pages"
    assert read_pdf(raw, "a.pdf", PdfOptions(max_pages=2)).text == "One.\n\nTwo."


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9])
def test_half_a_pdf_is_damaged_or_read_as_far_as_it_goes(share: float) -> None:
    raw = pdf(*(text(f"Page {number}. {FACT}") for number in range(5)))

    try:
        reading = read_pdf(raw[: int(len(raw) * share)], "a.pdf")
    except SkippedFileError as exc:
        assert exc.reason in {"damaged", "no text"}  # noqa: PT017 - both ways are right
    else:
        assert "Page" in reading.text


def test_a_page_that_cannot_be_read_costs_that_page() -> None:
    raw = pdf(*(text(f"Page {number}.") for number in (1, 2, 3)))
    broken = raw.replace(b"/Type /Page\n", b"/Type /Rope\n", 2).replace(b"/Type /Rope\n", b"/Type /Page\n", 1)

    reading = read_pdf(broken, "a.pdf")

    assert reading.text == "Page 1.\n\nPage 3."
    assert reading.remarks == ("cannot read page 2",)


def written_onto(*annotations: str) -> Reading:
    listed = "".join(f"<</Type/Annot/Rect[10 10 90 30]{one}>>" for one in annotations)
    parts = [
        "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[]>>>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Annots[{listed}]>>",
    ]
    body = "".join(f"{number} 0 obj\n{each}\nendobj\n" for number, each in enumerate(parts, start=1))
    return read_pdf(f"%PDF-1.4\n{body}trailer<</Root 1 0 R>>\n%%EOF".encode(), "a.pdf")


def test_notes_and_filled_fields_stand_at_the_end_of_their_page() -> None:
    reading = written_onto(
        "/Subtype/Text/Contents(Check the\nrye.)",
        "/Subtype/Widget/FT/Tx/T(Name)/V(Ada)",
        "/Subtype/Widget/FT/Tx/T(Street)",
        "/Subtype/Widget/FT/Btn/T(Vegan)/V/Off",
        "/Subtype/Link/Contents(a link)",
        "/Subtype/Highlight",
    )

    assert reading.text == "Note: Check the rye.\n\nName: Ada"
    assert reading.anchors == (Anchor(0, "p. 1"),)


def test_notes_follow_the_text_of_a_page() -> None:
    def draw(file: FPDF) -> None:
        text("Rye rests.")(file)
        file.text_annotation(20, 20, "How long?")

    assert read(draw, text("Next.")).text == "Rye rests.\n\nNote: How long?\n\nNext."
