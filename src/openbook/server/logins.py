"""Logins: a random token in the cookie of a browser. The server stores its hash and its expiry."""

from __future__ import annotations

import secrets
from typing import Protocol

from openbook.server.keys import KeyStore, hash_of, new_token

_SECRET_BYTES = 32


class Logins(Protocol):
    """Tokens and their subjects. Thread-safe.

    A subject is an opaque string of the caller. Every method raises an `OpenbookError` if the store cannot be read or
    written.
    """

    def add(self, subject: str, lasts_s: float) -> str:
        """Return a new token for a subject, valid for `lasts_s` seconds."""

    def find(self, token: str) -> str:
        """Return the subject of a token; empty if it was never issued, has expired or was revoked."""

    def renew(self, token: str, lasts_s: float) -> None:
        """Extend a token to `lasts_s` seconds from now. Unknown and expired ones are not changed."""

    def remove(self, token: str) -> None:
        """Revoke a token."""

    def secret(self) -> bytes:
        """Return 32 random bytes, the same for all servers that share these logins.

        They sign the cookies of browsers without a key.
        """


class SqliteLogins:
    """Logins of one home, stored with its keys."""

    def __init__(self, keys: KeyStore) -> None:
        self._tables = keys.tables
        self._now = keys.now

    def add(self, subject: str, lasts_s: float) -> str:
        token, now = new_token(), self._now()
        with self._tables.transaction() as execute:
            execute("DELETE FROM logins WHERE expires_at <= ?", (now,))
            execute("INSERT INTO logins VALUES (?, ?, ?)", (hash_of(token), subject, now + lasts_s))
        return token

    def find(self, token: str) -> str:
        rows = self._tables.read(
            "SELECT subject FROM logins WHERE hash = ? AND expires_at > ?", (hash_of(token), self._now())
        )
        return str(rows[0][0]) if rows else ""

    def renew(self, token: str, lasts_s: float) -> None:
        now = self._now()
        with self._tables.transaction() as execute:
            execute(
                "UPDATE logins SET expires_at = ? WHERE hash = ? AND expires_at > ?",
                (now + lasts_s, hash_of(token), now),
            )

    def remove(self, token: str) -> None:
        with self._tables.transaction() as execute:
            execute("DELETE FROM logins WHERE hash = ?", (hash_of(token),))

    def secret(self) -> bytes:
        new = secrets.token_bytes(_SECRET_BYTES)
        if not self._tables.is_writable:  # until the server ends, if none was stored before
            rows = self._tables.read("SELECT value FROM secrets WHERE name = 'browsers'")
            return bytes(rows[0][0]) if rows else new
        with self._tables.transaction() as execute:
            execute("INSERT OR IGNORE INTO secrets VALUES ('browsers', ?)", (new,))
            found: bytes = execute("SELECT value FROM secrets WHERE name = 'browsers'").fetchone()[0]
        return found
