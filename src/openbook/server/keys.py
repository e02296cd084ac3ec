"""API keys: stored as hashes, with role, limits and usage. The file contains all tables about people."""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from openbook.errors import SettingsError
from openbook.sqlite_store import SqliteStore, hint_for

_TABLES = """
CREATE TABLE IF NOT EXISTS keys (
    id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, hash BLOB NOT NULL, created_at REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS keys_by_hash ON keys (hash);
CREATE TABLE IF NOT EXISTS spending (
    key_id TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE, day TEXT NOT NULL, usd REAL NOT NULL,
    PRIMARY KEY (key_id, day)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS grants (
    key_id TEXT PRIMARY KEY REFERENCES keys (id) ON DELETE CASCADE, role TEXT NOT NULL, expires_at REAL,
    questions_per_day INTEGER, usd_per_day REAL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS last_uses (
    key_id TEXT PRIMARY KEY REFERENCES keys (id) ON DELETE CASCADE, at REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS questions (
    key_id TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE, day TEXT NOT NULL, count INTEGER NOT NULL,
    PRIMARY KEY (key_id, day)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS classes (
    id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, hash BLOB NOT NULL UNIQUE, created_at REAL NOT NULL,
    seats INTEGER NOT NULL, expires_at REAL, questions_per_day INTEGER, usd_per_day REAL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS students (
    key_id TEXT PRIMARY KEY REFERENCES keys (id) ON DELETE CASCADE,
    class_id TEXT NOT NULL REFERENCES classes (id), salt BLOB NOT NULL, pin BLOB NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0, locked_until REAL NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS logins (
    hash BLOB PRIMARY KEY, subject TEXT NOT NULL, expires_at REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS departed (key_id TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS people_depart AFTER DELETE ON keys WHEN OLD.id LIKE 'oidc%'
    BEGIN INSERT OR REPLACE INTO departed VALUES (OLD.id, (julianday('now') - 2440587.5) * 86400.0); END;
CREATE TABLE IF NOT EXISTS removed (key_id TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS keys_are_removed AFTER DELETE ON keys
    BEGIN INSERT OR REPLACE INTO removed VALUES (OLD.id, (julianday('now') - 2440587.5) * 86400.0); END;
CREATE TABLE IF NOT EXISTS secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS audit (
    at REAL NOT NULL, who TEXT NOT NULL, did TEXT NOT NULL, what TEXT NOT NULL, address TEXT NOT NULL);
CREATE TRIGGER IF NOT EXISTS audit_is_not_changed BEFORE UPDATE ON audit
    BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;
CREATE TRIGGER IF NOT EXISTS audit_is_not_deleted BEFORE DELETE ON audit
    BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;
"""


def open_people(home: Path) -> SqliteStore:
    """Open the tables of a home; only its owner can read the file."""
    path = home / "keys.sqlite"
    return SqliteStore(
        path,
        _TABLES,
        lambda exc: SettingsError(f"the keys in {str(path)!r} cannot be used: {exc}", hint=hint_for(exc)),
    )


Role = Literal["reader", "editor", "owner"]
"""The permissions of a key. Each role includes the previous ones."""

ROLES: tuple[Role, ...] = get_args(Role)

# A prefix by which secret scanners find keys in logs and repositories.
_PREFIX = "obk_"

_NAME = re.compile(r"\w[\w .@+-]{0,99}")

# Limits the writes to one a minute, instead of one per request.
_USED_EVERY_S = 60.0

_KEY = (
    "SELECT keys.id, keys.name, keys.created_at, role, grants.expires_at,"
    " questions_per_day, usd_per_day, last_uses.at, coalesce(students.class_id, ''), keys.hash FROM keys"
    " JOIN grants ON grants.key_id = keys.id LEFT JOIN last_uses ON last_uses.key_id = keys.id"
    " LEFT JOIN students ON students.key_id = keys.id"
)


@dataclass(frozen=True, slots=True)
class Grant:
    """Role and limits of a key."""

    role: Role = "reader"
    expires_at: float | None = None
    """Unix seconds; None: never."""
    questions_per_day: int | None = None
    """None: only the limit per minute applies."""
    usd_per_day: float | None = None
    """None: the default of the settings."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key without its secret."""

    id: str
    name: str
    created_at: float
    """Unix seconds."""
    grant: Grant = field(default_factory=Grant)
    last_used_at: float | None = None
    """Unix seconds, to the minute; None: never."""
    class_id: str = ""
    """The class of a student."""
    stamp: str = ""
    """Changes when the key is replaced, without revealing it. A login is valid for one stamp."""


