"""Classes: a code from which each student gets an identity of their own, with a name and a PIN."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass

from openbook.server.keys import Grant, KeyStore, check_name, check_unused, hash_of

_PREFIX = "obc_"

_CODE_BYTES = 32

# About 50 ms and 16 MB: whoever gets the file tries a million PINs in half a day for each student.
_SCRYPT = {"n": 2**14, "r": 8, "p": 1}

_SALT_BYTES = 16

_PIN_DIGITS = 8


@dataclass(frozen=True, slots=True)
class ClassKey:
    """A class, without the code that lets students join."""

    id: str
    name: str
    created_at: float
    """Unix seconds."""
    seats: int
    """Most students."""
    grant: Grant
    """Of each student."""


class ClassStore:
    """Classes of one home, beside its keys. Safe for threads and processes."""

    def __init__(self, keys: KeyStore) -> None:
        """Take the keys, whose file has the classes too."""
        self._tables = keys.tables
        self._now = keys.now

    def add(self, name: str, seats: int, grant: Grant) -> str:
        """Create a class, and return its code once. Students are readers, whatever the role of the grant.

        Raises:
            SettingsError: There is a key or class of that name, or it is no name.
        """
        check_name(name, "a class")
        code = _PREFIX + secrets.token_urlsafe(_CODE_BYTES)
        with self._tables.transaction() as execute:
            check_unused(execute, name)
            values = (seats, grant.expires_at, grant.questions_per_day, grant.usd_per_day)
            row = (secrets.token_hex(8), name, hash_of(code), self._now(), *values)
            execute("INSERT INTO classes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        return code

    def change(self, name: str, grant: Grant) -> bool:
        """Change end and limits of a class and of all its students. False if there is none of that name."""
        limits = (grant.expires_at, grant.questions_per_day, grant.usd_per_day)
        columns = "expires_at = ?, questions_per_day = ?, usd_per_day = ?"
        with self._tables.transaction() as execute:
            row = execute("SELECT id FROM classes WHERE name = ?", (name,)).fetchone()
            if row is not None:
                execute(f"UPDATE classes SET {columns} WHERE id = ?", (*limits, *row))
                where = "key_id IN (SELECT key_id FROM students WHERE class_id = ?)"
                execute(f"UPDATE grants SET {columns} WHERE {where}", (*limits, *row))
        return row is not None

    def rotate(self, name: str) -> str:
        """Replace the code of a class, and return the new one once. Students stay. Empty if there is no such class."""
        code = _PREFIX + secrets.token_urlsafe(_CODE_BYTES)
        with self._tables.transaction() as execute:
            sql = "UPDATE classes SET hash = ? WHERE name = ?"
            return code if execute(sql, (hash_of(code), name)).rowcount else ""

    def remove(self, name: str) -> bool:
        """Revoke a class with all its students. False if there is none of that name."""
        with self._tables.transaction() as execute:
            row = execute("SELECT id FROM classes WHERE name = ?", (name,)).fetchone()
            if row is not None:
                execute("DELETE FROM keys WHERE id IN (SELECT key_id FROM students WHERE class_id = ?)", row)
                execute("DELETE FROM classes WHERE id = ?", row)
        return row is not None

    def all(self) -> list[ClassKey]:
        """List the classes by name."""
        return self._read("ORDER BY name")

    def named(self, name: str) -> ClassKey | None:
        """Return the class of a name, expired or not; None if there is none."""
        found = self._read("WHERE name = ?", name)
        return found[0] if found else None

    def find(self, code: str) -> ClassKey | None:
        """Return the class of a code; None if it is none of ours, or has expired."""
        found = self._read("WHERE hash = ? AND coalesce(expires_at > ?, 1)", hash_of(code), self._now())
        return found[0] if found else None

    def new_pin(self, name: str) -> str:
        """Replace the PIN of a student, `class/student`, and return it once; their logins end.

        Empty if there is no such student.
        """
        pin = "".join(secrets.choice("0123456789") for _ in range(_PIN_DIGITS))
        salt, hashed = hashed_pin(pin)
        with self._tables.transaction() as execute:
            where = "WHERE key_id = (SELECT id FROM keys WHERE name = ?)"
            sql = f"UPDATE students SET salt = ?, pin = ?, attempts = 0, locked_until = 0 {where}"
            if execute(sql, (salt, hashed, name)).rowcount:
                execute("UPDATE keys SET hash = ? WHERE name = ?", (no_key(), name))
                return pin
        return ""

    def _read(self, where: str, *values: object) -> list[ClassKey]:
        columns = "id, name, created_at, seats, expires_at, questions_per_day, usd_per_day"
        rows = self._tables.read(f"SELECT {columns} FROM classes {where}", values)
        return [
            ClassKey(id_, name, created_at, seats, Grant("reader", *limits))
            for id_, name, created_at, seats, *limits in rows
        ]


def hashed_pin(pin: str, salt: bytes = b"") -> tuple[bytes, bytes]:
    """Return a salt, made anew unless given, and the slow hash of a PIN with it."""
    salt = salt or secrets.token_bytes(_SALT_BYTES)
    return salt, hashlib.scrypt(pin.encode("utf-8", "surrogateescape"), salt=salt, **_SCRYPT)


def no_key() -> bytes:
    """Return what stands in place of a key's hash where a PIN is used: no key has it."""
    return secrets.token_bytes(32)
