"""The `Reading` that readers return, their protocol, and shared helpers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from openbook.settings import Secret
from openbook.sources.classify import classify
from openbook.text import paragraphs
from openbook.types import Anchor, Block, Kind

# JSON and XML can contain lone surrogates and NUL, which UTF-8 and SQLite text cannot store.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


# A fence of code, which plain text has as well: notes, and pages for models.
_FENCE = re.compile(r"^[ \t]*(?P<fence>`{3,})[ \t]*(?P<info>[^`\s]?)[^`\n]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file within a file, such as a mail attachment."""

    name: str
    """Name as given by the containing file; folders are separated by `/`."""
    raw: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Reading:
    """The text and structure of one file."""

    text: str = field(repr=False)
    kind: Kind
    language: str
    blocks: tuple[Block, ...] = field(default=(), repr=False)
    """In order, not overlapping. If there are any, every non-blank character is in one."""
    anchors: tuple[Anchor, ...] = field(default=(), repr=False)
    remarks: tuple[str, ...] = ()
    """Messages on parts of the file that could not be read."""
    attached: tuple[AttachedFile, ...] = field(default=(), repr=False)
    """Files to read as separate documents."""


@dataclass(frozen=True, slots=True)
class PdfOptions:
    """Options for reading a PDF. Picklable."""

    max_pages: int = 5000
    password: Secret | None = None
    recognizer: Callable[[Any], Sequence[Any]] | None = None
    """OCR function for scanned pages: see `openbook.sources.readers.ocr`. None skips them."""


DEFAULT_PDF_OPTIONS = PdfOptions()


class Reader(Protocol):
    """Extracts text and structure from one format.

    A reader never fails: a file that is not valid in its format is returned as plain text, and its kind and language
    are corrected.
    """

    def __call__(self, text: str, path: str) -> Reading:
        """Read the decoded text of a file. The path may help to distinguish formats."""


def fill_gaps(text: str, blocks: Iterable[Block]) -> tuple[Block, ...]:
    r"""Add text blocks for the gaps between blocks, so that no text is lost.

    If two blocks overlap, the later one is shortened.

    Example:
        >>> [(block.start_char, block.end_char) for block in fill_gaps("a\n\nb", [Block(0, 1)])]
        [(0, 1), (3, 4)]
    """
    found: list[Block] = []
    reached = 0
    for block in blocks:
        start = max(block.start_char, reached)
        if start >= block.end_char:
            continue
        found.extend(Block(a, b) for a, b in paragraphs(text, reached, start))
        found.append(replace(block, start_char=start))
        reached = block.end_char
    found.extend(Block(a, b) for a, b in paragraphs(text, reached))
    return tuple(found)


def storable(text: str) -> str:
    r"""Replace characters that cannot be stored by U+FFFD.

    Example:
        >>> storable("a\0b")
        'a\ufffdb'
    """
    return _UNSTORABLE.sub("\ufffd", text)


def shifted(blocks: Iterable[Block], by: int) -> Iterator[Block]:
    """Shift the blocks of a part that starts at offset `by` of the whole text."""
    for block in blocks:
        yield replace(block, start_char=block.start_char + by, end_char=block.end_char + by)


def read_unstructured(text: str, path: str) -> Reading:
    """Read code, configuration and data: text without blocks."""
    kind, language = classify(path, text)
    return Reading(text, kind, language)


def read_plain_text(text: str, path: str) -> Reading:
    """Read prose as paragraphs and fenced code. There are no headings, since plain text does not mark them."""
    kind, language = classify(path, text)
    return Reading(text, kind, language, fill_gaps(text, _fenced(text)))


def _fenced(text: str) -> Iterator[Block]:
    opening: re.Match[str] | None = None
    for line in _FENCE.finditer(text):
        if opening is None:
            opening = line
        elif line["fence"].startswith(opening["fence"]) and not line["info"]:
            yield Block(opening.start(), line.end(), "code")
            opening = None
