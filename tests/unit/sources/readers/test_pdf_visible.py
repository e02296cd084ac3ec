"""What of a page is not seen is not read, nor what is stamped onto it."""

from __future__ import annotations

from openbook.sources.readers.pdf import read_pdf
from tests.unit.sources.readers.pdf_files import pdf_of_font


def read(content: str) -> str:
    return read_pdf(pdf_of_font(content, "Book", {}), "a.pdf").text


def written(text: str, matrix: str) -> str:
    return f"BT /H 12 Tf {matrix} Tm ({text}) Tj ET"


def test_text_outside_of_the_page_or_of_its_clip_is_left_out() -> None:
    body = written("The text of the page.", "1 0 0 1 90 500")
    beyond = written("Notes of a designer.", "1 0 0 1 700 500")
    clipped = f"q 50 50 20 20 re W n {written('Hidden words.', '1 0 0 1 90 300')} Q"
    shown = f"q 50 50 500 500 re W n {written('Seen words.', '1 0 0 1 90 200')} Q"

    assert read("\n".join([body, beyond, clipped, shown])) == "The text of the page.\n\nSeen words."


def test_a_stamp_up_the_side_and_a_watermark_are_left_out() -> None:
    body = written("The text of the page, which is longer than a stamp.", "1 0 0 1 90 500")
    stamp = written("arXiv:2001.00001v1", "0 1 -1 0 30 200")
    mark = written("DRAFT", ".7 .7 -.7 .7 200 200")

    assert read("\n".join([stamp, body, mark])) == "The text of the page, which is longer than a stamp."
