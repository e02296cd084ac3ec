"""The engine for more than one machine: the same library in LanceDB, in a folder or on object storage."""

from __future__ import annotations

import contextlib
import json
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from openbook.errors import QueryError
from openbook.index.catalogue import Catalogue, dequantize, quantize
from openbook.index.filters import filter_predicate
from openbook.index.lessons import course_of, courses_of, pack_lessons
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
from openbook.index.rows import chunk_from_row, outline_from_row, remarks_of
from openbook.index.schema import other_vectors
from openbook.integrations.lance_columns import ColumnStore
from openbook.integrations.lance_rows import (
    SCORED,
    DocumentBody,
    DocumentRow,
    document_body,
    new_version,
    row_of,
    row_of_source,
)
from openbook.integrations.lance_tables import LanceTables, damaged_tables
from openbook.integrations.lance_words import Segment, SegmentBuilder, SegmentStore, write_segment_rows
from openbook.types import Anchor, Chunk, Course, Document, Filter, Stamp

if TYPE_CHECKING:
    from openbook.index.protocol import Vector

# Documents whose text and outlines stay in memory. Most have some 20 KB.
_KEPT_DOCUMENTS = 500

# Outlines and chunks that stay in memory. They take 1 and 5 KB, a search looks at some hundred and at twenty, and the
# next one at many of them again.
_KEPT_CHUNKS = 5_000

Made = TypeVar("Made")

_NOTHING = DocumentBody("", "[]", "[]")


