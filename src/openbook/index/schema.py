"""The database file of an embedded library: tables, version, and opening."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from pathlib import Path

from openbook.errors import CorruptLibraryError, LibraryError, LibraryWriteError, MismatchedLibraryError
from openbook.index.protocol import IndexIdentity, Source
from openbook.permissions import make_private_file, make_private_folder, narrow

# "OPBK": identifies our files among other SQLite files before anything is written to them.
APPLICATION_ID = 0x4F50424B

# Offset of the application id: https://www.sqlite.org/fileformat2.html#the_database_header
_ID_AT = 68

# Increment with every change of the tables below. Older files are refused: an index can always be
# rebuilt from its sources, and a rebuild is quicker to get right than a migration.
SCHEMA_VERSION = 3


# Document texts are stored whole, once. Chunks are offsets into them, which makes them exact slices by
# construction. A course document has a row of lessons (each once, in order of appearance, and the lesson
# number of each chunk), so that neither listing courses nor filtering reads chunks.
_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE roots (name TEXT PRIMARY KEY, kind TEXT NOT NULL, location TEXT NOT NULL, synced_at REAL NOT NULL,
    url TEXT NOT NULL, "commit" TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT, source TEXT NOT NULL, path TEXT NOT NULL,
    kind TEXT NOT NULL, language TEXT NOT NULL, content_hash TEXT NOT NULL,
    size_bytes INTEGER NOT NULL, modified_ns INTEGER NOT NULL, changed_ns INTEGER NOT NULL,
    skipped TEXT NOT NULL, anchors TEXT NOT NULL, course TEXT NOT NULL, remarks TEXT NOT NULL);
CREATE INDEX documents_by_path ON documents (source, path);
CREATE TABLE texts (document_id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, document_id INTEGER NOT NULL,
    start_char INTEGER NOT NULL, end_char INTEGER NOT NULL,
    start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, fields TEXT NOT NULL);
CREATE INDEX chunks_by_document ON chunks (document_id);
CREATE TABLE vectors (document_id INTEGER PRIMARY KEY, first_chunk_id INTEGER NOT NULL,
    chunks INTEGER NOT NULL, lengths BLOB NOT NULL, rows BLOB NOT NULL);
CREATE TABLE lessons (document_id INTEGER PRIMARY KEY, lessons TEXT NOT NULL, numbers BLOB NOT NULL);
CREATE TABLE segments (id INTEGER PRIMARY KEY AUTOINCREMENT, postings INTEGER NOT NULL);
CREATE TABLE postings (segment INTEGER NOT NULL, first_token TEXT NOT NULL, tokens TEXT NOT NULL,
    ends BLOB NOT NULL, ids BLOB NOT NULL, counts BLOB NOT NULL, PRIMARY KEY (segment, first_token));
"""

_WRITE_CODES = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "disk I/O error",
    sqlite3.SQLITE_READONLY: "it is read-only",
    sqlite3.SQLITE_BUSY: "another process is writing to it",
    sqlite3.SQLITE_LOCKED: "another process is writing to it",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened or made",
    sqlite3.SQLITE_PERM: "permission denied",
}
_WRITE_HINTS = {
    sqlite3.SQLITE_FULL: "free some space and run it again; what was indexed before is intact",
    sqlite3.SQLITE_BUSY: "wait for it to end, or raise OPENBOOK_LOCK_TIMEOUT_S",
}


def damaged(path: Path) -> CorruptLibraryError:
    """Return the error for a damaged library."""
    return CorruptLibraryError(f"{str(path)!r} is damaged or not an index", rebuild=path.stem)


def closed(location: str) -> LibraryError:
    """Return the error for a library that this process has closed. Nothing is wrong with the library itself."""
    return LibraryError(f"the library {location!r} is closed", hint="use it before it is closed, or open it again")


