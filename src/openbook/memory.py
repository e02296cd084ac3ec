"""Memory that the C library keeps for later, given back to the system."""

from __future__ import annotations

import contextlib
import sys


def release_memory() -> None:
    """Return freed memory to the system where the C library can. glibc keeps small pieces; this takes milliseconds."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(AttributeError, OSError):  # another C library has nothing of the kind
            ctypes.CDLL(None).malloc_trim(0)
