"""The tables of `keys.sqlite`: keys, classes and their students, logins, use, and the audit log."""

from __future__ import annotations

from pathlib import Path

from openbook.errors import SettingsError
from openbook.sqlite_store import SqliteStore

# What a key may do stands beside `keys` and `spending`, so that files of older versions need no change: a key without
# a row in `grants` was made before there were roles.
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
CREATE TABLE IF NOT EXISTS secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS audit (
    at REAL NOT NULL, who TEXT NOT NULL, did TEXT NOT NULL, what TEXT NOT NULL, address TEXT NOT NULL);
CREATE TRIGGER IF NOT EXISTS audit_is_not_changed BEFORE UPDATE ON audit
    BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;
CREATE TRIGGER IF NOT EXISTS audit_is_not_deleted BEFORE DELETE ON audit
    BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;
"""


def open_people(home: Path) -> SqliteStore:
    """Open the tables of a home; only its owner can read the file.

    Raises:
        SettingsError: They cannot be read or made, now or later.
    """
    path = home / "keys.sqlite"
    return SqliteStore(
        path,
        _TABLES,
        lambda exc: SettingsError(
            f"the keys in {str(path)!r} cannot be used: {exc}",
            hint="set OPENBOOK_HOME to a folder that you can write to",
        ),
    )
