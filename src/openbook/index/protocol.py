"""The protocols that retrieval and ingest use to talk to an engine. Engines do not tokenize."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from openbook.types import Chunk, Course, Document, Filter, Kind, Span, Stamp

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from openbook.index.packing import PackedEntries

    Vector = NDArray[np.float32]


EVERYTHING = Filter()


class Terms(NamedTuple):
    """The tokens of a chunk by field, already split and stemmed."""

    path: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Names that the chunk defines."""
    context: tuple[str, ...] = ()
    body: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A chunk ready to be indexed."""

    chunk: Chunk
    terms: Terms
    vector: Vector
    """float32 (dim,), of unit length or zero. Stored with 8 bits per dimension."""


class Evidence(NamedTuple):
    """What an index returns for one candidate chunk. Ids are valid for one index and one `put` of the document."""

    id: int
    bm25: float
    """0 if the chunk shares no token with the question."""
    file_bm25: float
    """Score of the whole file; the same for all its chunks."""
    cosine: float
    """From -1 to 1; 0 for a chunk without a vector."""
    matched: int
    """Bit n is set if the chunk contains token n of `Matches.tokens`."""
    file_chunks: int = 1
    """Number of chunks in the file."""


@dataclass(frozen=True, slots=True)
class Matches:
    """The result of matching one question."""

    evidence: tuple[Evidence, ...]
    """Evidence for the best chunks, in the order of source and span."""
    tokens: tuple[str, ...]
    """The scored tokens, rarest first: those that occur in the index, but at most the 48 rarest."""
    frequencies: Mapping[str, int]
    """Number of chunks that contain each token of the question. Absent tokens are left out."""
    chunks: int
    """Total number of chunks."""
    median_cosine: float
    """Over all chunks that pass the filter: the cosine of a chunk that has nothing to do with the question."""


class Outline(NamedTuple):
    """A chunk without its text."""

    id: int
    source: str
    span: Span
    kind: Kind
    language: str
    symbol: str
    defines: tuple[str, ...]
    signature: str
    context: tuple[str, ...]
    is_generated: bool = False


class DocumentSummary(NamedTuple):
    """A document without its text."""

    source: str
    path: str
    kind: Kind
    course: str = ""
    """Path of its course, as in `Course.key`; empty if it belongs to none."""


@dataclass(frozen=True, slots=True)
class IndexIdentity:
    """Versions of the embedder, tokenizer and chunker that built an index. Only the same versions can use it."""

    embedder: str
    tokens: str
    chunks: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A source as recorded in the library."""

    name: str
    kind: str
    """`folder`, `file`, `course` or `git`."""
    location: str
    """Absolute path."""
    synced_at: float = 0.0
    """Unix seconds of the last complete sync; 0 if never synced."""
    url: str = ""
    """URL of a repository; empty for local files."""
    commit: str = ""
    """Commit of a repository at the last sync: 40 hexadecimal digits."""
    owner: str = ""
    """Id of the machine that added it to a shared library; an engine of one machine need not store it."""

    def is_of(self, machine: str) -> bool:
        """Return whether it may be updated from a machine: its own one, or any if that is not recorded."""
        return self.owner in ("", machine)


@dataclass(frozen=True, slots=True)
class FileRecord:
    """What the index records about a file, to decide whether it must be read again."""

    stamp: Stamp
    content_hash: str
    """Empty for a skipped file."""
    skipped: str = ""
    """Why the file is not indexed; empty if it is."""
    remarks: tuple[str, ...] = ()
    """What could not be read of the file, as in `Document.remarks`."""


@dataclass(frozen=True, slots=True)
class IndexStats:
    """Size of an index."""

    documents: int
    chunks: int
    size_bytes: int
    """On disk, including the write-ahead log."""


