"""Keys, classes, students and the audit log of one home, for the command line and the server."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from openbook.server.classes import ClassStore
from openbook.server.keys import Grant, KeyStore

Deed = Literal[
    "added key",
    "changed key",
    "rotated key",
    "removed key",
    "deleted texts",
    "added class",
    "rotated class",
    "changed class",
    "removed class",
    "joined class",
    "replaced PIN",
    "logged in",
    "logged out",
    "was refused",
    "added source",
    "removed source",
    "changed course",
    "uploaded",
    "deleted file",
    "shared",
    "revoked link",
]

CONSOLE = "console"
"""The actor for the command line on the server's machine."""

SERVER = "server"
"""The actor for what the server does by itself."""

# Attempts can be repeated without end, and the log is never truncated.
_REFUSALS_PER_MINUTE = 30

_TEXT_CHARS = 500


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """An entry of the audit log."""

    at: float
    """Unix seconds."""
    who: str
    """Name of a key, `browser` for callers without one, `console`, `server` for what it does by itself, or empty if a
    login or a new student was refused."""
    did: str
    what: str
    address: str
    """Address of the connection, which may be a proxy's; empty for the command line."""


class AuditLog:
    """The append-only audit log of a home. Safe for threads and processes."""

    def __init__(self, keys: KeyStore) -> None:
        self._tables = keys.tables
        self._now = keys.now
        self._lock = threading.Lock()
        self._refused_at: list[float] = []
        self._left_out = 0

    def add(self, who: str, did: Deed, what: str = "", address: str = "") -> None:
        with self._tables.transaction() as execute:
            row = (self._now(), who, did, what[:_TEXT_CHARS], address)
            execute("INSERT INTO audit VALUES (?, ?, ?, ?, ?)", row)

    def refuse(self, what: str, address: str) -> None:
        """Log a refused login or student: at most 30 a minute, with the number of omitted ones in the next entry."""
        with self._lock:
            now = self._now()
            self._refused_at = [at for at in self._refused_at if now - at < 60]
            if len(self._refused_at) >= _REFUSALS_PER_MINUTE:
                self._left_out += 1
                return
            self._refused_at.append(now)
            left_out, self._left_out = self._left_out, 0
        self.add("", "was refused", f"{what}; {left_out} more before it" if left_out else what, address)

    def last(self, most: int) -> list[AuditEvent]:
        """Return the last entries, latest first."""
        rows = self._tables.read("SELECT at, who, did, what, address FROM audit ORDER BY rowid DESC LIMIT ?", (most,))
        return [AuditEvent(*row) for row in rows]


class People:
    """Keys, classes and students, addressed by name alone."""

    def __init__(self, keys: KeyStore) -> None:
        self.keys = keys
        self.classes = ClassStore(keys)
        self.audit = AuditLog(keys)

    @classmethod
    def of(cls, home: Path) -> People:
        return cls(KeyStore(home))

    def grant_of(self, name: str) -> Grant | None:
        """Return role and limits of a key, a student, or each student of a class. None if the name is unknown."""
        found = self.keys.named(name) or self.classes.named(name)
        return found.grant if found is not None else None

    def change(self, name: str, grant: Grant) -> Deed | None:
        """Change role and limits of a key or student, or end and limits of a class. None if the name is unknown."""
        if self.keys.change(name, grant):
            return "changed key"
        return "changed class" if self.classes.change(name, grant) else None

    def remove(self, name: str) -> Deed | None:
        """Revoke a key, a student, or a class with all its students. None if the name is unknown."""
        if self.keys.remove(name):
            return "removed key"
        return "removed class" if self.classes.remove(name) else None

    def rotate(self, name: str) -> tuple[str, Deed] | None:
        """Replace a key, the code of a class or the PIN of a student. Returns the new secret, once, and the action.

        None if the name is unknown.
        """
        if key := self.keys.rotate(name):
            return key, "rotated key"
        if pin := self.classes.new_pin(name):
            return pin, "replaced PIN"
        code = self.classes.rotate(name)
        return (code, "rotated class") if code else None

    def close(self) -> None:
        self.keys.close()
