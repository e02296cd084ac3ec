"""The chunks of a document as an engine stores them, packed where a file is prepared: only one process writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from openbook.index.catalogue import quantize
from openbook.index.lessons import course_of, pack_lessons
from openbook.index.postings import NO_TERMS, PackedTerms, pack_terms
from openbook.index.protocol import IndexEntry
from openbook.index.rows import fields_of
from openbook.types import Document


@dataclass(frozen=True, slots=True)
class PackedEntries:
    """The chunks of one document, in the order of their spans."""

    rows: tuple[tuple[int, int, int, int, str], ...] = ()
    """Of each: start and end in characters, first and last line, `fields_of` it."""
    words: PackedTerms = NO_TERMS
    """In one row. Ids are the places of chunks, from 0."""
    lengths: bytes = b""
    """uint16 (n, 4): words of each field."""
    vectors: bytes = b""
    """int8 (n, dim), see `quantize`; empty where there are none yet."""
    course: str = ""
    """Path of the course that the document is material of; empty for none."""
    lessons: str = ""
    numbers: bytes = b""
    """As `pack_lessons` returns both; empty without a course."""

    @property
    def dim(self) -> int:
        """Return the number of dimensions; 0 without chunks."""
        return len(self.vectors) // max(len(self.rows), 1)


NO_ENTRIES = PackedEntries()
"""Those of a document without chunks."""


def packed(document: Document, entries: Sequence[IndexEntry] | PackedEntries) -> PackedEntries:
    """Pack the chunks of a document, in any order, unless that has been done."""
    if isinstance(entries, PackedEntries):
        return entries
    # Vectors are told apart by place.
    entries = sorted(entries, key=attrgetter("chunk.span.start_char", "chunk.span.end_char"))
    chunks = [entry.chunk for entry in entries]
    spans = [chunk.span for chunk in chunks]
    words, lengths = pack_terms([entry.terms for entry in entries])
    course = course_of(document, chunks)
    lessons, numbers = pack_lessons(chunks) if course else ("", b"")
    return PackedEntries(
        rows=tuple(
            (span.start_char, span.end_char, span.start_line, span.end_line, fields_of(chunk))
            for span, chunk in zip(spans, chunks, strict=True)
        ),
        words=words,
        lengths=lengths.tobytes(),
        vectors=quantize(np.stack([entry.vector for entry in entries])) if entries else b"",
        course=course,
        lessons=lessons,
        numbers=numbers,
    )
