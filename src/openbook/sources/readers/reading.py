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

# JSON and XML can name halves of surrogate pairs and NUL, which neither UTF-8 nor SQLite's text can hold.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file within a file, such as one that is attached to mail."""

    name: str
    """As the file around it says; folders are separated by `/`."""
    raw: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Reading:
    """The text and structure of one file."""

    text: str = field(repr=False)
    kind: Kind
    language: str
    blocks: tuple[Block, ...] = field(default=(), repr=False)
    """In order, not overlapping. With any blocks, every non-blank character lies in one."""
    anchors: tuple[Anchor, ...] = field(default=(), repr=False)
    remarks: tuple[str, ...] = ()
    """Parts of the file that could not be read, as messages."""
    attached: tuple[AttachedFile, ...] = field(default=(), repr=False)
    """Files to be read as documents of their own."""


@dataclass(frozen=True, slots=True)
class PdfOptions:
    """What reading a PDF needs beside its bytes. Picklable."""

    max_pages: int = 5000
    password: Secret | None = None
    recognizer: Callable[[Any], Sequence[Any]] | None = None
    """Reads the text of scanned pages: see `openbook.sources.readers.ocr`. None leaves them out."""


DEFAULT_PDF_OPTIONS = PdfOptions()


class Reader(Protocol):
    """Extract text and structure from one format.

    A reader never fails: what is no valid file of its format it gives as plain text, with the
    kind and language that are true. It may change the kind for the same reason.
    """

    def __call__(self, text: str, path: str) -> Reading:
        """Read the decoded text of a file. The path may help to tell formats apart."""


def fill_gaps(text: str, blocks: Iterable[Block]) -> tuple[Block, ...]:
    r"""Add text blocks for what lies between the given ones, so that no word is lost.

    Where two of them overlap, the later one gives way.

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
    r"""Return a text with U+FFFD for each character that nothing can store.

    Example:
        >>> storable("a\0b")
        'a\ufffdb'
    """
    return _UNSTORABLE.sub("\ufffd", text)


def shifted(blocks: Iterable[Block], by: int) -> Iterator[Block]:
    """Yield the blocks of a part of a text as blocks of the whole, where the part starts at `by`."""
    for block in blocks:
        yield replace(block, start_char=block.start_char + by, end_char=block.end_char + by)


def read_unstructured(text: str, path: str) -> Reading:
    """Read code, settings and data: text without blocks."""
    kind, language = classify(path, text)
    return Reading(text, kind, language)


def read_plain_text(text: str, path: str) -> Reading:
    """Read prose as paragraphs. No line is taken for a heading, because nothing marks one."""
    kind, language = classify(path, text)
    return Reading(text, kind, language, tuple(Block(start, end) for start, end in paragraphs(text)))
