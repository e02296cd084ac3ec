"""A size-limited cache, so that the memory of a reader does not grow with its library."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

CACHE_BYTES = 32 * 1024 * 1024
"""Default of the setting `storage_cache_bytes`."""

Key = TypeVar("Key")
Value = TypeVar("Value")


class MemoryCache(Generic[Key, Value]):
    """An LRU cache, limited by the total bytes of its values. Not thread-safe."""

    def __init__(self, max_bytes: int, size_of: Callable[[Value], int]) -> None:
        self._max_bytes = max_bytes
        self._size_of = size_of
        self._kept: dict[Key, tuple[Value, int]] = {}
        self.size_bytes = 0
        """Current size of the values."""

    def found(self, keys: Sequence[Key], read: Callable[[list[Key]], Iterable[Value]]) -> dict[Key, Value]:
        """Return the values of keys.

        They may exceed the capacity. `read` is called once with the missing ones, if any, and returns their values in
        order.
        """
        wanted = dict.fromkeys(keys)
        missing = [key for key in wanted if key not in self._kept]
        found = {key: self._kept.pop(key) for key in wanted if key in self._kept}
        if missing:
            found |= {key: (value, self._size_of(value)) for key, value in zip(missing, read(missing), strict=True)}
            self.size_bytes += sum(found[key][1] for key in missing)
        self._kept |= found  # last, so they stay longest
        while self.size_bytes > self._max_bytes:
            oldest = next(iter(self._kept))
            self.size_bytes -= self._kept.pop(oldest)[1]
        return {key: value for key, (value, _) in found.items()}

    def clear(self) -> None:
        self._kept.clear()
        self.size_bytes = 0


def bytes_of(values: Iterable[object]) -> int:
    """Return the memory size of strings and bytes."""
    return sum(map(sys.getsizeof, values))
