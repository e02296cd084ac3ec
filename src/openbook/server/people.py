"""People of one home: keys, classes and students, and the audit log, for the command line and for the server."""

from __future__ import annotations

from pathlib import Path

from openbook.server.audit import AuditLog, Deed
from openbook.server.classes import ClassStore
from openbook.server.keys import Grant, KeyStore


class People:
    """Keys, classes and students, wherever a name alone says which of them is meant."""

    def __init__(self, keys: KeyStore) -> None:
        self.keys = keys
        self.classes = ClassStore(keys)
        self.audit = AuditLog(keys)

    @classmethod
    def of(cls, home: Path) -> People:
        return cls(KeyStore(home))

    def grant_of(self, name: str) -> Grant | None:
        """Return what a key, a student, or each student of a class may do. None if there is none of that name."""
        found = self.keys.named(name) or self.classes.named(name)
        return found.grant if found is not None else None

    def change(self, name: str, grant: Grant) -> Deed | None:
        """Change what a key or a student may do, or the end and limits of a class. None if there is no such name."""
        if self.keys.change(name, grant):
            return "changed key"
        return "changed class" if self.classes.change(name, grant) else None

    def remove(self, name: str) -> Deed | None:
        """Revoke a key, a student, or a class with all its students. None if there is none of that name."""
        if self.keys.remove(name):
            return "removed key"
        return "removed class" if self.classes.remove(name) else None

    def rotate(self, name: str) -> tuple[str, Deed] | None:
        """Replace a key, the code of a class or the PIN of a student, and return it once with what was done.

        None if there is none of that name.
        """
        if key := self.keys.rotate(name):
            return key, "rotated key"
        if pin := self.classes.new_pin(name):
            return pin, "replaced PIN"
        code = self.classes.rotate(name)
        return (code, "rotated class") if code else None

    def close(self) -> None:
        self.keys.close()
