"""Classes: students join with the code of their class, and log in again with their own PIN."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import re
import secrets
import unicodedata
from dataclasses import dataclass
from typing import Any

from openbook.server.failures import RequestRefusedError
from openbook.server.keys import Grant, Key, KeyStore, add_key, check_name, check_unused, hash_of, new_token
from openbook.text import counted

_PREFIX = "obc_"

# About 50 ms and 16 MB per hash: with a stolen file, trying a million PINs takes half a day for each student.
_SCRYPT = {"n": 2**14, "r": 8, "p": 1}

_SALT_BYTES = 16

_PIN_DIGITS = 8


@dataclass(frozen=True, slots=True)
class ClassKey:
    """A class, without the code for joining it."""

    id: str
    name: str
    created_at: float
    """Unix seconds."""
    seats: int
    """Maximum number of students."""
    grant: Grant
    """Grant of each student."""


class ClassStore:
    """Classes of one home, beside its keys. Safe for threads and processes."""

    def __init__(self, keys: KeyStore) -> None:
        self._tables = keys.tables
        self._now = keys.now

    def add(self, name: str, seats: int, grant: Grant) -> str:
        """Create a class, and return its code once. Students are readers, whatever the role of the grant."""
        check_name(name, "a class")
        code = _PREFIX + new_token()
        with self._tables.transaction() as execute:
            check_unused(execute, name)
            values = (seats, grant.expires_at, grant.questions_per_day, grant.usd_per_day)
            row = (secrets.token_hex(8), name, hash_of(code), self._now(), *values)
            execute("INSERT INTO classes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        return code

    def change(self, name: str, grant: Grant) -> bool:
        """Change the end and the limits of a class and of all its students. False if there is no class of that name."""
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
        code = _PREFIX + new_token()
        with self._tables.transaction() as execute:
            sql = "UPDATE classes SET hash = ? WHERE name = ?"
            return code if execute(sql, (hash_of(code), name)).rowcount else ""

    def remove(self, name: str) -> bool:
        """Revoke a class and all its students. False if there is no class of that name."""
        with self._tables.transaction() as execute:
            row = execute("SELECT id FROM classes WHERE name = ?", (name,)).fetchone()
            if row is not None:
                execute("DELETE FROM keys WHERE id IN (SELECT key_id FROM students WHERE class_id = ?)", row)
                execute("DELETE FROM classes WHERE id = ?", row)
        return row is not None

    def all(self) -> list[ClassKey]:
        return self._read("ORDER BY name")

    def named(self, name: str) -> ClassKey | None:
        """Return a class by its name, expired or not; None if there is none."""
        found = self._read("WHERE name = ?", name)
        return found[0] if found else None

    def find(self, code: str) -> ClassKey | None:
        """Return a class by its code; None if the code is unknown or has expired."""
        found = self._read("WHERE hash = ? AND coalesce(expires_at > ?, 1)", hash_of(code), self._now())
        return found[0] if found else None

    def new_pin(self, name: str) -> str:
        """Replace the PIN of a student, named `class/student`, and return it once; their logins end.

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
    """Hash a PIN with a slow hash, and return the salt, random unless given, and the hash."""
    salt = salt or secrets.token_bytes(_SALT_BYTES)
    return salt, hashlib.scrypt(pin.encode("utf-8", "surrogateescape"), salt=salt, **_SCRYPT)


def no_key() -> bytes:
    """Return a placeholder for the key hash of a student, who has a PIN. It is the hash of no key."""
    return secrets.token_bytes(32)


_NAME = re.compile(r"\w[\w .'’-]{0,59}")

_PIN_CHARS = 6

# Five attempts in 15 minutes: guessing six random digits takes years, and requires the code of the class.
_ATTEMPTS = 5
_LOCKED_S = 15 * 60.0


