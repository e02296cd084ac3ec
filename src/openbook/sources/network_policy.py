"""Restricts which hosts and addresses may be fetched from. Prevents SSRF, also by DNS rebinding."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from openbook.errors import FetchError
from openbook.sources.repository_urls import PUBLIC_HOSTS

Lookup = Callable[[str, int], Sequence[str]]
"""Returns the IP addresses of a host as strings. Raises `OSError`."""


def resolve_host(host: str, port: int) -> list[str]:
    """Resolve a host to its addresses, each once, in the system's order."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[4][0]) for address in found))


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkPolicy:
    """The hosts that may be connected to.

    On the command line, any host. If confined, only listed hosts: public hosts at public addresses, the operator's own
    at any.
    """

    confined: bool = False
    hosts: Collection[str] = PUBLIC_HOSTS
    """Allowed hosts if confined, in lower case, with the port if it is not the default."""
    resolve_host: Lookup = resolve_host

    def check_host(self, host: str) -> None:
        """Raise an error if a host is not allowed. `host` includes a port that is not the default."""
        if self.confined and host not in self.hosts:
            raise FetchError(
                host, "the host is not allowed here", hint="OPENBOOK_SERVER_GIT_HOSTS lists the allowed hosts"
            )

    def is_own(self, host: str) -> bool:
        """Return whether the operator has listed the host, so that its address may be private."""
        return host in self.hosts and host not in PUBLIC_HOSTS

    def address_of(self, host: str, port: int, *, listed: str) -> str:
        """Resolve a host once and return the checked address to connect to (prevents DNS rebinding)."""
        self.check_host(listed)
        try:
            addresses = self.resolve_host(host, port)
        except (OSError, UnicodeError) as exc:
            raise FetchError(host, "the host name cannot be resolved", hint="check its name and the network") from exc
        if not addresses or not (self.is_own(listed) or all(map(is_public, addresses))):
            hint = "list your own hosts, which may have such addresses, in OPENBOOK_SERVER_GIT_HOSTS"
            raise FetchError(host, "it resolves to a private address", hint=hint)
        return addresses[0]


def is_public(address: str) -> bool:
    """Return whether an address is public: not loopback, private or link-local.

    Example:
        >>> [is_public(address) for address in ("140.82.121.4", "127.0.0.1", "169.254.169.254", "::ffff:10.0.0.1")]
        [True, False, False, False]
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    inner = [parsed]
    if isinstance(parsed, ipaddress.IPv6Address):
        # An embedded IPv4 address: mapped, 6to4 or Teredo.
        wrapped = (parsed.ipv4_mapped, parsed.sixtofour, *(parsed.teredo or ()))
        inner += [each for each in wrapped if each is not None]
        if parsed in _NAT64:
            inner.append(ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF))
        elif parsed not in _UNICAST:  # Python regards other embedded IPv4 addresses, and site-local ones, as global
            return False
    return all(each.is_global and not each.is_multicast and each not in _PROTOCOLS for each in inner)


_NAT64 = ipaddress.ip_network("64:ff9b::/96")  # RFC 6052
_UNICAST = ipaddress.ip_network("2000::/3")  # RFC 4291: the only range of which addresses are assigned
_PROTOCOLS = ipaddress.ip_network("192.0.0.0/24")  # RFC 6890; Python regards only parts of it as private
