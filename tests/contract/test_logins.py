"""The contract of login stores. A new one joins by adding one line to `KEEPERS`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from openbook.integrations.redis_client import RedisClient
from openbook.integrations.redis_store import RedisLogins
from openbook.server.keys import KeyStore
from openbook.server.logins import Logins, SqliteLogins
from openbook.settings import Secret
from tests.redis_server import RedisServer

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

Open = Callable[[], Logins]


def sqlite(request: pytest.FixtureRequest, stack: ExitStack) -> Open:
    home: Path = request.getfixturevalue("tmp_path") / "home"
    return lambda: SqliteLogins(stack.enter_context(closing(KeyStore(home))))


def redis(request: pytest.FixtureRequest, stack: ExitStack) -> Open:
    server: RedisServer = request.getfixturevalue("redis_server")
    return lambda: RedisLogins(stack.enter_context(closing(RedisClient(Secret(server.url)))))


KEEPERS = {"sqlite": sqlite, "redis": redis}


@pytest.fixture(params=list(KEEPERS.values()), ids=list(KEEPERS))
def connect(request: pytest.FixtureRequest) -> Iterator[Open]:
    with ExitStack() as stack:
        yield request.param(request, stack)


def test_a_token_is_known_to_all_who_share_the_logins_until_it_is_revoked(connect: Open) -> None:
    one, other = connect(), connect()

    first, second = one.add("key 1", 60), one.add("key 1", 60)

    assert (other.find(first), other.find(second), other.find("guessed")) == ("key 1", "key 1", "")
    other.remove(first)
    assert (one.find(first), one.find(second)) == ("", "key 1")


def test_a_token_that_has_expired_is_not_renewed(connect: Open) -> None:
    logins = connect()
    lasting, expired = logins.add("key 1", 60), logins.add("key 1", 0.001)
    while logins.find(expired):
        time.sleep(0.001)

    for token in (lasting, expired, "guessed"):
        logins.renew(token, 60)

    assert [logins.find(token) for token in (lasting, expired, "guessed")] == ["key 1", "", ""]


def test_all_who_share_the_logins_have_one_secret(connect: Open) -> None:
    assert connect().secret() == connect().secret()
    assert len(connect().secret()) == 32
