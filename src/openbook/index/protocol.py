"""What retrieval and ingest may ask of an engine. No engine knows how words are split."""

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
    """The words of a chunk, already split and stemmed, by the field they come from."""

    path: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Of what the chunk defines."""
    context: tuple[str, ...] = ()
    body: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A chunk ready to be indexed."""

    chunk: Chunk
    terms: Terms
    vector: Vector
    """float32 (dim,), of unit length or zero. Stored with 8 bits a dimension."""


class Evidence(NamedTuple):
    """What an index says of one chunk for one question. Ids belong to one index and one put of the document."""

    id: int
    bm25: float
    """0 if it shares no word with the question."""
    file_bm25: float
    """Of the whole file; the same for all its chunks."""
    cosine: float
    """From -1 to 1; 0 for a chunk without a vector."""
    matched: int
    """Bit n is set if the chunk holds the n-th of `Matches.tokens`."""
    file_chunks: int = 1
    """Chunks of the whole file."""


@dataclass(frozen=True, slots=True)
class Matches:
    """What an index says to one question."""

    evidence: tuple[Evidence, ...]
    """Of the best chunks, in the order of source and span."""
    tokens: tuple[str, ...]
    """The words that are there, rarest first, and of many the 48 rarest: they are what was scored."""
    frequencies: Mapping[str, int]
    """How many chunks hold each word of the question. Absent words are left out."""
    chunks: int
    """How many there are in all."""
    median_cosine: float
    """Over all chunks that the filter lets through; what nearness is worth nothing."""


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


class DocumentSummary(NamedTuple):
    """A document without its text."""

    source: str
    path: str
    kind: Kind
    course: str = ""
    """Path of the course that it belongs to, as in `Course.key`; empty for what is of none."""


