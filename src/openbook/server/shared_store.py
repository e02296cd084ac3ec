"""What several servers share, in a store that a plugin brings: conversations, limits, logins, news of running work."""

from __future__ import annotations

from typing import Protocol

from openbook.plugins import require_plugin
from openbook.server.limits import Limits
from openbook.server.logins import Logins
from openbook.server.shared_work import SharedWork
from openbook.sessions.protocol import Sessions
from openbook.settings import Secret, Settings


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
        SettingsError: There is no such store, or the address means nothing to it.
        SharedError: It cannot be reached.
        MissingExtraError, PluginError: A package for it is not installed, or failed.
    """
    store: SharedStore = require_plugin("stores", name, "OPENBOOK_SHARED_STORE")
    return store
