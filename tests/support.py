"""What several tests make or look at: small documents with words and vectors of their own, and processes."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from openbook.index.protocol import Evidence, Index, IndexEntry, IndexIdentity, Terms
from openbook.text import LineIndex
from openbook.types import Anchor, Chunk, Document, Filter, Kind, Stamp

if TYPE_CHECKING:
    from openbook.index.protocol import Vector

IDENTITY = IndexIdentity(embedder="test-8", tokens="test-1", chunks="test-2")
DIM = 8
EVERYTHING = Filter()


class Hit(NamedTuple):
    """A chunk of a ranked list."""

    id: int
    score: float


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
) -> IndexEntry:
    """Make a chunk of a document ready; its words are those between spaces unless `terms` are given."""
    end = len(of.text) if end is None else end
    text = of.text[start:end]
    chunk = Chunk(of.source, LineIndex(of.text).span(of.path, start, end), text, of.kind, of.language, **fields)
    return IndexEntry(chunk, Terms(body=tuple(text.split())) if terms is None else terms, vector)


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


def lexical(index: Index, tokens: Sequence[str], k: int, where: Filter = EVERYTHING) -> list[Hit]:
    """Rank the chunks that hold one of the words."""
    evidence = index.match(tokens, None, k, where).evidence
    return _ranked((Hit(found.id, found.bm25) for found in evidence if found.matched), k)


def dense(index: Index, query: Vector, k: int, where: Filter = EVERYTHING) -> list[Hit]:
    """Rank the chunks that have a vector by their nearness."""
    return _ranked((Hit(found.id, found.cosine) for found in index.match([], query, k, where).evidence), k)


def _ranked(hits: Iterable[Hit], k: int) -> list[Hit]:
    return sorted(hits, key=lambda hit: -hit.score)[:k]  # evidence comes in the order of ties


def hit_ids(index: Index, *tokens: str) -> list[int]:
    return [hit.id for hit in lexical(index, tokens, 100)]


def paths(index: Index, hits: Iterable[Hit | Evidence]) -> list[str]:
    return [chunk.span.path for chunk in index.fetch([hit.id for hit in hits])]


def answers(
    index: Index, tokens: Sequence[str], query: Vector | None, k: int = 1000, where: Filter = EVERYTHING
) -> dict[str, Any]:
    """Give what an index says to a question, with places instead of ids."""
    matches = index.match(tokens, query, k, where)
    outlines = index.outlines([found.id for found in matches.evidence])
    told = asdict(matches)
    del told["evidence"]
    return told | {
        "evidence": [
            ((outline.source, outline.span), found[1:])
            for outline, found in zip(outlines, matches.evidence, strict=True)
        ]
    }


def everything(index: Index, tokens: Sequence[str], query: Vector) -> dict[str, Any]:
    """Give all that an index answers, in a form that compares."""
    sources = [root.name for root in index.roots()]
    records = {source: index.records(source) for source in sources}
    matches = index.match(tokens, query, 1000, EVERYTHING)
    ids = [found.id for found in matches.evidence]
    return {
        "roots": index.roots(),
        "records": records,
        "documents": [index.document(source, path) for source in sources for path in sorted(records[source])],
        "matches": matches,
        "frequencies": index.frequencies(tokens),
        "outlines": index.outlines(ids),
        "chunks": index.fetch(ids),
    }


def write_tree(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    return root


def children_of(pid: int) -> set[int]:
    """Give the processes that one has started and that still run, or were never waited for."""
    if not Path("/proc/self/stat").exists():
        pytest.skip("this system does not list processes")
    found = set()
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            # The name in brackets may hold anything; behind it come the state and the parent.
            if int(file.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1]) == pid:
                found.add(int(file.parent.name))
    return found


def child_environment() -> dict[str, str]:
    """Return an environment in which a child imports what this process does."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def heed_interrupts() -> None:
    """Have Ctrl-C reach a child, as its `preexec_fn`: what runs in the background hands on that it is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