@dataclass(frozen=True, slots=True)
class IndexIdentity:
    """The versions of embedder, tokenizer and chunker that made an index. Others cannot use it."""

    embedder: str
    tokens: str
    chunks: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A source as the library remembers it."""

    name: str
    kind: str
    """`folder`, `file`, `course` or `git`."""
    location: str
    """Absolute path."""
    synced_at: float = 0.0
    """Unix seconds of the last complete sync; 0 for never."""
    url: str = ""
    """Where a repository comes from; empty for what was there already."""
    commit: str = ""
    """Of a repository, as it was read last: 40 hexadecimal digits."""


@dataclass(frozen=True, slots=True)
class FileRecord:
    """What the index knows of one file, enough to tell whether it must be read again."""

    stamp: Stamp
    content_hash: str
    """Empty for a file that was skipped."""
    skipped: str = ""
    """Why the file is not indexed; empty if it is."""
    remarks: tuple[str, ...] = ()
    """What of the file could not be read, as `Document.remarks` says it."""


@dataclass(frozen=True, slots=True)
class IndexStats:
    """Size of an index."""

    documents: int
    chunks: int
    size_bytes: int
    """On disk, write-ahead log included."""


class Index(Protocol):
    """One library.

    Ranked lists are ordered by `(-score, source, span)`: ties never depend on the order in which
    documents were put. Every change is a transaction of its own unless it happens inside
    `batch()`; readers in other processes see all of a transaction or nothing.
    """

    def batch(self) -> AbstractContextManager[None]:
        """Run what happens inside as one transaction. An exception rolls it back.

        Raises:
            LibraryWriteError: Disk full, read-only, or another writer holds on for too long.
        """

    def snapshot(self) -> AbstractContextManager[None]:
        """Read one consistent snapshot inside."""

    def put(self, document: Document, entries: Sequence[IndexEntry] | PackedEntries, stamp: Stamp) -> None:
        """Store a document and its chunks, in place of what was there under its source and path.

        Chunks of files that have been prepared come packed if the index has `takes_packed = True`, and as entries
        if it has not. `packed` packs others.

        Raises:
            MismatchedLibraryError: The vectors have another size than those that are there. Nothing is stored.
        """

    def skip(self, source: str, path: str, stamp: Stamp, reason: str) -> None:
        """Remember that a file is not indexed, in place of what was there."""

    def touch(self, source: str, path: str, stamp: Stamp) -> None:
        """Remember that a file was looked at again and holds what it held."""

    def delete(self, source: str, path: str) -> bool:
        """Delete a document and its chunks. False if there was none."""

    def put_root(self, root: Source) -> None:
        """Remember a source, in place of one with that name."""

    def delete_source(self, name: str) -> bool:
        """Delete a source and all that came from it. False if there was none."""

    def roots(self) -> list[Source]:
        """List the sources by name."""

    def records(self, source: str) -> dict[str, FileRecord]:
        """Return what is known of each file of a source, by path."""

    def document(self, source: str, path: str) -> Document | None:
        """Return a document with its text and anchors, without blocks."""

    def documents(self, where: Filter) -> list[DocumentSummary]:
        """List the documents that a filter lets through, in the order of source and path. Skipped files are none.

        A filter by lesson lets through what holds a chunk of such a lesson.
        """

    def courses(self, where: Filter = EVERYTHING) -> list[Course]:
        """List the courses that a filter lets through, in the order of source and path.

        A document that is a course has its lessons in order of appearance. A folder has those of its
        documents in the order of number and path; files beside each other that say the same number
        hold one lesson. A filter by lesson leaves only such lessons, and no course without one.
        Material in which there is nothing to find makes no course.
        """

    def chunks(self, source: str, path: str) -> list[Chunk]:
        """Return the chunks of a document in the order of their spans; [] if there is no such document."""

    def vectors(self, source: str, path: str) -> Vector:
        """Return the vectors of a document's chunks as they are stored, in the order of their spans.

        float32 (n, dim): rows of unit length or zero, which `put` would store as the same again. (0, 0) without chunks.
        """

    def match(self, tokens: Sequence[str], vector: Vector | None, k: int, where: Filter) -> Matches:
        """Find the k best chunks by words, the k best by nearness, and some of the k best files, but of 50 at most.

        Of the best five files these are up to 30 chunks, of each of the others it is the best one.
        Words rank as `bm25` says, nearness is the cosine with `vector`, both exactly, over all
        chunks. The filter applies before the cut. All words are counted, of many the 48 rarest are scored.

        Raises:
            MismatchedLibraryError: `vector` has another size than those that are there.
        """

    def frequencies(self, tokens: Sequence[str]) -> dict[str, int]:
        """Count the chunks that hold each token. Absent tokens are left out."""

    def outlines(self, ids: Sequence[int]) -> list[Outline]:
        """Return chunks without their texts, in the order of `ids`. Ids that are gone are left out."""

    def fetch(self, ids: Sequence[int]) -> list[Chunk]:
        """Return chunks in the order of `ids`. Ids that are gone are left out."""

    def optimize(self, *, every: bool = False) -> None:
        """Compact the index for faster searches; with `every`, all of it. Results stay the same."""

    def stats(self) -> IndexStats:
        """Count what is stored."""

    def close(self) -> None:
        """Release files. A closed index cannot be used again."""


class Engine(Protocol):
    """Where libraries are kept under names, at one address, for several machines.

    A plugin of the group `openbook.engines` is called with the address, what follows `NAME:` in `OPENBOOK_STORAGE`.
    Each method may raise `LibraryError`, and `MissingExtraError` where a package is not installed.
    """

    address: str
    """As it is shown to people: no passwords."""

    def open(self, name: str, identity: IndexIdentity, *, lock_timeout_s: float) -> Index:
        """Open a library, making it if there is none.

        Raises:
            MismatchedLibraryError: It was made by another embedder, or by other rules of cutting and splitting.
        """

    def names(self) -> list[str]:
        """List the libraries, in order."""

    def sources(self, name: str) -> list[Source]:
        """Return the sources of a library that may be unusable otherwise, by name; [] if it tells none."""

    def remove(self, name: str) -> None:
        """Delete a library. None there is no error."""


@runtime_checkable
class CachingEngine(Engine, Protocol):
    """An engine that keeps what it has read on this machine, so that the next process need not read it again."""

    cache: Path | None
    """Folder for that, set before a library is opened or removed; None for none. What is in it may be deleted."""

    cache_bytes: int
    """Memory for what a process has read of a library, set before one is opened."""
