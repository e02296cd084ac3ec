"""The lines of a scanned page of a PDF, where they are recognized."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from openbook.sources.readers.ocr import DOTS_PER_INCH
from openbook.sources.readers.pdf_pages import PageLine, Row

_POINTS_PER_INCH = 72
# A page of A0 would fill the memory.
_MOST_PIXELS = 40_000_000


def recognized_rows(page: Any, recognizer: Callable[[Any], Sequence[Any]]) -> list[Row]:
    """Return the lines of a page as they are recognized; none where what does so is not installed.

    Args:
        page: A `PdfPage`.
        recognizer: See `openbook.sources.readers.ocr.Recognizer`.
    """
    width, height = page.get_size()
    scale = min(DOTS_PER_INCH / _POINTS_PER_INCH, (_MOST_PIXELS / max(1.0, width * height)) ** 0.5)
    picture = page.render(scale=scale, rev_byteorder=True, prefer_bgrx=False).to_numpy()[..., :3]
    try:
        lines = recognizer(picture)
    except (ModuleNotFoundError, OSError):  # the page is remarked on as one without text
        return []
    rows: list[Row] = []
    for line in lines:
        left, right = line.left / scale, line.right / scale
        bottom, top = height - line.bottom / scale, height - line.top / scale
        rows.append((PageLine(line.text, left, right, bottom, top, top - bottom, right),))
    return rows
