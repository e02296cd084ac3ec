"""Keys of the server: made once, kept as hashes, each with what it has spent today."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import re
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openbook.errors import SettingsError

# Finds a key in a log or a repository by its look.
_PREFIX = "obk_"

# 256 bits need no slow hash: nobody finds them by trying.
_KEY_BYTES = 32

_NAME = re.compile(r"\w[\w .@+-]{0,99}")

_TABLES = """
CREATE TABLE IF NOT EXISTS keys (
    id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, hash BLOB NOT NULL, created_at REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spending (
    key_id TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE, day TEXT NOT NULL, usd REAL NOT NULL,
    PRIMARY KEY (key_id, day)) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Key:
    """A key, without what it opens."""

    id: str
    name: str
    created_at: float
    """Unix seconds."""


class Keys:
    """The keys of all servers that share a home. Threads and processes may share it."""

    def __init__(self, home: Path, *, now: Callable[[], float] = time.time) -> None:
        """Open the keys of a home.

        Raises:
            SettingsError: They cannot be read or made.
        """
        self._path = home / "keys.sqlite"
        self._now = now
        self._lock = threading.Lock()
        with self._translated():
            home.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
            try:
                self._path.chmod(0o600)
                for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
                    self._connection.execute(f"PRAGMA {pragma}")
                self._connection.executescript(_TABLES)
            except BaseException:
                self._connection.close()
                raise

    def add(self, name: str) -> str:
        """Make a key, and give it: this is the only time.

        Raises:
            SettingsError: There is a key of that name, or it is no name.
        """
        if not _NAME.fullmatch(name):
            raise SettingsError(f"{name!r} is no name for a key", hint="use up to 100 letters, digits and _ . @ + -")
        key = _PREFIX + secrets.token_urlsafe(_KEY_BYTES)
        with self._translated():
            try:
                self._execute(
                    "INSERT INTO keys VALUES (?, ?, ?, ?)", (secrets.token_hex(8), name, _hash(key), self._now())
                )
            except sqlite3.IntegrityError as exc:
                raise SettingsError(
                    f"there is a key {name!r}", hint=f"take another name, or: openbook keys remove {name}"
                ) from exc
        return key

    def remove(self, name: str) -> bool:
        """Make a key worthless. False if there is none of that name."""
        with self._translated(), self._lock:
            return self._connection.execute("DELETE FROM keys WHERE name = ?", (name,)).rowcount > 0

    def all(self) -> list[Key]:
        """List the keys by name."""
        with self._translated():
            return [Key(*row) for row in self._execute("SELECT id, name, created_at FROM keys ORDER BY name")]

    def find(self, key: str) -> Key | None:
        """Give what is known of a key; None if it is none of ours."""
        wanted, found = _hash(key), None
        with self._translated():
            for id_, name, hash_, created_at in self._execute("SELECT id, name, hash, created_at FROM keys"):
                if hmac.compare_digest(hash_, wanted):  # all are compared, so that time tells nothing
                    found = Key(id_, name, created_at)
        return found

    def spent_today(self, key_id: str) -> float:
        """Give what a key has spent since midnight UTC, in US dollars."""
        sql = "SELECT usd FROM spending WHERE key_id = ? AND day = ?"
        with self._translated():
            rows = self._execute(sql, (key_id, self._today))
        return float(rows[0][0]) if rows else 0.0

    def charge(self, key_id: str, usd: float) -> None:
        """Count what a key has spent. One that was removed meanwhile is nobody's."""
        with self._translated():
            self._execute(
                "INSERT INTO spending SELECT id, ?, ? FROM keys WHERE id = ?"
                " ON CONFLICT (key_id, day) DO UPDATE SET usd = usd + excluded.usd",
                (self._today, usd, key_id),
            )

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()

    @property
    def _today(self) -> str:
        return time.strftime("%Y-%m-%d", time.gmtime(self._now()))

    def _execute(self, sql: str, values: tuple[object, ...] = ()) -> list[Any]:
        with self._lock:
            return self._connection.execute(sql, values).fetchall()

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as exc:
            raise SettingsError(
                f"the keys in {str(self._path)!r} cannot be used: {exc}",
                hint="set OPENBOOK_HOME to a folder that you can write to",
            ) from exc


def _hash(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
