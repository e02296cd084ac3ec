"""Libraries in LanceDB, for several machines: the engine `lance`, loaded only where an address names it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from pathlib import Path
from types import ModuleType

from openbook.errors import MissingExtraError, SettingsError
from openbook.index.protocol import Index, IndexIdentity, Source
from openbook.integrations.memory_cache import CACHE_BYTES

# `M_ARENA_MAX` in malloc.h.
_ARENA_MAX = -8


class LanceEngine:
    """Libraries as tables of one LanceDB database, in a folder or on object storage. Implements `CachingEngine`."""

    def __init__(self, address: str) -> None:
        """Take a folder, or an address such as `s3://bucket/folder`. Nothing is opened yet.

        Raises:
            SettingsError: The address names no folder and no bucket.
        """
        scheme, separator, rest = address.partition("://")
        if not address or (separator and not (scheme and rest.strip("/"))):
            raise SettingsError(
                f"{address!r} names no bucket", hint="set OPENBOOK_STORAGE to lance:FOLDER or lance:s3://bucket/folder"
            )
        self.cache: Path | None = None
        self.cache_bytes = CACHE_BYTES
        self.address: str = address.rstrip("/") if separator else str(Path(address).expanduser().absolute())

    def open(self, name: str, identity: IndexIdentity, *, lock_timeout_s: float) -> Index:
        """Open a library, making it if there is none."""
        _lance_tables()
        from openbook.integrations.lance import LanceIndex

        return LanceIndex(
            self._uri(name), identity, lock_timeout_s=lock_timeout_s, cache=self.cache, cache_bytes=self.cache_bytes
        )

    def names(self) -> list[str]:
        """List the libraries, in order."""
        found: list[str] = _lance_tables().names_at(self.address)
        return found

    def sources(self, name: str) -> list[Source]:
        """Return the sources of a library that may be unusable otherwise, by name; [] if it tells none."""
        found: list[Source] = _lance_tables().stored_table_sources(self._uri(name))
        return found

    def remove(self, name: str) -> None:
        """Delete a library. None there is no error."""
        _lance_tables().remove_tables(self._uri(name))
        if self.cache:
            from openbook.integrations.lance_cache import LocalCache

            LocalCache(self.cache, self._uri(name)).remove()

    def _uri(self, name: str) -> str:
        return f"{self.address}/{name}"


def _share_one_arena() -> None:
    """Have all threads take their memory from one place, where the C library can be told so.

    Each thread of LanceDB keeps what it has freed otherwise: 40 MiB of a reader of a million chunks
    (`benchmarks.reader_memory`). A search takes no longer.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


def _lance_tables() -> ModuleType:
    """Import what knows LanceDB, which takes half a second."""
    os.environ.setdefault("LANCEDB_LOG", "error")  # read when it is imported; it logs every commit otherwise
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # so, too: its own pool keeps what was freed
    if sys.platform == "linux" and "lancedb" not in sys.modules and "MALLOC_ARENA_MAX" not in os.environ:
        _share_one_arena()
    try:
        from openbook.integrations import lance_tables
    except ModuleNotFoundError as exc:
        raise MissingExtraError(f"{exc.name} is not installed", hint="pip install 'openbook[lance]'") from exc
    return lance_tables
