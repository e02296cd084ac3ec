"""The engine for several machines: a library in LanceDB, in a folder or on object storage."""

from __future__ import annotations

import contextlib
import json
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from openbook.index.catalogue import Catalogue, dequantize
from openbook.index.filters import filter_predicate
from openbook.index.lessons import courses_of, unpack_lessons
from openbook.index.packing import PackedEntries, packed
from openbook.index.protocol import (
    EVERYTHING,
    DocumentSummary,
    FileRecord,
    IndexEntry,
    IndexIdentity,
    IndexStats,
    Matches,
    Outline,
    Source,
)
from openbook.index.rows import chunk_from_row, outline_from_row, remarks_of, sound_rows
from openbook.index.schema import other_vectors
from openbook.integrations.lance_cache import MIN_CACHED, LocalCache, State
from openbook.integrations.lance_documents import DocumentTable
from openbook.integrations.lance_rows import (
    SCORED,
    DocumentBody,
    DocumentRow,
    document_body,
    new_version,
    row_of,
    row_of_source,
)
from openbook.integrations.lance_state import LanceState
from openbook.integrations.lance_tables import LanceTables, damaged_tables
from openbook.integrations.lance_words import Segment, SegmentBuilder, WordRows, write_segment_rows
from openbook.integrations.memory_cache import CACHE_BYTES, MemoryCache, bytes_of
from openbook.memory import release_memory
from openbook.types import Anchor, Chunk, Course, Document, Filter, Stamp

if TYPE_CHECKING:
    from openbook.index.columns import Positions
    from openbook.index.protocol import Vector

# Shares of the cache memory: half for document bodies and words as stored, the rest for objects built from them. A
# search uses the outlines of some hundred chunks and the texts of twenty.
_BODIES, _WORDS, _OUTLINES, _CHUNKS = 0.25, 0.25, 0.2, 0.2

# LanceDB's own share, for its table metadata: 1 MB for 100,000 chunks.
_TABLES = 0.1

# Bytes of an outline and of a chunk besides their texts: spans and keys.
_OUTLINE_BYTES, _CHUNK_BYTES = 1_000, 2_000

Made = TypeVar("Made")

# Chunks of the documents whose bodies are read at once: 2 MB. With small files, one read serves a whole search.
_CHUNKS_AT_ONCE = 2_000

_NOTHING = DocumentBody("", "[]", "[]")


