"""Turns files into entries: read, cut, split into words, embed. Loaded only when there are some."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np

from openbook.chunking.dispatch import chunk_document
from openbook.chunking.fixed import ChunkOptions
from openbook.embedding.protocol import Embedder
from openbook.errors import SkippedFileError
from openbook.index.catalogue import dequantize, quantize
from openbook.index.packing import NO_ENTRIES, PackedEntries, packed
from openbook.index.protocol import IndexEntry
from openbook.index.rows import chunk_from_row
from openbook.process_pool import took_longer
from openbook.retrieval.fields import embedding_text, terms_of
from openbook.settings import Settings
from openbook.sources.content_hash import content_hash
from openbook.sources.course_plan import Placement
from openbook.sources.courses import as_lesson
from openbook.sources.documents import DocumentReader
from openbook.sources.folder import Folder
from openbook.sources.formats import may_be_binary
from openbook.sources.optional_readers import recognizer_of
from openbook.sources.reader_registry import ReaderRegistry
from openbook.sources.readers.reading import PdfOptions
from openbook.types import Document

# Of the time that a file has: what is attached beyond it is skipped, so that the message is not lost with it.
_SHARE_OF_ATTACHED = 0.5

_NO_VECTOR = np.zeros(0, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class FileJob:
    """A file to prepare."""

    path: str
    known_hash: str
    """Of what the index holds of it; empty for nothing."""


@dataclass(frozen=True, slots=True)
class PreparedFile:
    """A prepared file: a document with entries, or the reason why it is skipped. Neither if it is unchanged."""

    document: Document | None = None
    entries: PackedEntries = NO_ENTRIES
    """Without vectors if there are `texts`."""
    texts: tuple[str, ...] = ()
    """What is yet to be embedded of each chunk."""
    reason: str = ""
    elsewhere: bool = False
    """It has not been read: its format is one for a process that can be killed."""
    attached: tuple[tuple[str, PreparedFile], ...] = ()
    """What is attached to it, by path."""

    @property
    def files(self) -> tuple[PreparedFile, ...]:
        """It and what is attached to it."""
        return (self, *(one for _, one in self.attached))


@dataclass(frozen=True, slots=True)
class FileContent:
    """What was read of a file: all that it takes to prepare it where its folder is not."""

    path: str
    raw: bytes
    placement: Placement | None
    """In the course that the file belongs to, if it does."""


class Preparer:
    """Turn the content of one file into entries. Picklable: other processes load their own embedder.

    Without one, its entries have no vectors yet: see `embedded`.
    """

    def __init__(
        self,
        source: str,
        settings: Settings,
        load_embedder: Callable[[], Embedder] | None,
        readers: ReaderRegistry | None = None,
    ) -> None:
        self._readers = readers
        self._reader = DocumentReader(
            source,
            PdfOptions(settings.max_pages, settings.pdf_password, recognizer_of(settings)),
            readers,
            mask=settings.mask_secrets,
            max_file_bytes=settings.max_file_bytes,
            max_document_bytes=settings.max_document_bytes,
        )
        self._timeout_s = settings.file_timeout_s
        self._options = ChunkOptions(
            strategy=settings.chunk_strategy,
            max_words=settings.chunk_words,
            overlap_words=settings.chunk_overlap_words,
            course_chars=settings.course_chunk_chars,
            course_overlap_chars=settings.course_overlap_chars,
        )
        self.load_embedder = load_embedder
        """Returns the embedder; None where entries get no vectors here."""

    def is_of_program(self, path: str) -> bool:
        """Return whether only this process can read a file, with a reader that the program gave."""
        return self._readers is not None and self._readers.is_given(path)

    def is_of_plugin(self, path: str) -> bool:
        """Return whether a plugin reads a file, which may take long or crash."""
        return self._readers is not None and self._readers.covers(path) and not self._readers.is_given(path)

    def __call__(self, content: FileContent) -> PreparedFile:
        """Cut, split and embed."""
        ends = time.monotonic() + self._timeout_s * _SHARE_OF_ATTACHED
        reason = took_longer(self._timeout_s)
        try:
            read = self._reader.read_all(content.raw, content.path, lambda: reason if time.monotonic() > ends else "")
        except SkippedFileError as exc:
            return PreparedFile(reason=exc.reason)
        attached = [(document.path, self._prepared(document, content.placement)) for document in read.attached]
        attached += [(path, PreparedFile(reason=reason)) for path, reason in read.skipped]
        return replace(self._prepared(read.document, content.placement), attached=tuple(attached))

    def _prepared(self, document: Document, placement: Placement | None) -> PreparedFile:
        if placement is not None:
            document = as_lesson(document, placement)
        embedder = self.load_embedder() if self.load_embedder else None
        entries = entries_of(document, self._options, embedder)
        texts = () if embedder else tuple(embedding_text(entry.chunk) for entry in entries)
        return PreparedFile(replace(document, blocks=()), packed(document, entries), texts)


class FilePreparer:
    """Turn one file of a folder into entries. Picklable for processes of the same machine."""

    def __init__(self, folder: Folder, preparer: Preparer) -> None:
        self._folder = folder
        self.preparer = preparer
        """What does the rest, once a file is read."""

    def __call__(self, job: FileJob) -> PreparedFile:
        """Read, cut, split and embed the file at `job.path`."""
        content = self.read(job)
        return content if isinstance(content, PreparedFile) else self.preparer(content)

    def here(self, job: FileJob) -> PreparedFile:
        """Do the same if the file is text.

        Nothing here ends what takes too long: what reads and cuts text has to take time in proportion
        to its length, and its parser gives up by itself.
        """
        content = self.read(job)
        if isinstance(content, PreparedFile):
            return content
        is_elsewhere = may_be_binary(content.raw, content.path) or self.preparer.is_of_plugin(content.path)
        return PreparedFile(elsewhere=True) if is_elsewhere else self.preparer(content)

    def read(self, job: FileJob) -> FileContent | PreparedFile:
        """Read the file; what needs no more than that is prepared."""
        try:
            raw = self._folder.read_bytes(job.path)
        except SkippedFileError as exc:
            return PreparedFile(reason=exc.reason)
        if job.known_hash and content_hash(raw, job.path) == job.known_hash:
            return PreparedFile()
        return FileContent(job.path, raw, self._folder.placement_of(job.path))


def entries_of(document: Document, options: ChunkOptions, embedder: Embedder | None) -> list[IndexEntry]:
    """Cut a document and make its chunks ready for an index; without an embedder, but for their vectors.

    They come in the order of their spans.
    """
    chunks = sorted(chunk_document(document, options), key=attrgetter("span.start_char", "span.end_char"))
    vectors = embedder.embed([embedding_text(chunk) for chunk in chunks]) if embedder else [_NO_VECTOR] * len(chunks)
    return [IndexEntry(chunk, terms_of(chunk), vector) for chunk, vector in zip(chunks, vectors, strict=True)]


def unpacked(document: Document, chunks: PackedEntries) -> list[IndexEntry]:
    """Return entries that were packed as they are given to an engine that does not take them packed."""
    places = ((0, 0, document.source, document.path, document.kind, document.language, *row) for row in chunks.rows)
    cut = [chunk_from_row(place, document.text) for place in places]
    vectors = dequantize(chunks.vectors, len(cut))
    return [IndexEntry(chunk, terms_of(chunk), vector) for chunk, vector in zip(cut, vectors, strict=True)]


def embedded(files: Sequence[PreparedFile], embedder: Embedder) -> list[PreparedFile]:
    """Return files, in order, with the vectors that they have not yet; all are embedded in one call."""
    texts = [text for file in files for one in file.files for text in one.texts]
    vectors = iter(embedder.embed(texts) if texts else ())

    def with_vectors(file: PreparedFile) -> PreparedFile:
        own = [next(vectors) for _ in file.texts]
        entries = replace(file.entries, vectors=quantize(np.stack(own))) if own else file.entries
        attached = tuple((path, with_vectors(one)) for path, one in file.attached)
        return replace(file, entries=entries, texts=(), attached=attached)

    return [with_vectors(file) for file in files]
