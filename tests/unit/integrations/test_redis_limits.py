"""What is special about counts in a Redis: servers share them, and one that dies gives nothing back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest
import redis

from openbook.integrations.redis_client import RedisClient
from openbook.integrations.redis_store import RedisLimits
from openbook.server.auth import Caller
from openbook.server.failures import RequestRefusedError
from openbook.server.keys import Key
from openbook.settings import Secret, Settings
from tests.redis_server import RedisServer

CALLER = Caller("key:1", Key("1", "team", 0.0))
SETTINGS = Settings(key_questions_per_minute=2, key_usd_per_day=1.0)


@pytest.fixture
def connect(redis_server: RedisServer) -> Iterator[Callable[[], RedisLimits]]:
    """Yield the counts of one server more with each call."""
    with ExitStack() as stack:
        yield lambda: RedisLimits(stack.enter_context(closing(RedisClient(Secret(redis_server.url)))), SETTINGS)


def test_a_key_has_its_limits_once_for_all_servers(connect: Callable[[], RedisLimits]) -> None:
    one, other = connect(), connect()
    one.take(CALLER)
    other.take(CALLER)
    grants = [one.reserve(CALLER, 0.6), other.reserve(CALLER, 0.6)]

    for limits in (one, other):
        with pytest.raises(RequestRefusedError, match="questions in a minute"):
            limits.take(CALLER)
        with pytest.raises(RequestRefusedError, match="spent for today"):
            limits.reserve(CALLER, 0.6)

    assert sum(grant.usd for grant in grants) == pytest.approx(1.0)


def test_what_a_server_had_set_aside_when_it_was_killed_counts_as_spent(connect: Callable[[], RedisLimits]) -> None:
    connect().reserve(CALLER, 0.6)

    assert connect().reserve(CALLER, 0.6).usd == pytest.approx(0.4)


def test_a_clock_that_goes_back_takes_no_question_from_a_key(redis_server: RedisServer) -> None:
    now_s = [1_000.0]
    with closing(RedisClient(Secret(redis_server.url), now=lambda: now_s[0])) as shared:
        limits = RedisLimits(shared, SETTINGS)
        limits.take(CALLER)
        now_s[0] -= 500

        limits.take(CALLER)

        with pytest.raises(RequestRefusedError):
            limits.take(CALLER)


def test_what_is_given_back_to_a_redis_that_lost_it_gives_nobody_more_than_the_limit(
    connect: Callable[[], RedisLimits], redis_server: RedisServer
) -> None:
    limits = connect()
    lost = limits.reserve(CALLER, 0.6)
    redis_server.kill()
    redis_server.start()
    limits.reserve(CALLER, 0.3)

    limits.settle(CALLER, lost, 0.0)

    assert limits.reserve(CALLER, 5.0).usd == 1.0


def test_what_is_settled_after_redis_has_lost_it_counts(
    connect: Callable[[], RedisLimits], redis_server: RedisServer
) -> None:
    limits = connect()
    lost = limits.reserve(CALLER, 0.6)
    redis_server.kill()
    redis_server.start()

    limits.settle(CALLER, lost, 0.25)

    assert limits.reserve(CALLER, 5.0).usd == 0.75


def test_by_the_time_of_redis_a_key_waits_less_than_a_minute_and_a_day(connect: Callable[[], RedisLimits]) -> None:
    limits = connect()
    limits.take(CALLER)
    limits.take(CALLER)
    limits.reserve(CALLER, 1.0)

    with pytest.raises(RequestRefusedError) as minute:
        limits.take(CALLER)
    with pytest.raises(RequestRefusedError) as day:
        limits.reserve(CALLER, 1.0)

    assert 0 < (minute.value.retry_after_s or 0) <= 30
    assert 0 < (day.value.retry_after_s or 0) <= 24 * 3600


def test_redis_forgets_counts_by_itself(connect: Callable[[], RedisLimits], redis_server: RedisServer) -> None:
    limits = connect()
    limits.take(CALLER)
    limits.settle(CALLER, limits.reserve(CALLER, 0.6), 0.1)

    with redis.Redis.from_url(redis_server.url, decode_responses=True) as client:
        inside: Any = client
        lives_s = {key.split(":")[1]: inside.ttl(key) for key in inside.scan_iter()}

    assert lives_s.keys() == {"questions", "spent"}
    assert 0 < lives_s["questions"] <= 60
    assert 0 < lives_s["spent"] <= 2 * 24 * 3600
