"""People whom a provider of OpenID Connect knows: each has an entry among the keys, which no key opens."""

from __future__ import annotations

import json
import secrets

from openbook.server.failures import RequestRefusedError
from openbook.server.keys import Key, KeyStore
from openbook.server.oidc import Person

_SUBJECT = "oidc"

# Below the longest name of a key, with room for what tells two of the same name apart.
_NAME_CHARS = 90


def is_person(key: Key) -> bool:
    """Return whether an entry is that of a person whom a provider knows."""
    return key.id.startswith(_SUBJECT)


class PersonStore:
    """Enrol people at their login, and find them by what their login is kept as.

    Servers with homes of their own share logins, but no keys: each enrols a person when it first sees their login.
    """

    def __init__(self, keys: KeyStore) -> None:
        """Take the keys, among which people are listed, limited and removed."""
        self._keys = keys

    def enter(self, person: Person) -> tuple[Key, str]:
        """Enrol a person who has just come from the provider; return their entry, and what their login is kept as.

        Raises:
            RequestRefusedError: An owner has let their entry expire.
        """
        at = self._keys.now()
        self._enrol(person, is_login=True)
        key = self._keys.get(person.id)
        if key is None:
            raise RequestRefusedError(403, "you may not come in any more", hint="ask whoever runs the server")
        return key, f"{_SUBJECT}:{json.dumps([person.id, person.name, person.role, at])}"

    def returning(self, subject: str) -> Key | None:
        """Return the entry of a login; None if it is none of a person, or if an owner has removed them after it."""
        kind, _, rest = subject.partition(":")
        if kind != _SUBJECT:
            return None
        key_id, name, role, at = json.loads(rest)
        removed = self._keys.tables.read("SELECT at FROM departed WHERE key_id = ?", (key_id,))
        if removed and removed[0][0] >= at:
            return None
        if not self._keys.tables.read("SELECT 1 FROM keys WHERE id = ?", (key_id,)):
            self._enrol(Person(key_id, name, role), is_login=False)
        return self._keys.get(key_id)

    def _enrol(self, person: Person, *, is_login: bool) -> None:
        """Add a person, or give one who is there the role that the provider's claims say now."""
        name = "".join(each if each.isalnum() or each in " .@+-_" else "_" for each in person.name)[:_NAME_CHARS]
        name = name if name[:1].isalnum() else f"_{name}"
        with self._keys.tables.transaction() as execute:
            taken = execute("SELECT 1 FROM keys WHERE name = ? AND id <> ?", (name, person.id)).fetchone()
            taken = taken or execute("SELECT 1 FROM classes WHERE name = ?", (name,)).fetchone()
            execute(
                "INSERT OR IGNORE INTO keys VALUES (?, ?, ?, ?)",
                # Nothing has this hash.
                (person.id, f"{name} {person.id[-6:]}" if taken else name, secrets.token_bytes(32), self._keys.now()),
            )
            execute("INSERT OR IGNORE INTO grants VALUES (?, ?, NULL, NULL, NULL)", (person.id, person.role))
            if is_login:
                execute("UPDATE grants SET role = ? WHERE key_id = ?", (person.role, person.id))
