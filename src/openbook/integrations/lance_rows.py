"""The rows in the tables of a library in LanceDB."""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import NamedTuple

import pyarrow as pa

from openbook.index.packing import NO_ENTRIES, PackedEntries
from openbook.index.protocol import Source
from openbook.types import Document, Stamp

DOCUMENTS = pa.schema(
    [
        *((name, pa.string()) for name in ("source", "path", "kind", "language", "content_hash", "skipped", "course")),
        *((name, pa.int64()) for name in ("size_bytes", "modified_ns", "changed_ns")),
        *((name, pa.string()) for name in ("remarks", "lessons", "version")),
        ("gone", pa.bool_()),
        ("chunks", pa.int32()),
        *((name, pa.large_binary()) for name in ("lengths", "numbers", "rows")),
        *((name, pa.large_string()) for name in ("text", "anchors", "outlines")),
    ]
)
HEAVY = ("text", "anchors", "outlines")
SCORED = ("lengths", "numbers", "rows")
LIGHT = [name for name in DOCUMENTS.names if name not in (*HEAVY, *SCORED, "gone")] + ["gone"]

WORDS = pa.schema(
    [
        ("segment", pa.string()),
        ("place", pa.int32()),
        ("first_token", pa.large_string()),
        ("tokens", pa.large_string()),
        *((name, pa.large_binary()) for name in ("ends", "ids", "counts")),
    ]
)

# Younger versions are kept, because somebody may still read them.
KEPT = timedelta(hours=1)


class DocumentBody(NamedTuple):
    """The heavy columns of a document, which only its readers need."""

    text: str
    anchors: str
    outlines: str
    """JSON: start and end in characters, first and last line, and packed fields of each chunk, by span."""


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A row of `documents` without its body. A row with an empty path is a source, stored in `remarks`.

    Scored columns are present in rows to be written, and left out of rows that were read.
    """

    source: str
    path: str
    kind: str = ""
    language: str = ""
    content_hash: str = ""
    skipped: str = ""
    course: str = ""
    size_bytes: int = 0
    modified_ns: int = 0
    changed_ns: int = 0
    remarks: str = ""
    lessons: str = ""
    version: str = ""
    """Version of this row: unique, and later ones are greater. Identifies its chunks and words."""
    gone: bool = False
    chunks: int = 0
    lengths: bytes = b""
    numbers: bytes = b""
    rows: bytes = b""

    @property
    def key(self) -> tuple[str, str]:
        return self.source, self.path


def row_of_source(root: Source) -> DocumentRow:
    """Build the row of a source."""
    return DocumentRow(root.name, "", remarks=json.dumps(asdict(root)), version=new_version())


def new_version() -> str:
    """Return a unique version, greater than earlier ones. It begins with nanoseconds of Unix time."""
    return f"{time.time_ns():016x}{secrets.token_hex(8)}"


def is_settled(version: str) -> bool:
    """Return whether a version is so old that its commit must have happened, if it ever does."""
    return time.time_ns() - int(version[:16], 16) > KEPT.total_seconds() * 1e9


def row_of(document: Document, stamp: Stamp, chunks: PackedEntries = NO_ENTRIES) -> DocumentRow:
    """Build the row of a document."""
    return DocumentRow(
        *(document.source, document.path, document.kind, document.language, document.content_hash),
        course=chunks.course,
        size_bytes=stamp.size_bytes,
        modified_ns=stamp.modified_ns,
        changed_ns=stamp.changed_ns,
        remarks=json.dumps(document.remarks) if document.remarks else "",
        lessons=chunks.lessons,
        version=new_version(),
        chunks=len(chunks.rows),
        lengths=chunks.lengths,
        numbers=chunks.numbers,
        rows=chunks.vectors,
    )


def document_body(document: Document, chunks: PackedEntries) -> DocumentBody:
    """Pack the heavy columns of a document."""
    anchors = [[anchor.start_char, anchor.label] for anchor in document.anchors]
    return DocumentBody(document.text, json.dumps(anchors), json.dumps(chunks.rows, ensure_ascii=False))
