"""Connects where it was decided to, whatever the name of a host stands for a moment later."""

from __future__ import annotations

import ssl
from functools import cache

import httpx2

from openbook.sources.network_policy import NetworkPolicy

_PORTS = {"https": 443, "http": 80}


@cache
def trusted() -> ssl.SSLContext:
    """Read the certificates of the machine, which takes 40 ms: once, not for each client."""
    return httpx2.create_ssl_context()


class PinnedTransport(httpx2.BaseTransport):
    """Looks a host up, checks its addresses, and connects to one of those. Proxies are not asked."""

    def __init__(self, reach: NetworkPolicy) -> None:
        self._reach = reach
        # One for each host: two at one address must not share a connection, which has the certificate of one.
        self._transports: dict[str, httpx2.HTTPTransport] = {}

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request to the address that was checked; certificates and headers are those of the host."""
        url = request.url
        host = url.netloc.decode("ascii")
        address = self._reach.address_of(url.host, url.port or _PORTS[url.scheme], listed=host)
        # Another request: redirects are reckoned from the one that was handed in.
        pinned = httpx2.Request(
            request.method,
            url.copy_with(host=address),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": url.host},
        )
        if host not in self._transports:
            self._transports[host] = httpx2.HTTPTransport(verify=trusted(), trust_env=False)
        return self._transports[host].handle_request(pinned)

    def close(self) -> None:
        """End all connections."""
        for transport in self._transports.values():
            transport.close()
