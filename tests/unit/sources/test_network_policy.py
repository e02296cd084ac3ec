"""A confined fetch stays with allowed hosts and public addresses, whatever names, redirects and lookups say."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from openbook.errors import FetchError
from openbook.sources.network_policy import NetworkPolicy, is_public


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"),
        *("::1", "::", "fe80::1%eth0", "fc00::1", "::ffff:127.0.0.1", "2002:7f00:1::", "64:ff9b::a00:1", "ff02::1"),
        *("::7f00:1", "::ffff:0:127.0.0.1", "64:ff9b:1::a00:1", "fec0::1", "192.0.0.8"),
        *("224.0.0.1", "255.255.255.255", "localhost", ""),
    ],
)
def test_addresses_of_machines_houses_and_clouds_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["140.82.121.4", "2606:50c0:8000::153", "64:ff9b::8c52:7904"])
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(address)


def confined(*addresses: str, hosts: Sequence[str] = ("github.com",)) -> NetworkPolicy:
    return NetworkPolicy(confined=True, hosts=hosts, resolve_host=lambda host, port: addresses)


def test_one_address_that_is_not_public_spoils_all_of_a_host() -> None:
    reach = confined("140.82.121.4", "10.0.0.1")

    with pytest.raises(FetchError, match="private address"):
        reach.address_of("github.com", 443, listed="github.com")


def test_a_host_of_ones_own_may_have_any_address() -> None:
    reach = confined("10.0.0.1", hosts=("git.corp:8443",))

    assert reach.address_of("git.corp", 8443, listed="git.corp:8443") == "10.0.0.1"


@pytest.mark.parametrize("host", ["evil.org", "github.com.evil.org", "github.com:8080", "api.github.com", "127.0.0.1"])
def test_hosts_that_are_not_listed_are_refused_by_name(host: str) -> None:
    with pytest.raises(FetchError, match="not allowed here"):
        confined("140.82.121.4").check_host(host)


def test_an_unknown_host_is_reported() -> None:
    def fail(host: str, port: int) -> list[str]:
        raise OSError

    with pytest.raises(FetchError, match="cannot be resolved"):
        NetworkPolicy(confined=True, resolve_host=fail).address_of("github.com", 443, listed="github.com")


def test_people_may_name_any_host() -> None:
    NetworkPolicy().check_host("git.corp:8443")
