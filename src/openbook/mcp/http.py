"""Serves MCP over HTTP, on loopback or with API keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse

from openbook.errors import SettingsError
from openbook.server.keys import KeyStore
from openbook.server.running import browser_url, is_loopback, listen, run_server
from openbook.server.shutdown import ShutdownMiddleware

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/mcp"
"""Path of the endpoint."""


def run_http(server: MCPServer, home: Path, host: str, port: int, *, started: Callable[[str], None]) -> None:
    """Serve until a signal stops the process.

    Clients need a key of `home`, unless the server listens on loopback.
    """
    keys = None if is_loopback(host) else KeyStore(home)
    if keys is not None and not keys.all():
        raise SettingsError(
            f"on {host} everybody needs a key, and there is none", hint="make one with: openbook keys add NAME"
        )
    listener = listen(host, port)
    app: ASGIApp = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        json_response=True,
        host=host,
        transport_security=None if keys else of_this_machine(host),
    )
    address = browser_url(listener).rstrip("/") + PATH
    run_server(
        ShutdownMiddleware(app if keys is None else KeyMiddleware(app, keys)),
        listener,
        started=lambda: started(f"serving on {address} (press Ctrl-C to stop)"),
    )


def of_this_machine(host: str) -> TransportSecuritySettings:
    """Check Host and Origin (prevents DNS rebinding and CSRF)."""
    names = [*dict.fromkeys(("localhost", "127.0.0.1", "[::1]", f"[{host}]" if ":" in host else host))]
    return TransportSecuritySettings(
        allowed_hosts=[*names, *(f"{name}:*" for name in names)],
        allowed_origins=[f"http://{name}{port}" for name in names for port in ("", ":*")],
    )


class KeyMiddleware:
    """Refuse requests without a valid key."""

    def __init__(self, app: ASGIApp, keys: KeyStore) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            sent = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
            scheme, _, key = sent.partition(" ")
            if scheme.lower() != "bearer" or self._keys.find(key.strip()) is None:
                problem = {"message": "a key is needed", "hint": "send it as `Authorization: Bearer KEY`"}
                await JSONResponse({"error": problem}, 401, {"WWW-Authenticate": "Bearer"})(scope, receive, send)
                return
        await self._app(scope, receive, send)