class LanceIndex:
    """One library in two tables. See `Index` for the methods, and `lance_tables` for the storage.

    Several machines may write at once. If two put the same document, the last one wins. Threads may share an instance;
    calls are serialized.
    """

    takes_packed = True

    def __init__(
        self,
        uri: str,
        identity: IndexIdentity,
        *,
        lock_timeout_s: float = 60.0,
        cache: Path | None = None,
        cache_bytes: int = CACHE_BYTES,
        min_cached: int = MIN_CACHED,
    ) -> None:
        """Open the library at an address, or create it.

        `cache` is a local folder for the state of libraries with at least `min_cached` chunks.

        Raises:
            LibraryError: See `LanceTables`.
        """
        self.uri = uri
        self._lock = threading.RLock()
        self._tables = LanceTables(uri, identity, lock_timeout_s=lock_timeout_s, cache_bytes=int(_TABLES * cache_bytes))
        words: WordRows = MemoryCache(int(_WORDS * cache_bytes), bytes_of)
        self._state = LanceState(self._tables, LocalCache(cache, uri) if cache else None, words, min_cached)
        self._depth = 0
        self._batch: _Batch | None = None
        self._counted: tuple[State, IndexStats] | None = None
        self._dim = 0
        self._ids_of = ""
        self._heavy: MemoryCache[str, DocumentBody] = MemoryCache(int(_BODIES * cache_bytes), bytes_of)
        self._outlines: MemoryCache[int, Outline] = MemoryCache(
            int(_OUTLINES * cache_bytes), lambda outline: _OUTLINE_BYTES + bytes_of((outline.signature,))
        )
        self._chunks: MemoryCache[int, Chunk] = MemoryCache(
            int(_CHUNKS * cache_bytes), lambda chunk: _CHUNK_BYTES + bytes_of((chunk.text, chunk.docstring))
        )

    @contextlib.contextmanager
    def batch(self) -> Iterator[None]:
        with self._lock, self.snapshot():
            if self._batch is not None:  # the outermost batch commits
                yield
                return
            self._batch = batch = _Batch()
            try:
                yield
                batch.write(self._tables)
            finally:
                self._batch = None
                self._state.changed()
        # Within a snapshot, later reads see the writes made in it.

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._lock:
            if not self._depth:
                self._tables.refresh()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """Open a snapshot in which inconsistent rows are reported as damage."""
        with self.snapshot(), sound_rows(damaged_tables(self.uri)):
            yield

    def put(self, document: Document, entries: Sequence[IndexEntry] | PackedEntries, stamp: Stamp) -> None:
        with self.batch():
            chunks = packed(document, entries)
            stored = row_of(document, stamp, chunks)
            if chunks.rows:
                self._check_size(chunks.dim)
                self._open_batch.gathering.add(stored.version, chunks)
            self._change(stored, document_body(document, chunks))

    def skip(self, source: str, path: str, stamp: Stamp, reason: str) -> None:
        with self.batch():
            self._change(replace(row_of(Document(source, path, "data", "", "", ""), stamp), skipped=reason))

    def touch(self, source: str, path: str, stamp: Stamp, content_hash: str) -> None:
        with self.batch():
            found = self._at(source, path)
            if found and found.content_hash == content_hash:
                size, modified, changed = stamp.size_bytes, stamp.modified_ns, stamp.changed_ns
                touched = replace(self._with_scored(found), size_bytes=size, modified_ns=modified, changed_ns=changed)
                self._change(touched, self._heavy_of([found])[0])

    def delete(self, source: str, path: str) -> bool:
        with self.batch():
            found = self._at(source, path)
            if found:
                self._change(DocumentRow(source, path, version=new_version(), gone=True))
            return found is not None

    def put_root(self, root: Source) -> None:
        with self.batch():
            self._change(row_of_source(root))

    def delete_source(self, name: str) -> bool:
        with self.batch():
            keys = [key for key, _ in self._listed(()) if key[0] == name]
            for key in keys:
                self._change(DocumentRow(*key, version=new_version(), gone=True))
            return bool(keys)

    @property
    def _open_batch(self) -> _Batch:
        assert self._batch is not None
        return self._batch

    def _change(self, stored: DocumentRow, heavy: DocumentBody = _NOTHING) -> None:
        self._open_batch.changes[stored.key] = stored, heavy
        self._state.changed()

    def _check_size(self, given: int) -> None:
        if not self._dim:  # once known, it does not change
            documents = self._documents()
            stored = [documents.row(place) for place in documents.with_chunks[:1].tolist()]
            stored += [changed for changed, _ in self._batch.changes.values() if changed.rows] if self._batch else []
            self._dim = next((len(self._with_scored(each).rows) // each.chunks for each in stored), 0)
        if self._dim and self._dim != given:
            raise other_vectors(self.uri, self._dim, given, self.uri.rpartition("/")[2])

    def _listed(
        self, names: Sequence[str], places: Positions | None = None
    ) -> list[tuple[tuple[str, str], tuple[Any, ...]]]:
        """Return keys and some values of all or some rows, with the changes of this batch, sorted."""
        rows = self._documents().listed(("source", "path", *names), places)
        listed = [((source, path), tuple(values)) for source, path, *values in rows]
        if self._batch is None or not self._batch.changes:
            return listed
        changed = {
            key: None if stored.gone else tuple(getattr(stored, name) for name in names)
            for key, (stored, _) in self._batch.changes.items()
        }
        found = dict(listed) | changed
        return [(key, values) for key in sorted(found) if (values := found[key]) is not None]

    def _at(self, source: str, path: str) -> DocumentRow | None:
        """Return the row of a document, with the changes of this batch."""
        found = self._batch.changes.get((source, path)) if self._batch else None
        if found:
            return None if found[0].gone else found[0]
        documents = self._documents()
        place = documents.find(source, path)
        return None if place is None else documents.row(place)

    def _with_scored(self, stored: DocumentRow) -> DocumentRow:
        if not stored.chunks or stored.rows:
            return stored
        (batch,) = self._tables.scored(np.array([self._state.row_id(stored)]))
        return replace(stored, **batch.select(SCORED).to_pylist()[0])

    def _documents(self) -> DocumentTable:
        documents = self._state.documents()
        if self._ids_of != self._state.made:  # the library was created again
            self._ids_of, self._dim = self._state.made, 0
            self._outlines.clear()
            self._chunks.clear()
        return documents

    def _catalogue(self) -> Catalogue:
        self._documents()
        return self._state.catalogue(self._batch.changes if self._batch else {})

    def roots(self) -> list[Source]:
        with self._reading():
            return [
                Source(**json.loads(remarks))
                for (_, path), (remarks,) in self._listed(("remarks",), self._documents().roots)
                if not path
            ]

    def records(self, source: str) -> dict[str, FileRecord]:
        with self._reading():
            rows = self._listed(("size_bytes", "modified_ns", "changed_ns", "content_hash", "skipped", "remarks"))
            return {
                path: FileRecord(Stamp(*values[:3]), values[3], values[4], remarks_of(values[5]))
                for (of, path), values in rows
                if of == source and path
            }

    def document(self, source: str, path: str) -> Document | None:
        with self._reading():
            stored = self._at(source, path) if path else None
            if stored is None or stored.skipped:
                return None
            text, packed, _ = self._heavy_of([stored])[0]
            anchors = tuple(Anchor(*anchor) for anchor in json.loads(packed))
            of_file = (stored.kind, stored.language, text, stored.content_hash)
            return Document(source, path, *of_file, anchors=anchors, remarks=remarks_of(stored.remarks))  # type: ignore[arg-type]

    def documents(self, where: Filter) -> list[DocumentSummary]:
        check = filter_predicate(where)
        with self._reading():
            return [
                DocumentSummary(*key, kind, course)
                for key, (kind, course, skipped, lessons) in self._listed(("kind", "course", "skipped", "lessons"))
                if key[1] and not skipped
                if check is None or check(*key, kind, course)
                if where.lesson is None or (lessons and any(map(where.allows_lesson, unpack_lessons(lessons))))
            ]

    def courses(self, where: Filter = EVERYTHING) -> list[Course]:
        check = filter_predicate(where)
        with self._reading():
            rows = self._listed(("kind", "course", "lessons"))
            material = [
                (*key, course, lessons)
                for key, (kind, course, lessons) in rows
                if lessons and (check is None or check(*key, kind, course))
            ]
            return courses_of(material, where)

    def chunks(self, source: str, path: str) -> list[Chunk]:
        with self._reading():
            stored = self._at(source, path) if path else None
            if stored is None:
                return []
            heavy = self._heavy_of([stored])[0]
            return [chunk_from_row(row, heavy.text) for row in self._rows_of(stored, heavy)[1]]

    def vectors(self, source: str, path: str) -> Vector:
        with self._reading():
            stored = self._at(source, path)
            if stored is None or not stored.chunks:
                return dequantize(b"", 0)
            rows = self._catalogue().rows(self._state.first_id_of(stored), stored.chunks)
            return dequantize(rows, stored.chunks)

    def match(self, tokens: Sequence[str], vector: Vector | None, k: int, where: Filter) -> Matches:
        with self._reading():
            catalogue = self._catalogue()
            self._dim = self._dim or catalogue.dim
            if vector is not None:
                self._check_size(len(vector))
            return catalogue.match(self._look_up(tokens), vector, k, where)

    def frequencies(self, tokens: Sequence[str]) -> dict[str, int]:
        with self._reading():
            catalogue = self._catalogue()
            found = {token: len(catalogue.living(listed)[0]) for token, listed in self._look_up(tokens).items()}
            return {token: count for token, count in found.items() if count}

    def _look_up(self, tokens: Sequence[str]) -> dict[str, Any]:
        unwritten = self._batch.segments() if self._batch else []
        return self._state.words.look_up(tokens, self._state.first_id, unwritten)

    def outlines(self, ids: Sequence[int]) -> list[Outline]:
        with self._reading():
            return self._cached_or_made(self._outlines, ids, lambda row, _: outline_from_row(row))

    def fetch(self, ids: Sequence[int]) -> list[Chunk]:
        with self._reading():
            return self._cached_or_made(self._chunks, ids, chunk_from_row)

    def _cached_or_made(
        self, kept: MemoryCache[int, Made], ids: Sequence[int], make: Callable[[tuple[Any, ...], str], Made]
    ) -> list[Made]:
        """Return objects built from chunks, in order, cached by id: an existing chunk never changes."""
        catalogue = self._catalogue()
        living = [id_ for id_ in ids if catalogue.holds([id_])]
        found = kept.found(living, lambda missing: self._made(missing, make))
        return [found[id_] for id_ in living]

    def _made(self, ids: Sequence[int], make: Callable[[tuple[Any, ...], str], Made]) -> list[Made]:
        """Build objects from the rows of existing chunks and the texts of their documents."""
        holders = self._state.holders(ids)
        firsts = sorted(holders)
        wanted: dict[int, list[int]] = {}
        for id_ in ids:
            wanted.setdefault(firsts[bisect_right(firsts, id_) - 1], []).append(id_)
        made: dict[int, Made] = {}
        for number, documents in enumerate(_parts(holders.values())):
            if number:
                release_memory()  # the previous part left fragmented free memory
            for stored, heavy in zip(documents, self._heavy_of(documents), strict=True):
                first, rows = self._rows_of(stored, heavy)
                made |= {id_: make(rows[id_ - first], heavy.text) for id_ in wanted[first]}
        return [made[id_] for id_ in ids]

    def _rows_of(self, stored: DocumentRow, heavy: DocumentBody) -> tuple[int, list[tuple[Any, ...]]]:
        """Return the first chunk id of a document, and the rows of its chunks."""
        first = self._state.first_id_of(stored)
        of_file = (first, stored.source, stored.path, stored.kind, stored.language)
        outlines = json.loads(heavy.outlines)
        return first, [(first + number, *of_file, *outline) for number, outline in enumerate(outlines)]

    def _heavy_of(self, documents: Sequence[DocumentRow]) -> list[DocumentBody]:
        changes = self._batch.changes if self._batch else {}
        found = {stored.version: changes[stored.key][1] for stored in documents if stored.key in changes}
        stored = {each.version: each for each in documents if each.version not in found}
        found |= self._heavy.found(
            list(stored), lambda missing: self._tables.heavy([self._state.row_id(stored[each]) for each in missing])
        )
        return [found[each.version] for each in documents]

    def optimize(self, *, every: bool = False) -> None:
        with self._lock:
            self._tables.refresh()
            living = self._living()
            while self._state.words.merge(self._state.first_id, living, every=every):
                self._tables.refresh()
                living = self._living()
            self._tables.tidy(every=every)
            self._tables.refresh()
            with self._reading():
                self._state.publish(every=every)

    def _living(self) -> set[str]:
        return set(self._documents().versions.to_pylist())

    def stats(self) -> IndexStats:
        with self._reading():
            self._documents()
            if self._counted is None or self._counted[0] != self._tables.state or self._batch is not None:
                rows = self._listed(("skipped", "chunks"))  # counting reads every row
                indexed = sum(1 for (_, path), (skipped, _) in rows if path and not skipped)
                chunks = sum(chunks for _, (_, chunks) in rows)
                self._counted = self._tables.state, IndexStats(indexed, chunks, self._tables.size_bytes())
            return self._counted[1]

    def close(self) -> None:
        with self._lock:
            self._tables.close()


def _parts(documents: Iterable[DocumentRow]) -> Iterator[list[DocumentRow]]:
    """Yield documents in groups, because what is read at once is in memory several times, as bytes and as text."""
    part: list[DocumentRow] = []
    chunks = 0
    for each in documents:
        chunks += each.chunks
        if part and chunks > _CHUNKS_AT_ONCE:
            yield part
            part, chunks = [], each.chunks
        part.append(each)
    if part:
        yield part


class _Batch:
    """The changes of one transaction so far."""

    def __init__(self) -> None:
        self.changes: dict[tuple[str, str], tuple[DocumentRow, DocumentBody]] = {}
        self._gathering: SegmentBuilder | None = None
        self._segments: list[Segment] = []

    @property
    def gathering(self) -> SegmentBuilder:
        if self._gathering is None:
            self._gathering = SegmentBuilder()
        return self._gathering

    def segments(self) -> list[Segment]:
        if self._gathering is not None:
            self._segments.append(self._gathering.segment())
            self._gathering = None
        return self._segments

    def write(self, tables: LanceTables) -> None:
        for segment in self.segments():
            write_segment_rows(tables, segment)
        if self.changes:
            tables.commit(self.changes.values())
            tables.refresh()
