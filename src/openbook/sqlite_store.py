"""A small SQLite file in the home, shared by threads and processes."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from openbook.errors import OpenbookError, SessionError
from openbook.permissions import make_private_file, make_private_folder

_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


class SqliteStore:
    """A SQLite file that only its owner can read. Safe for threads and processes."""

    def __init__(self, path: Path, schema: str, error: Callable[[Exception], OpenbookError]) -> None:
        """Open the file at `path`. Creates it and its tables if needed.

        If that is not allowed, as in a read-only home, what is there can be read, and every transaction fails.
        """
        self._path, self._schema, self._error = path, schema, error
        self._lock = threading.Lock()
        self._fault: Exception | None = None
        with self._translated():
            try:
                self._connection = self._opened()
            except (sqlite3.Error, OSError) as exc:
                if not is_unwritable(exc):
                    raise
                self._fault = exc
                self._opened_to_read().close()

    @property
    def is_writable(self) -> bool:
        """Whether the file could be opened for writing."""
        return self._fault is None

    def _opened(self) -> sqlite3.Connection:
        if not self._path.parent.exists():
            make_private_folder(self._path.parent)
        make_private_file(self._path)
        if not os.access(self._path, os.W_OK):  # while another process has it open, SQLite would tell only at a write
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self._path))
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        try:
            for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON", "secure_delete = ON"):
                connection.execute(f"PRAGMA {pragma}")
            connection.executescript(self._schema)
        except BaseException:
            connection.close()
            raise
        return connection

    def _opened_to_read(self) -> sqlite3.Connection:
        """Open the file as it is now, or empty tables without one. Others may write it: a key may be revoked."""
        try:
            self._path.stat()
        except FileNotFoundError:
            connection = sqlite3.connect(":memory:")
            connection.executescript(self._schema)
            return connection
        # A read-only folder cannot hold a write-ahead log. Without one, the file alone is complete.
        log = self._path.with_name(f"{self._path.name}-wal")
        complete = "" if log.exists() and log.stat().st_size else "&immutable=1"
        connection = sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=ro{complete}", uri=True)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master")  # SQLite opens the file only now
        except BaseException:
            connection.close()
            raise
        return connection

    def read(self, sql: str, values: tuple[object, ...] = ()) -> list[Any]:
        with self._lock, self._translated():
            if self._fault is None:
                return self._connection.execute(sql, values).fetchall()
            with contextlib.closing(self._opened_to_read()) as connection:
                return connection.execute(sql, values).fetchall()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Callable[..., sqlite3.Cursor]]:
        """Yield a function that executes statements of one transaction."""
        with self._lock, self._translated():
            if self._fault is not None:
                raise self._fault.with_traceback(None)
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection.execute
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.rollback()
                raise

    def close(self) -> None:
        with self._lock:
            if self._fault is None:
                self._connection.close()

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as exc:
            raise self._error(exc) from exc


def is_unwritable(fault: BaseException | None) -> bool:
    """Return whether a file could not be written because that is not allowed, rather than because the disk is full."""
    code = getattr(fault, "sqlite_errorcode", 0) & 0xFF
    return getattr(fault, "errno", None) in _FORBIDDEN or code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


def hint_for(fault: BaseException) -> str:
    """Return what to do about a file that cannot be used."""
    if getattr(fault, "sqlite_errorcode", 0) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return "restore the file from a backup, or move it away to begin with an empty one"
    if is_unwritable(fault):
        return "set OPENBOOK_HOME to a folder that you can write to"
    return "free some space, or set OPENBOOK_HOME to a folder that you can write to"


def store_of_conversations(path: Path, schema: str, what: str) -> SqliteStore:
    """Open a store of conversations or their ratings. Its errors are `SessionError`s that name `what`."""

    def refused(exc: Exception) -> SessionError:
        return SessionError(f"{what} cannot be kept in {str(path)!r}: {exc}", hint=hint_for(exc))

    return SqliteStore(path, schema, refused)
