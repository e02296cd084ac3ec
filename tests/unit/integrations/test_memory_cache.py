"""A cache in memory that is as large as it may be, and no larger."""

from __future__ import annotations

from openbook.integrations.memory_cache import MemoryCache


class Reading:
    """Doubles each key, and notes what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, keys: list[str]) -> list[str]:
        self.asked.append(keys)
        return [2 * key for key in keys]


def test_what_is_kept_is_not_read_again() -> None:
    cache, read = MemoryCache[str, str](100, len), Reading()

    assert cache.found(["a", "b", "a"], read) == {"a": "aa", "b": "bb"}
    assert cache.found(["b", "c"], read) == {"b": "bb", "c": "cc"}
    assert cache.found(["a", "b", "c"], read) == {"a": "aa", "b": "bb", "c": "cc"}
    assert read.asked == [["a", "b"], ["c"]]
    assert cache.size_bytes == 6


def test_what_was_asked_for_longest_ago_goes_first() -> None:
    cache, read = MemoryCache[str, str](6, len), Reading()
    cache.found(["a", "b", "c"], read)
    cache.found(["a"], read)
    cache.found(["d"], read)

    cache.found(["a", "c", "d"], read)
    cache.found(["b"], read)

    assert read.asked == [["a", "b", "c"], ["d"], ["b"]]
    assert cache.size_bytes == 6


def test_more_than_can_be_kept_is_found_all_the_same() -> None:
    cache, read = MemoryCache[str, str](3, len), Reading()

    assert cache.found(["a", "b", "c"], read) == {"a": "aa", "b": "bb", "c": "cc"}
    assert cache.size_bytes == 2
    assert cache.found(["long"], read) == {"long": "longlong"}
    assert cache.size_bytes == 0


def test_what_is_cleared_is_read_again() -> None:
    cache, read = MemoryCache[str, str](100, len), Reading()
    cache.found(["a"], read)
    cache.clear()

    assert cache.size_bytes == 0
    assert cache.found(["a"], read) == {"a": "aa"}
    assert read.asked == [["a"], ["a"]]