class LanceIndex:
    """One library in two tables. See `Index` for what each method promises, and `lance_tables` for how it is kept.

    Several machines may write at once. Of two that put the same document, the last one wins.
    Threads may share an instance: calls are taken one at a time.
    """

    def __init__(self, uri: str, identity: IndexIdentity, *, lock_timeout_s: float = 60.0) -> None:
        """Open the library at an address, making it if there is none.

        Raises:
            LibraryError: See `LanceTables`.
        """
        self.uri = uri
        self._lock = threading.RLock()
        self._tables = LanceTables(uri, identity, lock_timeout_s=lock_timeout_s)
        self._made = self._tables.made
        self._words = SegmentStore(self._tables)
        self._columns = ColumnStore(self._tables)
        self._depth = 0
        self._batch: _Batch | None = None
        self._loaded: tuple[str, int, int] | None = None
        self._committed: dict[tuple[str, str], DocumentRow] = {}
        self._root_keys: list[tuple[str, str]] = []
        self._row_ids: dict[str, int] = {}
        self._counted: IndexStats | None = None
        self._first_ids: dict[str, int] = {}
        self._next_id = 1
        self._dim = 0
        self._catalogue: Catalogue | None = None
        self._placed: tuple[list[int], list[DocumentRow]] = [], []
        self._heavy: dict[str, DocumentBody] = {}
        self._outlines: dict[int, Outline] = {}
        self._chunks: dict[int, Chunk] = {}

    @contextlib.contextmanager
    def batch(self) -> Iterator[None]:
        with self._lock, self.snapshot():
            if self._batch is not None:  # the outermost one decides
                yield
                return
            self._batch = batch = _Batch()
            try:
                yield
                batch.write(self._tables)
            finally:
                self._batch = self._catalogue = self._counted = None
                self._loaded = None if batch.changes else self._loaded
        # What follows inside a snapshot sees what has been written in it.

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
        """Open a snapshot in which rows that do not fit together are damage."""
        with self.snapshot():
            try:
                yield
            except QueryError:
                raise
            except (LookupError, TypeError, ValueError) as exc:
                raise damaged_tables(self.uri) from exc

    def put(self, document: Document, entries: Sequence[IndexEntry], stamp: Stamp) -> None:
        with self.batch():
            entries = sorted(entries, key=lambda entry: entry.chunk.span)  # vectors are told apart by place
            chunks = [entry.chunk for entry in entries]
            stored = row_of(document, stamp, course_of(document, chunks))
            if entries:
                self._check_size(len(entries[0].vector))
                lengths = self._open_batch.gathering.add(stored.version, [entry.terms for entry in entries])
                rows = quantize(np.stack([entry.vector for entry in entries]))
                stored = replace(stored, chunks=len(entries), lengths=lengths.tobytes(), rows=rows)
            if stored.course:
                lessons, numbers = pack_lessons(chunks)
                stored = replace(stored, lessons=lessons, numbers=numbers)
            self._change(stored, document_body(document, chunks))

    def skip(self, source: str, path: str, stamp: Stamp, reason: str) -> None:
        with self.batch():
            self._change(replace(row_of(Document(source, path, "data", "", "", ""), stamp, ""), skipped=reason))

    def touch(self, source: str, path: str, stamp: Stamp) -> None:
        with self.batch():
            found = self._at(source, path)
            if found:
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
            keys = [key for key in self._stored() if key[0] == name]
            for key in keys:
                self._change(DocumentRow(*key, version=new_version(), gone=True))
            return (name, "") in keys

    @property
    def _open_batch(self) -> _Batch:
        assert self._batch is not None
        return self._batch

    def _change(self, stored: DocumentRow, heavy: DocumentBody = _NOTHING) -> None:
        self._open_batch.changes[stored.key] = stored, heavy
        self._catalogue = None

    def _check_size(self, given: int) -> None:
        if not self._dim:  # what has been seen once stays
            first = next((each for each in self._stored().values() if each.chunks), None)
            self._dim = len(self._with_scored(first).rows) // first.chunks if first else 0
        if self._dim and self._dim != given:
            raise other_vectors(self.uri, self._dim, given, self.uri.rpartition("/")[2])

    def _stored(self) -> dict[tuple[str, str], DocumentRow]:
        """Return the rows of what is there, as this batch has changed them."""
        committed = self._current()
        if self._batch is None or not self._batch.changes:
            return committed
        found = committed | {key: stored for key, (stored, _) in self._batch.changes.items()}
        return {key: stored for key, stored in found.items() if not stored.gone}

    def _at(self, source: str, path: str) -> DocumentRow | None:
        """Return the row of a document, as this batch has changed it."""
        found = self._batch.changes.get((source, path)) if self._batch else None
        stored = found[0] if found else self._current().get((source, path))
        return None if stored is None or stored.gone else stored

    def _with_scored(self, stored: DocumentRow) -> DocumentRow:
        """Return a row with what is scored of it."""
        if not stored.chunks or stored.rows:
            return stored
        (row,) = self._tables.scored([self._row_ids[stored.version]]).select(SCORED).to_pylist()
        return replace(stored, **row)

    def _current(self) -> dict[tuple[str, str], DocumentRow]:
        """Return the rows that are committed."""
        if self._loaded != self._tables.state:
            if self._made != self._tables.made:  # somebody has made the library again
                self._made, self._words, self._dim = self._tables.made, SegmentStore(self._tables), 0
                self._columns = ColumnStore(self._tables)
            found: dict[tuple[str, str], DocumentRow] = {}
            rows = self._tables.documents()
            for stored in rows.values():
                # Two machines that put a new document at once leave two rows of it.
                if stored.key not in found or found[stored.key].version < stored.version:
                    found[stored.key] = stored
            self._committed = {key: stored for key, stored in found.items() if not stored.gone}
            self._root_keys = [key for key in self._committed if not key[1]]  # each search asks for them
            self._row_ids = {stored.version: row_id for row_id, stored in rows.items()}
            self._words.load(self._first_id)
            self._loaded, self._catalogue, self._counted = self._tables.state, None, None
        return self._committed

    def _first_id(self, version: str, chunks: int) -> int:
        if version not in self._first_ids:
            self._first_ids[version] = self._next_id
            self._next_id += chunks
        return self._first_ids[version]

    def _scored(self) -> Catalogue:
        self._current()
        if self._catalogue is None:
            rows = sorted((each for each in self._stored().values() if each.chunks), key=lambda each: each.key)
            self._catalogue = Catalogue(self._columns.columns(rows, self._first_id, self._row_ids))
            firsts = [self._first_id(each.version, each.chunks) for each in rows]
            placed = sorted(zip(firsts, rows, strict=True), key=lambda pair: pair[0])
            self._placed = [first for first, _ in placed], [stored for _, stored in placed]
        return self._catalogue

    def roots(self) -> list[Source]:
        with self._reading():
            self._current()
            changed = [key for key in self._batch.changes if not key[1]] if self._batch else []
            found = [self._at(*key) for key in sorted({*self._root_keys, *changed})]
            return [stored.root for stored in found if stored]

    def records(self, source: str) -> dict[str, FileRecord]:
        with self._reading():
            return {
                each.path: FileRecord(each.stamp, each.content_hash, each.skipped, remarks_of(each.remarks))
                for each in self._stored().values()
                if each.source == source and each.path
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
            rows = self._stored()
            found = [rows[key] for key in sorted(rows) if key[1] and not rows[key].skipped]
            return [
                DocumentSummary(*row)  # type: ignore[arg-type]
                for each in found
                for row in ((*each.key, each.kind, each.course),)
                if (check is None or check(*row))
                and (where.lesson is None or any(map(where.allows_lesson, each.lessons_held)))
            ]

    def courses(self, where: Filter = EVERYTHING) -> list[Course]:
        check = filter_predicate(where)
        with self._reading():
            rows = self._stored()
            material = [rows[key] for key in sorted(rows) if rows[key].lessons]
            return courses_of(
                [
                    (*each.key, each.course, each.lessons)
                    for each in material
                    if check is None or check(*each.key, each.kind, each.course)
                ],
                where,
            )

    def chunks(self, source: str, path: str) -> list[Chunk]:
        with self._reading():
            stored = self._at(source, path)
            return [chunk_from_row(*row) for row in self._rows_of([stored])[0]] if stored and path else []

    def vectors(self, source: str, path: str) -> Vector:
        with self._reading():
            stored = self._at(source, path)
            if stored is None or not stored.chunks:
                return dequantize(b"", 0)
            rows = self._scored().rows(self._first_id(stored.version, stored.chunks), stored.chunks)
            return dequantize(rows, stored.chunks)

    def match(self, tokens: Sequence[str], vector: Vector | None, k: int, where: Filter) -> Matches:
        with self._reading():
            if vector is not None:
                self._check_size(len(vector))
            catalogue = self._scored()
            return catalogue.match(self._look_up(tokens), vector, k, where)

    def frequencies(self, tokens: Sequence[str]) -> dict[str, int]:
        with self._reading():
            catalogue = self._scored()
            found = {token: len(catalogue.living(listed)[0]) for token, listed in self._look_up(tokens).items()}
            return {token: count for token, count in found.items() if count}

    def _look_up(self, tokens: Sequence[str]) -> dict[str, Any]:
        unwritten = self._batch.segments() if self._batch else []
        return self._words.look_up(tokens, self._first_id, unwritten)

    def outlines(self, ids: Sequence[int]) -> list[Outline]:
        with self._reading():
            return self._kept_or(self._outlines, ids, lambda row, _: outline_from_row(row))

    def fetch(self, ids: Sequence[int]) -> list[Chunk]:
        with self._reading():
            return self._kept_or(self._chunks, ids, chunk_from_row)

    def _kept_or(
        self, kept: dict[int, Made], ids: Sequence[int], make: Callable[[tuple[Any, ...], str], Made]
    ) -> list[Made]:
        """Return what is made of chunks, in order. What an id was given to stays the same as long as it is there."""
        catalogue = self._scored()
        living = [id_ for id_ in ids if catalogue.holds([id_])]
        missing = [id_ for id_ in dict.fromkeys(living) if id_ not in kept]
        if len(kept) + len(missing) > _KEPT_CHUNKS:
            kept.clear()
            missing = list(dict.fromkeys(living))
        kept.update(zip(missing, (make(*row) for row in self._found(missing)), strict=True))
        return [kept[id_] for id_ in living]

    def _found(self, ids: Sequence[int]) -> list[tuple[tuple[Any, ...], str]]:
        """Return the rows of chunks that are there, each with the text of its document."""
        firsts, rows = self._placed
        places = [(place, id_ - firsts[place]) for id_ in ids for place in (bisect_right(firsts, id_) - 1,)]
        wanted = list(dict.fromkeys(place for place, _ in places))
        found = dict(zip(wanted, self._rows_of([rows[place] for place in wanted]), strict=True))
        return [found[place][number] for place, number in places]

    def _rows_of(self, documents: Sequence[DocumentRow]) -> list[list[tuple[tuple[Any, ...], str]]]:
        return [
            [
                (
                    (first + number, first, stored.source, stored.path, stored.kind, stored.language, *outline),
                    heavy.text,
                )
                for first in (self._first_id(stored.version, stored.chunks),)
                for number, outline in enumerate(json.loads(heavy.outlines))
            ]
            for stored, heavy in zip(documents, self._heavy_of(documents), strict=True)
        ]

    def _heavy_of(self, documents: Sequence[DocumentRow]) -> list[DocumentBody]:
        changes = self._batch.changes if self._batch else {}
        found = {stored.version: changes[stored.key][1] for stored in documents if stored.key in changes}
        missing = [each for each in documents if each.version not in found and each.version not in self._heavy]
        if len(self._heavy) + len(missing) > _KEPT_DOCUMENTS:
            self._heavy.clear()
            missing = [each for each in documents if each.version not in found]
        rows = self._tables.heavy([self._row_ids[each.version] for each in missing])
        self._heavy.update(zip((each.version for each in missing), rows, strict=True))
        return [found[each.version] if each.version in found else self._heavy[each.version] for each in documents]

    def optimize(self, *, every: bool = False) -> None:
        with self._lock:
            self._tables.refresh()
            living = self._living()
            while self._words.merge(self._first_id, living, every=every):
                self._tables.refresh()
                living = self._living()
            self._tables.tidy(every=every)
            self._tables.refresh()

    def _living(self) -> set[str]:
        return {stored.version for stored in self._current().values()}

    def stats(self) -> IndexStats:
        with self._reading():
            held = self._stored()
            if self._counted is None or self._batch is not None:  # counting looks at every row
                indexed = sum(1 for each in held.values() if each.path and not each.skipped)
                chunks = sum(each.chunks for each in held.values())
                self._counted = IndexStats(indexed, chunks, self._tables.size_bytes())
            return self._counted

    def close(self) -> None:
        with self._lock:
            self._tables.close()


class _Batch:
    """What one transaction has changed so far."""

    def __init__(self) -> None:
        self.changes: dict[tuple[str, str], tuple[DocumentRow, DocumentBody]] = {}
        self._gathering: SegmentBuilder | None = None
        self._segments: list[Segment] = []

    @property
    def gathering(self) -> SegmentBuilder:
        """Where words go."""
        if self._gathering is None:
            self._gathering = SegmentBuilder()
        return self._gathering

    def segments(self) -> list[Segment]:
        """Return the words so far."""
        if self._gathering is not None:
            self._segments.append(self._gathering.segment())
            self._gathering = None
        return self._segments

    def write(self, tables: LanceTables) -> None:
        """Commit."""
        for segment in self.segments():
            write_segment_rows(tables, segment)
        if self.changes:
            tables.commit(self.changes.values())
            tables.refresh()
