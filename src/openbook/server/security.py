"""Security middleware: request ids, allowed hosts (DNS rebinding), origins (CSRF), body limits, headers, access log."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import re
import secrets
import time
from collections.abc import Sequence
from urllib.parse import urlsplit

from fastapi import Request, Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from openbook.errors import OpenbookError
from openbook.server.auth import Authenticator
from openbook.server.failures import RequestRefusedError, error_response
from openbook.server.logs import REQUEST_ID
from openbook.server.metrics import Metrics
from openbook.server.question_images import MAX_BODY_BYTES, QUESTIONS
from openbook.server.shutdown import ShutdownMiddleware

_logger = logging.getLogger(__name__)

UPLOADS = "/api/uploads"

# A question with its filters takes some kilobytes.
_BODY_BYTES = 256 * 1024

# More digits cannot be an accepted length, and Python refuses to parse thousands of them.
_LENGTH_DIGITS = 18

# Timeout without data, because a silent client blocks a connection. Uploads over a bad line come in bursts.
_SILENCE_S = 30.0

# Enough for 40 MB from a proxy, or over a good line. A client that has stopped sending has closed its connection.
_LINGER_S = 5.0

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self';"
        " base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
        "; require-trusted-types-for 'script'; trusted-types openbook"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}

# Nginx's log status for a request that the client closed.
_GONE = 499

_READING = frozenset({"GET", "HEAD", "OPTIONS"})

# Other methods are counted together: a label per arbitrary value would fill the memory.
_METHODS = _READING | {"POST", "PUT", "PATCH", "DELETE"}

_HOST = re.compile(r"(?P<name>[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?", re.IGNORECASE)


class SecurityMiddleware:
    """Checks every request before the app sees it, and logs its reply."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        authenticator: Authenticator,
        hosts: Sequence[str],
        upload_bytes: int,
        metrics: Metrics,
        takes_images: bool = True,
        silence_s: float = _SILENCE_S,
    ) -> None:
        """Wrap an app. Allowed hosts are `hosts`, `localhost` and all IP addresses."""
        self._app = app
        self._authenticator = authenticator
        self._silence_s = silence_s
        self._hosts = frozenset(host.lower() for host in (*hosts, "localhost"))
        self._upload_bytes = upload_bytes + _BODY_BYTES  # allows for the form fields around the files
        self._metrics = metrics
        self._question_bytes = MAX_BODY_BYTES if takes_images else _BODY_BYTES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        scope.setdefault("state", {})["arrived_s"] = started  # reference of all timings of an answer
        method = scope["method"] if scope["method"] in _METHODS else "other"
        if method == "HEAD":  # handled as GET; the HTTP server omits the body
            scope = {**scope, "method": "GET"}
        request_id = secrets.token_hex(8)
        token = REQUEST_ID.set(request_id)
        status = _GONE  # unless a response is sent

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                # Files under a URL without a version are revalidated each time, because files of different versions do
                # not fit together.
                is_part = scope["path"].startswith("/static/")
                headers.setdefault("Cache-Control", "no-cache" if is_part else "no-store")
                headers["X-Request-Id"] = request_id
            await send(message)

        try:
            await ShutdownMiddleware(self._guarded)(scope, receive, sending)
        finally:
            # The path of the route, not of the request, which contains ids and arbitrary input.
            route = getattr(scope.get("route"), "path", "none")
            self._metrics.request(method, route, status)
            caller = scope.get("state", {}).get("caller", "")
            took_ms = round((time.perf_counter() - started) * 1000, 1)
            record = {"method": method, "route": route, "status": status, "took_ms": took_ms, "caller": caller}
            _logger.info("request", extra=record)
            REQUEST_ID.reset(token)

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        most = self._upload_bytes if path == UPLOADS else self._question_bytes if path in QUESTIONS else _BODY_BYTES
        try:
            self._check(scope, most)
            if (
                self._authenticator.needs_key and most > _BODY_BYTES and _is_large(scope)
            ):  # no body of an unauthenticated client is read
                caller = await asyncio.to_thread(self._authenticator.caller, Request(scope), Response())
                caller.check("editor" if path == UPLOADS else "reader")
        except OpenbookError as exc:
            await _refuse(exc, scope, receive, send)
            return
        body = _Body(receive, send, most, self._silence_s)
        with contextlib.suppress(_NotReadError):
            await self._app(scope, body.receive, body.send)
        if body.refusal and not body.has_begun:
            await _refuse(body.refusal, scope, receive, send)

    def _check(self, scope: Scope, most: int) -> None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_ours(host):
            raise RequestRefusedError(
                400, "this host name is not allowed", hint="set OPENBOOK_SERVER_HOSTS to its names"
            )
        length = headers.get("content-length", "0")
        if "transfer-encoding" in headers and "content-length" in headers:
            # A proxy that uses the other length takes part of the body for the next request (request smuggling).
            raise RequestRefusedError(400, "the request has two lengths", hint="send one of them")
        if length.isdecimal() and (len(length) > _LENGTH_DIGITS or int(length) > most):
            raise _too_large(most)
        if scope["method"] not in _READING:
            _check_origin(headers, host)

    def _is_ours(self, host: str) -> bool:
        """Check the Host header (prevents DNS rebinding: another site may point its name at this address)."""
        match = _HOST.fullmatch(host)
        name = match["name"].lower() if match else ""
        if name in self._hosts:
            return True
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True


