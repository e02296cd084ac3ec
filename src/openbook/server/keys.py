"""API keys of the server: stored as hashes, each with its spending of the day."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from openbook.errors import SettingsError
from openbook.sqlite_store import SqliteStore

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


class KeyStore:
    """API keys, shared by the servers of one home. Safe for threads and processes."""

    def __init__(self, home: Path, *, now: Callable[[], float] = time.time) -> None:
        """Open the keys of a home.

        Raises:
            SettingsError: They cannot be read or made.
        """
        path = home / "keys.sqlite"
        self._now = now
        self._tables = SqliteStore(
            path,
            _TABLES,
            lambda exc: SettingsError(
                f"the keys in {str(path)!r} cannot be used: {exc}",
                hint="set OPENBOOK_HOME to a folder that you can write to",
            ),
        )

    def add(self, name: str) -> str:
        """Create a key and return it, once.

        Raises:
            SettingsError: There is a key of that name, or it is no name.
        """
        if not _NAME.fullmatch(name):
            raise SettingsError(f"{name!r} is no name for a key", hint="use up to 100 letters, digits and _ . @ + -")
        key = _PREFIX + secrets.token_urlsafe(_KEY_BYTES)
        sql = "INSERT INTO keys VALUES (?, ?, ?, ?) ON CONFLICT (name) DO NOTHING"
        with self._tables.transaction() as execute:
            is_new = execute(sql, (secrets.token_hex(8), name, _hash(key), self._now())).rowcount > 0
        if not is_new:
            raise SettingsError(f"there is a key {name!r}", hint=f"take another name, or: openbook keys remove {name}")
        return key

    def remove(self, name: str) -> bool:
        """Revoke a key. False if there is none of that name."""
        with self._tables.transaction() as execute:
            return execute("DELETE FROM keys WHERE name = ?", (name,)).rowcount > 0

    def all(self) -> list[Key]:
        """List the keys by name."""
        return [Key(*row) for row in self._tables.read("SELECT id, name, created_at FROM keys ORDER BY name")]

    def find(self, key: str) -> Key | None:
        """Return what is known of a key; None if it is none of ours."""
        wanted, found = _hash(key), None
        for id_, name, hash_, created_at in self._tables.read("SELECT id, name, hash, created_at FROM keys"):
            if hmac.compare_digest(hash_, wanted):  # all are compared, so that time tells nothing
                found = Key(id_, name, created_at)
        return found

    def spent_today(self, key_id: str) -> float:
        """Return what a key has spent since midnight UTC, in US dollars."""
        rows = self._tables.read("SELECT usd FROM spending WHERE key_id = ? AND day = ?", (key_id, self._today))
        return float(rows[0][0]) if rows else 0.0

    def charge(self, key_id: str, usd: float) -> None:
        """Count what a key has spent. One that was removed meanwhile is nobody's."""
        with self._tables.transaction() as execute:
            execute(
                "INSERT INTO spending SELECT id, ?, ? FROM keys WHERE id = ?"
                " ON CONFLICT (key_id, day) DO UPDATE SET usd = usd + excluded.usd",
                (self._today, usd, key_id),
            )

    def close(self) -> None:
        """Release the file."""
        self._tables.close()

    @property
    def _today(self) -> str:
        return time.strftime("%Y-%m-%d", time.gmtime(self._now()))


def _hash(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
