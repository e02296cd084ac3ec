"""Conversations, each of one owner, in one SQLite file."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openbook.errors import SessionError
from openbook.generation import Exchange
from openbook.tables import Tables

# What a list shows; the whole question stands in the conversation.
_TITLE_CHARS = 80

_TABLES = """
CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, title TEXT NOT NULL, created_at REAL NOT NULL, updated_at REAL NOT NULL)
    WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sessions_by_owner ON sessions (owner, updated_at);
CREATE INDEX IF NOT EXISTS sessions_by_age ON sessions (updated_at);
CREATE TABLE IF NOT EXISTS exchanges (
    id INTEGER PRIMARY KEY, session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    question TEXT NOT NULL, answer TEXT NOT NULL, record TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS exchanges_by_session ON exchanges (session_id);
"""


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation, without what was said."""

    id: str
    """32 hexadecimal digits."""
    title: str
    """The first question, until its owner renames it."""
    created_at: float
    """Unix seconds."""
    updated_at: float
    exchanges: int


def new_id() -> str:
    """Make the id of a conversation: 128 random bits, which nobody finds by trying."""
    return secrets.token_hex(16)


class Sessions:
    """Conversations that outlive a restart. Threads may share it.

    Whoever is not the owner learns nothing: a conversation of somebody else is one that is not there.
    """

    def __init__(self, path: Path, *, expire_s: float, now: Callable[[], float] = time.time) -> None:
        """Open the file at `path`, making it if there is none.

        Args:
            path: Of the file.
            expire_s: Seconds after its last question that a conversation is kept.
            now: Clock, in Unix seconds.

        Raises:
            SessionError: It cannot be opened.
        """
        self._expire_s = expire_s
        self._now = now
        self._tables = Tables(
            path,
            _TABLES,
            lambda exc: SessionError(
                f"conversations cannot be kept in {str(path)!r}: {exc}",
                hint="free some space, or set OPENBOOK_HOME to a folder that you can write to",
            ),
        )

    def owns(self, owner: str, session_id: str) -> bool:
        """Tell whether there is such a conversation of this owner, not expired."""
        return self._session(owner, session_id) is not None

    def add(
        self, owner: str, session_id: str, exchange: Exchange, record: dict[str, Any], *, begins: bool = False
    ) -> None:
        """Keep a question and its answer.

        Args:
            owner: Of the conversation.
            session_id: As `new_id` gave it.
            exchange: What a later question looks back on.
            record: All that is shown of it, as JSON values.
            begins: Whether this is the first of the conversation.

        Raises:
            SessionError: It cannot be written, or the owner has no such conversation: it was deleted meanwhile.
        """
        now = self._now()
        title = " ".join(exchange.question.split())[:_TITLE_CHARS]
        with self._tables.transaction() as execute:
            if begins:
                execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?)", (session_id, owner, title, now, now))
            own = "UPDATE sessions SET updated_at = ? WHERE id = ? AND owner = ?"
            if not execute(own, (now, session_id, owner)).rowcount:
                raise SessionError(
                    "this answer is not kept: its conversation was deleted meanwhile", hint="begin a new conversation"
                )
            execute(
                "INSERT INTO exchanges (session_id, question, answer, record) VALUES (?, ?, ?, ?)",
                (session_id, exchange.question, exchange.answer, json.dumps(record, ensure_ascii=False)),
            )

    def history(self, owner: str, session_id: str, last: int) -> tuple[Exchange, ...]:
        """Give the last exchanges of a conversation, at most `last`, in order; () if there is none."""
        if self._session(owner, session_id) is None:
            return ()
        rows = self._tables.read(
            "SELECT question, answer FROM exchanges WHERE session_id = ? ORDER BY id DESC LIMIT ?", (session_id, last)
        )
        return tuple(Exchange(*row) for row in reversed(rows))

    def records(self, owner: str, session_id: str) -> tuple[Session, list[dict[str, Any]]] | None:
        """Give a conversation and all that was said in it, in order; None if this owner has none of that id."""
        session = self._session(owner, session_id)
        if session is None:
            return None
        rows = self._tables.read("SELECT record FROM exchanges WHERE session_id = ? ORDER BY id", (session_id,))
        return session, [json.loads(record) for (record,) in rows]

    def of(self, owner: str) -> list[Session]:
        """List the conversations of an owner, the latest first."""
        return [
            Session(*row) for row in self._tables.read(f"{_SELECT} ORDER BY updated_at DESC, id", (owner, self._oldest))
        ]

    def rename(self, owner: str, session_id: str, title: str) -> bool:
        """Give a conversation another title. False if this owner has none of that id."""
        sql = "UPDATE sessions SET title = ? WHERE id = ? AND owner = ? AND updated_at >= ?"
        with self._tables.transaction() as execute:
            return execute(sql, (title, session_id, owner, self._oldest)).rowcount > 0

    def delete(self, owner: str, session_id: str) -> bool:
        """Forget a conversation. False if this owner has none of that id."""
        with self._tables.transaction() as execute:
            return execute("DELETE FROM sessions WHERE id = ? AND owner = ?", (session_id, owner)).rowcount > 0

    def expire(self) -> int:
        """Forget what has expired, and count it."""
        with self._tables.transaction() as execute:
            return execute("DELETE FROM sessions WHERE updated_at < ?", (self._oldest,)).rowcount

    def close(self) -> None:
        """Let go of the file."""
        self._tables.close()

    @property
    def _oldest(self) -> float:
        return self._now() - self._expire_s

    def _session(self, owner: str, session_id: str) -> Session | None:
        rows = self._tables.read(f"{_SELECT} AND id = ?", (owner, self._oldest, session_id))
        return Session(*rows[0]) if rows else None


_SELECT = (
    "SELECT id, title, created_at, updated_at, (SELECT count(*) FROM exchanges WHERE session_id = sessions.id)"
    " FROM sessions WHERE owner = ? AND updated_at >= ?"
)
