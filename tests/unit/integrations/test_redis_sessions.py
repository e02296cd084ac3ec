"""What is special about conversations in a Redis: nothing stays there where no server is left to forget it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
import redis

from openbook.answers import Exchange
from openbook.errors import SharedError
from openbook.integrations.redis_client import RedisClient
from openbook.integrations.redis_sessions import RedisSessions
from openbook.sessions.protocol import new_id
from openbook.settings import Secret
from tests.redis_server import RedisServer

EXCHANGE = Exchange("When do sessions end?", "After one hour.")


@pytest.fixture
def shared(redis_server: RedisServer) -> Iterator[RedisClient]:
    with closing(RedisClient(Secret(redis_server.url))) as opened:
        yield opened


@pytest.fixture
def inside(redis_server: RedisServer) -> Iterator[Any]:
    """Redis itself, to look at what is kept."""
    with redis.Redis.from_url(redis_server.url, decode_responses=True) as client:
        yield client


def test_redis_forgets_by_itself_whatever_is_kept(shared: RedisClient, inside: Any) -> None:
    sessions, session_id = RedisSessions(shared, expire_s=1_000), new_id()
    sessions.add("ada", session_id, EXCHANGE, {}, begins=True)
    for key in inside.scan_iter():
        inside.expire(key, 10)

    sessions.add("ada", session_id, EXCHANGE, {})

    kept = {key: 990 <= inside.ttl(key) <= 1_001 for key in inside.scan_iter()}
    names = ("session", "exchanges")
    assert kept == dict.fromkeys(
        [*(f"openbook:{name}:{session_id}" for name in names), "openbook:owner:ada", "openbook:sessions-by-age"], True
    )


def test_what_was_deleted_leaves_nothing(shared: RedisClient, inside: Any) -> None:
    sessions, session_id = RedisSessions(shared, expire_s=1_000), new_id()
    sessions.add("ada", session_id, EXCHANGE, {}, begins=True)

    sessions.delete("ada", session_id)

    assert inside.keys() == []


def test_what_expired_leaves_nothing(redis_server: RedisServer, inside: Any) -> None:
    now_s = [1_000.0]
    with closing(RedisClient(Secret(redis_server.url), now=lambda: now_s[0])) as shared:
        sessions = RedisSessions(shared, expire_s=100)
        sessions.add("ada", new_id(), EXCHANGE, {}, begins=True)
        now_s[0] += 101

        assert sessions.expire() == 1

    assert inside.keys() == []


def test_the_time_of_redis_counts(shared: RedisClient, inside: Any) -> None:
    sessions, session_id = RedisSessions(shared, expire_s=1_000), new_id()

    before, _ = inside.time()
    sessions.add("ada", session_id, EXCHANGE, {}, begins=True)
    after, _ = inside.time()

    (listed,) = sessions.of("ada")
    assert before <= listed.created_at == listed.updated_at < after + 1


def test_what_redis_has_lost_of_a_list_is_not_listed(shared: RedisClient, inside: Any) -> None:
    sessions, session_id = RedisSessions(shared, expire_s=1_000), new_id()
    sessions.add("ada", session_id, EXCHANGE, {}, begins=True)
    inside.delete(f"openbook:session:{session_id}")

    assert (sessions.of("ada"), sessions.find("ada", session_id)) == ([], None)


def test_a_full_redis_keeps_nothing_of_an_exchange_and_says_so(shared: RedisClient, inside: Any) -> None:
    sessions, session_id = RedisSessions(shared, expire_s=1_000), new_id()
    inside.config_set("maxmemory", 1)

    with pytest.raises(SharedError, match="command not allowed when used memory") as caught:
        sessions.add("ada", session_id, EXCHANGE, {}, begins=True)

    assert "script" not in str(caught.value)
    assert inside.keys() == []
