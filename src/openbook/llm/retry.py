"""Retries with backoff, and deadlines, for model calls."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from openbook.errors import ModelError, OverloadedError, RateLimitedError, TimedOutError, UnreachableError


async def async_sleep(seconds: float) -> None:
    """Sleep without blocking."""
    import asyncio

    await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often a call is retried, and after which pauses."""

    pauses_s: tuple[float, ...] = (1.0, 2.0, 4.0)
    """Pauses before the second, third and fourth attempt, with a jitter of a quarter. Empty: one attempt."""
    max_wait_s: float = 30.0
    """If a provider asks for a longer wait, the call fails with that time in the error."""
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    asleep: Callable[[float], Awaitable[None]] = async_sleep
    random: Callable[[], float] = random.random


@dataclass(slots=True)
class RetryState:
    """The retry state of one call."""

    retries: RetryPolicy
    deadline_s: float
    """Seconds for all attempts."""
    streaming: bool = False
    """Whether part of the reply has arrived. From then on there are no retries."""
    _tries: int = 0
    _started_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._started_at = self.retries.clock()

    @property
    def left_s(self) -> float:
        """Seconds until the deadline; 0 after it."""
        return max(0.0, self._started_at + self.deadline_s - self.retries.clock())

    def pause_s(self, error: ModelError) -> float:
        tried, self._tries = self._tries, self._tries + 1
        if self.streaming or tried >= len(self.retries.pauses_s) or not is_passing(error):
            raise error
        wait = self.retries.pauses_s[tried] * (0.75 + self.retries.random() / 2)
        asked = error.retry_after_s
        if asked:  # zero or a past time counts as no wait
            wait = asked
        if wait >= self.left_s or (asked or 0.0) > self.retries.max_wait_s:
            raise error
        return wait


def is_passing(error: ModelError) -> bool:
    """Return whether an error is transient: no connection, 408, 409, 429, 5xx and 529."""
    if isinstance(error, TimedOutError):
        return error.status is not None  # without a status it is our own deadline
    return isinstance(error, UnreachableError | RateLimitedError | OverloadedError)


def retry_after_s(headers: Mapping[str, str], *, now: Callable[[], float] = time.time) -> float | None:
    """Parse the requested wait in seconds, from headers with lower-case names.

    None without such a header, or if it cannot be parsed.

    Example:
        >>> retry_after_s({"retry-after": "7"})
        7.0
        >>> retry_after_s({"retry-after-ms": "250", "retry-after": "1"})
        0.25
        >>> retry_after_s({"retry-after": "Thu, 01 Jan 1970 00:01:00 GMT"}, now=lambda: 48.0)
        12.0
    """
    from email.utils import parsedate_to_datetime

    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / scale
        except ValueError:
            continue
        return seconds if 0 <= seconds < float("inf") else None
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - now())
    except ValueError:
        return None
