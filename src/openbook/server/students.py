"""Students: they join a class with its code, and come back with their name and PIN."""

from __future__ import annotations

import hmac
import itertools
import re
import unicodedata
from typing import Any

from openbook.server.classes import ClassKey, ClassStore, hashed_pin, no_key
from openbook.server.failures import RequestRefusedError
from openbook.server.keys import Key, KeyStore, add_key

_NAME = re.compile(r"\w[\w .'’-]{0,59}")

_PIN_CHARS = 6

# Five tries in a quarter of an hour: a PIN of six random digits lasts for years, and only who has the code can try.
_ATTEMPTS = 5
_LOCKED_S = 15 * 60.0


class StudentStore:
    """Students of one home, beside its keys. Safe for threads and processes."""

    def __init__(self, keys: KeyStore, classes: ClassStore) -> None:
        """Take the keys and classes of the same file."""
        self._keys = keys
        self._classes = classes

    def join(self, code: str, name: str, pin: str) -> Key:
        """Give a new student an identity.

        Raises:
            RequestRefusedError: The code is not known, the class is full, or the name or PIN cannot be taken.
        """
        found, name = self._class(code), _clean(name)
        _check_pin(pin)
        salt, hashed = hashed_pin(pin)
        with self._keys.tables.transaction() as execute:
            if _student(execute, found, name):
                raise RequestRefusedError(
                    409, f"there is a student {name!r} already", hint="log in with your PIN, or take another name"
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
        """Return the identity of a student.

        Raises:
            RequestRefusedError: The code, the name or the PIN is wrong, or the PIN was wrong too often.
        """
        found, name = self._class(code), _clean(name)
        with self._keys.tables.transaction() as execute:
            # Counted before it is compared: tries at the same time would all come before the first failure.
            key_id, salt, hashed = self._attempt(execute, found, name)
        if not hmac.compare_digest(hashed_pin(pin, salt)[1], hashed):
            raise _wrong()
        with self._keys.tables.transaction() as execute:
            execute("UPDATE students SET attempts = 0, locked_until = 0 WHERE key_id = ?", (key_id,))
        return self._key(key_id)

    def known(self, code: str, name: str) -> str:
        """Return the name of a student for the log, as far as it is one: what is no name may be a PIN."""
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
                hint=f"try again in {max(1, round(wait_s / 60))} minutes, or ask for a new PIN",
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
                401, "this link is not known, was revoked, or has expired", hint="ask whoever gave it to you"
            )
        return found

    def _key(self, key_id: str) -> Key:
        key = self._keys.get(key_id)
        if key is None:  # revoked a moment ago
            raise _wrong()
        return key


def _student(execute: Any, found: ClassKey, name: str) -> str:
    """Return the id of a student of a class, whose name may be written with other capitals; empty if there is none."""
    sql = "SELECT id, name FROM keys WHERE id IN (SELECT key_id FROM students WHERE class_id = ?)"
    wanted = f"{found.name}/{name}".casefold()
    return next((key_id for key_id, kept in execute(sql, (found.id,)) if kept.casefold() == wanted), "")


def _clean(name: str) -> str:
    name = " ".join(unicodedata.normalize("NFC", name).split())
    if not _NAME.fullmatch(name):
        raise RequestRefusedError(400, "this is no name", hint="use up to 60 letters, digits, spaces and . ' -")
    return name


def _check_pin(pin: str) -> None:
    steps = {ord(after) - ord(before) for before, after in itertools.pairwise(pin)}
    if len(pin) < _PIN_CHARS or (len(steps) == 1 and steps <= {-1, 0, 1}):
        raise RequestRefusedError(
            400, "this PIN is too easy to guess", hint=f"use at least {_PIN_CHARS} digits or letters, and no row"
        )


def _wrong() -> RequestRefusedError:
    return RequestRefusedError(401, "the name or the PIN is wrong", hint="after five wrong PINs you have to wait")
