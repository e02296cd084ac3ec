"""Links that share answers until they expire, are revoked, or their answers are deleted.

A link refers to answers and stores no text. They are read when it is opened, so deleted answers disappear from it.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from openbook.server.keys import ROLES, hash_of, new_token
from openbook.settings import Settings
from openbook.sqlite_store import store_of_conversations

if TYPE_CHECKING:
    # Imported lazily, since `openbook keys` deletes links even if the server is not installed.
    from openbook.server.auth import Caller

_TABLES = """
CREATE TABLE IF NOT EXISTS shares (
    id TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE, owner TEXT NOT NULL, key_id TEXT NOT NULL,
    session_id TEXT NOT NULL, answers TEXT NOT NULL, created_at REAL NOT NULL, expires_at REAL NOT NULL)
    WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS shares_by_owner ON shares (owner, created_at);
"""

_FIELDS = "id, owner, key_id, session_id, answers, created_at, expires_at"


@dataclass(frozen=True, slots=True)
class Share:
    """A link without its token."""

    id: str
    owner: str
    """Owner of the conversation."""
    key_id: str
    """Id of the key that created it; empty for a browser without one."""
    session_id: str
    answers: tuple[str, ...]
    """Ids of its answers."""
    created_at: float
    """Unix seconds."""
    expires_at: float


def may_share(settings: Settings, caller: Caller) -> bool:
    """Return whether a caller may share answers, by the settings and their role."""
    return settings.server_shares in ROLES and caller.may(settings.server_shares)


class ShareStore:
    """Links of one home. Only hashes of their tokens are stored. Safe for threads and processes."""

    def __init__(self, home: Path, *, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._tables = store_of_conversations(home / "shares.sqlite", _TABLES, "shared links")

    def add(
        self, owner: str, key_id: str, session_id: str, answers: Sequence[str], lasts_s: float
    ) -> tuple[Share, str]:
        """Create a link, and return it with its token, which is not stored."""
        token, now = new_token(), self._now()
        share = Share(secrets.token_hex(16), owner, key_id, session_id, tuple(answers), now, now + lasts_s)
        row = (share.id, hash_of(token), owner, key_id, session_id, json.dumps(answers), now, share.expires_at)
        with self._tables.transaction() as execute:
            execute("DELETE FROM shares WHERE expires_at <= ?", (now,))
            execute("INSERT INTO shares VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        return share, token

    def find(self, token: str) -> Share | None:
        """Look up a link by its token; None if it is unknown or has expired."""
        found = self._read("hash = ?", hash_of(token))
        return found[0] if found else None

    def of(self, owner: str) -> list[Share]:
        """List the active links of an owner, latest first; at equal times, by id."""
        return self._read("owner = ?", owner)

    def remove(self, owner: str, share_id: str) -> bool:
        """Revoke a link. False if this owner has no link of that id."""
        with self._tables.transaction() as execute:
            return execute("DELETE FROM shares WHERE id = ? AND owner = ?", (share_id, owner)).rowcount > 0

    def remove_all(self, owner: str) -> int:
        """Delete all links of an owner, expired ones as well, and return their number."""
        with self._tables.transaction() as execute:
            return execute("DELETE FROM shares WHERE owner = ?", (owner,)).rowcount

    def close(self) -> None:
        self._tables.close()

    def _read(self, condition: str, value: object) -> list[Share]:
        sql = f"SELECT {_FIELDS} FROM shares WHERE {condition} AND expires_at > ? ORDER BY created_at DESC, id"
        return [
            Share(id_, owner, key_id, session_id, tuple(json.loads(answers)), *times)
            for id_, owner, key_id, session_id, answers, *times in self._tables.read(sql, (value, self._now()))
        ]
