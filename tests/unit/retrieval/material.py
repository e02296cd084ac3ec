"""Chunks and libraries made by hand, for the tests of retrieval and answering."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from openbook.embedding.protocol import Embedder
from openbook.index.protocol import IndexEntry, IndexIdentity, Outline
from openbook.index.sqlite import SqliteIndex
from openbook.retrieval.fields import embedding_text, terms_of
from openbook.retrieval.search import Retriever
from openbook.testing import HashEmbedder
from openbook.text import LineIndex
from openbook.tokens import tokens_identity
from openbook.types import Chunk, Document, Filter, Kind, RetrievalResult, Span, Stamp, View


def chunk_of(
    text: str, path: str = "a.md", *, before: str = "", kind: Kind = "docs", source: str = "src", **fields: Any
) -> Chunk:
    """Cut the chunk that stands behind `before` in its document."""
    span = LineIndex(before + text).span(path, len(before), len(before) + len(text))
    return Chunk(source, span, text, kind, **fields)


def outline_of(
    path: str = "a.py",
    start: int = 0,
    *,
    source: str = "src",
    kind: Kind = "code",
    symbol: str = "",
    defines: tuple[str, ...] = (),
    signature: str = "",
    context: tuple[str, ...] = (),
    is_generated: bool = False,
) -> Outline:
    """Make a chunk of one line and ten characters, without its text."""
    line = start // 10 + 1
    span = Span(path, start, start + 10, line, line)
    return Outline(0, source, span, kind, "", symbol, defines, signature, context, is_generated)


def result_of(chunk: Chunk, *, score: float = 1.0) -> RetrievalResult:
    return RetrievalResult(chunk, score)


class Library:
    """A library whose chunks are what each test says they are."""

    def __init__(self, path: Path, embedder: Embedder | None = None) -> None:
        self.path = path
        self.embedder = embedder or HashEmbedder()
        self.identity = IndexIdentity(self.embedder.identity, tokens_identity())
        self.index = SqliteIndex(path, self.identity)
        self.texts: dict[tuple[str, str], str] = {}

    def put(self, path: str, *texts: str, kind: Kind = "docs", source: str = "src", **fields: Any) -> list[Chunk]:
        """Store a document that is these texts with a blank line between them, a chunk for each."""
        chunks, before = [], ""
        for text in texts:
            chunks.append(chunk_of(text, path, before=before, kind=kind, source=source, **fields))
            before += f"{text}\n\n"
        self.put_chunks(before, chunks)
        return chunks

    def put_chunks(self, text: str, chunks: list[Chunk]) -> None:
        """Store a document and any slices of it."""
        first = chunks[0]
        document = Document(first.source, first.span.path, first.kind, first.language, text, "")
        vectors = self.embedder.embed([embedding_text(chunk) for chunk in chunks])
        entries = [IndexEntry(chunk, terms_of(chunk), vector) for chunk, vector in zip(chunks, vectors, strict=True)]
        self.index.put(document, entries, Stamp(0, 0, 0))
        self.texts[document.source, document.path] = text

    def text_now(self, chunk: Chunk) -> str | None:
        """Return the text that was last put, or what a test has set in its place."""
        return self.texts.get((chunk.source, chunk.span.path))

    def search(
        self, text: str, *, limit: int = 10, where: Filter | None = None, view: View = "auto"
    ) -> list[RetrievalResult]:
        return Retriever(self.index, self.embedder).search(text, limit=limit, where=where or Filter(), view=view)

    def close(self) -> None:
        self.index.close()
