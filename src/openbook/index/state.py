"""The current chunks of an embedded library as a catalogue: loaded, or memory-mapped and brought up to date."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import numpy as np

from openbook.index.catalogue import Catalogue
from openbook.index.column_file import open_columns, write_columns
from openbook.index.columns import Columns, DocumentRows, columns_of, updated
from openbook.index.files import column_files, columns_path, delete_files

# Key in `meta` that names the column file.
_TOKEN = "columns"

# Rewrite the column file when this share of its chunks was added or deleted. Until then, each new process reads the
# added chunks from the library, about 1 ms per 1,000 chunks.
_MAX_CHANGED = 0.1

_HELD = (
    "SELECT d.source, d.path, d.kind, d.course, v.first_chunk_id, v.chunks, v.lengths, v.rows, IFNULL(l.numbers, x''),"
    " d.id FROM vectors v JOIN documents d ON d.id = v.document_id LEFT JOIN lessons l ON l.document_id = d.id"
)
_ALL = f"{_HELD} ORDER BY d.source, d.path"
_LATER = f"{_HELD} WHERE v.document_id > ?"
_LOST_LESSONS = "SELECT 1 FROM lessons WHERE document_id NOT IN (SELECT document_id FROM vectors) LIMIT 1"


class LibraryState:
    """The catalogue of a library across transactions. Call its methods inside a transaction."""

    def __init__(self, connection: sqlite3.Connection, library: Path, min_mapped: int) -> None:
        """Take an open library."""
        self._connection = connection
        self._library = library
        self._min_mapped = min_mapped
        self._token = ""
        self._base: Columns | None = None
        self._later: dict[int, DocumentRows] = {}
        self._replaced = ""

    def catalogue(self) -> Catalogue:
        """Return the catalogue of the current state.

        Raises:
            LookupError, ValueError: Rows are inconsistent.
        """
        if self._connection.execute(_LOST_LESSONS).fetchone():
            raise LookupError("lessons refer to missing chunks")
        base = self._mapped()
        if base is None:
            return Catalogue(columns_of(self._connection.execute(_ALL)))
        living = self._live_ids(base)
        later = sorted(self._later.values())  # by source and path, which are unique
        is_same = not later and np.isin(base.document_ids, living).all()
        return Catalogue(base if is_same else updated(base, living, columns_of(later)))

    def _mapped(self) -> Columns | None:
        row = self._connection.execute("SELECT value FROM meta WHERE key = ?", (_TOKEN,)).fetchone()
        token = row[0] if row else ""
        if token != self._token:
            self._later = {}
            self._token, self._base = token, open_columns(self._library, token) if token else None
        return self._base

    def _live_ids(self, base: Columns) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Return the ids of all documents, and read those added since the column file was written."""
        ids = [id_ for (id_,) in self._connection.execute("SELECT id FROM documents")]
        highest = max(self._later, default=int(base.document_ids.max(initial=0)))
        # All of the latest may have been deleted again; then they are read once more.
        new = map(DocumentRows._make, self._connection.execute(_LATER, (highest,)))
        known = self._later | {document.document_id: document for document in new}
        living = set(ids)
        self._later = {id_: document for id_, document in known.items() if id_ in living}
        return np.array(ids, dtype=np.int64)

    def store(self) -> None:
        """Write the column file if that pays. It is only a cache, so a full disk is ignored."""
        old = self._file_to_replace()
        if old is None:
            return
        current = columns_path(self._library, old)
        delete_files(path for path in column_files(self._library) if path != current)  # left by killed writers
        with contextlib.suppress(OSError, ValueError):
            token = write_columns(self._library, map(DocumentRows._make, self._connection.execute(_ALL)))
            self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_TOKEN, token))
            self._replaced = old

    def _file_to_replace(self) -> str | None:
        """Return the name of the file to replace, empty if there is none; None if writing one does not pay."""
        (highest,) = self._connection.execute(
            "SELECT IFNULL(max(seq), 0) FROM sqlite_sequence WHERE name = 'chunks'"
        ).fetchone()
        if highest < self._min_mapped:  # ids bound the number of chunks
            return None
        base = self._mapped()
        if base is None:
            (chunks,) = self._connection.execute("SELECT IFNULL(sum(chunks), 0) FROM vectors").fetchone()
            return self._token if chunks >= self._min_mapped else None
        living = self._live_ids(base)
        gone = int(base.sizes[~np.isin(base.document_ids, living)].sum())
        come = sum(document.chunks for document in self._later.values())
        is_large = len(base) - gone + come >= self._min_mapped
        return self._token if is_large and gone + come > _MAX_CHANGED * len(base) else None

    def tidy(self) -> None:
        """Delete the replaced file. Call it after the transaction."""
        if self._replaced:
            delete_files([columns_path(self._library, self._replaced)])
        self._replaced = ""