@dataclass(frozen=True, slots=True)
class Use:
    """Usage of a key since midnight UTC, and in total."""

    questions_today: int = 0
    usd_today: float = 0.0
    questions: int = 0
    usd: float = 0.0


class KeyStore:
    """Keys, shared by the servers of one home. Safe for threads and processes."""

    def __init__(self, home: Path, *, now: Callable[[], float] = time.time) -> None:
        self.now = now
        self.tables = open_people(home)

    def add(self, name: str, grant: Grant = Grant()) -> str:
        """Create a key and return it, once."""
        check_name(name, "a key")
        key = _PREFIX + new_token()
        with self.tables.transaction() as execute:
            check_unused(execute, name)
            add_key(execute, name, hash_of(key), self.now(), grant)
        return key

    def change(self, name: str, grant: Grant) -> bool:
        """Change role and limits of a key. False if there is no key of that name."""
        with self.tables.transaction() as execute:
            row = execute("SELECT id FROM keys WHERE name = ?", (name,)).fetchone()
            if row is not None:
                _keep_grant(execute, row[0], grant)
        return row is not None

    def rotate(self, name: str) -> str:
        """Replace a key and return the new one, once; the old one and its logins end. Empty if there is no such key.

        Conversations, limits and use stay. Students have a PIN instead of a key.
        """
        key = _PREFIX + new_token()
        with self.tables.transaction() as execute:
            sql = "UPDATE keys SET hash = ? WHERE name = ? AND id NOT IN (SELECT key_id FROM students)"
            is_there = execute(sql, (hash_of(key), name)).rowcount > 0
        return key if is_there else ""

    def remove(self, name: str) -> bool:
        """Revoke a key. False if there is no key of that name."""
        with self.tables.transaction() as execute:
            return execute("DELETE FROM keys WHERE name = ?", (name,)).rowcount > 0

    def removed(self) -> list[str]:
        """Return the ids of removed keys whose conversations and ratings may not be deleted yet.

        Not those of people who have logged in at a provider again since.
        """
        rows = self.tables.read("SELECT key_id FROM removed WHERE key_id NOT IN (SELECT id FROM keys) ORDER BY key_id")
        return [key_id for (key_id,) in rows]

    def forget_removed(self, before: float) -> None:
        """Forget the ids of keys that were removed before a time."""
        with self.tables.transaction() as execute:
            execute("DELETE FROM removed WHERE at < ?", (before,))

    def all(self) -> list[Key]:
        return [_key(row) for row in self.tables.read(f"{_KEY} ORDER BY keys.name")]

    def find(self, key: str) -> Key | None:
        """Look up a key by its secret; None if it is unknown or has expired."""
        # Looking up a hash leaks nothing through timing: a nearly correct key has an entirely different hash.
        return self._valid("keys.hash = ?", hash_of(key))

    def get(self, key_id: str) -> Key | None:
        """Look up a key by its id; None if it was revoked or has expired."""
        return self._valid("keys.id = ?", key_id)

    def named(self, name: str) -> Key | None:
        """Look up a key by its name, expired or not; None if there is none."""
        rows = self.tables.read(f"{_KEY} WHERE keys.name = ?", (name,))
        return _key(rows[0]) if rows else None

    def used(self, key: Key) -> None:
        """Record the use of a key, at most once a minute."""
        now = self.now()
        if key.last_used_at is None or not 0 <= now - key.last_used_at < _USED_EVERY_S:
            with self.tables.transaction() as execute:
                execute(
                    "INSERT INTO last_uses SELECT id, ? FROM keys WHERE id = ?"
                    " ON CONFLICT (key_id) DO UPDATE SET at = excluded.at",
                    (now, key.id),
                )

    def spent_today(self, key_id: str) -> float:
        """Return the spending of a key since midnight UTC, in US dollars."""
        rows = self.tables.read("SELECT usd FROM spending WHERE key_id = ? AND day = ?", (key_id, self.today))
        return float(rows[0][0]) if rows else 0.0

    def charge(self, key_id: str, usd: float) -> None:
        """Add to the spending of a key. A key that was removed meanwhile is ignored."""
        with self.tables.transaction() as execute:
            execute(
                "INSERT INTO spending SELECT id, ?, ? FROM keys WHERE id = ?"
                " ON CONFLICT (key_id, day) DO UPDATE SET usd = usd + excluded.usd",
                (self.today, usd, key_id),
            )

    def count_question(self, key_id: str, most: int | None = None) -> bool:
        """Count a question of today. Return False, without counting, if there were `most` already."""
        with self.tables.transaction() as execute:
            if most is not None and most < 1:
                return False
            counted = execute(
                "INSERT INTO questions SELECT id, ?, 1 FROM keys WHERE id = ?"
                " ON CONFLICT (key_id, day) DO UPDATE SET count = count + 1 WHERE ? IS NULL OR count < ?",
                (self.today, key_id, most, most),
            )
            return counted.rowcount > 0

    def asked_today(self, key_id: str) -> int:
        """Return how many questions of today were counted."""
        rows = self.tables.read("SELECT count FROM questions WHERE key_id = ? AND day = ?", (key_id, self.today))
        return int(rows[0][0]) if rows else 0

    def uses(self) -> dict[str, Use]:
        """Return the usage of each key by id. Unused keys are left out."""
        rows = self.tables.read(
            "SELECT key_id, sum(count), sum(usd), sum(count * (day = ?)), sum(usd * (day = ?)) FROM ("
            "SELECT key_id, day, count, 0.0 AS usd FROM questions UNION ALL SELECT key_id, day, 0, usd FROM spending"
            ") GROUP BY key_id",
            (self.today, self.today),
        )
        return {key_id: Use(today, usd_today, count, usd) for key_id, count, usd, today, usd_today in rows}

    def close(self) -> None:
        self.tables.close()

    def _valid(self, where: str, value: object) -> Key | None:
        rows = self.tables.read(f"{_KEY} WHERE {where} AND coalesce(grants.expires_at > ?, 1)", (value, self.now()))
        return _key(rows[0]) if rows else None

    @property
    def today(self) -> str:
        """The current day in UTC, such as `2026-11-27`."""
        return time.strftime("%Y-%m-%d", time.gmtime(self.now()))


