"""Graceful shutdown: everything that is still waiting ends with an error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TypeVar

from openbook.server.failures import RequestRefusedError

T = TypeVar("T")


class ServerStoppedError(RequestRefusedError):
    """The server was stopped meanwhile."""

    def __init__(self) -> None:
        super().__init__(503, "the server stopped before it had answered", hint="ask again when it runs")


class ShutdownSignal:
    """Interrupts waiting when the server stops. Not thread-safe: for the event loop."""

    def __init__(self) -> None:
        self._has_come = False
        self._limits: set[asyncio.Timeout] = set()

    def stop(self) -> None:
        """Interrupt all waiting, present and future."""
        self._has_come = True
        for limit in self._limits:
            limit.reschedule(0)

    @asynccontextmanager
    async def interruptible(self) -> AsyncGenerator[None, None]:
        """Interrupt the body when the server stops."""
        limit = asyncio.timeout(0 if self._has_come else None)
        try:
            async with limit:
                self._limits.add(limit)
                try:
                    yield
                finally:
                    self._limits.discard(limit)
        except TimeoutError:
            if not limit.expired():
                raise
            raise ServerStoppedError from None

    async def next(self, events: AsyncGenerator[T, None]) -> T | None:
        """Wait for the next event, unless the server stops; None after the last."""
        async with self.interruptible():
            return await anext(events, None)
