from __future__ import annotations

import itertools
import struct
import zlib
from pathlib import Path

import pytest

from openbook.errors import SkippedFileError
from openbook.sources.readers.pdf import read_pdf
from openbook.sources.readers.pdf_picture import PageJob, draw_page
from openbook.sources.readers.reading import DEFAULT_PDF_OPTIONS

RAW = (Path(__file__).parents[4] / "examples" / "formats" / "tides.pdf").read_bytes()
LUNAR = (
    "A lunar day therefore lasts 24 hours and 50 minutes, and two high tides are about 12 hours and 25 minutes apart."
)


def pixels(png: bytes) -> tuple[int, int, list[bytes]]:
    """Read a picture: its width, its height, and its rows."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    at = png.index(b"IDAT")
    (size,) = struct.unpack(">I", png[at - 4 : at])
    data = zlib.decompress(png[at + 4 : at + 4 + size])
    return width, height, [data[row * (width * 3 + 1) + 1 : (row + 1) * (width * 3 + 1)] for row in range(height)]


def marked_rows(png: bytes) -> list[int]:
    _, _, rows = pixels(png)
    return [at for at, row in enumerate(rows) if bytes((251, 226, 138)) in row]


def drawn(page: int, words: str = "") -> bytes:
    return draw_page(PageJob(RAW, page, words, DEFAULT_PDF_OPTIONS))


@pytest.mark.slow
def test_a_page_is_drawn_with_the_cited_words_marked_on_each_of_their_lines() -> None:
    width, height, _ = pixels(drawn(2))
    rows = marked_rows(drawn(2, LUNAR))

    assert (width, round(height / width, 1)) == (1200, 1.4)
    assert marked_rows(drawn(2)) == []
    gaps = [second - first for first, second in itertools.pairwise(rows) if second - first > 1]
    assert len(gaps) <= 1  # two lines, which may touch
    assert 25 <= len(rows) <= 100


@pytest.mark.slow
def test_boxes_of_a_scanned_page_are_marked_in_points_from_its_upper_left_corner() -> None:
    job = PageJob(RAW, 1, "", DEFAULT_PDF_OPTIONS, ((100, 50, 200, 90), (0, 5_000, 10, 6_000)))
    width, height, _ = pixels(draw_page(job))
    scale = width / 595.276  # of A4
    rows = marked_rows(draw_page(job))

    assert (rows[0], rows[-1]) == (round(50 * scale), round(90 * scale) - 1)
    assert len(rows) < height / 2


def test_of_words_that_go_on_overleaf_each_sentence_is_marked_where_it_stands() -> None:
    text = read_pdf(RAW, "tides.pdf").text
    end = text.index("Lesson 1")
    words = text[end - 150 : end + 200]

    assert marked_rows(drawn(2, words))
    assert marked_rows(drawn(3, words))


def test_words_that_stand_nowhere_and_pieces_too_short_to_mean_a_place_are_not_marked() -> None:
    assert marked_rows(drawn(2, "No such words stand here at all.")) == []
    assert marked_rows(drawn(2, "the.\nof.\nNo such words.")) == []
    assert marked_rows(drawn(2, "...")) == []


def test_there_is_no_picture_of_a_page_that_is_not_there_or_of_what_is_no_pdf() -> None:
    assert drawn(99) == b""
    with pytest.raises(SkippedFileError, match="damaged"):
        draw_page(PageJob(b"%PDF-1.7 no", 1, "", DEFAULT_PDF_OPTIONS))


@pytest.mark.slow
def test_a_page_of_any_size_becomes_a_picture_of_moderate_size() -> None:
    fpdf = pytest.importorskip("fpdf")
    long = fpdf.FPDF(unit="pt", format=(100, 14_000))
    long.add_page()
    long.set_font("helvetica", size=9)
    long.text(10, 20, "high water")

    width, height, _ = pixels(draw_page(PageJob(bytes(long.output()), 1, "", DEFAULT_PDF_OPTIONS)))

    assert width * height <= 6_100_000
