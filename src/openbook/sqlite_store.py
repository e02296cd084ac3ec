"""A small SQLite file in the home, shared by threads and processes."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from openbook.errors import OpenbookError, SessionError
from openbook.permissions import make_private_file, make_private_folder


class SqliteStore:
    """A SQLite file that only its owner can read. Safe for threads and processes."""

    def __init__(self, path: Path, schema: str, error: Callable[[Exception], OpenbookError]) -> None:
        """Open the file at `path`. Creates it and its tables if needed."""
        self._error = error
        self._lock = threading.Lock()
        with self._translated():
            if not path.parent.exists():
                make_private_folder(path.parent)
            make_private_file(path)
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            try:
                for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON", "secure_delete = ON"):
                    self._connection.execute(f"PRAGMA {pragma}")
                self._connection.executescript(schema)
            except BaseException:
                self._connection.close()
                raise

    def read(self, sql: str, values: tuple[object, ...] = ()) -> list[Any]:
        with self._lock, self._translated():
            return self._connection.execute(sql, values).fetchall()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Callable[..., sqlite3.Cursor]]:
        """Yield a function that executes statements of one transaction."""
        with self._lock, self._translated():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection.execute
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.rollback()
                raise

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as exc:
            raise self._error(exc) from exc


def hint_for(fault: Exception) -> str:
    """Return what to do about a file that cannot be used."""
    if getattr(fault, "sqlite_errorcode", 0) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return "restore the file from a backup, or move it away to begin with an empty one"
    return "free some space, or set OPENBOOK_HOME to a folder that you can write to"


def store_of_conversations(path: Path, schema: str, what: str) -> SqliteStore:
    """Open a store of conversations or their ratings. Its errors are `SessionError`s that name `what`."""

    def refused(exc: Exception) -> SessionError:
        return SessionError(f"{what} cannot be kept in {str(path)!r}: {exc}", hint=hint_for(exc))

    return SqliteStore(path, schema, refused)
