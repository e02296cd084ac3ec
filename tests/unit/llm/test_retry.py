from __future__ import annotations

from collections.abc import Mapping

import pytest

from openbook.errors import (
    BadRequestError,
    BadResponseError,
    CutOffError,
    KeyRefusedError,
    ModelError,
    OverloadedError,
    RateLimitedError,
    TimedOutError,
    UnreachableError,
)
from openbook.llm.retry import RetryPolicy, RetryState, retry_after_s
from tests.unit.llm.calls import Clock

BUSY = OverloadedError("busy", status=529)


def waits(error: ModelError, *, deadline_s: float = 120.0) -> list[float]:
    """Fail with `error` until nobody tries again."""
    clock = Clock()
    attempts = RetryState(clock.retries(), deadline_s)
    with pytest.raises(type(error)):
        clock.sleep_for_ever(lambda: attempts.pause_s(error))
    return clock.slept


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(UnreachableError("no connection"), id="no-connection"),
        pytest.param(TimedOutError("slow", status=408), id="408"),
        pytest.param(OverloadedError("conflict", status=409), id="409"),
        pytest.param(RateLimitedError("slow down", status=429), id="429"),
        pytest.param(OverloadedError("fault", status=500), id="500"),
        pytest.param(OverloadedError("busy", status=529), id="529"),
    ],
)
def test_what_may_pass_is_tried_three_times_more(error: ModelError) -> None:
    assert waits(error) == [1.0, 2.0, 4.0]


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(BadRequestError("no", status=400), id="bad-request"),
        pytest.param(KeyRefusedError("no", status=401), id="key"),
        pytest.param(BadResponseError("no"), id="bad-response"),
        pytest.param(CutOffError("no"), id="cut-off"),
        pytest.param(TimedOutError("our own deadline"), id="deadline"),
    ],
)
def test_what_will_not_pass_is_not_tried_again(error: ModelError) -> None:
    assert waits(error) == []


def test_nothing_is_tried_again_once_a_byte_of_the_reply_is_there() -> None:
    attempts = RetryState(Clock().retries(), 120.0, streaming=True)

    with pytest.raises(OverloadedError):
        attempts.pause_s(BUSY)


@pytest.mark.parametrize(("random", "pause"), [(0.0, 0.75), (0.5, 1.0), (1.0, 1.25)])
def test_pauses_vary_by_a_quarter(random: float, pause: float) -> None:
    attempts = RetryState(RetryPolicy(random=lambda: random), 120.0)

    assert attempts.pause_s(BUSY) == pause


def test_a_provider_is_waited_for_as_long_as_it_asks() -> None:
    assert waits(RateLimitedError("slow down", retry_after_s=7)) == [7, 7, 7]
    assert waits(OverloadedError("busy", retry_after_s=30)) == [30, 30, 30]


def test_a_provider_that_asks_for_too_long_a_wait_is_not_waited_for() -> None:
    assert waits(RateLimitedError("slow down", retry_after_s=31)) == []


def test_no_pause_reaches_the_deadline() -> None:
    assert waits(BUSY, deadline_s=3.5) == [1.0, 2.0]
    assert waits(RateLimitedError("slow down", retry_after_s=7), deadline_s=7) == []


def test_the_time_that_is_left_ends_at_nothing() -> None:
    clock = Clock(now=100.0)
    attempts = RetryState(clock.retries(), 10.0)
    left = [attempts.left_s]

    for _ in range(3):
        clock.sleep(4.0)
        left.append(attempts.left_s)

    assert left == [10.0, 6.0, 2.0, 0.0]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        pytest.param({}, None, id="none"),
        pytest.param({"retry-after": "7"}, 7.0, id="seconds"),
        pytest.param({"retry-after": "0"}, 0.0, id="at-once"),
        pytest.param({"retry-after": "1.5"}, 1.5, id="fraction"),
        pytest.param({"retry-after-ms": "250", "retry-after": "1"}, 0.25, id="milliseconds"),
        pytest.param({"retry-after": "Thu, 01 Jan 1970 00:01:00 GMT"}, 12.0, id="date"),
        pytest.param({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0, id="date-gone-by"),
        pytest.param({"retry-after": "soon"}, None, id="words"),
        pytest.param({"retry-after": "-1"}, None, id="negative"),
        pytest.param({"retry-after": "inf"}, None, id="endless"),
        pytest.param({"retry-after": "nan"}, None, id="no-number"),
    ],
)
def test_the_wait_that_a_provider_asks_for_is_read_from_its_headers(
    headers: Mapping[str, str], seconds: float | None
) -> None:
    assert retry_after_s(headers, now=lambda: 48.0) == seconds
