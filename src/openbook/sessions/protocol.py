"""What every keeper of conversations promises."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any, Protocol

from openbook.answers import Exchange
from openbook.errors import SessionError

# What a list shows; the whole question stands in the conversation.
_TITLE_CHARS = 80


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
    pinned: bool = False
    """Whether its owner wants it before the others."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a conversation is cut off, so that an exchange replaces one of its own and all that came after it."""

    kept: int
    """Exchanges that stay."""
    total: int
    """Exchanges that there were when the question was asked. With another number, nothing is cut."""


def new_id() -> str:
    """Return a new conversation id: 128 random bits, which cannot be guessed."""
    return secrets.token_hex(16)


def session_title(exchange: Exchange) -> str:
    """Return a conversation the title that its first exchange makes.

    Example:
        >>> session_title(Exchange("When do  sessions end?", "After one hour."))
        'When do sessions end?'
    """
    return " ".join(exchange.question.split())[:_TITLE_CHARS]


def has_changed() -> SessionError:
    """Return the error that says that a conversation is not as it was when its question was asked."""
    return SessionError(
        "this answer was not saved: its conversation has been changed meanwhile", hint="open the conversation again"
    )


class Sessions(Protocol):
    """Storage of conversations. Thread-safe.

    Whoever is not the owner learns nothing: a conversation of somebody else is one that is not there.
    What has expired is not there either. Each call happens as a whole or not at all.
    Each raises `SessionError` where conversations cannot be read or written.
    """

    def owns(self, owner: str, session_id: str) -> bool:
        """Return whether there is such a conversation of this owner, not expired."""
        ...

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
        """Keep a question and its answer. The conversation lives on for its whole time again.

        Args:
            owner: Of the conversation.
            session_id: As `new_id` gave it.
            exchange: What a later question looks back on.
            record: All that is shown of it, as JSON values.
            begins: Whether this is the first of the conversation.
            cut: Where the conversation is cut off first; nowhere if not given.

        Raises:
            SessionError: It cannot be written, or the owner has no such conversation: it was deleted meanwhile.
                Or it begins, and there is one of that id. Or it is to be cut, and has changed meanwhile.
        """
        ...

    def history(self, owner: str, session_id: str, last: int, *, before: int | None = None) -> tuple[Exchange, ...]:
        """Return the last exchanges of a conversation, at most `last`, in order; () if there is none.

        With `before`, those before the exchange at this place; 0 is the first one.
        """
        ...

    def records(self, owner: str, session_id: str) -> tuple[Session, list[dict[str, Any]]] | None:
        """Return a conversation and all that was said in it, in order; None if this owner has none of that id."""
        ...

    def of(self, owner: str) -> list[Session]:
        """List the conversations of an owner, the latest first; of the same time, by id."""
        ...

    def rename(self, owner: str, session_id: str, title: str) -> bool:
        """Return a conversation another title. False if this owner has none of that id."""
        ...

    def pin(self, owner: str, session_id: str, *, pinned: bool) -> bool:
        """Pin a conversation, or unpin it. False if this owner has none of that id."""
        ...

    def delete(self, owner: str, session_id: str) -> bool:
        """Delete a conversation. False if this owner has none of that id."""
        ...

    def expire(self) -> int:
        """Delete what has expired, and return how much."""
        ...

    def close(self) -> None:
        """Release what it is kept in."""
        ...
