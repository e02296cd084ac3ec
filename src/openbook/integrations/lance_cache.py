"""A local cache of the state of a library in LanceDB, which other processes can map instead of reading the tables.

A folder contains one state, and is named after it. It is written elsewhere and renamed, so it is complete or absent.
Without it, everything is read from the tables, with the same results.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from openbook.index.column_file import open_column_file, write_column_file
from openbook.index.columns import Columns
from openbook.integrations.lance_documents import DocumentTable
from openbook.integrations.lance_rows import is_settled
from openbook.integrations.lance_tables import ROW_ID
from openbook.permissions import make_private_file, make_private_folder

# Minimum chunks of a cached library. Smaller ones are read faster than LanceDB loads.
MIN_CACHED = 20_000

# The state is written again when this share of the chunks has changed. Until then, each new process reads the changes.
MAX_CHANGED = 0.1

# An unfinished folder older than this was left by a dead process; younger ones may be in progress.
_UNFINISHED_S = 24 * 3600

# A million chunks are 300 MB, which take this time at 5 MB/s. After a longer wait, a process reads them itself.
_MAX_WAITED_S = 60.0

# Increment if the content of the folders changes.
_LAYOUT = "1"

FILES = _DOCUMENTS, _SEGMENTS, _WORDS, _COLUMNS = "documents", "segments", "words", "columns"
"""The files in a folder."""
_IDS = b"ids"

State = tuple[str, int, int]
"""Name of a library, and the versions of its two tables."""


@dataclass(frozen=True, eq=False)
class Kept:
    """One state of a library, as known to a process."""

    state: State
    documents: DocumentTable
    columns: Columns
    segments: pa.Table
    words: pa.Table
    """See `SegmentStore.packed`."""
    next_id: int
    first_ids: Mapping[str, int]
    """First ids of versions that have words but are not committed yet."""

    @property
    def newest(self) -> str:
        """The highest known version."""
        return max([self.documents.newest, *self.first_ids])

    def is_outdated_by(self, columns: Columns) -> bool:
        """Return whether enough has changed that writing the state again pays."""
        stays = np.isin(self.columns.document_ids, columns.document_ids)
        same = int(self.columns.sizes[stays].sum())
        return len(self.columns) + len(columns) - 2 * same > MAX_CHANGED * len(self.columns)

    def is_compacted_in(self, documents: DocumentTable) -> bool:
        """Return whether compaction changed row ids, so that each new process would read light columns again."""
        return not np.array_equal(self.documents.numbers(ROW_ID), documents.numbers(ROW_ID))


def pending(documents: DocumentTable, first_ids: Mapping[str, int]) -> dict[str, int]:
    """Return the first ids of versions that have words but are not committed yet."""
    return {version: first_ids[version] for version in documents.without([*first_ids]) if not is_settled(version)}


class LocalCache:
    """The cache folder of one library. Several processes may use it at once."""

    def __init__(self, folder: Path, uri: str, *, wait_s: float = _MAX_WAITED_S) -> None:
        """Take the folder of all libraries, and the address of one. Nothing is created yet.

        `wait_s` is the longest wait for another process that loads a state.
        """
        self._folder = folder / hashlib.sha256(f"{_LAYOUT} {uri}".encode()).hexdigest()[:32]
        self._lock = self._folder.with_suffix(".lock")
        self._wait_s = wait_s

    @contextlib.contextmanager
    def alone(self) -> Iterator[bool]:
        """Lock the cache against other processes. Yields False after a timeout, or if files cannot be locked.

        The lock of a killed process is released by the system.
        """
        connection, is_alone = None, False
        with contextlib.suppress(OSError, sqlite3.Error):
            make_private_folder(self._folder.parent)
            make_private_file(self._lock)
            connection = sqlite3.connect(self._lock, timeout=self._wait_s, isolation_level=None)
            connection.execute("BEGIN EXCLUSIVE")  # a portable file lock, which writes nothing
            is_alone = True
        try:
            yield is_alone
        finally:
            if connection is not None:
                connection.close()

    def open(self, made: str) -> Kept | None:
        """Return the latest cached state of a library; None without one."""
        found = []
        with contextlib.suppress(OSError):
            found = [path.name.rsplit("-", 2) for path in self._folder.glob(f"{made}-*-*")]
        states = [(made, int(documents), int(words)) for _, documents, words in found if documents.isdecimal()]
        for state in sorted(states, reverse=True):
            kept = self._opened(state)
            if kept is not None:
                return kept
        return None

    def _opened(self, state: State) -> Kept | None:
        folder = self.folder_of(state)
        columns = open_column_file(folder / _COLUMNS)
        try:
            documents, segments, words = (_mapped(folder / name) for name in (_DOCUMENTS, _SEGMENTS, _WORDS))
            next_id, first_ids = json.loads(documents.schema.metadata[_IDS])
        except (OSError, ValueError, LookupError, TypeError, pa.ArrowException):
            return None
        if columns is None:
            return None
        return Kept(state, DocumentTable(documents), columns, segments, words, next_id, first_ids)

    def folder_of(self, state: State) -> Path:
        """Return the folder of a state, if it is cached."""
        return self._folder / "-".join(map(str, state))

    def keep(self, kept: Kept) -> bool:
        """Write a state in place of others. Returns False on failure: a library works without."""

        def write(folder: Path) -> None:
            write_column_file(folder / _COLUMNS, kept.columns)
            ids = json.dumps([kept.next_id, dict(kept.first_ids)]).encode()
            _write(folder / _DOCUMENTS, kept.documents.rows.replace_schema_metadata({_IDS: ids}))
            _write(folder / _SEGMENTS, kept.segments)
            _write(folder / _WORDS, kept.words)

        return self.place(kept.state, write)

    def place(self, state: State, write: Callable[[Path], None]) -> bool:
        """Write the files of a state with a function, and replace the present ones. Returns False on failure.

        Files that other processes are writing stay.
        """
        target = self.folder_of(state)
        written = target.with_name(f".{target.name}-{secrets.token_hex(4)}")
        try:
            make_private_folder(self._folder)
            others = [path for path in self._folder.iterdir() if path != target and not _is_being_written(path)]
            written.mkdir(mode=0o700)
            write(written)
            written.rename(target)
        except (OSError, ValueError, pa.ArrowException):  # a full disk, or another process was faster
            shutil.rmtree(written, ignore_errors=True)
            return False
        for other in others:  # mapped files stay until they are closed
            shutil.rmtree(other, ignore_errors=True)
        return True

    def scratch(self) -> BinaryIO | None:
        """Open an unnamed empty file, which is deleted when closed; None on failure."""
        with contextlib.suppress(OSError):
            make_private_folder(self._folder)
            return tempfile.TemporaryFile(buffering=0, dir=self._folder)
        return None

    def discard(self, *, but: str = "") -> None:
        """Delete the cached states, except those of one library: they contain paths of deleted documents.

        Unfinished ones stay. `but` is the name of that library; creating a library again changes its name.
        """
        others = []
        with contextlib.suppress(OSError):
            kept = [path for path in self._folder.iterdir() if not _is_being_written(path)]
            others = [path for path in kept if not but or path.name.rsplit("-", 2)[0] != but]
        for other in others:  # mapped files stay until they are closed
            shutil.rmtree(other, ignore_errors=True)

    def remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            self._lock.unlink()


def _is_being_written(folder: Path) -> bool:
    try:
        return folder.name.startswith(".") and time.time() - folder.stat().st_mtime < _UNFINISHED_S
    except OSError:  # finished meanwhile
        return True


def _write(path: Path, table: pa.Table) -> None:
    make_private_file(path)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table.combine_chunks())


def _mapped(path: Path) -> pa.Table:
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()
