"""What several tests make: small documents with words and vectors of their own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from openbook.index.protocol import Entry, Hit, Identity, Index, Terms
from openbook.spans import LineIndex
from openbook.types import Anchor, Chunk, Document, Filter, Kind, Stamp

if TYPE_CHECKING:
    from openbook.index.protocol import Vector

IDENTITY = Identity(embedder="test-8", tokens="test-1", chunks="test-2")
DIM = 8
EVERYTHING = Filter()


def stamp(number: int = 1) -> Stamp:
    return Stamp(size_bytes=number, modified_ns=number * 10, changed_ns=number * 100)


def document(
    path: str = "a.md",
    text: str = "One.\n",
    *,
    source: str = "s",
    kind: Kind = "docs",
    anchors: tuple[Anchor, ...] = (),
) -> Document:
    content_hash = hashlib.sha256(text.encode("utf-8")).hexdigest()
    return Document(source, path, kind, "markdown", text, content_hash, anchors=anchors)


def vector(*numbers: float) -> Vector:
    """Make a row of unit length that begins with these numbers and goes on with zeros."""
    row = np.zeros(DIM, dtype=np.float32)
    row[: len(numbers)] = numbers
    length = np.linalg.norm(row)
    return (row / length).astype(np.float32) if length else row


NO_VECTOR = vector()


def entry(
    of: Document,
    start: int = 0,
    end: int | None = None,
    *,
    terms: Terms | None = None,
    vector: Vector = NO_VECTOR,
    **fields: Any,
) -> Entry:
    """Make a chunk of a document ready; its words are those between spaces unless `terms` are given."""
    end = len(of.text) if end is None else end
    text = of.text[start:end]
    chunk = Chunk(of.source, LineIndex(of.text).span(of.path, start, end), text, of.kind, of.language, **fields)
    return Entry(chunk, Terms(body=tuple(text.split())) if terms is None else terms, vector)


def put(
    index: Index,
    path: str,
    text: str = "word",
    *,
    source: str = "s",
    kind: Kind = "docs",
    vector: Vector = NO_VECTOR,
) -> None:
    """Store a document of one chunk, whose words are those between its spaces."""
    made = document(path, text, source=source, kind=kind)
    index.put(made, [entry(made, vector=vector)], stamp())


def paths(index: Index, hits: Iterable[Hit]) -> list[str]:
    return [found.chunk.span.path for found in index.fetch([hit.id for hit in hits])]


def everything(index: Index, tokens: Sequence[str], query: Vector) -> dict[str, Any]:
    """Give all that an index answers, in a form that compares."""
    sources = [root.name for root in index.roots()]
    records = {source: index.records(source) for source in sources}
    lexical, dense = index.lexical(tokens, 1000, EVERYTHING), index.dense(query, 1000, EVERYTHING)
    return {
        "roots": index.roots(),
        "records": records,
        "documents": [index.document(source, path) for source in sources for path in sorted(records[source])],
        "lexical": lexical,
        "dense": dense,
        "frequencies": index.frequencies(tokens),
        "found": index.fetch(sorted({hit.id for hit in lexical + dense})),
    }


def write_tree(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    return root
