"""Deadlines and limits of connections, against clients that hold them open by sending slowly (slowloris)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

# Maximum open connections. Each takes a file descriptor and about 30 KB.
_MAX_CONNECTIONS = 4_096

# File descriptors for everything else: libraries, worker processes, logs, models.
_SPARE_FILES = 256

_LOG_EVERY_S = 10.0

_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits on the number of open connections and on slow senders."""

    most: int = _MAX_CONNECTIONS
    """Maximum open connections. Excess ones are closed at once."""
    headers_s: float = 15.0
    """Seconds from the first byte, or from the connection, until the headers are complete."""
    pause_s: float = 15.0
    """Seconds within which at least `pause_bytes` of a body must arrive."""
    pause_bytes: int = 15_000


class LimitedProtocol(H11Protocol):
    """Uvicorn's HTTP protocol with deadlines for requests. Connections over the limit are closed at once."""

    def __init__(self, *args: Any, limits: ConnectionLimits, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._limits = limits
        self._deadline: asyncio.TimerHandle | None = None
        self._received_bytes = 0
        self._is_body = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the deadline of the headers."""
        super().connection_made(transport)
        if len(self.connections) > self._limits.most:
            transport.abort()
            return
        self._wait(self._limits.headers_s, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadline."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Keep a deadline while headers or body are incomplete.

        The deadline of the headers is fixed. That of the body is extended whenever enough bytes arrive within it.
        """
        self._received_bytes += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            self._stop_waiting()
        elif self.conn.their_state is h11.IDLE:
            self._is_body = False
            if self._deadline is None and self.conn.trailing_data[0]:
                self._wait(self._limits.headers_s, self._give_up)
        elif self.conn.their_state is h11.SEND_BODY:
            if not self._is_body:
                self._is_body = True
                self._wait_for_body()
        else:
            self._is_body = False
            self._stop_waiting()

    def _wait_for_body(self) -> None:
        before = self._received_bytes

        def check() -> None:
            is_slow = self._received_bytes - before < self._limits.pause_bytes
            if is_slow and not self.flow.read_paused:  # otherwise the app is slow to read
                self._give_up()
            else:
                self._wait_for_body()

        self._wait(self._limits.pause_s, check)

    def _wait(self, seconds: float, then: Callable[[], None]) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(seconds, then)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        cycle = cast("RequestResponseCycle | None", self.cycle)
        if cycle is None or cycle.response_complete:
            self.transport.write(_LATE)
        self.transport.close()


def raise_file_limit() -> int:
    """Raise the limit of open files to what the maximum number of connections needs, if possible.

    Returns:
        The number of connections that fit.
    """
    try:
        import resource
    except ModuleNotFoundError:  # Windows has no such limit
        return _MAX_CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MAX_CONNECTIONS + _SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        target = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MAX_CONNECTIONS if soft == resource.RLIM_INFINITY else max(1, min(_MAX_CONNECTIONS, soft - _SPARE_FILES))


def throttled_handler() -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """Return an exception handler for asyncio that repeats an error at most every ten seconds.

    Without descriptors, asyncio would report thousands of failed accepts per second.
    """
    logged: dict[str, float] = {}

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        message = str(context.get("message", ""))
        now = time.monotonic()
        if now - logged.get(message, -_LOG_EVERY_S) < _LOG_EVERY_S:
            return
        logged[message] = now
        exc = context.get("exception")
        logging.getLogger("asyncio").error(message, exc_info=exc if isinstance(exc, BaseException) else None)

    return handle
