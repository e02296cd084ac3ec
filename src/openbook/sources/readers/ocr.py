"""Reads text in images and scanned pages (OCR), with RapidOCR, Tesseract or another recognizer."""

from __future__ import annotations

import io
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

from openbook.errors import SkippedFileError
from openbook.sources.readers.composing import Composer
from openbook.sources.readers.reading import Reading
from openbook.types import SkipReason

PICTURES = frozenset({"png", "jpg", "jpeg", "tif", "tiff", "webp", "bmp"})
"""Suffixes of supported images."""

MISSING = f"{SkipReason.NO_RECOGNIZER}; install 'openbook[ocr]' or Tesseract"
"""Skip reason for images if no OCR engine is installed."""

DOTS_PER_INCH = 200
"""Resolution at which pages are rendered: 8-point letters are 22 pixels high."""

# A scan of A3 at 600 dpi has 70 million. The memory of a process is limited too.
_MAX_PIXELS = 80_000_000

# Gaps between lines of one paragraph are below this share of their height.
_MAX_GAP = 0.8

# Timeout of Tesseract. Below the file timeout of 60 s, so that it does not outlive the waiting process.
_TIMEOUT_S = 45

# Tesseract's TSV has a row for each page, block, paragraph, line and word. Only words have text.
_WORD_LEVEL = "5"
_COLUMNS = 12

# Tesseract data files for orientation and equations, which are not languages.
_NO_LANGUAGE = frozenset({"osd", "equ"})

REMARK = "text in pictures was recognized, which makes mistakes"


@dataclass(frozen=True, slots=True)
class OcrLine:
    """A line of text in an image, with its box in pixels from the upper left corner."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


Recognizer = Callable[[Any], "Sequence[OcrLine]"]
"""Takes an RGB image as an array (rows, columns, channels), and returns its lines from top to bottom. Picklable."""


def is_there() -> bool:
    """Return whether an OCR engine is installed."""
    return find_spec("rapidocr") is not None or tesseract_program() is not None


def recognize(picture: Any) -> list[OcrLine]:
    """Recognize the lines of an image with RapidOCR, else Tesseract. Nothing is fetched.

    Raises:
        ModuleNotFoundError: Neither is installed.
        OSError: Tesseract failed.
    """
    if find_spec("rapidocr") is None and (program := tesseract_program()) is not None:
        return recognize_with_tesseract(picture, program)
    found = _engine()(picture)
    if found.boxes is None or found.txts is None:
        return []
    lines = []
    for text, box in zip(found.txts, found.boxes, strict=True):
        xs, ys = [float(x) for x, _ in box], [float(y) for _, y in box]
        lines.append(OcrLine(str(text), min(xs), min(ys), max(xs), max(ys)))
    return lines


@lru_cache(maxsize=1)
def _engine() -> Any:
    from rapidocr import RapidOCR

    return RapidOCR(params={"Global.log_level": "critical"})


def read_picture(raw: bytes, path: str, recognizer: Recognizer) -> Reading:
    """Read the text of an image. Anchors are the boxes of paragraphs in pixels: `box 40,60,500,90`."""
    try:
        lines = recognizer(_pixels(raw, path))
    except ModuleNotFoundError as exc:
        raise SkippedFileError(path, MISSING) from exc
    except OSError as exc:
        raise SkippedFileError(path, str(exc)) from exc
    composer = Composer()
    for paragraph in _paragraphs(lines):
        left, top = min(line.left for line in paragraph), min(line.top for line in paragraph)
        right, bottom = max(line.right for line in paragraph), max(line.bottom for line in paragraph)
        composer.anchor(f"box {left:.0f},{top:.0f},{right:.0f},{bottom:.0f}")
        composer.text(" ".join(line.text for line in paragraph))
    if not len(composer):
        raise SkippedFileError(path, "no text in the picture")
    return composer.reading("picture", [REMARK])


def _pixels(raw: bytes, path: str) -> Any:
    import numpy as np
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(raw)) as image:
            if image.width * image.height > _MAX_PIXELS:
                raise SkippedFileError(path, f"more than {_MAX_PIXELS // 1_000_000} million pixels")
            return np.asarray(image.convert("RGB"))
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError, SyntaxError) as exc:
        raise SkippedFileError(path, "damaged") from exc


def _paragraphs(lines: Sequence[OcrLine]) -> Iterator[list[OcrLine]]:
    if not lines:
        return
    paragraph = [lines[0]]
    for before, line in pairwise(lines):
        is_near = line.top - before.bottom < _MAX_GAP * (line.bottom - line.top)
        if not (is_near and line.left < before.right and before.left < line.right):
            yield paragraph
            paragraph = []
        paragraph.append(line)
    yield paragraph


def tesseract_program() -> str | None:
    """Return the path of Tesseract; None if it is not installed."""
    return shutil.which("tesseract")


def recognize_with_tesseract(picture: Any, program: str) -> list[OcrLine]:
    """Recognize the lines of an image in all installed languages. Nothing is fetched.

    Raises:
        OSError: It failed, or took longer than 45 seconds.
    """
    from PIL import Image

    raw = io.BytesIO()
    Image.fromarray(picture).save(raw, "PNG", compress_level=1)
    languages = _languages(program)
    chosen = ["-l", languages] if languages else []
    return lines_of(_run([program, "-", "-", *chosen, "tsv"], raw.getvalue()).splitlines())


def lines_of(rows: Iterable[str]) -> list[OcrLine]:
    """Assemble the words in Tesseract's TSV into lines, in its order, which is by column."""
    words: defaultdict[tuple[str, ...], list[tuple[str, float, float, float, float]]] = defaultdict(list)
    for row in rows:
        cells = row.split("\t", _COLUMNS - 1)
        if len(cells) == _COLUMNS and cells[0] == _WORD_LEVEL and cells[11].strip():
            left, top, width, height = map(float, cells[6:10])
            words[tuple(cells[1:5])].append((cells[11].strip(), left, top, left + width, top + height))
    lines = []
    for found in words.values():
        texts, lefts, tops, rights, bottoms = zip(*found, strict=True)
        lines.append(OcrLine(" ".join(texts), min(lefts), min(tops), max(rights), max(bottoms)))
    return lines


@lru_cache(maxsize=1)
def _languages(program: str) -> str:
    listed = _run([program, "--list-langs"]).splitlines()[1:]  # the first line is a heading
    return "+".join(sorted({name.strip() for name in listed} - _NO_LANGUAGE - {""}))


def _run(command: list[str], given: bytes = b"") -> str:
    try:
        done = subprocess.run(command, input=given, capture_output=True, check=True, timeout=_TIMEOUT_S)
    except subprocess.SubprocessError as exc:
        raise OSError(f"Tesseract failed: {exc}") from exc
    return done.stdout.decode("utf-8", "replace")
