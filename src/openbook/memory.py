"""Memory that the C library keeps for later, given back to the system, and the garbage collector."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator

_is_ours = False

# As `malloc.h` of glibc has them.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


def release_memory() -> None:
    """Return freed memory to the system where the C library can. glibc keeps small pieces; this takes milliseconds."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(AttributeError, OSError):  # another C library has nothing of the kind
            ctypes.CDLL(None).malloc_trim(0)


@contextlib.contextmanager
def collection_paused() -> Iterator[None]:
    """Look for no garbage meanwhile: when many objects come that stay, looking takes longer than making them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def own_process() -> None:
    """Say that Openbook has started this process, and may set its C library, as it may not in one that imports it."""
    global _is_ours
    _is_ours = True


def reuse_memory(size_bytes: int) -> None:
    """Let the C library of a process of ours keep so much freed memory for what comes next, where it can.

    glibc does so by itself once an array of half that size has been freed. Until then, it gives back what each search
    takes, and the next one waits for the system.
    """
    if _is_ours and sys.platform == "linux":
        import ctypes

        with contextlib.suppress(AttributeError, OSError):  # another C library has nothing of the kind
            c_library = ctypes.CDLL(None)
            c_library.mallopt(_TRIM_THRESHOLD, size_bytes)
            c_library.mallopt(_MMAP_THRESHOLD, size_bytes // 2)
