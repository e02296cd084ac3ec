"""Graceful shutdown: everything that is still waiting ends with an error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from openbook.server.failures import RequestRefusedError, error_response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

T = TypeVar("T")


class ServerStoppedError(RequestRefusedError):
    """The server was stopped meanwhile."""

    def __init__(self) -> None:
        super().__init__(503, "the server stopped before it had answered", hint="ask again when it runs")


class ShutdownMiddleware:
    """Sends an error for a request that the shutdown cancels before its response.

    Raised further, the cancellation would be logged as a crash.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = scope["type"] != "http"

        async def sending(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except asyncio.CancelledError:
            if not has_begun:
                await error_response(ServerStoppedError())(scope, receive, send)


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
