"""Builds SDK clients with safe proxies, redirects and headers."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from openbook.errors import SettingsError
from openbook.llm.providers import Provider
from openbook.settings import Secret

if TYPE_CHECKING:
    import ssl

_THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})

# Anthropic's SDK reads the proxy variables itself, ignoring `trust_env`.
_NO_PROXY = {"all://": None, "http://": None, "https://": None}

# What a request knows of its time.
_BEGAN_S = "openbook_began_s"

_PROXY_HINT = (
    "correct or unset HTTPS_PROXY, HTTP_PROXY and ALL_PROXY;"
    " a SOCKS proxy is written socks5://host:port and needs: pip install 'httpx2[socks]'"
)


def make_client(sdk: ModuleType, kind: str, provider: Provider, key: Secret, *, blocking: bool) -> Any:
    """Build a client for a provider. Nothing is sent yet.

    It follows no redirects, which would send sources to any address in the reply. Local servers are contacted without a
    proxy.
    """
    over = sdk.DefaultHttpxClient if blocking else sdk.DefaultAsyncHttpxClient
    way: dict[str, Any] = {"verify": _tls(), "follow_redirects": False}
    if blocking:  # async calls are cancelled at their deadline
        way["event_hooks"] = {"request": [_begin], "response": [_cut_at_deadline]}
    if urlsplit(provider.url).hostname in _THIS_MACHINE:
        way |= {"trust_env": False, "mounts": _NO_PROXY}
    try:
        http_client = over(**way)
    except (ImportError, ValueError, _invalid_url()):
        # Without details, which may quote part of a password.
        raise SettingsError("a proxy that the environment names cannot be used", hint=_PROXY_HINT) from None
    options = {"base_url": provider.url, "max_retries": 0, "http_client": http_client}
    client = getattr(sdk, kind)(api_key=key.reveal(), **options)
    if provider.name != sdk.__name__:
        # The SDKs read these from variables meant for their own provider, such as OPENAI_CUSTOM_HEADERS and
        # OPENAI_ORG_ID. They may contain tokens, even one that is sent in place of the key.
        client.organization = client.project = None
        client._custom_headers = {}  # noqa: SLF001 - there is no other way past the variable
    return client


@cache
def _tls() -> ssl.SSLContext:
    # Cached: reading all certificates of the machine takes 40 ms.
    import httpx2

    try:
        return httpx2.create_ssl_context()
    except OSError as exc:
        raise SettingsError(
            f"the certificates to trust cannot be read: {exc.strerror or exc}",
            hint="correct or unset SSL_CERT_FILE and SSL_CERT_DIR",
        ) from exc


def _begin(request: Any) -> None:
    request.extensions[_BEGAN_S] = time.monotonic()


def _cut_at_deadline(response: Any) -> None:
    """End a response when the time for a read has passed since the request, however much of it is still to come.

    A read has its own timeout, but a server that sends a byte every minute never exceeds it: in a stream, in what the
    SDK reads of an error, or in a reply that is no stream. Shutting down the socket ends the blocked read.
    """
    stream = response.extensions.get("network_stream")
    connection = stream.get_extra_info("socket") if stream is not None else None
    limit_s = response.request.extensions.get("timeout", {}).get("read")
    if limit_s is None or not isinstance(connection, socket.socket):
        return
    left_s = limit_s - (time.monotonic() - response.request.extensions[_BEGAN_S])
    timer = threading.Timer(max(0.0, left_s), _shut, [connection])
    timer.daemon = True
    timer.start()
    response.stream = _timed_stream()(response.stream, timer)


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # closed in the meantime
        socket.socket.shutdown(connection, socket.SHUT_RDWR)  # below TLS, which would send a close notification


@cache
def _timed_stream() -> Any:
    import httpx2

    class TimedStream(httpx2.SyncByteStream):
        """A body whose timer ends with it, because another response may use its connection next."""

        def __init__(self, body: httpx2.SyncByteStream, timer: threading.Timer) -> None:
            self._body = body
            self._timer = timer

        def __iter__(self) -> Iterator[bytes]:
            yield from self._body

        def close(self) -> None:
            self._timer.cancel()
            self._body.close()

    return TimedStream


def _invalid_url() -> type[Exception]:
    import httpx2

    return httpx2.InvalidURL
