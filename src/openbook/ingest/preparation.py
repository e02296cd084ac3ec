"""Prepares files for the index: reads, chunks, tokenizes and embeds them. Imported only if there are any."""

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

# Share of a file's time limit for its attachments. Later ones are skipped, so that the message itself is not lost.
_SHARE_OF_ATTACHED = 0.5

_NO_VECTOR = np.zeros(0, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class FileJob:
    """A file to prepare."""

    path: str
    known_hash: str
    """Content hash in the index; empty if not indexed."""


@dataclass(frozen=True, slots=True)
class PreparedFile:
    """A prepared file: a document with entries, or a skip reason. Neither if it is unchanged."""

    document: Document | None = None
    entries: PackedEntries = NO_ENTRIES
    """Without vectors if `texts` is set."""
    texts: tuple[str, ...] = ()
    """The text still to be embedded for each chunk."""
    reason: str = ""
    elsewhere: bool = False
    """The file was not read, because its format requires a process that can be killed."""
    attached: tuple[tuple[str, PreparedFile], ...] = ()
    """Attached files, by path."""

    @property
    def files(self) -> tuple[PreparedFile, ...]:
        """The file and its attached files."""
        return (self, *(one for _, one in self.attached))


@dataclass(frozen=True, slots=True)
class FileContent:
    """The content of a file, with everything needed to prepare it on another machine."""

    path: str
    raw: bytes
    placement: Placement | None
    """Position in its course, if the file belongs to one."""


class Preparer:
    """Turns file contents into entries. Picklable: other processes load their own embedder.

    Without an embedder, entries have no vectors yet: see `embedded`.
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
        """Returns the embedder; None if vectors are added later."""

    def is_of_program(self, path: str) -> bool:
        """Return whether the file needs a reader passed by the calling program, which exists only in this process."""
        return self._readers is not None and self._readers.is_given(path)

    def is_of_plugin(self, path: str) -> bool:
        """Return whether a plugin reads the file, which may take long or crash."""
        return self._readers is not None and self._readers.covers(path) and not self._readers.is_given(path)

    def __call__(self, content: FileContent) -> PreparedFile:
        """Chunk, tokenize and embed a file's content."""
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
    """Turns files of a folder into entries. Picklable for processes of the same machine."""

    def __init__(self, folder: Folder, preparer: Preparer) -> None:
        self._folder = folder
        self.preparer = preparer
        """Processes the content."""

    def __call__(self, job: FileJob) -> PreparedFile:
        """Read, chunk, tokenize and embed the file at `job.path`."""
        content = self.read(job)
        return content if isinstance(content, PreparedFile) else self.preparer(content)

    def here(self, job: FileJob) -> PreparedFile:
        """Prepare the file in this process if it is text.

        There is no timeout here: text readers and chunkers must run in linear time, and the parser has
        its own limit.
        """
        content = self.read(job)
        if isinstance(content, PreparedFile):
            return content
        is_elsewhere = may_be_binary(content.raw, content.path) or self.preparer.is_of_plugin(content.path)
        return PreparedFile(elsewhere=True) if is_elsewhere else self.preparer(content)

    def read(self, job: FileJob) -> FileContent | PreparedFile:
        """Read the file. If it needs no further work, return it prepared."""
        try:
            raw = self._folder.read_bytes(job.path)
        except SkippedFileError as exc:
            return PreparedFile(reason=exc.reason)
        if job.known_hash and content_hash(raw, job.path) == job.known_hash:
            return PreparedFile()
        return FileContent(job.path, raw, self._folder.placement_of(job.path))


def entries_of(document: Document, options: ChunkOptions, embedder: Embedder | None) -> list[IndexEntry]:
    """Chunk a document and build its index entries, in the order of their spans.

    Without an embedder, the entries have no vectors.
    """
    chunks = sorted(chunk_document(document, options), key=attrgetter("span.start_char", "span.end_char"))
    vectors = embedder.embed([embedding_text(chunk) for chunk in chunks]) if embedder else [_NO_VECTOR] * len(chunks)
    return [IndexEntry(chunk, terms_of(chunk), vector) for chunk, vector in zip(chunks, vectors, strict=True)]


def unpacked(document: Document, chunks: PackedEntries) -> list[IndexEntry]:
    """Unpack entries for an engine that does not take them packed."""
    places = ((0, 0, document.source, document.path, document.kind, document.language, *row) for row in chunks.rows)
    cut = [chunk_from_row(place, document.text) for place in places]
    vectors = dequantize(chunks.vectors, len(cut))
    return [IndexEntry(chunk, terms_of(chunk), vector) for chunk, vector in zip(cut, vectors, strict=True)]


def embedded(files: Sequence[PreparedFile], embedder: Embedder) -> list[PreparedFile]:
    """Return the files, in order, with the missing vectors added by a single call of the embedder."""
    texts = [text for file in files for one in file.files for text in one.texts]
    vectors = iter(embedder.embed(texts) if texts else ())

    def with_vectors(file: PreparedFile) -> PreparedFile:
        own = [next(vectors) for _ in file.texts]
        entries = replace(file.entries, vectors=quantize(np.stack(own))) if own else file.entries
        attached = tuple((path, with_vectors(one)) for path, one in file.attached)
        return replace(file, entries=entries, texts=(), attached=attached)

    return [with_vectors(file) for file in files]