class StudentStore:
    """Students of one home, beside its keys. Safe for threads and processes."""

    def __init__(self, keys: KeyStore, classes: ClassStore) -> None:
        self._keys = keys
        self._classes = classes

    def join(self, code: str, name: str, pin: str) -> Key:
        found, name = self._class(code), _clean(name)
        _check_pin(pin)
        salt, hashed = hashed_pin(pin)
        with self._keys.tables.transaction() as execute:
            if _student(execute, found, name):
                raise RequestRefusedError(
                    409, f"there is a student {name!r} already", hint="if it is you, log in; or take another name"
                )
            (count,) = execute("SELECT count(*) FROM students WHERE class_id = ?", (found.id,)).fetchone()
            if count >= found.seats:
                raise RequestRefusedError(
                    409, f"this class has {found.seats} students, and no more", hint="ask whoever gave you the link"
                )
            key_id = add_key(execute, f"{found.name}/{name}", no_key(), self._keys.now(), found.grant)
            execute("INSERT INTO students VALUES (?, ?, ?, ?, 0, 0)", (key_id, found.id, salt, hashed))
        return self._key(key_id)

    def log_in(self, code: str, name: str, pin: str) -> Key:
        found, name = self._class(code), _clean(name)
        with self._keys.tables.transaction() as execute:
            # Counted before comparing: otherwise concurrent attempts would all precede the first failure.
            key_id, salt, hashed = self._attempt(execute, found, name)
        if not hmac.compare_digest(hashed_pin(pin, salt)[1], hashed):
            raise _wrong()
        with self._keys.tables.transaction() as execute:
            execute("UPDATE students SET attempts = 0, locked_until = 0 WHERE key_id = ?", (key_id,))
        return self._key(key_id)

    def known(self, code: str, name: str) -> str:
        """Return a student's name for the log. An unknown one, which may be a mistyped PIN, is left out."""
        found = self._classes.find(code)
        if found is None:
            return "a student"
        with self._keys.tables.transaction() as execute:
            is_known = bool(_student(execute, found, " ".join(name.split())))
        return f"{found.name}/{' '.join(name.split())}" if is_known else f"a student of {found.name}"

    def _attempt(self, execute: Any, found: ClassKey, name: str) -> tuple[str, bytes, bytes]:
        key_id = _student(execute, found, name)
        if not key_id:
            raise _wrong()
        sql = "SELECT salt, pin, attempts, locked_until FROM students WHERE key_id = ?"
        salt, hashed, attempts, locked_until = execute(sql, (key_id,)).fetchone()
        now = self._keys.now()
        if locked_until > now:
            wait_s = locked_until - now
            raise RequestRefusedError(
                429,
                f"the PIN was wrong {_ATTEMPTS} times",
                hint=f"try again in {counted(max(1, round(wait_s / 60)), 'minute')}, or ask for a new PIN",
                retry_after_s=wait_s,
            )
        attempts = 1 if locked_until else attempts + 1
        locked_until = now + _LOCKED_S if attempts >= _ATTEMPTS else 0
        sql = "UPDATE students SET attempts = ?, locked_until = ? WHERE key_id = ?"
        execute(sql, (attempts, locked_until, key_id))
        return key_id, salt, hashed

    def _class(self, code: str) -> ClassKey:
        found = self._classes.find(code)
        if found is None:
            raise RequestRefusedError(
                401, "this link is unknown, was revoked, or has expired", hint="ask whoever gave it to you"
            )
        return found

    def _key(self, key_id: str) -> Key:
        key = self._keys.get(key_id)
        if key is None:  # just revoked
            raise _wrong()
        return key


def _student(execute: Any, found: ClassKey, name: str) -> str:
    """Return the id of a student by name, ignoring case; empty if there is none."""
    sql = "SELECT id, name FROM keys WHERE id IN (SELECT key_id FROM students WHERE class_id = ?)"
    wanted = f"{found.name}/{name}".casefold()
    return next((key_id for key_id, kept in execute(sql, (found.id,)) if kept.casefold() == wanted), "")


def _clean(name: str) -> str:
    name = " ".join(unicodedata.normalize("NFC", name).split())
    if not _NAME.fullmatch(name):
        raise RequestRefusedError(
            400, "this is not a valid name", hint="use up to 60 letters, digits, spaces and . ' -"
        )
    return name


def _check_pin(pin: str) -> None:
    steps = {ord(after) - ord(before) for before, after in itertools.pairwise(pin)}
    if len(pin) < _PIN_CHARS or (len(steps) == 1 and steps <= {-1, 0, 1}):
        raise RequestRefusedError(
            400, "this PIN is too easy to guess", hint=f"use at least {_PIN_CHARS} digits or letters, and no sequence"
        )


def _wrong() -> RequestRefusedError:
    hint = "if you are new, join first; after five wrong PINs you have to wait"
    return RequestRefusedError(401, "the name or the PIN is wrong", hint=hint)
