"""The contract of limits. A new implementation joins by adding one line to `COUNTS`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from decimal import Decimal
from typing import Any

import pytest

from openbook.integrations.redis_client import RedisClient
from openbook.integrations.redis_store import RedisLimits
from openbook.server.auth import Caller
from openbook.server.failures import RequestRefusedError
from openbook.server.keys import Grant, Key, KeyStore
from openbook.server.limits import Limits, MemoryLimits
from openbook.settings import Secret, Settings
from tests.fakes.clock import Clock

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

MIDNIGHT = 1_700_006_400.0

Make = Callable[..., Limits]


def memory(request: pytest.FixtureRequest, clock: Clock, stack: ExitStack) -> Make:
    keys: KeyStore = request.getfixturevalue("keys")
    return lambda **settings: MemoryLimits(keys, Settings(**settings), clock=clock, now=clock)


def redis(request: pytest.FixtureRequest, clock: Clock, stack: ExitStack) -> Make:
    url = Secret(request.getfixturevalue("redis_server").url)
    return lambda **settings: RedisLimits(
        stack.enter_context(closing(RedisClient(url, timeout_s=30, now=clock))), Settings(**settings)
    )


COUNTS = {"memory": memory, "redis": redis}


@pytest.fixture
def clock() -> Clock:
    return Clock(MIDNIGHT)


@pytest.fixture
def keys(tmp_path: Any, clock: Clock) -> Iterator[KeyStore]:
    with closing(KeyStore(tmp_path, now=clock)) as opened:
        yield opened


@pytest.fixture
def caller(keys: KeyStore) -> Caller:
    return caller_of(keys, "team")


def caller_of(keys: KeyStore, name: str, grant: Grant = Grant()) -> Caller:  # noqa: B008 - it is frozen
    key: Key | None = keys.find(keys.add(name, grant))
    assert key is not None
    return Caller(f"key:{key.id}", key)


@pytest.fixture(params=list(COUNTS.values()), ids=list(COUNTS))
def make(request: pytest.FixtureRequest, clock: Clock) -> Iterator[Make]:
    with ExitStack() as stack:
        yield request.param(request, clock, stack)


def taken(limits: Limits, caller: Caller) -> bool:
    try:
        limits.take(caller)
    except RequestRefusedError:
        return False
    return True


def test_questions_come_back_one_by_one(make: Make, caller: Caller, clock: Clock) -> None:
    limits = make(key_questions_per_minute=2)
    for _ in range(2):
        limits.take(caller)

    with pytest.raises(RequestRefusedError) as caught:
        limits.take(caller)

    assert (caught.value.status, caught.value.retry_after_s) == (429, 30.0)
    clock.now_s += 15
    with pytest.raises(RequestRefusedError) as caught:
        limits.take(caller)
    assert caught.value.retry_after_s == 15.0
    clock.now_s += 15
    limits.take(caller)
    with pytest.raises(RequestRefusedError):
        limits.take(caller)


def test_a_key_that_was_quiet_may_send_a_minutes_worth_and_no_more(make: Make, caller: Caller, clock: Clock) -> None:
    limits = make(key_questions_per_minute=3)
    limits.take(caller)
    clock.now_s += 3600

    assert [taken(limits, caller) for _ in range(4)] == [True, True, True, False]


def test_a_key_with_a_limit_for_the_day_asks_no_more_until_midnight(make: Make, keys: KeyStore, clock: Clock) -> None:
    clock.now_s = MIDNIGHT + 3600
    limits, caller = make(key_questions_per_minute=10), caller_of(keys, "class", Grant(questions_per_day=2))
    limits.take(caller)
    clock.now_s += 3600
    limits.take(caller)

    with pytest.raises(RequestRefusedError, match="more than 2 questions in a day") as caught:
        limits.take(caller)

    assert (caught.value.status, caught.value.retry_after_s) == (429, 22 * 3600)
    clock.now_s = MIDNIGHT + 24 * 3600
    assert [taken(limits, caller) for _ in range(3)] == [True, True, False]


def test_what_is_refused_by_the_minute_does_not_count_for_the_day(make: Make, keys: KeyStore, clock: Clock) -> None:
    limits, caller = make(key_questions_per_minute=1), caller_of(keys, "class", Grant(questions_per_day=2))

    let_through = [taken(limits, caller) for _ in range(5)]
    clock.now_s += 60

    assert (let_through.count(True), taken(limits, caller)) == (1, True)


def test_a_key_with_money_of_its_own_spends_that(make: Make, keys: KeyStore) -> None:
    limits = make(key_usd_per_day=1.0)
    small, none = (caller_of(keys, f"{usd}", Grant(usd_per_day=usd)) for usd in (0.25, 0.0))

    assert limits.reserve(small, 0.6).usd == 0.25
    with pytest.raises(RequestRefusedError, match="spent for today"):
        limits.reserve(none, 0.6)


def test_what_one_key_asks_is_not_counted_to_another(make: Make, keys: KeyStore, caller: Caller) -> None:
    limits, other = make(key_questions_per_minute=1, key_usd_per_day=1.0), caller_of(keys, "class")
    limits.take(caller)
    limits.reserve(caller, 1.0)

    limits.take(other)

    assert limits.reserve(other, 0.6).usd == 0.6


def test_answers_at_the_same_time_cannot_spend_the_same_money(make: Make, caller: Caller, clock: Clock) -> None:
    clock.now_s = MIDNIGHT + 3600
    limits = make(key_usd_per_day=1.0)

    granted = [limits.reserve(caller, 0.6), limits.reserve(caller, 0.6)]
    with pytest.raises(RequestRefusedError, match="spent for today") as caught:
        limits.reserve(caller, 0.6)

    assert [each.usd for each in granted] == [0.6, pytest.approx(0.4)]
    assert caught.value.retry_after_s == 23 * 3600
    limits.settle(caller, granted[0], Decimal("0.1"))
    assert limits.reserve(caller, 0.6).usd == pytest.approx(0.5)


def test_what_nobody_knows_counts_as_what_was_set_aside(make: Make, caller: Caller) -> None:
    limits = make(key_usd_per_day=1.0)

    limits.settle(caller, limits.reserve(caller, 0.6), None)

    assert limits.reserve(caller, 0.6).usd == pytest.approx(0.4)


def test_an_answer_that_did_cost_more_than_was_set_aside_counts_in_full(make: Make, caller: Caller) -> None:
    limits = make(key_usd_per_day=1.0)

    limits.settle(caller, limits.reserve(caller, 0.6), 1.5)

    with pytest.raises(RequestRefusedError):
        limits.reserve(caller, 0.6)


def test_the_money_of_a_day_is_back_the_day_after(make: Make, caller: Caller, clock: Clock) -> None:
    limits = make(key_usd_per_day=1.0)
    limits.settle(caller, limits.reserve(caller, 1.0), 1.0)
    clock.now_s += 24 * 3600 - 1
    with pytest.raises(RequestRefusedError):
        limits.reserve(caller, 0.6)

    clock.now_s += 1

    assert limits.reserve(caller, 0.6).usd == 0.6


def test_an_answer_over_midnight_gives_no_day_more_money_than_it_has(make: Make, caller: Caller, clock: Clock) -> None:
    limits = make(key_usd_per_day=1.0)
    clock.now_s += 24 * 3600 - 1
    grant = limits.reserve(caller, 1.0)
    clock.now_s += 2

    limits.settle(caller, grant, 0.0)

    assert limits.reserve(caller, 5.0).usd == 1.0


def test_who_needs_no_key_has_no_limits(make: Make) -> None:
    limits = make(key_questions_per_minute=1, key_usd_per_day=0.01)
    browser = Caller("browser:1")

    for _ in range(3):
        limits.take(browser)
        limits.settle(browser, limits.reserve(browser, 5.0), None)


def test_fifty_at_once_never_get_more_than_the_limit(make: Make, caller: Caller) -> None:
    limits = make(key_questions_per_minute=7, key_usd_per_day=1.0)

    def reserved(_: int) -> float:
        try:
            return limits.reserve(caller, 0.3).usd
        except RequestRefusedError:
            return 0.0

    with ThreadPoolExecutor(50) as threads:
        let_through = list(threads.map(lambda _: taken(limits, caller), range(50)))
        money = list(threads.map(reserved, range(50)))

    assert sum(let_through) == 7
    assert sum(money) == pytest.approx(1.0)
    assert max(money) == 0.3
