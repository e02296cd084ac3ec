"""The embedded engine: words, exact vectors, texts and records in one SQLite file."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openbook.errors import LibraryError, LibraryWriteError
from openbook.index.files import file_identity, library_bytes
from openbook.index.filters import filter_predicate
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
from openbook.index.schema import damaged, open_database, other_vectors, sqlite_errors
from openbook.types import Anchor, Chunk, Course, Document, Filter, Stamp

if TYPE_CHECKING:
    from openbook.index.catalogue import Catalogue
    from openbook.index.packing import PackedEntries
    from openbook.index.postings import PackedTerms, Postings
    from openbook.index.protocol import Vector
    from openbook.index.state import LibraryState


# About 1 KB each. A search reads some hundred, and the next one many of the same.
_CACHED_OUTLINES = 20_000

# About 100 bytes each. Checking an answer looks up some hundred words, and the next one many of the same.
_CACHED_FREQUENCIES = 100_000

# About 5 KB each. A question reads about twenty chunk texts, ten of which the previous one read too.
_CACHED_CHUNKS = 2_000

# Fewer chunks load within 20 ms, so a column file would not pay.
_MIN_MAPPED = 20_000

# Key in `meta` of the dimension of the first vector. A server may change its model under the same name.
_DIM = "dim"

_CHUNKS = (
    "SELECT c.id, d.id, d.source, d.path, d.kind, d.language, c.start_char, c.end_char, c.start_line, c.end_line,"
    " c.fields FROM chunks c JOIN documents d ON d.id = c.document_id"
)


class _ProcessLock:
    """A lock that refuses forked processes.

    There, a thread that is gone may hold it, and SQLite allows no use of connections of the parent: it would believe in
    locks on the file that the child does not have (https://sqlite.org/howtocorrupt.html, section 2.6).
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._process = os.getpid()

    @property
    def is_inherited(self) -> bool:
        return os.getpid() != self._process

    def __enter__(self) -> None:
        if self.is_inherited:
            raise LibraryError(
                f"the library {str(self._path)!r} was opened before this process was forked",
                hint="open it in each process, after the fork",
            )
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class SqliteIndex:
    """One library in one file. Implements `Index`.

    Threads may share an instance; calls are serialized. A forked process must open its own.
    """

    takes_packed = True

    def __init__(
        self, path: Path, identity: IndexIdentity, *, lock_timeout_s: float = 60.0, min_mapped: int = _MIN_MAPPED
    ) -> None:
        """Open the library at `path`, and create it if it does not exist.

        From `min_mapped` chunks on, `optimize` writes a column file beside the library.

        Raises:
            LibraryError: See `open_database`.
        """
        self.path = path
        self._lock = _ProcessLock(path)
        self._connection = open_database(path, identity, lock_timeout_s=lock_timeout_s)
        self._file = file_identity(path)
        self._pending: list[PackedTerms] = []
        self._catalogue: Catalogue | None = None
        self._catalogue_of: tuple[int, int] | None = None
        self._columns: LibraryState | None = None
        self._min_mapped = min_mapped
        self._outlines: dict[int, Outline] = {}
        self._chunks: dict[int, Chunk] = {}
        self._counted: tuple[tuple[int, int], int, int] | None = None
        self._frequencies: dict[str, int] = {}

    @contextlib.contextmanager
    def batch(self) -> Iterator[None]:
        with self._lock, self._transaction("BEGIN IMMEDIATE"):
            if file_identity(self.path) != self._file:
                message = f"another process has deleted the library {str(self.path)!r}, or made it again"
                raise LibraryWriteError(message, hint="run the command again")
            yield

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._lock, self._transaction("BEGIN"):
            yield

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with sqlite_errors(self.path):
            if self._connection.in_transaction:  # nested: the outermost one commits
                yield
                return
            self._connection.execute(begin)
            try:
                yield
                if self._connection.in_transaction:  # SQLite rolls back itself when the disk is full
                    self._write_pending()
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.rollback()
                # These may contain what was just rolled back.
                self._pending = []
                self._catalogue = self._counted = self._columns = None
                raise

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """Open a snapshot and report inconsistent rows as damage."""
        with self.snapshot(), sound_rows(damaged(self.path)):
            yield

    def put(self, document: Document, entries: Sequence[IndexEntry] | PackedEntries, stamp: Stamp) -> None:
        from openbook.index.packing import packed

        with self.batch():
            old = self._document_ids(document.source, document.path)
            chunks = packed(document, entries)
            document_id = self._insert_document(document, stamp, course=chunks.course)
            self._connection.execute("INSERT INTO texts VALUES (?, ?)", (document_id, document.text))
            if chunks.rows:
                self._insert_chunks(document_id, chunks)
            if chunks.course:
                values = (document_id, chunks.lessons, chunks.numbers)
                self._connection.execute("INSERT INTO lessons VALUES (?, ?, ?)", values)
            self._delete_documents(old)

    def skip(self, source: str, path: str, stamp: Stamp, reason: str) -> None:
        with self.batch():
            old = self._document_ids(source, path)
            self._insert_document(Document(source, path, "data", "", "", ""), stamp, skipped=reason)
            self._delete_documents(old)

    def touch(self, source: str, path: str, stamp: Stamp, content_hash: str) -> None:
        with self.batch():
            self._connection.execute(
                "UPDATE documents SET size_bytes = ?, modified_ns = ?, changed_ns = ?"
                " WHERE source = ? AND path = ? AND content_hash = ?",
                (stamp.size_bytes, stamp.modified_ns, stamp.changed_ns, source, path, content_hash),
            )

    def delete(self, source: str, path: str) -> bool:
        with self.batch():
            old = self._document_ids(source, path)
            self._delete_documents(old)
            return bool(old)

    def _document_ids(self, source: str, path: str) -> list[int]:
        sql = "SELECT id FROM documents WHERE source = ? AND path = ?"
        return [id_ for (id_,) in self._connection.execute(sql, (source, path))]

    def _insert_document(self, document: Document, stamp: Stamp, *, skipped: str = "", course: str = "") -> int:
        anchors = json.dumps([[anchor.start_char, anchor.label] for anchor in document.anchors])
        cursor = self._connection.execute(
            "INSERT INTO documents (source, path, kind, language, content_hash,"
            " size_bytes, modified_ns, changed_ns, skipped, anchors, course, remarks)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(document.source, document.path, document.kind, document.language, document.content_hash),
                *(stamp.size_bytes, stamp.modified_ns, stamp.changed_ns, skipped, anchors),
                *(course, json.dumps(document.remarks) if document.remarks else ""),
            ),
        )
        assert cursor.lastrowid is not None  # always set after INSERT
        return cursor.lastrowid

    def _insert_chunks(self, document_id: int, chunks: PackedEntries) -> None:
        from openbook.index.postings import renumbered

        execute, insert_all = self._connection.execute, self._connection.executemany
        self._check_size(chunks.dim)
        execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (_DIM, chunks.dim))
        last = execute("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'").fetchone()
        first = (last[0] if last else 0) + 1
        insert_all(
            "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(id_, document_id, *row) for id_, row in enumerate(chunks.rows, start=first)],
        )
        self._pending.append(renumbered(chunks.words, first))
        values = (document_id, first, len(chunks.rows), chunks.lengths, chunks.vectors)
        execute("INSERT INTO vectors VALUES (?, ?, ?, ?, ?)", values)

    def _write_pending(self) -> None:
        if self._pending:
            from openbook.index.segments import write_segment

            write_segment(self._connection, self._pending)
            self._pending = []

    def _delete_documents(self, ids: Sequence[int]) -> None:
        for id_ in ids:
            execute = self._connection.execute
            for table in ("chunks", "vectors", "texts", "lessons"):
                execute(f"DELETE FROM {table} WHERE document_id = ?", (id_,))
            execute("DELETE FROM documents WHERE id = ?", (id_,))

    def put_root(self, root: Source) -> None:
        with self.batch():
            values = (root.name, root.kind, root.location, root.synced_at, root.url, root.commit)
            self._connection.execute("INSERT OR REPLACE INTO roots VALUES (?, ?, ?, ?, ?, ?)", values)

    def delete_source(self, name: str) -> bool:
        with self.batch():
            ids = [id_ for (id_,) in self._connection.execute("SELECT id FROM documents WHERE source = ?", (name,))]
            self._delete_documents(ids)
            return self._connection.execute("DELETE FROM roots WHERE name = ?", (name,)).rowcount > 0 or bool(ids)

    def roots(self) -> list[Source]:
        return [Source(*row) for row in self._read("SELECT * FROM roots ORDER BY name")]

    def records(self, source: str) -> dict[str, FileRecord]:
        rows = self._read(
            "SELECT path, size_bytes, modified_ns, changed_ns, content_hash, skipped, remarks FROM documents"
            " WHERE source = ?",
            (source,),
        )
        return {
            path: FileRecord(Stamp(*stamp), hash_, skipped, remarks_of(packed))
            for path, *stamp, hash_, skipped, packed in rows
        }

    def document(self, source: str, path: str) -> Document | None:
        with self._reading():
            rows = self._read(
                "SELECT d.kind, d.language, t.text, d.content_hash, d.anchors, d.remarks"
                " FROM documents d JOIN texts t ON t.document_id = d.id WHERE d.source = ? AND d.path = ?",
                (source, path),
            )
            if not rows:
                return None
            kind, language, text, content_hash, packed, remarks = rows[0]
            anchors = tuple(Anchor(*anchor) for anchor in json.loads(packed))
            return Document(
                source, path, kind, language, text, content_hash, anchors=anchors, remarks=remarks_of(remarks)
            )

    def documents(self, where: Filter) -> list[DocumentSummary]:
        if where.lesson is not None:
            from openbook.index.lessons import unpack_lessons

            with self._reading():
                material = [(row, unpack_lessons(row[4])) for row in self._course_rows(where)]
            return [DocumentSummary(*row[:4]) for row, lessons in material if any(map(where.allows_lesson, lessons))]
        rows = self._read("SELECT source, path, kind, course FROM documents WHERE skipped = '' ORDER BY source, path")
        check = filter_predicate(where)
        return [DocumentSummary(*row) for row in rows if check is None or check(*row)]

    def courses(self, where: Filter = EVERYTHING) -> list[Course]:
        from openbook.index.lessons import courses_of

        with self._reading():
            material = [(source, path, course, packed) for source, path, _, course, packed in self._course_rows(where)]
            return courses_of(material, where)

    def _course_rows(self, where: Filter) -> list[Any]:
        """Return the documents of courses with their packed lessons, unfiltered."""
        rows = self._read(
            "SELECT d.source, d.path, d.kind, d.course, l.lessons"
            " FROM lessons l JOIN documents d ON d.id = l.document_id ORDER BY d.source, d.path"
        )
        check = filter_predicate(where)
        return [row for row in rows if check is None or check(*row[:4])]

    def chunks(self, source: str, path: str) -> list[Chunk]:
        with self._reading():
            rows = self._read(f"{_CHUNKS} WHERE d.source = ? AND d.path = ? AND d.skipped = ''", (source, path))
            document = self.document(source, path)
            text = document.text if document else ""
            return sorted((chunk_from_row(row, text) for row in rows), key=lambda chunk: chunk.span)

    def vectors(self, source: str, path: str) -> Vector:
        from openbook.index.catalogue import dequantize

        with self._reading():
            rows = self._read(
                "SELECT v.rows, v.chunks FROM vectors v JOIN documents d ON d.id = v.document_id"
                " WHERE d.source = ? AND d.path = ?",
                (source, path),
            )
            return dequantize(*(rows[0] if rows else (b"", 0)))

    def match(self, tokens: Sequence[str], vector: Vector | None, k: int, where: Filter) -> Matches:
        with self._reading():
            if vector is not None:
                self._check_size(len(vector))
            return self._current().match(self._postings(tokens), vector, k, where)

    def _check_size(self, given: int) -> None:
        held = self._read("SELECT value FROM meta WHERE key = ?", (_DIM,))
        if held and int(held[0][0]) != given:
            raise other_vectors(self.path, int(held[0][0]), given, self.path.stem)

    def frequencies(self, tokens: Sequence[str]) -> dict[str, int]:
        with self._reading():
            catalogue = self._current()  # clears the caches if the state changed
            known = self._frequencies
            if len(known) > _CACHED_FREQUENCIES:
                known.clear()
            missing = [token for token in tokens if token not in known]
            known.update(dict.fromkeys(missing, 0))
            known.update((token, len(catalogue.living(listed)[0])) for token, listed in self._postings(missing).items())
            return {token: known[token] for token in tokens if known[token]}

    def _postings(self, tokens: Sequence[str]) -> dict[str, Postings]:
        from openbook.index.segments import segment_postings

        with self._lock:
            self._write_pending()
            return segment_postings(self._connection, tokens)

    def _current(self) -> Catalogue:
        """Return the catalogue of the current state."""
        state = self._state()
        if self._catalogue is None or state != self._catalogue_of:
            with sqlite_errors(self.path):
                self._catalogue, self._catalogue_of = self._library_state().catalogue(), state
            self._outlines.clear()
            self._chunks.clear()
            self._frequencies.clear()
        return self._catalogue

    def _library_state(self) -> LibraryState:
        from openbook.index.state import LibraryState

        if self._columns is None:
            self._columns = LibraryState(self._connection, self.path, self._min_mapped)
        return self._columns

    def _state(self) -> tuple[int, int]:
        # The first number changes with commits by other connections, the second with our own.
        return self._read("PRAGMA data_version")[0][0], self._connection.total_changes

    def outlines(self, ids: Sequence[int]) -> list[Outline]:
        with self._reading():
            self._current()  # clears the caches if the state changed
            known = self._outlines
            if len(known) > _CACHED_OUTLINES:
                known.clear()
            rows = self._rows([id_ for id_ in ids if id_ not in known])
            known.update((row[0], outline_from_row(row)) for row in rows)
            return [known[id_] for id_ in ids if id_ in known]

    def _rows(self, ids: Sequence[int]) -> list[Any]:
        rows = self._read(f"{_CHUNKS} WHERE c.id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),))
        if self._current().holds(list(set(ids).difference(row[0] for row in rows))):
            raise LookupError("vectors refer to missing chunks")
        return rows

    def fetch(self, ids: Sequence[int]) -> list[Chunk]:
        with self._reading():
            self._current()  # clears the caches if the state changed
            known = self._chunks
            if len(known) > _CACHED_CHUNKS:
                known.clear()
            if missing := [id_ for id_ in ids if id_ not in known]:
                known.update(self._fetched(missing))
            return [known[id_] for id_ in ids if id_ in known]

    def _fetched(self, ids: Sequence[int]) -> dict[int, Chunk]:
        rows = self._rows(ids)
        wanted = json.dumps(sorted({row[1] for row in rows}))
        texts = dict(self._read("SELECT * FROM texts WHERE document_id IN (SELECT value FROM json_each(?))", (wanted,)))
        return {row[0]: chunk_from_row(row, texts[row[1]]) for row in rows}

    def optimize(self, *, every: bool = False) -> None:
        from openbook.index.segments import ids_of_chunks, merge, mergeable

        with self._lock, sqlite_errors(self.path):
            with self.batch(), self._reading():
                while segments := mergeable(self._connection, every=every):
                    merge(self._connection, segments, ids_of_chunks(self._connection))
                self._library_state().store()
            self._library_state().tidy()
            self._connection.execute("PRAGMA optimize")
            # The checkpoint would wait for readers, so leave it to a later call.
            (timeout_ms,) = self._connection.execute("PRAGMA busy_timeout").fetchone()
            self._connection.execute("PRAGMA busy_timeout = 0")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._connection.execute(f"PRAGMA busy_timeout = {timeout_ms:d}")

    def stats(self) -> IndexStats:
        with self._lock:
            state = self._state()
            if self._counted is None or self._counted[0] != state:  # counting scans every row
                (documents,) = self._read("SELECT count(*) FROM documents WHERE skipped = ''")[0]
                (chunks,) = self._read("SELECT count(*) FROM chunks")[0]
                self._counted = state, documents, chunks
            return IndexStats(*self._counted[1:], library_bytes(self.path))

    def close(self) -> None:
        if self._lock.is_inherited:
            return  # it is the parent's to close
        with self._lock:
            self._connection.close()

    def _read(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._lock, sqlite_errors(self.path):
            return self._connection.execute(sql, values).fetchall()
