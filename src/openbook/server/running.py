"""Runs the app under Uvicorn: socket, logging and graceful shutdown."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import cast

import uvicorn
from starlette.types import ASGIApp

from openbook.errors import SettingsError
from openbook.server.connections import ConnectionLimits, LimitedProtocol, raise_file_limit, throttled_handler
from openbook.server.logs import log_as_json

# Time for running requests at shutdown; then their model calls are cancelled.
_GRACE_S = 5

# Time after that for sending the errors.
_ERROR_GRACE_S = 1

# Idle connections. Longer than proxies keep them (nginx and AWS 60 s): a question that is sent while the server closes
# its connection is lost, and nginx then takes the server for a stopped one.
_IDLE_S = 75

# The backlog of connections that wait to be accepted.
_BACKLOG = 512


def is_loopback(host: str) -> bool:
    """Return whether an address can only be reached from this machine.

    Example:
        >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("example.org")
        (True, True, False, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """Bind an address before anything is indexed. Port 0 selects a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With an explicit protocol, asyncio disables Nagle's algorithm, which would delay each reply by 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # On Windows, REUSEADDR would let another program bind the same address.
        exclusive = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
        listener.setsockopt(socket.SOL_SOCKET, exclusive, 1)
        listener.bind((host.strip("[]"), port))
    except (OSError, OverflowError) as exc:
        listener.close()
        reason = getattr(exc, "strerror", None) or str(exc)
        raise SettingsError(
            f"cannot listen on {host} port {port}: {reason}", hint="choose another one with --host and --port"
        ) from exc
    return listener


def browser_url(listener: socket.socket) -> str:
    """Return the address to open in a browser."""
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/"


def run_server(
    app: ASGIApp,
    listener: socket.socket,
    *,
    started: Callable[[], None] = lambda: None,
    stopping: Callable[[], None] = lambda: None,
) -> None:
    """Serve until a signal stops the process. Then finish running requests, or cancel them after some seconds.

    After a second Ctrl-C they get an error at once. A third one ends the process, even if the shutdown hangs.
    """
    log_as_json()
    Server(app, started=started, stopping=stopping).run(sockets=[listener])


class Server(uvicorn.Server):
    """Uvicorn with a startup callback and a clean exit."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        grace_s: int = _GRACE_S,
        started: Callable[[], None] = lambda: None,
        stopping: Callable[[], None] = lambda: None,
        limits: ConnectionLimits | None = None,
    ) -> None:
        limits = limits or ConnectionLimits(most=raise_file_limit())
        config = uvicorn.Config(
            app,
            http=cast("type[asyncio.Protocol]", partial(LimitedProtocol, limits=limits)),
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=_BACKLOG,
            timeout_keep_alive=_IDLE_S,
            timeout_graceful_shutdown=grace_s + _ERROR_GRACE_S,
        )
        super().__init__(config)
        self._tell = started
        self._grace_s = grace_s
        self._stop = stopping
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(throttled_handler())
        await super().startup(sockets)
        if self.started:
            self._tell()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting requests, and wait for running ones."""
        ending = asyncio.get_running_loop().call_later(self._grace_s, self._stop)
        try:
            await super().shutdown(sockets)
        finally:
            ending.cancel()
        if self.force_exit:  # Uvicorn leaves everything open, and the end of the event loop would log tracebacks
            if tasks := self.server_state.tasks.copy():
                await asyncio.wait(tasks, timeout=2 * _ERROR_GRACE_S)
            await self.lifespan.shutdown()

    def _end_requests(self) -> None:
        """Send errors now. What cannot be interrupted is cancelled a second later, and then sends its error."""
        self._stop()
        for task in self.server_state.tasks:
            asyncio.get_running_loop().call_later(_ERROR_GRACE_S, task.cancel)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Start the shutdown. Uvicorn would raise the signal again at the end, which looks like a crash."""
        if self.force_exit:
            os._exit(128 + sig)
        self.force_exit = self.should_exit
        self.should_exit = True
        if self.force_exit and self._loop is not None:
            self._loop.call_soon_threadsafe(self._end_requests)
