"""Turns files into entries: read, cut, split into words, embed. Loaded only when there are some."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from openbook.chunking.dispatch import chunk_document
from openbook.chunking.fixed import ChunkOptions
from openbook.embedding.protocol import Embedder
from openbook.errors import SkippedFileError
from openbook.index.protocol import Entry
from openbook.retrieval.fields import embedding_text, terms_of
from openbook.settings import Settings
from openbook.sources.folder import Folder
from openbook.types import Document


@dataclass(frozen=True, slots=True)
class Job:
    """A file to prepare."""

    path: str
    known_hash: str
    """Of what the index holds of it; empty for nothing."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a file became: a document with entries, or a reason why not. Neither: as it was."""

    document: Document | None = None
    entries: tuple[Entry, ...] = ()
    reason: str = ""


class Preparer:
    """Turns one file into entries. Crosses to child processes, where it loads its own embedder."""

    def __init__(self, folder: Folder, settings: Settings, load_embedder: Callable[[], Embedder]) -> None:
        self._folder = folder
        self._options = ChunkOptions(
            strategy=settings.chunk_strategy,
            max_words=settings.chunk_words,
            overlap_words=settings.chunk_overlap_words,
        )
        self._load_embedder = load_embedder

    def __call__(self, job: Job) -> Prepared:
        """Read, cut, split and embed the file at `job.path`."""
        try:
            document = self._folder.read(job.path)
        except SkippedFileError as exc:
            return Prepared(reason=exc.reason)
        if document.content_hash == job.known_hash:
            return Prepared()
        return Prepared(replace(document, blocks=()), tuple(entries_of(document, self._options, self._load_embedder())))


def entries_of(document: Document, options: ChunkOptions, embedder: Embedder) -> list[Entry]:
    """Cut a document and make its chunks ready for an index."""
    chunks = chunk_document(document, options)
    vectors = embedder.embed([embedding_text(chunk) for chunk in chunks])
    return [Entry(chunk, terms_of(chunk), vector) for chunk, vector in zip(chunks, vectors, strict=True)]