def check_name(name: str, what: str) -> None:
    """Check the name of a key, a class or a student."""
    if not _NAME.fullmatch(name):
        raise SettingsError(f"{name!r} is no name for {what}", hint="use up to 100 letters, digits and _ . @ + -")


def check_unused(execute: Callable[..., Any], name: str) -> None:
    """Check that no key or class has a name, because commands and the log identify both by name alone."""
    for table, what in (("keys", "key"), ("classes", "class")):
        if execute(f"SELECT 1 FROM {table} WHERE name = ?", (name,)).fetchone():
            raise SettingsError(
                f"there is a {what} {name!r}", hint=f"take another name, or: openbook keys remove {name}"
            )


def add_key(execute: Callable[..., Any], name: str, hash_: bytes, now: float, grant: Grant) -> str:
    """Add a key in a transaction, and return its id."""
    key_id = secrets.token_hex(8)
    execute("INSERT INTO keys VALUES (?, ?, ?, ?)", (key_id, name, hash_, now))
    _keep_grant(execute, key_id, grant)
    return key_id


def new_token() -> str:
    """Return a random token of 256 bits, which cannot be guessed, so its hash need not be slow."""
    return secrets.token_urlsafe(32)


def hash_of(key: str) -> bytes:
    """Return the hash under which a random secret is stored."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()


def _keep_grant(execute: Callable[..., Any], key_id: str, grant: Grant) -> None:
    values = (key_id, grant.role, grant.expires_at, grant.questions_per_day, grant.usd_per_day)
    execute("INSERT OR REPLACE INTO grants VALUES (?, ?, ?, ?, ?)", values)


def _key(row: tuple[Any, ...]) -> Key:
    id_, name, created_at, role, expires_at, questions, usd, used_at, class_id, hash_ = row
    stamp = hashlib.sha256(hash_).hexdigest()[:16]
    return Key(id_, name, created_at, Grant(role, expires_at, questions, usd), used_at, class_id, stamp)
