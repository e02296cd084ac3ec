"""What a reader keeps of a library in LanceDB on its own machine, so that the next process maps it and reads nothing.

A folder has one state, and is named by it. It is written beside and renamed, so it is whole or not there; without it,
everything is read from the tables, with the same results.
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

# Chunks of a library of which that is kept. Smaller ones are read in less time than LanceDB takes to load.
FEWEST_KEPT = 20_000

# It is kept anew when this share of the chunks has come or gone. Until then, each new process reads what has come.
MOST_CHANGED = 0.1

# A folder that is unfinished after this time was left by a process that ended; others are being written.
_UNFINISHED_S = 24 * 3600

# A million chunks are 300 MB, which come in this time at 5 MB/s. Who has waited for longer gets them as well.
_MOST_WAITED_S = 60.0

# Changes with what is in the folders.
_LAYOUT = "1"

FILES = _DOCUMENTS, _SEGMENTS, _WORDS, _COLUMNS = "documents", "segments", "words", "columns"
"""What is in a folder."""
_IDS = b"ids"

State = tuple[str, int, int]
"""Name of a library, and the versions of its tables."""


@dataclass(frozen=True, eq=False)
class Kept:
    """What one process knew of one state of a library."""

    state: State
    documents: DocumentTable
    columns: Columns
    segments: pa.Table
    words: pa.Table
    """See `SegmentStore.packed`."""
    next_id: int
    first_ids: Mapping[str, int]
    """Of versions that have words and are about to be committed."""

    @property
    def newest(self) -> str:
        """The greatest version that is known."""
        return max([self.documents.newest, *self.first_ids])

    def is_outdated_by(self, columns: Columns) -> bool:
        """Return whether so much has come or gone that it pays to keep it anew."""
        stays = np.isin(self.columns.document_ids, columns.document_ids)
        same = int(self.columns.sizes[stays].sum())
        return len(self.columns) + len(columns) - 2 * same > MOST_CHANGED * len(self.columns)

    def is_compacted_in(self, documents: DocumentTable) -> bool:
        """Return whether rows have other ids now, so that each new process reads again what is light of them."""
        return not np.array_equal(self.documents.numbers(ROW_ID), documents.numbers(ROW_ID))


def pending(documents: DocumentTable, first_ids: Mapping[str, int]) -> dict[str, int]:
    """Return the first ids of versions that have words and are about to be committed."""
    return {version: first_ids[version] for version in documents.without([*first_ids]) if not is_settled(version)}


class LocalCache:
    """The folder of one library. Several processes may use it at once."""

    def __init__(self, folder: Path, uri: str, *, wait_s: float = _MOST_WAITED_S) -> None:
        """Take the folder of all libraries, and the address of one. Nothing is made yet.

        `wait_s`: how long to wait for another process that gets a state.
        """
        self._folder = folder / hashlib.sha256(f"{_LAYOUT} {uri}".encode()).hexdigest()[:32]
        self._lock = self._folder.with_suffix(".lock")
        self._wait_s = wait_s

    @contextlib.contextmanager
    def alone(self) -> Iterator[bool]:
        """Have others of this machine wait, and yield whether they do: nobody waits for ever, or where nothing locks.

        The system ends the lock of a process that is killed.
        """
        connection, is_alone = None, False
        with contextlib.suppress(OSError, sqlite3.Error):
            make_private_folder(self._folder.parent)
            make_private_file(self._lock)
            connection = sqlite3.connect(self._lock, timeout=self._wait_s, isolation_level=None)
            connection.execute("BEGIN EXCLUSIVE")  # locks on all systems, and writes nothing
            is_alone = True
        try:
            yield is_alone
        finally:
            if connection is not None:
                connection.close()

    def open(self, made: str) -> Kept | None:
        """Return the latest state that is kept of a library; None if there is none."""
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
        """Return where a state is, if it is kept."""
        return self._folder / "-".join(map(str, state))

    def keep(self, kept: Kept) -> bool:
        """Write a state in place of others. False if that cannot be done: a library works without."""

        def write(folder: Path) -> None:
            write_column_file(folder / _COLUMNS, kept.columns)
            ids = json.dumps([kept.next_id, dict(kept.first_ids)]).encode()
            _write(folder / _DOCUMENTS, kept.documents.rows.replace_schema_metadata({_IDS: ids}))
            _write(folder / _SEGMENTS, kept.segments)
            _write(folder / _WORDS, kept.words)

        return self.place(kept.state, write)

    def place(self, state: State, write: Callable[[Path], None]) -> bool:
        """Let the files of a state be written in place of those there now. False if that cannot be done.

        What other processes write meanwhile stays.
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
        for other in others:  # what is mapped stays until it is closed
            shutil.rmtree(other, ignore_errors=True)
        return True

    def scratch(self) -> BinaryIO | None:
        """Open an empty file that nobody sees, and that is gone when it is closed; None if that cannot be done."""
        with contextlib.suppress(OSError):
            make_private_folder(self._folder)
            return tempfile.TemporaryFile(buffering=0, dir=self._folder)
        return None

    def discard(self, *, but: str = "") -> None:
        """Delete the states that are kept, except those of one library: they hold paths of documents that are gone.

        What is being written stays. `but`: the name of the library, which one that was made again does not share.
        """
        others = []
        with contextlib.suppress(OSError):
            kept = [path for path in self._folder.iterdir() if not _is_being_written(path)]
            others = [path for path in kept if not but or path.name.rsplit("-", 2)[0] != but]
        for other in others:  # what is mapped stays until it is closed
            shutil.rmtree(other, ignore_errors=True)

    def remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            self._lock.unlink()


def _is_being_written(folder: Path) -> bool:
    try:
        return folder.name.startswith(".") and time.time() - folder.stat().st_mtime < _UNFINISHED_S
    except OSError:  # it has just been finished
        return True


def _write(path: Path, table: pa.Table) -> None:
    make_private_file(path)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table.combine_chunks())


def _mapped(path: Path) -> pa.Table:
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()