@contextlib.contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Convert SQLite errors to `LibraryError`s."""
    try:
        yield
    except sqlite3.Error as exc:
        code = _code_of(exc)
        if code in _WRITE_CODES:
            hint = _WRITE_HINTS.get(code, "set OPENBOOK_HOME to a folder that you can write to")
            raise LibraryWriteError(f"cannot use the library {str(path)!r}: {_WRITE_CODES[code]}", hint=hint) from exc
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise damaged(path) from exc
        if isinstance(exc, sqlite3.ProgrammingError) and "closed" in str(exc):  # Python's own error has no code
            raise closed(str(path)) from exc
        raise LibraryError(f"the library {str(path)!r} failed: {exc}", rebuild=path.stem) from exc


def _code_of(exc: sqlite3.Error) -> int:
    # Errors raised by Python itself have no code: invalid UTF-8, or a closed connection.
    uncoded = sqlite3.SQLITE_MISUSE if isinstance(exc, sqlite3.ProgrammingError) else sqlite3.SQLITE_CORRUPT
    # The low byte of an extended code is the primary code.
    return int(getattr(exc, "sqlite_errorcode", uncoded)) & 0xFF


def open_database(path: Path, identity: IndexIdentity, *, lock_timeout_s: float) -> sqlite3.Connection:
    """Open the file at `path`, and create it if it is missing or empty.

    If the file is not writable, the connection is read-only.

    Raises:
        CorruptLibraryError: The file is damaged or not a library. It is left unchanged.
        MismatchedLibraryError: It was built by another version or embedder.
        LibraryWriteError: It does not exist and cannot be created.
    """
    try:
        if not path.parent.exists():
            make_private_folder(path.parent)
    except OSError as exc:
        raise LibraryWriteError(
            f"cannot make the folder {str(path.parent)!r}: {exc.strerror}",
            hint="set OPENBOOK_HOME to a folder that you can write to",
        ) from exc
    with contextlib.suppress(OSError):  # SQLite reports problems with the file better
        make_private_file(path)
        for beside in ("-wal", "-shm"):
            narrow(path.with_name(path.name + beside))
    with sqlite_errors(path):
        try:
            return _prepared(_connect(path, lock_timeout_s), path, identity, lock_timeout_s)
        except sqlite3.OperationalError as exc:
            # A read-only folder cannot hold a write-ahead log. If none exists, the file alone is complete.
            unwritable = _code_of(exc) in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
            if not unwritable or not path.is_file() or _has_log(path):
                raise
            uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
            return _prepared(_connect(uri, lock_timeout_s, uri=True), path, identity, lock_timeout_s)
        except UnicodeDecodeError as exc:  # from an error message of SQLite that quotes a damaged schema
            raise damaged(path) from exc


def _connect(target: Path | str, lock_timeout_s: float, *, uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(target, timeout=lock_timeout_s, isolation_level=None, check_same_thread=False, uri=uri)


def _prepared(
    connection: sqlite3.Connection, path: Path, identity: IndexIdentity, lock_timeout_s: float
) -> sqlite3.Connection:
    try:
        if _is_empty(connection):
            _use_log(connection, lock_timeout_s)
            _make_tables(connection, identity)
        _check(connection, path, identity)
        # A commit survives a killed process without an fsync; the log is synced at checkpoints.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA mmap_size = 268435456")
    except BaseException:
        connection.close()
        raise
    return connection


def _is_empty(connection: sqlite3.Connection) -> bool:
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    return bool(tables == owner == 0)


def _has_log(path: Path) -> bool:
    """Return whether the write-ahead log has commits that are not yet in the file."""
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def _is_cut_off(connection: sqlite3.Connection, path: Path) -> bool:
    """Return whether the last page is incomplete. SQLite detects missing pages, but reads a partial one as zeros."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    return not _has_log(path) and path.stat().st_size < pages * page_bytes


def _use_log(connection: sqlite3.Connection, lock_timeout_s: float) -> None:
    """Switch to write-ahead logging. SQLite's busy timeout does not apply here, so retry."""
    deadline = time.monotonic() + lock_timeout_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as exc:
            if _code_of(exc) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _make_tables(connection: sqlite3.Connection, identity: IndexIdentity) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _is_empty(connection):  # another process may have created them meanwhile
            for statement in _TABLES.split(";\n"):
                connection.execute(statement)
            connection.executemany("INSERT INTO meta VALUES (?, ?)", asdict(identity).items())
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise


def _check(connection: sqlite3.Connection, path: Path, identity: IndexIdentity) -> None:
    if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
        raise CorruptLibraryError(
            f"{str(path)!r} is a database, but not an Openbook library", hint="name another library or move it away"
        )
    if _is_cut_off(connection, path):
        raise CorruptLibraryError(f"{str(path)!r} is damaged: it is truncated", rebuild=path.stem)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != SCHEMA_VERSION:
        raise MismatchedLibraryError(
            f"the library {str(path)!r} has format {version}, and this version of Openbook reads {SCHEMA_VERSION}",
            rebuild=path.stem,
        )
    check_identity(path, asdict(identity), dict(connection.execute("SELECT key, value FROM meta")), path.stem)


def check_identity(place: Path | str, wanted: Mapping[str, str], stored: Mapping[str, str], library: str) -> None:
    """Compare what a library was built by with what would use it.

    Raises:
        MismatchedLibraryError: They differ.
    """
    for name, value in wanted.items():
        if stored.get(name) != value:
            raise MismatchedLibraryError(
                f"the library {str(place)!r} was made with {name} {stored.get(name)!r}, not {value!r}",
                rebuild=library,
                chunks=stored.get(name, "") if name == "chunks" else "",  # compared last
            )


def other_vectors(place: Path | str, held: int, given: int, library: str) -> MismatchedLibraryError:
    """Return the error for vectors of another size: a server may change its model under the same name."""
    said = f"the library {str(place)!r} has vectors of {held} numbers, and its embedder now gives {given}"
    return MismatchedLibraryError(said, rebuild=library)


def is_library(path: Path) -> bool:
    """Return whether a file looks like a library, damaged or not. An empty file does; a damaged header does not."""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            if connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,):  # reads the log as well
                return True
    except sqlite3.Error:
        pass
    with path.open("rb") as file:
        start = file.read(_ID_AT + 4)
    return not start or start[_ID_AT:] == APPLICATION_ID.to_bytes(4, "big")


def stored_sources(path: Path) -> list[Source]:
    """Return the sources of a library, by name, even if it cannot be opened; [] if they cannot be read."""
    if not path.exists():
        return []
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            # Older formats have fewer columns, and newer ones may have more.
            known = {field.name for field in fields(Source)}
            return [
                Source(**{name: row[name] for name in row.keys() if name in known})  # noqa: SIM118
                for row in connection.execute("SELECT * FROM roots ORDER BY name")
            ]
    except (sqlite3.Error, TypeError):
        return []
