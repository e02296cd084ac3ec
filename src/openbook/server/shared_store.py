"""What several servers share, in a store that a plugin brings: conversations, limits, logins, news of running work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from openbook.plugins import require_plugin
from openbook.sessions.protocol import Sessions
from openbook.settings import Secret, Settings

if TYPE_CHECKING:
    # The plugin of Redis imports this module, also where the server is not installed.
    from openbook.server.limits import Limits
    from openbook.server.logins import Logins

Kind = Literal["answer", "job"]

# A server tells of its work every two seconds at least, so one that is busy or waits for its store is no dead one yet.
LOST_AFTER_S = 10.0


@dataclass(frozen=True, slots=True)
class WorkNews:
    """What is new of a piece of work, as its server tells it."""

    id: str
    owner: str
    header: str
    """JSON, which replaces what was told before."""
    has_ended: bool = False
    events: tuple[tuple[int, str], ...] = ()
    """Numbers, which rise, and what happened."""
    dropped: tuple[int, ...] = ()
    """Numbers of events that are of no use any more."""
    known: int = 0
    """Number of the last event that has been told; 0 if none has."""
    is_whole: bool = False
    """Whether the events replace all that were told."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What a server hears when it tells of its work."""

    is_behind: bool = False
    """Whether the store has lost what is known to it: nothing was kept, and all has to be told again."""
    stop: bool = False
    """Whether another server wants it stopped."""


@dataclass(frozen=True, slots=True)
class ToldWork:
    """What is known of the work of any server."""

    id: str
    owner: str
    header: str
    is_lost: bool
    """Whether it had not ended when its server fell silent."""
    events: tuple[tuple[int, str], ...] = ()


class SharedWork(Protocol):
    """Keeps what servers tell of their work. Thread-safe. Every method raises `SharedError` where it cannot be reached.

    All of it is forgotten some minutes after it was told last.
    """

    def tell(self, kind: Kind, news: WorkNews) -> Heard:
        """Keep what is new of a piece of work."""
        ...

    def find(self, kind: Kind, owner: str, work_id: str, after: int = 0) -> ToldWork | None:
        """Return a piece of work with its events behind one; None if this owner has none of that id."""
        ...

    def all(self, kind: Kind, owner: str | None = None) -> list[ToldWork]:
        """List the work of an owner, or of all, in the order in which it began; without its events."""
        ...

    def stop(self, kind: Kind, owner: str, work_id: str) -> None:
        """Ask the server of a piece of work to stop it. What is not known is left alone."""
        ...


class SharedStore(Protocol):
    """Keeps what several servers share. Thread-safe. No password of its address stands in the errors that it raises.

    Called with an address, it is what an entry point of `openbook.stores` refers to: it is reached then, or
    raises `SharedError`.
    """

    def sessions(self, expire_s: float) -> Sessions:
        """Return the conversations, each kept for so many seconds after its last question."""
        ...

    def limits(self, settings: Settings) -> Limits:
        """Return the limits of keys, by the settings."""
        ...

    def logins(self) -> Logins:
        """Return the logins of browsers."""
        ...

    def work(self) -> SharedWork | None:
        """Return where servers tell each other of running answers and jobs; None if they cannot, in this store."""
        ...

    def check(self) -> None:
        """See whether it answers.

        Raises:
            SharedError: It does not.
        """
        ...

    def close(self) -> None:
        """Release it, after the conversations have been closed."""
        ...


def open_shared_store(name: Secret) -> SharedStore:
    """Open the store that `name:address` names.

    Raises:
        SharedError: It cannot be reached.
    """
    store: SharedStore = require_plugin("stores", name, "OPENBOOK_SHARED_STORE")
    return store
