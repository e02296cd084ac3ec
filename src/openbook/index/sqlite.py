"""The embedded engine: words in FTS5, exact vectors, texts and records in one SQLite file."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openbook.index.protocol import Entry, Found, Hit, Identity, Record, Root, Stats, Terms
from openbook.index.schema import damaged, open_database, translated_errors
from openbook.index.where import allows
from openbook.types import Anchor, Chunk, Document, Filter, Lesson, Span, Stamp

if TYPE_CHECKING:
    from openbook.index.protocol import Vector
    from openbook.index.vectors import VectorTable


class SqliteIndex:
    """One library in one file. See `Index` for what each method promises.

    Threads may share an instance: calls are taken one at a time.
    """

    def __init__(self, path: Path, identity: Identity, *, lock_timeout_s: float = 60.0) -> None:
        """Open the library at `path`, making it if there is none.

        Raises:
            LibraryError: See `open_database`.
        """
        self.path = path
        self._lock = threading.RLock()
        self._connection = open_database(path, identity, lock_timeout_s=lock_timeout_s)
        self._vectors: VectorTable | None = None
        self._vectors_of: tuple[int, int] | None = None

    @contextlib.contextmanager
    def batch(self) -> Iterator[None]:
        with self._lock, self._transaction("BEGIN IMMEDIATE"):
            yield

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._lock, self._transaction("BEGIN"):
            yield

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with translated_errors(self.path):
            if self._connection.in_transaction:  # the outermost one decides
                yield
                return
            self._connection.execute(begin)
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.rollback()
                self._vectors = None  # may hold what has just been undone
                raise

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """Open a snapshot in which rows that do not fit together are damage."""
        with self.snapshot():
            try:
                yield
            except (LookupError, TypeError, ValueError) as exc:
                raise damaged(self.path) from exc

    def put(self, document: Document, entries: Sequence[Entry], stamp: Stamp) -> None:
        with self.batch():
            old = self._document_ids(document.source, document.path)
            document_id = self._insert_document(document, stamp, skipped="")
            self._connection.execute("INSERT INTO texts VALUES (?, ?)", (document_id, document.text))
            if entries:
                self._insert_entries(document_id, entries)
            self._delete_documents(old)

    def skip(self, source: str, path: str, stamp: Stamp, reason: str) -> None:
        with self.batch():
            old = self._document_ids(source, path)
            self._insert_document(Document(source, path, "data", "", "", ""), stamp, skipped=reason)
            self._delete_documents(old)

    def touch(self, source: str, path: str, stamp: Stamp) -> None:
        with self.batch():
            self._connection.execute(
                "UPDATE documents SET size_bytes = ?, modified_ns = ?, changed_ns = ? WHERE source = ? AND path = ?",
                (stamp.size_bytes, stamp.modified_ns, stamp.changed_ns, source, path),
            )

    def delete(self, source: str, path: str) -> bool:
        with self.batch():
            old = self._document_ids(source, path)
            self._delete_documents(old)
            return bool(old)

    def _document_ids(self, source: str, path: str) -> list[int]:
        sql = "SELECT id FROM documents WHERE source = ? AND path = ?"
        return [id_ for (id_,) in self._connection.execute(sql, (source, path))]

    def _insert_document(self, document: Document, stamp: Stamp, *, skipped: str) -> int:
        anchors = json.dumps([[anchor.start_char, anchor.label] for anchor in document.anchors])
        cursor = self._connection.execute(
            "INSERT INTO documents (source, path, kind, language, content_hash,"
            " size_bytes, modified_ns, changed_ns, skipped, anchors) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(document.source, document.path, document.kind, document.language, document.content_hash),
                *(stamp.size_bytes, stamp.modified_ns, stamp.changed_ns, skipped, anchors),
            ),
        )
        assert cursor.lastrowid is not None  # an INSERT always has one
        return cursor.lastrowid

    def _insert_entries(self, document_id: int, entries: Sequence[Entry]) -> None:
        import numpy as np

        from openbook.index.vectors import pack

        execute, insert_all = self._connection.execute, self._connection.executemany
        entries = sorted(entries, key=lambda entry: entry.chunk.span)  # vectors are told apart by place
        last = execute("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'").fetchone()
        first = (last[0] if last else 0) + 1
        insert_all(
            "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (id_, document_id, span.start_char, span.end_char, span.start_line, span.end_line, _fields(entry.chunk))
                for id_, entry in enumerate(entries, start=first)
                for span in (entry.chunk.span,)
            ],
        )
        insert_all(
            "INSERT INTO terms (rowid, path, names, context, body) VALUES (?, ?, ?, ?, ?)",
            [
                (id_, *(" ".join(field) for field in (terms.path, terms.names, terms.context, terms.body)))
                for id_, entry in enumerate(entries, start=first)
                for terms in (entry.terms,)
            ],
        )
        rows = pack(np.stack([entry.vector for entry in entries]))
        execute("INSERT INTO vectors VALUES (?, ?, ?, ?)", (document_id, first, len(entries), rows))

    def _delete_documents(self, ids: Sequence[int]) -> None:
        for id_ in ids:
            execute = self._connection.execute
            execute("DELETE FROM terms WHERE rowid IN (SELECT id FROM chunks WHERE document_id = ?)", (id_,))
            for table in ("chunks", "vectors", "texts"):
                execute(f"DELETE FROM {table} WHERE document_id = ?", (id_,))
            execute("DELETE FROM documents WHERE id = ?", (id_,))

    def put_root(self, root: Root) -> None:
        with self.batch():
            values = (root.name, root.kind, root.location, root.synced_at)
            self._connection.execute("INSERT OR REPLACE INTO roots VALUES (?, ?, ?, ?)", values)

    def delete_source(self, name: str) -> bool:
        with self.batch():
            ids = [id_ for (id_,) in self._connection.execute("SELECT id FROM documents WHERE source = ?", (name,))]
            self._delete_documents(ids)
            return self._connection.execute("DELETE FROM roots WHERE name = ?", (name,)).rowcount > 0

    def roots(self) -> list[Root]:
        return [Root(*row) for row in self._read("SELECT name, kind, location, synced_at FROM roots ORDER BY name")]

    def records(self, source: str) -> dict[str, Record]:
        rows = self._read(
            "SELECT path, size_bytes, modified_ns, changed_ns, content_hash, skipped FROM documents WHERE source = ?",
            (source,),
        )
        return {path: Record(Stamp(*stamp), hash_, skipped) for path, *stamp, hash_, skipped in rows}

    def document(self, source: str, path: str) -> Document | None:
        with self._reading():
            rows = self._read(
                "SELECT d.kind, d.language, t.text, d.content_hash, d.anchors"
                " FROM documents d JOIN texts t ON t.document_id = d.id WHERE d.source = ? AND d.path = ?",
                (source, path),
            )
            if not rows:
                return None
            kind, language, text, content_hash, packed = rows[0]
            anchors = tuple(Anchor(*anchor) for anchor in json.loads(packed))
            return Document(source, path, kind, language, text, content_hash, anchors=anchors)

    def lexical(self, tokens: Sequence[str], k: int, where: Filter) -> list[Hit]:
        if not tokens or k <= 0:
            return []
        match = " OR ".join('"' + token.replace('"', '""') + '"' for token in dict.fromkeys(tokens))
        with self._reading():
            sql, values = "SELECT rowid, rank FROM terms WHERE terms MATCH ?", [match]
            allowed = self._allowed(where)
            if allowed is not None:
                sql += " AND rowid IN (SELECT id FROM chunks WHERE document_id IN (SELECT value FROM json_each(?)))"
                values.append(json.dumps(sorted(allowed)))
            rows = self._read(f"{sql} ORDER BY rank LIMIT {k + 1:d}", values)
            if len(rows) > k and rows[k][1] == rows[k - 1][1]:
                # The cut runs through a tie, which only all of its members can decide.
                rows = [row for row in self._read(sql, values) if row[1] <= rows[k][1]]
            place = self._places([id_ for id_, _ in rows])
            return [Hit(id_, -rank) for id_, rank in sorted(rows, key=lambda row: (row[1], place[row[0]]))[:k]]

    def _places(self, ids: Sequence[int]) -> dict[int, tuple[str, str, int, int]]:
        rows = self._read(
            "SELECT c.id, d.source, d.path, c.start_char, c.end_char FROM chunks c"
            " JOIN documents d ON d.id = c.document_id WHERE c.id IN (SELECT value FROM json_each(?))",
            (json.dumps(ids),),
        )
        return {id_: (source, path, start, end) for id_, source, path, start, end in rows}

    def _allowed(self, where: Filter) -> set[int] | None:
        """Give the ids of the documents that a filter lets through; None for all."""
        check = allows(where)
        if check is None:
            return None
        rows = self._read("SELECT id, source, path, kind FROM documents WHERE skipped = ''")
        return {id_ for id_, source, path, kind in rows if check(source, path, kind)}

    def dense(self, vector: Vector, k: int, where: Filter) -> list[Hit]:
        with self._reading():
            return [Hit(*pair) for pair in self._vector_table().nearest(vector, k, self._allowed(where))]

    def _vector_table(self) -> VectorTable:
        from openbook.index.vectors import VectorTable

        # The first number moves with commits of other connections, the second with our own.
        state = (self._read("PRAGMA data_version")[0][0], self._connection.total_changes)
        if self._vectors is None or state != self._vectors_of:
            self._vectors, self._vectors_of = VectorTable(self._connection), state
        return self._vectors

    def frequencies(self, tokens: Sequence[str]) -> dict[str, int]:
        sql = "SELECT term, doc FROM frequencies WHERE term = ?"
        with self._reading():
            return dict(row for token in dict.fromkeys(tokens) for row in self._read(sql, (token,)))

    def fetch(self, ids: Sequence[int]) -> list[Found]:
        with self._reading():
            rows = self._read(
                "SELECT c.id, d.id, d.source, d.path, d.kind, d.language, c.start_char, c.end_char, c.start_line,"
                " c.end_line, c.fields, t.path, t.names, t.context, t.body FROM chunks c"
                " JOIN documents d ON d.id = c.document_id JOIN terms t ON t.rowid = c.id"
                " WHERE c.id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(ids)),),
            )
            wanted = json.dumps(sorted({row[1] for row in rows}))
            texts = dict(
                self._read("SELECT * FROM texts WHERE document_id IN (SELECT value FROM json_each(?))", (wanted,))
            )
            found = {row[0]: _found(row, texts[row[1]]) for row in rows}
        return [found[id_] for id_ in ids if id_ in found]

    def optimize(self) -> None:
        with self._lock, translated_errors(self.path):
            self._connection.execute("INSERT INTO terms (terms) VALUES ('optimize')")
            self._connection.execute("PRAGMA optimize")
            # A reader would make it wait; then the log is taken in at another time.
            (timeout_ms,) = self._connection.execute("PRAGMA busy_timeout").fetchone()
            self._connection.execute("PRAGMA busy_timeout = 0")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._connection.execute(f"PRAGMA busy_timeout = {timeout_ms:d}")

    def stats(self) -> Stats:
        (documents,) = self._read("SELECT count(*) FROM documents WHERE skipped = ''")[0]
        (chunks,) = self._read("SELECT count(*) FROM chunks")[0]
        files = (self.path, self.path.with_name(self.path.name + "-wal"))
        return Stats(documents, chunks, sum(file.stat().st_size for file in files if file.exists()))

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _read(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._lock, translated_errors(self.path):
            return self._connection.execute(sql, values).fetchall()


def _fields(chunk: Chunk) -> str:
    """Pack what only people and prompts look at; empty fields take no room."""
    values = {
        "symbol": chunk.symbol,
        "defines": chunk.defines,
        "signature": chunk.signature,
        "docstring": chunk.docstring,
        "context": chunk.context,
        "anchor": chunk.anchor,
        "lesson": asdict(chunk.lesson) if chunk.lesson else None,
    }
    return json.dumps({name: value for name, value in values.items() if value}, ensure_ascii=False)


def _found(row: tuple[Any, ...], text: str) -> Found:
    id_, _, source, path, kind, language, start, end, start_line, end_line, fields, *terms = row
    values = json.loads(fields)
    for name in ("defines", "context"):
        values[name] = tuple(values.get(name, ()))
    if "lesson" in values:
        values["lesson"] = Lesson(**values["lesson"])
    span = Span(path, start, end, start_line, end_line)
    chunk = Chunk(source, span, text[start:end], kind, language, **values)
    return Found(id_, chunk, Terms(*(tuple(field.split(" ")) if field else () for field in terms)))


def remove_library(path: Path) -> None:
    """Delete a library and what SQLite keeps beside it. None there is no error."""
    for suffix in ("-wal", "-shm", ""):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