async def _refuse(error: OpenbookError, scope: Scope, receive: Receive, send: Send) -> None:
    """Send an error, discard what still arrives of the body, and close the connection.

    A connection that is closed while a body is sent loses the error, and nginx takes the server for a stopped one.
    """
    reply = error_response(error)
    reply.headers["Connection"] = "close"

    async def lingering(message: Message) -> None:
        if message["type"] == "http.response.body":
            await send({**message, "more_body": True})
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LINGER_S):
                    while (await receive()).get("more_body"):
                        pass
            message = {"type": "http.response.body"}
        await send(message)

    await reply(scope, receive, lingering)


def _is_large(scope: Scope) -> bool:
    """Return whether a body may exceed the size of a text question; bodies without a length may."""
    length = Headers(scope=scope).get("content-length", "")
    return not length.isdecimal() or int(length) > _BODY_BYTES or scope["path"] == UPLOADS


def _check_origin(headers: Headers, host: str) -> None:
    """Reject requests from pages of other sites (CSRF).

    A form of another site can set neither this header nor this type.
    """
    origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
    if (origin is not None and _host_of(origin) != host.lower()) or site not in ("same-origin", "none"):
        raise RequestRefusedError(403, "this request comes from another site", hint="open the page of this server")
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and "x-openbook" not in headers:
        raise RequestRefusedError(
            403,
            "a request that changes something needs a header",
            hint="send JSON as `Content-Type: application/json`, else `X-Openbook: 1`",
        )


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


class _NotReadError(Exception):
    """A body was not read to its end: it did not arrive in time, or is too large."""


class _Body:
    """Counts the bytes of a body as it is read, whatever its Content-Length, and discards a rejected one."""

    def __init__(self, receive: Receive, send: Send, most: int, silence_s: float) -> None:
        self._receive = receive
        self._send = send
        self._most = most
        self._count = 0
        self._silence_s: float | None = silence_s
        self.refusal: RequestRefusedError | None = None
        self.has_begun = False

    async def receive(self) -> Message:
        try:
            async with asyncio.timeout(self._silence_s):
                message = await self._receive()
        except TimeoutError:
            self.refusal = RequestRefusedError(408, "the rest of the request did not arrive", hint="send it again")
            raise _NotReadError from None
        if message["type"] == "http.request":
            self._count += len(message.get("body", b""))
            if self._count > self._most:
                self.refusal = _too_large(self._most)
                raise _NotReadError
            if not message.get("more_body"):
                self._silence_s = None  # only the disconnect can follow, which may take long
        return message

    async def send(self, message: Message) -> None:
        if self.refusal and not self.has_begun:
            return
        self.has_begun = True
        await self._send(message)


def _too_large(most: int) -> RequestRefusedError:
    return RequestRefusedError(413, f"the request has more than {most:,} bytes", hint="send less at once")
