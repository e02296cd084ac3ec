"""State shared by several servers in the store of a plugin: conversations, limits, logins and running work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from openbook.plugins import having, require_plugin
from openbook.sessions.protocol import Sessions
from openbook.settings import Secret, Settings

if TYPE_CHECKING:
    # Lazy: the Redis plugin imports this module even if the server's packages are missing.
    from openbook.server.limits import Limits
    from openbook.server.logins import Logins

Kind = Literal["answer", "job"]

# A server sends an update at least every two seconds. Busy servers may be late.
LOST_AFTER_S = 10.0


@dataclass(frozen=True, slots=True)
class WorkUpdate:
    """An update of an answer or job, from the server that runs it."""

    id: str
    owner: str
    header: str
    """JSON, which replaces the previous header."""
    has_ended: bool = False
    events: tuple[tuple[int, str], ...] = ()
    """Events with ascending numbers."""
    dropped: tuple[int, ...] = ()
    """Numbers of superseded events."""
    known: int = 0
    """Number of the last event that was sent before; 0 for none."""
    is_whole: bool = False
    """Whether the events replace all earlier ones."""


@dataclass(frozen=True, slots=True)
class UpdateReply:
    """The store's reply to an update."""

    is_behind: bool = False
    """Whether the store has lost earlier updates: this one was not stored, and everything must be sent again."""
    stop: bool = False
    """Whether another server has asked to stop the work."""


@dataclass(frozen=True, slots=True)
class WorkRecord:
    """The state of an answer or job of any server."""

    id: str
    owner: str
    header: str
    is_lost: bool
    """Whether its server stopped sending updates before it had ended."""
    events: tuple[tuple[int, str], ...] = ()


class SharedWork(Protocol):
    """Stores updates of running work. Thread-safe. Every method raises `SharedError` if the store cannot be reached.

    Work is forgotten some minutes after its last update.
    """

    def update(self, kind: Kind, update: WorkUpdate) -> UpdateReply:
        """Store an update."""

    def find(self, kind: Kind, owner: str, work_id: str, after: int = 0) -> WorkRecord | None:
        """Return an answer or job with its events after one; None if this owner has none of that id."""

    def all(self, kind: Kind, owner: str | None = None) -> list[WorkRecord]:
        """List the work of an owner, or of all, the oldest first and without events."""

    def stop(self, kind: Kind, owner: str, work_id: str) -> None:
        """Ask the server of an answer or job to stop it. Unknown ids are ignored."""


class SharedStore(Protocol):
    """A store for several servers. Thread-safe. Its errors never contain the password of its address.

    An entry point of `openbook.stores` is a class or function that takes an address, and connects to it or raises
    `SharedError`.
    """

    def sessions(self, expire_s: float) -> Sessions:
        """Return the store of conversations, each kept for `expire_s` seconds after its last question."""

    def limits(self, settings: Settings) -> Limits:
        """Return the limits of keys, by the settings."""

    def logins(self) -> Logins:
        """Return the store of browser logins."""

    def work(self) -> SharedWork | None:
        """Return the registry of running answers and jobs; None if this store has none."""

    def check(self) -> None:
        """Check that the store responds and takes writes.

        Raises:
            SharedError: It does not.
        """

    def close(self) -> None:
        """Close the connection, after the conversations have been closed."""


def open_shared_store(name: Secret) -> SharedStore:
    """Open the store at `name:address`.

    Raises:
        SharedError: It cannot be reached.
    """
    store: SharedStore = require_plugin(
        "stores", name, "OPENBOOK_SHARED_STORE", having("sessions", "limits", "logins", "check", "close")
    )
    return store
