"""What one key may do: a minute's worth of questions, and a day's worth of money."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest

from openbook.errors import SettingsError
from openbook.server.auth import Caller
from openbook.server.failures import RequestRefusedError
from openbook.server.keys import Keys
from openbook.server.limits import Limits
from openbook.settings import Settings

MIDNIGHT = 1_700_006_400.0


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[Keys]:
    with closing(Keys(tmp_path, now=lambda: MIDNIGHT)) as opened:
        yield opened


@pytest.fixture
def caller(keys: Keys) -> Caller:
    key = keys.find(keys.add("team"))
    assert key is not None
    return Caller("key:1", key)


def test_questions_come_back_one_by_one(keys: Keys, caller: Caller) -> None:
    now_s = [0.0]
    limits = Limits(keys, Settings(key_questions_per_minute=2), clock=lambda: now_s[0])
    for _ in range(2):
        limits.take(caller)

    with pytest.raises(RequestRefusedError) as caught:
        limits.take(caller)

    assert (caught.value.status, caught.value.retry_after_s) == (429, 30.0)
    now_s[0] = 30.0
    limits.take(caller)
    with pytest.raises(RequestRefusedError):
        limits.take(caller)


def test_answers_at_the_same_time_cannot_spend_the_same_money(keys: Keys, caller: Caller) -> None:
    limits = Limits(keys, Settings(key_usd_per_day=1.0), now=lambda: MIDNIGHT + 3600)

    granted = [limits.reserve(caller, 0.6), limits.reserve(caller, 0.6)]
    with pytest.raises(RequestRefusedError, match="spent for today") as caught:
        limits.reserve(caller, 0.6)

    assert granted == [0.6, pytest.approx(0.4)]
    assert caught.value.retry_after_s == 23 * 3600
    limits.settle(caller, granted[0], Decimal("0.1"))
    assert limits.reserve(caller, 0.6) == pytest.approx(0.5)


def test_what_nobody_knows_counts_as_what_was_set_aside(keys: Keys, caller: Caller) -> None:
    limits = Limits(keys, Settings(key_usd_per_day=1.0))

    limits.settle(caller, limits.reserve(caller, 0.6), None)

    assert caller.key is not None
    assert keys.spent_today(caller.key.id) == pytest.approx(0.6)


def test_who_needs_no_key_has_no_limits(keys: Keys) -> None:
    limits = Limits(keys, Settings(key_questions_per_minute=1, key_usd_per_day=0.01))
    browser = Caller("browser:1")

    for _ in range(3):
        limits.take(browser)
        limits.settle(browser, limits.reserve(browser, 5.0), None)


def test_money_that_cannot_be_written_down_stays_set_aside(keys: Keys, caller: Caller, tmp_path: Path) -> None:
    limits = Limits(keys, Settings(key_usd_per_day=1.0), now=lambda: MIDNIGHT)
    granted = limits.reserve(caller, 0.6)
    with closing(sqlite3.connect(tmp_path / "keys.sqlite")) as disk:
        disk.execute("CREATE TRIGGER full BEFORE INSERT ON spending BEGIN SELECT RAISE(ABORT, 'disk is full'); END")

    with pytest.raises(SettingsError, match="disk is full"):
        limits.settle(caller, granted, None)

    assert limits.reserve(caller, 0.6) == pytest.approx(0.4)
