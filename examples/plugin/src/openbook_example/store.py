"""A store: conversations and logins in one folder, for servers of one machine that have a home each."""

from contextlib import ExitStack, closing
from pathlib import Path

from openbook.errors import SharedError
from openbook.server.keys import KeyStore
from openbook.server.limits import Limits, MemoryLimits
from openbook.server.logins import Logins, SqliteLogins
from openbook.sessions.protocol import Sessions
from openbook.sessions.sqlite import SqliteSessions
from openbook.settings import Settings


class FolderStore:
    """Used as `OPENBOOK_SHARED_STORE=folder:/srv/openbook`."""

    def __init__(self, address: str) -> None:
        self.folder, self.opened = Path(address), ExitStack()
        self.check()

    def sessions(self, expire_s: float) -> Sessions:
        """Return the conversations of all servers."""
        return SqliteSessions(self.folder / "sessions.sqlite", expire_s=expire_s)

    def limits(self, settings: Settings) -> Limits:
        """Return the limits of one server: here they are not shared."""
        return MemoryLimits(self.opened.enter_context(closing(KeyStore(settings.home))), settings)

    def logins(self) -> Logins:
        """Return the logins of browsers at all servers."""
        return SqliteLogins(self.opened.enter_context(closing(KeyStore(self.folder))))

    def work(self) -> None:
        """Share no running answers and jobs: each server knows its own."""

    def check(self) -> None:
        """Raise an error if the folder is not there."""
        if not self.folder.is_dir():
            raise SharedError(
                f"there is no folder {str(self.folder)!r}", hint="make it, or unset OPENBOOK_SHARED_STORE"
            )

    def close(self) -> None:
        """Release what was opened. The server closes the conversations itself."""
        self.opened.close()
