"""Packs the chunks of a document for storage. Runs in the preparing process, because only one process writes."""

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
    """Per chunk: start and end character, first and last line, and `fields_of` it."""
    words: PackedTerms = NO_TERMS
    """One row. Ids are chunk positions, from 0."""
    lengths: bytes = b""
    """uint16 (n, 4): word counts per field."""
    vectors: bytes = b""
    """int8 (n, dim), see `quantize`; empty if not yet embedded."""
    course: str = ""
    """Path of the course that the document belongs to; empty for none."""
    lessons: str = ""
    numbers: bytes = b""
    """Both results of `pack_lessons`; empty without a course."""

    @property
    def dim(self) -> int:
        """Return the number of dimensions; 0 without chunks."""
        return len(self.vectors) // max(len(self.rows), 1)


NO_ENTRIES = PackedEntries()
"""The packed entries of a document without chunks."""


def packed(document: Document, entries: Sequence[IndexEntry] | PackedEntries) -> PackedEntries:
    """Pack the chunks of a document, in any order. Packed entries are returned as they are."""
    if isinstance(entries, PackedEntries):
        return entries
    # Vectors are matched to chunks by position.
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
