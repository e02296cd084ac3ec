"""Stores conversations in one SQLite file, which several servers of one machine may share."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from openbook.answers import Exchange
from openbook.errors import SessionError
from openbook.sessions.protocol import MAX_LISTED, Cut, Session, has_changed, session_title
from openbook.sqlite_store import store_of_conversations

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
CREATE TABLE IF NOT EXISTS pins (
    session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE) WITHOUT ROWID;
"""


class SqliteSessions:
    """Conversations in a SQLite file, shared by threads and processes."""

    def __init__(self, path: Path, *, expire_s: float, now: Callable[[], float] = time.time) -> None:
        """Open the file at `path`, and create it if it does not exist.

        Raises:
            SessionError: It cannot be opened.
        """
        self._expire_s = expire_s
        self._now = now
        self._tables = store_of_conversations(path, _TABLES, "conversations")

    def find(self, owner: str, session_id: str) -> Session | None:
        rows = self._tables.read(f"{_SELECT} AND id = ?", (owner, self._oldest, session_id))
        return _read(rows[0]) if rows else None

    def add(
        self,
        owner: str,
        session_id: str,
        exchange: Exchange,
        record: dict[str, Any],
        *,
        begins: bool = False,
        cut: Cut | None = None,
    ) -> None:
        now = self._now()
        with self._tables.transaction() as execute:
            if begins:
                execute(
                    "INSERT INTO sessions VALUES (?, ?, ?, ?, ?)",
                    (session_id, owner, session_title(exchange), now, now),
                )
            own = "UPDATE sessions SET updated_at = ? WHERE id = ? AND owner = ?"
            if not execute(own, (now, session_id, owner)).rowcount:
                raise SessionError(
                    "this answer was not saved: its conversation has been deleted", hint="begin a new conversation"
                )
            if cut is not None:
                rows = execute("SELECT id FROM exchanges WHERE session_id = ? ORDER BY id", (session_id,)).fetchall()
                dropped = rows[cut.kept :]
                if len(rows) != cut.total or _answer_id(execute, dropped[0]) != cut.first:
                    raise has_changed()
                for row in dropped:
                    execute("DELETE FROM exchanges WHERE id = ?", row)
            execute(
                "INSERT INTO exchanges (session_id, question, answer, record) VALUES (?, ?, ?, ?)",
                (session_id, exchange.question, exchange.answer, json.dumps(record, ensure_ascii=False)),
            )

    def history(self, owner: str, session_id: str, last: int, *, before: int | None = None) -> tuple[Exchange, ...]:
        session = self.find(owner, session_id)
        if session is None:
            return ()
        end = session.exchanges if before is None else before
        begin = max(0, end - last)
        rows = self._tables.read(
            "SELECT question, answer FROM exchanges WHERE session_id = ? ORDER BY id LIMIT ? OFFSET ?",
            (session_id, end - begin, begin),
        )
        return tuple(Exchange(*row) for row in rows)

    def records(self, owner: str, session_id: str) -> tuple[Session, list[dict[str, Any]]] | None:
        session = self.find(owner, session_id)
        if session is None:
            return None
        rows = self._tables.read("SELECT record FROM exchanges WHERE session_id = ? ORDER BY id", (session_id,))
        return session, [json.loads(record) for (record,) in rows]

    def of(self, owner: str) -> list[Session]:
        latest = f"{_SELECT} ORDER BY updated_at DESC, id LIMIT ?"
        return [_read(row) for row in self._tables.read(latest, (owner, self._oldest, MAX_LISTED))]

    def rename(self, owner: str, session_id: str, title: str) -> bool:
        sql = "UPDATE sessions SET title = ? WHERE id = ? AND owner = ? AND updated_at >= ?"
        with self._tables.transaction() as execute:
            return execute(sql, (title, session_id, owner, self._oldest)).rowcount > 0

    def pin(self, owner: str, session_id: str, *, pinned: bool) -> bool:
        if self.find(owner, session_id) is None:
            return False
        # The conversation may have been deleted meanwhile, so select its id instead of inserting it.
        adding = "INSERT OR IGNORE INTO pins SELECT id FROM sessions WHERE id = ?"
        with self._tables.transaction() as execute:
            execute(adding if pinned else "DELETE FROM pins WHERE session_id = ?", (session_id,))
        return True

    def delete(self, owner: str, session_id: str) -> bool:
        with self._tables.transaction() as execute:
            return execute("DELETE FROM sessions WHERE id = ? AND owner = ?", (session_id, owner)).rowcount > 0

    def delete_all(self, owner: str) -> int:
        with self._tables.transaction() as execute:
            return execute("DELETE FROM sessions WHERE owner = ?", (owner,)).rowcount

    def expire(self) -> int:
        with self._tables.transaction() as execute:
            return execute("DELETE FROM sessions WHERE updated_at < ?", (self._oldest,)).rowcount

    def close(self) -> None:
        self._tables.close()

    @property
    def _oldest(self) -> float:
        return self._now() - self._expire_s


def _answer_id(execute: Callable[..., sqlite3.Cursor], row: tuple[int]) -> str:
    ((record,),) = execute("SELECT record FROM exchanges WHERE id = ?", row)
    return str(json.loads(record).get("id"))


def _read(row: tuple[str, str, float, float, int, int]) -> Session:
    return Session(*row[:5], pinned=bool(row[5]))


_SELECT = (
    "SELECT id, title, created_at, updated_at, (SELECT count(*) FROM exchanges WHERE session_id = sessions.id),"
    " EXISTS (SELECT 1 FROM pins WHERE session_id = sessions.id) FROM sessions WHERE owner = ? AND updated_at >= ?"
)
