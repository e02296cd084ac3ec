"""Text in pictures and scanned pages is read where it is asked for, with its places."""

from __future__ import annotations

import io
import os
import pickle
import struct
import sys
import zlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont

from openbook.errors import MissingExtraError, SkippedFileError
from openbook.settings import Settings
from openbook.sources.documents import read_document
from openbook.sources.optional_readers import check_recognition, readers_of, recognizer_of
from openbook.sources.reader_registry import ReaderRegistry
from openbook.sources.readers.ocr import MISSING, PICTURES, REMARK, OcrLine, lines_of, read_picture, recognize
from openbook.sources.readers.pdf import may_be_read_now, read_pdf
from openbook.sources.readers.reading import PdfOptions
from openbook.types import SkipReason
from tests.unit.sources.readers.pdf_files import blank, pdf, pdf_of_glyphs, picture, text

LINES = [OcrLine("Rye rests", 10, 10, 200, 40), OcrLine("for an hour.", 10, 45, 180, 75)]


def png(width: int = 900, height: int = 200, words: str = "") -> bytes:
    image = Image.new("RGB", (width, height), "white")
    ImageDraw.Draw(image).text((20, 60), words, font=ImageFont.load_default(40), fill="black")
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()


def claiming(width: int, height: int) -> bytes:
    """Make a picture whose header says that it is larger than it is."""
    raw = png(1, 1)
    header = b"IHDR" + struct.pack(">II", width, height) + raw[24:29]
    return raw[:12] + header + struct.pack(">I", zlib.crc32(header)) + raw[33:]


def seen(image: Any) -> Sequence[OcrLine]:
    """See lines in whatever is no blank picture."""
    assert image.shape[2] == 3
    return [*LINES, OcrLine("Elsewhere.", 500, 300, 600, 330)]


def nothing(image: Any) -> Sequence[OcrLine]:
    return []


def missing(image: Any) -> Sequence[OcrLine]:
    raise ModuleNotFoundError("rapidocr")


def test_paragraphs_of_a_picture_have_the_place_of_their_lines() -> None:
    reading = read_picture(png(), "a.png", seen)

    assert reading.text == "Rye rests for an hour.\n\nElsewhere."
    assert [anchor.label for anchor in reading.anchors] == ["box 10,10,200,75", "box 500,300,600,330"]
    assert reading.remarks == (REMARK,)


@pytest.mark.parametrize(
    ("raw", "recognizer", "reason"),
    [
        (png(), nothing, "no text in the picture"),
        (png(), missing, MISSING),
        (b"no picture", seen, "damaged"),
        (claiming(9_001, 9_000), seen, "more than 80 million pixels"),
    ],
)
def test_a_picture_that_cannot_be_read_is_skipped_with_the_reason(raw: bytes, recognizer: Any, reason: str) -> None:
    with pytest.raises(SkippedFileError) as refused:
        read_picture(raw, "a.png", recognizer)

    assert refused.value.reason == reason


def test_only_scanned_pages_of_a_pdf_are_recognized() -> None:
    raw = pdf(text("One."), picture, blank)
    reading = read_pdf(raw, "a.pdf", PdfOptions(recognizer=seen))

    assert reading.text.startswith("One.\n\nRye rests")
    labels = [anchor.label for anchor in reading.anchors]
    assert labels == ["p. 1", "p. 2 box 4,4,72,27", "p. 2 box 180,108,216,119"]
    assert reading.remarks == (f"{REMARK}, on page 2",)
    assert read_pdf(raw, "a.pdf", PdfOptions(recognizer=missing)).remarks == ("no text on page 2",)
    assert read_pdf(raw, "a.pdf").text == "One."


def test_a_page_whose_letters_are_garbled_is_recognized() -> None:
    raw = pdf_of_glyphs("BT /F 12 Tf 90 200 Td (abcba cabac) Tj ET", "\u274b\u2751\ue00c")

    assert read_pdf(raw, "a.pdf", PdfOptions(recognizer=seen)).text.startswith("Rye rests")
    with pytest.raises(SkippedFileError, match="garbled letters"):
        read_pdf(raw, "a.pdf", PdfOptions(recognizer=missing))
    assert not may_be_read_now(SkipReason.GARBLED, PdfOptions())


def test_lines_of_a_scan_that_differ_a_little_in_height_are_no_headings() -> None:
    def uneven(image: Any) -> Sequence[OcrLine]:
        heights = [90, 30, 24, 31, 37, 30]
        return [OcrLine(f"Line {at}", 10, 100 * at, 400, 100 * at + high) for at, high in enumerate(heights)]

    reading = read_pdf(pdf(picture), "a.pdf", PdfOptions(recognizer=uneven))

    assert [block.title for block in reading.blocks if block.level] == ["Line 0"]


