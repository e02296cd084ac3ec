"""Renders a PDF page as an image, with some of its words highlighted."""

from __future__ import annotations

import contextlib
import ctypes
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from openbook.llm.image_sizes import png
from openbook.sources.readers.pdf import open_pdf
from openbook.sources.readers.reading import PdfOptions

if TYPE_CHECKING:
    from pypdfium2 import PdfBitmap, PdfPage

# Sharp at the width of the viewer on a screen with a pixel ratio of 2.
_WIDTH_PX = 1200

# Pixel limit, since a page may claim to be 5 m long.
_MAX_PIXELS = 6_000_000

# Highlight colour, multiplied: white paper takes it on, black letters do not.
_MARK = (251, 226, 138)

# Shorter pieces of a quote would match anywhere.
_MIN_PIECE = 12

_PIECES = re.compile(r"\n+|(?<=[.!?])\s+")

Rectangle = tuple[int, int, int, int]
"""Left, top, right and bottom, from the upper left corner; in pixels unless stated otherwise."""


@dataclass(frozen=True, slots=True)
class PageJob:
    """A page to render."""

    raw: bytes
    """The PDF file."""
    page: int
    """From 1."""
    words: str
    """Words to highlight; empty for none."""
    options: PdfOptions
    boxes: tuple[Rectangle, ...] = ()
    """Boxes to highlight too, on scanned pages, which have no words; in points from the upper left corner."""


def draw_page(job: PageJob) -> bytes:
    """Render a page as PNG, 1,200 pixels wide, with words highlighted; b"" if there is no such page.

    Words are matched by letters and digits only, because they may be broken on the page. If not all of them are found
    in sequence, each sentence is searched separately, since a quote may continue on the next page.
    """
    from pypdfium2 import raw as pdfium

    with open_pdf(job.raw, "", job.options) as document:
        if not 1 <= job.page <= len(document):
            return b""
        with contextlib.closing(document[job.page - 1]) as page:
            width, height = page.get_size()
            scale = min(_WIDTH_PX / max(width, 1.0), (_MAX_PIXELS / max(width * height, 1.0)) ** 0.5)
            made = page.render(scale=scale, rev_byteorder=True, force_bitmap_format=pdfium.FPDFBitmap_BGR)
            with contextlib.closing(made) as bitmap:
                marks = list(_rectangles(page, job.words, bitmap.width, bitmap.height)) if job.words else []
                marks += (_scaled(box, scale, bitmap.width, bitmap.height) for box in job.boxes)
                return _png(bitmap, marks)


def _scaled(box: Rectangle, scale: float, width: int, height: int) -> Rectangle:
    left, top, right, bottom = (round(edge * scale) for edge in box)
    return max(0, left), max(0, top), min(width, right), min(height, bottom)


def _rectangles(page: PdfPage, words: str, width: int, height: int) -> Iterator[Rectangle]:
    """Yield a rectangle for each line of the words found on a page."""
    from pypdfium2 import raw as pdfium

    with contextlib.closing(page.get_textpage()) as text:
        letters = [chr(pdfium.FPDFText_GetUnicode(text, at) or 32) for at in range(text.count_chars())]
        for first, last in _places(letters, words):
            line: Rectangle | None = None
            for at in range(first, last + 1):
                box = _on_picture(page, text.get_charbox(at, loose=True), width, height)
                if box[0] >= box[2] or box[1] >= box[3]:
                    continue  # a space or line feed
                if line is not None and _is_beside(line, box):
                    line = (min(line[0], box[0]), min(line[1], box[1]), max(line[2], box[2]), max(line[3], box[3]))
                    continue
                if line is not None:
                    yield line
                line = box
            if line is not None:
                yield line


def _is_beside(line: Rectangle, box: Rectangle) -> bool:
    """Return whether a letter is on the same line as a rectangle: at least half of its height is."""
    return min(line[3], box[3]) - max(line[1], box[1]) > (box[3] - box[1]) / 2


def _on_picture(page: PdfPage, box: Sequence[float], width: int, height: int) -> Rectangle:
    """Convert a box of a page, which may be rotated or cropped, into pixels."""
    from pypdfium2 import raw as pdfium

    corners = []
    for x, y in ((box[0], box[1]), (box[2], box[3])):
        left, top = ctypes.c_int(), ctypes.c_int()
        pdfium.FPDF_PageToDevice(page, 0, 0, width, height, 0, x, y, left, top)
        corners.append((min(max(left.value, 0), width), min(max(top.value, 0), height)))
    (x1, y1), (x2, y2) = corners
    return min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)


def _places(letters: Sequence[str], words: str) -> Iterator[tuple[int, int]]:
    """Yield the first and last index of the words on a page, or of each sentence of them found there."""
    known = [(sign, at) for at, letter in enumerate(letters) for sign in _signs(letter)]
    page = "".join(sign for sign, _ in known)
    whole = "".join(_signs(words))
    pieces = [whole] if whole in page else ["".join(_signs(each)) for each in _PIECES.split(words)]
    for piece in pieces:
        start = page.find(piece) if piece == whole or len(piece) >= _MIN_PIECE else -1
        if piece and start >= 0:
            yield known[start][1], known[start + len(piece) - 1][1]


def _signs(text: str) -> list[str]:
    return [sign for sign in unicodedata.normalize("NFKC", text).casefold() if sign.isalnum()]


def _png(bitmap: PdfBitmap, marks: Sequence[Rectangle]) -> bytes:
    width, height, depth = bitmap.width, bitmap.height, len(_TABLES)
    pixels = bytes(bitmap.buffer)
    rows = [bytearray(pixels[at * bitmap.stride : at * bitmap.stride + width * depth]) for at in range(height)]
    for left, top, right, bottom in marks:
        for row in rows[top:bottom]:
            for channel, table in enumerate(_TABLES):
                part = slice(left * depth + channel, right * depth, depth)
                row[part] = row[part].translate(table)
    return png(map(bytes, rows), width, height, depth, level=4)


# Lookup tables that multiply the bytes of red, green and blue by the highlight colour.
_TABLES = tuple(bytes(value * part // 255 for value in range(256)) for part in _MARK)
