"""The protocol for stores of conversations."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any, Protocol

from openbook.answers import Exchange
from openbook.errors import SessionError

# For lists; the conversation itself has the full question.
_TITLE_CHARS = 80

MAX_LISTED = 2000
"""Conversations in a list. A program can begin 43,200 a day with one key, and a list of 300,000 has 60 MB."""

MAX_EXCHANGES = 1000
"""Exchanges of a conversation, which is read as a whole: 1,000 quoted answers take 15 MB, and 1.2 s to read."""


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation without its exchanges."""

    id: str
    """32 hexadecimal digits."""
    title: str
    """The first question, until its owner renames it."""
    created_at: float
    """Unix seconds."""
    updated_at: float
    exchanges: int
    pinned: bool = False
    """Whether it is listed first."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Where to truncate a conversation, so that a new exchange replaces an earlier one and all later ones."""

    kept: int
    """Number of exchanges to keep."""
    total: int
    """Number of exchanges when the question was asked. If it has changed since, nothing is truncated."""
    first: str
    """The id in the record of the first exchange to drop. If another one is there now, nothing is truncated."""


def new_id() -> str:
    """Return a new conversation id: 128 random bits, which cannot be guessed."""
    return secrets.token_hex(16)


def session_title(exchange: Exchange) -> str:
    """Return the title of a conversation, made from its first exchange.

    Example:
        >>> session_title(Exchange("When do  sessions end?", "After one hour."))
        'When do sessions end?'
    """
    return " ".join(exchange.question.split())[:_TITLE_CHARS]


def has_changed() -> SessionError:
    """Build the error for a conversation that has changed since its question was asked."""
    return SessionError(
        "this answer was not saved: its conversation has been changed meanwhile", hint="open the conversation again"
    )


class Sessions(Protocol):
    """Storage of conversations. Thread-safe.

    A conversation exists only for its owner, and only until it expires. Each call is atomic, and raises
    `SessionError` if conversations cannot be read or written.
    """

    def find(self, owner: str, session_id: str) -> Session | None:
        """Return a conversation without its exchanges; None if the owner has no such conversation."""

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
        """Store an exchange, and restart the expiry of the conversation.

        Args:
            owner: Owner of the conversation.
            session_id: From `new_id`.
            exchange: Question and answer, for follow-ups.
            record: The exchange as displayed, as JSON values.
            begins: Whether this exchange starts the conversation.
            cut: Where to truncate the conversation first, if at all.

        Raises:
            SessionError: It cannot be written; the conversation does not exist (any more), or exists already if
                `begins` is set; or it has changed since `cut` was determined.
        """

    def history(self, owner: str, session_id: str, last: int, *, before: int | None = None) -> tuple[Exchange, ...]:
        """Return the last exchanges of a conversation, at most `last`, in order; () if it does not exist.

        `before`: only exchanges before this 0-based index.
        """

    def records(self, owner: str, session_id: str) -> tuple[Session, list[dict[str, Any]]] | None:
        """Return a conversation and its records, in order; None if the owner has no such conversation."""

    def of(self, owner: str) -> list[Session]:
        """List the latest conversations of an owner, at most `MAX_LISTED`, latest first; ties are ordered by id."""

    def rename(self, owner: str, session_id: str, title: str) -> bool:
        """Rename a conversation. False if the owner has no such conversation."""

    def pin(self, owner: str, session_id: str, *, pinned: bool) -> bool:
        """Pin or unpin a conversation. False if the owner has no such conversation."""

    def delete(self, owner: str, session_id: str) -> bool:
        """Delete a conversation. False if the owner has no such conversation."""

    def delete_all(self, owner: str) -> int:
        """Delete all conversations of an owner, expired ones as well, and return their number."""

    def expire(self) -> int:
        """Delete expired conversations, and return their number."""

    def close(self) -> None:
        """Close the store."""