def test_pictures_are_covered_only_where_they_are_asked_for_and_so_in_other_processes() -> None:
    own = dict.fromkeys(PICTURES, partial(read_picture, recognizer=seen))
    registry = pickle.loads(pickle.dumps(ReaderRegistry(own=own)))

    assert registry.covers("scan.PNG")
    assert not ReaderRegistry().covers("scan.png")
    assert not ReaderRegistry({"png": lambda raw, path: "mine"}, own).covers("a.gif")
    document = read_document(png(), source="s", path="scan.png", readers=registry)
    assert (document.language, document.text.split()[0]) == ("picture", "Rye")
    mine = ReaderRegistry({"png": lambda raw, path: "mine"}, own)
    assert read_document(png(), source="s", path="scan.png", readers=mine).text == "mine"


def test_pictures_without_text_are_not_looked_at_again_and_again() -> None:
    registry = ReaderRegistry(own=readers_of(Settings(ocr=True)))

    assert registry.may_read_now("a.png", MISSING)
    assert registry.may_read_now("mail.eml/a.png", SkipReason.BINARY_NAME)
    assert not registry.may_read_now("a.png", "no text in the picture")
    assert not registry.may_read_now("a.png", "damaged")


def test_settings_ask_for_it() -> None:
    assert recognizer_of(Settings()) is None
    assert recognizer_of(Settings(ocr=True)) is recognize
    assert readers_of(Settings()) == {}
    assert readers_of(Settings(ocr=True)).keys() == PICTURES
    assert not may_be_read_now(SkipReason.SCANNED, PdfOptions())


_TSV = """level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext
1\t1\t0\t0\t0\t0\t0\t0\t900\t200\t-1\t
4\t1\t1\t1\t1\t0\t20\t60\t200\t40\t-1\t
5\t1\t1\t1\t1\t1\t20\t60\t70\t40\t96.0\tRye
5\t1\t1\t1\t1\t2\t100\t62\t120\t38\t95.1\trests.
5\t1\t1\t1\t2\t1\t20\t110\t90\t40\t95.1\tAlways.
5\t1\t1\t1\t2\t2\t120\t110\t9\t40\t20.0\t
"""


def test_words_of_tesseract_become_lines_with_their_places() -> None:
    assert lines_of(_TSV.splitlines()) == [
        OcrLine("Rye rests.", 20, 60, 220, 100),
        OcrLine("Always.", 20, 110, 110, 150),
    ]


@pytest.mark.skipif(os.name == "nt", reason="the program of this test is a script of the shell")
def test_tesseract_reads_pictures_where_it_is_what_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "words.tsv").write_text(_TSV, encoding="utf-8")
    script = f"""#!/bin/sh
case "$1" in
  --list-langs) printf 'List of available languages (3):\\neng\\nosd\\ndeu\\n' ;;
  -) cat > {tmp_path}/seen.png; [ "$*" = "- - -l deu+eng tsv" ] && cat {tmp_path}/words.tsv ;;
esac
"""
    program = tmp_path / "tesseract"
    program.write_text(script, encoding="utf-8")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    reading = read_picture(png(), "a.png", recognize)

    assert reading.text == "Rye rests. Always."
    assert (tmp_path / "seen.png").read_bytes().startswith(b"\x89PNG")
    assert may_be_read_now(SkipReason.SCANNED, PdfOptions(recognizer=recognize))
    program.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    with pytest.raises(SkippedFileError, match="Tesseract failed"):
        read_picture(png(), "a.png", recognize)


@pytest.mark.llm
def test_rapidocr_reads_a_picture() -> None:
    pytest.importorskip("rapidocr")
    reading = read_picture(png(words="The dough rests for 12 hours."), "a.png", recognize)

    assert reading.text == "The dough rests for 12 hours."
    assert may_be_read_now(SkipReason.SCANNED, PdfOptions(recognizer=recognize))
    with pytest.raises(SkippedFileError, match="no text"):
        read_picture(png(), "a.png", recognize)


def test_settings_that_want_text_recognized_are_refused_where_nothing_can(monkeypatch: pytest.MonkeyPatch) -> None:
    check_recognition(Settings())
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    monkeypatch.setenv("PATH", "")

    with pytest.raises(MissingExtraError, match="OPENBOOK_OCR is on, and nothing recognizes text"):
        check_recognition(Settings(ocr=True))
