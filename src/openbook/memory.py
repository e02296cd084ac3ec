"""Memory management: returns freed memory to the system, and pauses the garbage collector."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator

_is_ours = False

# Constants from `malloc.h` of glibc.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


def release_memory() -> None:
    """Return freed memory to the system if the C library supports it. Takes milliseconds. glibc keeps small pieces."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(AttributeError, OSError):  # not glibc
            ctypes.CDLL(None).malloc_trim(0)


@contextlib.contextmanager
def collection_paused() -> Iterator[None]:
    """Pause garbage collection. If many long-lived objects are created, it takes longer than creating them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def own_process() -> None:
    """Declare that Openbook owns this process, so that it may configure the C library."""
    global _is_ours
    _is_ours = True


def reuse_memory(size_bytes: int) -> None:
    """Let the C library of our own process keep this much freed memory for reuse, if it can.

    glibc does so by itself once an array of half that size has been freed. Until then, every search returns
    its memory, and the next one has to request it again.
    """
    if _is_ours and sys.platform == "linux":
        import ctypes

        with contextlib.suppress(AttributeError, OSError):  # not glibc
            c_library = ctypes.CDLL(None)
            c_library.mallopt(_TRIM_THRESHOLD, size_bytes)
            c_library.mallopt(_MMAP_THRESHOLD, size_bytes // 2)
