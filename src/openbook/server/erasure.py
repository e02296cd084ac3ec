"""Deletes what people have written whose keys were removed."""

from __future__ import annotations

import time
from contextlib import ExitStack, closing
from dataclasses import dataclass

from openbook.server.feedback import FeedbackStore
from openbook.server.people import People
from openbook.server.shared_store import SharedStore, open_shared_store
from openbook.server.shares import ShareStore
from openbook.sessions.protocol import Sessions
from openbook.sessions.sqlite import SqliteSessions
from openbook.settings import Settings
from openbook.text import counted

_DAY_S = 24 * 3600.0

# An answer in progress is stored after its key was removed. It ends within minutes.
_STILL_WRITING_S = 3600.0


@dataclass(frozen=True, slots=True)
class Erased:
    """How much was deleted.

    Example:
        >>> str(Erased(conversations=2, ratings=1))
        '2 conversations, 1 rating, 0 share links'
    """

    conversations: int = 0
    ratings: int = 0
    links: int = 0

    def __bool__(self) -> bool:
        return self != Erased()

    def __str__(self) -> str:
        each = (self.conversations, "conversation"), (self.ratings, "rating"), (self.links, "share link")
        return ", ".join(counted(number, word) for number, word in each)


def open_sessions(settings: Settings, shared: SharedStore | None) -> Sessions:
    """Open the conversations of a server: in its shared store, if it has one, or else in its home."""
    expire_s = settings.session_days * _DAY_S
    if shared is not None:
        return shared.sessions(expire_s)
    return SqliteSessions(settings.home / "sessions.sqlite", expire_s=expire_s)


def erase(people: People, sessions: Sessions, feedback: FeedbackStore, shares: ShareStore) -> Erased:
    """Delete the conversations, ratings and share links of removed keys and students.

    Those of the last hour are looked through again by the next call.

    Raises:
        SessionError: A store cannot be written. The next call deletes the rest.
    """
    before = time.time() - _STILL_WRITING_S
    conversations = ratings = links = 0
    for key_id in people.keys.removed():
        owner = f"key:{key_id}"
        links += shares.remove_all(owner)
        ratings += feedback.forget_all(owner)
        conversations += sessions.delete_all(owner)
    people.keys.forget_removed(before)
    return Erased(conversations, ratings, links)


def erase_in_home(people: People, settings: Settings) -> Erased:
    """Do the same outside of a server, with its settings.

    Raises:
        SessionError: A store cannot be opened or written.
    """
    with ExitStack() as stack:
        shares = stack.enter_context(closing(ShareStore(settings.home)))
        feedback = stack.enter_context(closing(FeedbackStore(settings.home)))
        shared = open_shared_store(settings.shared_store) if settings.shared_store else None
        if shared is not None:
            stack.callback(shared.close)
        sessions = stack.enter_context(closing(open_sessions(settings, shared)))
        return erase(people, sessions, feedback, shares)
