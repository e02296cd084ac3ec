"""Recognizes text in pictures with Tesseract, where it is installed."""

from __future__ import annotations

import io
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openbook.sources.readers.ocr import OcrLine

# Below the 60 s that a file may take, so that no program outlives the process that waits for it.
_TIMEOUT_S = 45

# Columns of its TSV: a row for each page, block, paragraph, line and word, and of these words alone have a text.
_WORD_LEVEL = "5"
_COLUMNS = 12

# It tells with such a name which way up a page is, which is no language.
_NO_LANGUAGE = frozenset({"osd", "equ"})


def tesseract_program() -> str | None:
    """Return the path of Tesseract; None if it is not installed."""
    return shutil.which("tesseract")


def recognize_with_tesseract(picture: Any, program: str) -> list[OcrLine]:
    """Recognize the lines of a picture in all languages that are installed. Nothing is fetched.

    Args:
        picture: An array of rows, pixels and RGB.
        program: Path of Tesseract.

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
    """Put the words of its TSV together into lines, in its order, which goes column by column."""
    from openbook.sources.readers.ocr import OcrLine

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
    listed = _run([program, "--list-langs"]).splitlines()[1:]  # the first line is a title
    return "+".join(sorted({name.strip() for name in listed} - _NO_LANGUAGE - {""}))


def _run(command: list[str], given: bytes = b"") -> str:
    try:
        done = subprocess.run(command, input=given, capture_output=True, check=True, timeout=_TIMEOUT_S)
    except subprocess.SubprocessError as exc:
        raise OSError(f"Tesseract failed: {exc}") from exc
    return done.stdout.decode("utf-8", "replace")
