"""The engine `lance`: libraries in LanceDB, for several machines. Loaded only if an address names it."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from openbook.errors import MissingExtraError, SettingsError
from openbook.index.protocol import Index, IndexIdentity, Source
from openbook.integrations.memory_cache import CACHE_BYTES

# `M_ARENA_MAX` in malloc.h.
_ARENA_MAX = -8

# LanceDB imports this client, but uses it only for remote catalogues. It takes more than half of LanceDB's import time,
# and 19 MiB.
_CLIENT = "lance_namespace_urllib3_client"


class LanceEngine:
    """Libraries as tables of one LanceDB database, in a folder or on object storage. Implements `CachingEngine`."""

    def __init__(self, address: str) -> None:
        """Take a folder, or an address such as `s3://bucket/folder`. Nothing is opened yet.

        Raises:
            SettingsError: The address contains no folder or bucket.
        """
        scheme, separator, rest = address.partition("://")
        if not address or (separator and not (scheme and rest.strip("/"))):
            raise SettingsError(
                f"OPENBOOK_STORAGE names no folder or bucket: 'lance:{address}'",
                hint="set OPENBOOK_STORAGE to lance:FOLDER or lance:s3://bucket/folder",
            )
        self.cache: Path | None = None
        self.cache_bytes = CACHE_BYTES
        self.address: str = address.rstrip("/") if separator else str(Path(address).expanduser().absolute())

    def open(self, name: str, identity: IndexIdentity, *, lock_timeout_s: float) -> Index:
        _lance_tables()
        from openbook.integrations.lance import LanceIndex

        return LanceIndex(
            self._uri(name), identity, lock_timeout_s=lock_timeout_s, cache=self.cache, cache_bytes=self.cache_bytes
        )

    def names(self) -> list[str]:
        found: list[str] = _lance_tables().names_at(self.address)
        return found

    def sources(self, name: str) -> list[Source]:
        found: list[Source] = _lance_tables().stored_table_sources(self._uri(name))
        return found

    def remove(self, name: str) -> None:
        _lance_tables().remove_tables(self._uri(name))
        from openbook.integrations.lance_published import PublishedStates

        PublishedStates(self._uri(name)).remove()
        if self.cache:
            from openbook.integrations.lance_cache import LocalCache

            LocalCache(self.cache, self._uri(name)).remove()

    def _uri(self, name: str) -> str:
        return f"{self.address}/{name}"


def _share_one_arena() -> None:
    """Make all threads share one malloc arena, if the C library supports it.

    Otherwise each thread of LanceDB retains freed memory: 40 MiB in a reader of a million chunks
    (`benchmarks.reader_memory`). Searches are not slower.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


class _Deferred(type):
    """A client class that is imported on first use."""

    def _real(cls) -> Any:
        _DeferredClient.end()
        return getattr(importlib.import_module(cls.__module__), cls.__name__)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls._real()(*args, **kwargs)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):  # inspection of annotations asks for these
            raise AttributeError(name)
        return getattr(cls._real(), name)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls._real())


class _DeferredClient(MetaPathFinder, Loader):
    """Finds client modules, and fills them with deferred classes."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        is_of_client = fullname.partition(".")[0] == _CLIENT
        return ModuleSpec(fullname, self, is_package=True) if is_of_client else None

    def exec_module(self, module: ModuleType) -> None:
        def deferred(name: str) -> type:
            if name.startswith("__"):
                raise AttributeError(name)
            return _Deferred(name, (), {"__module__": module.__name__})

        module.__dict__["__getattr__"] = deferred

    @classmethod
    def end(cls) -> None:
        """Stop deferring: the real client can be imported from now on."""
        sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, cls)]
        for name, module in [*sys.modules.items()]:
            if name.partition(".")[0] == _CLIENT and isinstance(module.__loader__, cls):
                del sys.modules[name]


def _lance_tables() -> ModuleType:
    """Import the LanceDB code, which takes a quarter of a second."""
    os.environ.setdefault("LANCEDB_LOG", "error")  # read at import; by default it logs every commit
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # likewise; its own pool retains freed memory
    if sys.platform == "linux" and "lancedb" not in sys.modules and "MALLOC_ARENA_MAX" not in os.environ:
        _share_one_arena()
    if "lancedb" not in sys.modules and _CLIENT not in sys.modules:
        sys.meta_path.insert(0, _DeferredClient())
    try:
        from openbook.integrations import lance_tables
    except ModuleNotFoundError as exc:
        raise MissingExtraError(f"{exc.name} is not installed", hint="pip install 'openbook[lance]'") from exc
    finally:
        _DeferredClient.end()
    return lance_tables
