"""What holds for every request: an id, a host of ours, no other site behind it, a size, headers, a line in the log."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import secrets
import time
from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from openbook.server.failures import RequestRefusedError, reply_to
from openbook.server.logs import REQUEST_ID
from openbook.server.metrics import Metrics

logger = logging.getLogger(__name__)

UPLOADS = "/api/uploads"

# A question with its filters has some kilobytes.
_BODY_BYTES = 256 * 1024

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self';"
        " base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}

_READING = frozenset({"GET", "HEAD", "OPTIONS"})


class Guards:
    """Stands before the app."""

    def __init__(self, app: ASGIApp, *, hosts: Sequence[str], upload_bytes: int, metrics: Metrics) -> None:
        """Guard an app.

        Args:
            app: What answers.
            hosts: Names that the server may be asked under, besides `localhost` and addresses of numbers.
            upload_bytes: Most bytes of files in an upload.
            metrics: Where requests are counted.
        """
        self._app = app
        self._hosts = frozenset(host.lower() for host in (*hosts, "localhost"))
        self._upload_bytes = upload_bytes + _BODY_BYTES  # what surrounds the files
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        request_id = secrets.token_hex(8)
        token = REQUEST_ID.set(request_id)
        status = 499  # unless something is sent, the client has gone

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if not scope["path"].startswith("/static/"):
                    headers.setdefault("Cache-Control", "no-store")
                headers["X-Request-Id"] = request_id
            await send(message)

        try:
            await self._guarded(scope, receive, sending)
        finally:
            # The path of a route, not of the request: that has ids in it, and whatever somebody tries.
            route = getattr(scope.get("route"), "path", "none")
            self._metrics.request(scope["method"], route, status)
            caller = scope.get("state", {}).get("caller", "")
            took_ms = round((time.perf_counter() - started) * 1000, 1)
            told = {"method": scope["method"], "route": route, "status": status, "took_ms": took_ms, "caller": caller}
            logger.info("request", extra=told)
            REQUEST_ID.reset(token)

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        most = self._upload_bytes if scope["path"] == UPLOADS else _BODY_BYTES
        try:
            self._check(scope, most)
        except RequestRefusedError as exc:
            await reply_to(exc)(scope, receive, send)
            return
        body = _Body(receive, send, most)
        with contextlib.suppress(_TooLargeError):
            await self._app(scope, body.receive, body.send)
        if body.is_too_large and not body.has_begun:
            await reply_to(_too_large(most))(scope, receive, send)

    def _check(self, scope: Scope, most: int) -> None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_ours(host):
            raise RequestRefusedError(
                400, "the server is not asked under this name", hint="set OPENBOOK_SERVER_HOSTS to its names"
            )
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length) > most:
            raise _too_large(most)
        if scope["method"] not in _READING:
            _check_origin(headers, host)

    def _is_ours(self, host: str) -> bool:
        """Tell whether a name cannot be one that another site has turned to this address."""
        try:
            name = (urlsplit(f"//{host}").hostname or "").lower()
        except ValueError:
            return False
        if name in self._hosts:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def _check_origin(headers: Headers, host: str) -> None:
    """Refuse what a page of another site sends.

    A browser that sends a form for another site can set neither this header nor this type.
    """
    origin = headers.get("origin")
    foreign = origin is not None and urlsplit(origin).netloc.lower() != host.lower()
    if foreign or headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise RequestRefusedError(403, "this request comes from another site", hint="open the page of this server")
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and "x-openbook" not in headers:
        raise RequestRefusedError(403, "what changes something needs a header", hint="send `X-Openbook: 1`")


class _TooLargeError(Exception):
    """More came than a body may have."""


class _Body:
    """Counts a body while it comes, whatever length it claims to have, and keeps quiet once it is too large."""

    def __init__(self, receive: Receive, send: Send, most: int) -> None:
        self._receive = receive
        self._send = send
        self._left = most
        self.is_too_large = False
        self.has_begun = False

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                self.is_too_large = True
                raise _TooLargeError
        return message

    async def send(self, message: Message) -> None:
        if self.is_too_large and not self.has_begun:
            return
        self.has_begun = True
        await self._send(message)


def _too_large(most: int) -> RequestRefusedError:
    return RequestRefusedError(413, f"the request has more than {most:,} bytes", hint="send less at once")