class Index(Protocol):
    """One library.

    Ranked lists are ordered by `(-score, source, span)`: ties never depend on insertion order. Every
    change is its own transaction unless it happens inside `batch()`. Readers in other processes see
    all of a transaction or none of it.
    """

    def batch(self) -> AbstractContextManager[None]:
        """Run the body as one transaction. An exception rolls it back.

        Raises:
            LibraryWriteError: Disk full, read-only, or another writer holds the lock for too long.
        """

    def snapshot(self) -> AbstractContextManager[None]:
        """Read one consistent snapshot in the body."""

    def put(self, document: Document, entries: Sequence[IndexEntry] | PackedEntries, stamp: Stamp) -> None:
        """Store a document and its chunks, replacing those with the same source and path.

        Ingest passes packed chunks if the index has `takes_packed = True`, and entries otherwise. `packed` converts
        entries.

        Raises:
            MismatchedLibraryError: The vectors differ in size from the stored ones. Nothing is stored.
        """

    def skip(self, source: str, path: str, stamp: Stamp, reason: str) -> None:
        """Record that a file is not indexed, replacing what was stored for it."""

    def touch(self, source: str, path: str, stamp: Stamp, content_hash: str) -> None:
        """Record that a file was checked again and still has this content.

        Nothing is recorded if the stored document has another one, which another process has put meanwhile.
        """

    def delete(self, source: str, path: str) -> bool:
        """Delete a document and its chunks. Returns False if there was none."""

    def put_root(self, root: Source) -> None:
        """Record a source, replacing one with the same name."""

    def delete_source(self, name: str) -> bool:
        """Delete a source and everything from it. Returns False if there was nothing of it."""

    def roots(self) -> list[Source]:
        """List the sources by name."""

    def records(self, source: str) -> dict[str, FileRecord]:
        """Return the record of each file of a source, by path."""

    def document(self, source: str, path: str) -> Document | None:
        """Return a document with its text and anchors, without blocks."""

    def documents(self, where: Filter) -> list[DocumentSummary]:
        """List the documents that pass a filter, in the order of source and path, without skipped files.

        A lesson filter passes documents with at least one chunk of such a lesson.
        """

    def courses(self, where: Filter = EVERYTHING) -> list[Course]:
        """List the courses that pass a filter, in the order of source and path.

        The lessons of a single-document course are in order of appearance. Those of a folder are in
        the order of number and path, and neighbouring files with the same number form one lesson. A
        lesson filter keeps only matching lessons, and only courses that have one. Material without
        any chunks makes no course.
        """

    def chunks(self, source: str, path: str) -> list[Chunk]:
        """Return the chunks of a document in the order of their spans; [] if there is no such document."""

    def vectors(self, source: str, path: str) -> Vector:
        """Return the stored vectors of a document's chunks, in the order of their spans.

        float32 (n, dim) with rows of unit length or zero; `put` stores them unchanged. (0, 0) without chunks.
        """

    def match(self, tokens: Sequence[str], vector: Vector | None, k: int, where: Filter) -> Matches:
        """Find candidates: the k best chunks by words, the k best by cosine, and chunks of the best files.

        Of the k best files (at most 50), the first five contribute up to 30 chunks each, the others their best one.
        Word scores (see `bm25`) and cosines with `vector` are exact, over all chunks. The filter
        applies before the cut. All tokens are counted, but only the 48 rarest are scored.

        Raises:
            MismatchedLibraryError: `vector` differs in size from the stored vectors.
        """

    def frequencies(self, tokens: Sequence[str]) -> dict[str, int]:
        """Count the chunks that contain each token. Absent tokens are left out."""

    def outlines(self, ids: Sequence[int]) -> list[Outline]:
        """Return chunks without their texts, in the order of `ids`. Unknown ids are left out."""

    def fetch(self, ids: Sequence[int]) -> list[Chunk]:
        """Return chunks in the order of `ids`. Unknown ids are left out."""

    def optimize(self, *, every: bool = False) -> None:
        """Compact the index for faster searches; with `every`, completely. Results do not change."""

    def stats(self) -> IndexStats:
        """Count what is stored."""

    def close(self) -> None:
        """Release files. A closed index cannot be used again."""


class Engine(Protocol):
    """Stores libraries by name at one address that several machines can reach.

    A plugin of the group `openbook.engines` is called with the address: the part after `NAME:` in `OPENBOOK_STORAGE`.
    Each method may raise `LibraryError`, or `MissingExtraError` if a package is not installed.
    """

    address: str
    """The address as shown to users, without passwords."""

    def open(self, name: str, identity: IndexIdentity, *, lock_timeout_s: float) -> Index:
        """Open a library, and create it if it does not exist.

        Raises:
            MismatchedLibraryError: It was built by another version of embedder, tokenizer or chunker.
        """

    def names(self) -> list[str]:
        """List the names of the libraries, sorted."""

    def sources(self, name: str) -> list[Source]:
        """Return the sources of a library, by name, even if it cannot be opened; [] if they cannot be read."""

    def remove(self, name: str) -> None:
        """Delete a library. A missing one is not an error."""


@runtime_checkable
class CachingEngine(Engine, Protocol):
    """An engine with a cache on this machine, which saves later processes from reading the same data again."""

    cache: Path | None
    """Folder of the cache, set before a library is opened or removed; None disables it. Its contents may be deleted."""

    cache_bytes: int
    """Memory limit for the data read from a library, set before it is opened."""
