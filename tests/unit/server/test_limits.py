"""What is special about counts of one process: what was spent is kept with the keys."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from openbook.errors import SettingsError
from openbook.server.auth import Caller
from openbook.server.failures import RequestRefusedError
from openbook.server.keys import Grant, KeyStore
from openbook.server.limits import MemoryLimits, RecordedLimits
from openbook.settings import Settings

MIDNIGHT = 1_700_006_400.0


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[KeyStore]:
    with closing(KeyStore(tmp_path, now=lambda: MIDNIGHT)) as opened:
        yield opened


@pytest.fixture
def caller(keys: KeyStore) -> Caller:
    key = keys.find(keys.add("team"))
    assert key is not None
    return Caller("key:1", key)


def test_spending_survives_a_restart(keys: KeyStore, caller: Caller) -> None:
    limits = MemoryLimits(keys, Settings(key_usd_per_day=1.0), now=lambda: MIDNIGHT)
    limits.settle(caller, limits.reserve(caller, 0.6), 0.5)

    again = MemoryLimits(keys, Settings(key_usd_per_day=1.0), now=lambda: MIDNIGHT)

    assert again.reserve(caller, 0.6).usd == pytest.approx(0.5)


def test_money_that_cannot_be_written_down_stays_set_aside(keys: KeyStore, caller: Caller, tmp_path: Path) -> None:
    limits = MemoryLimits(keys, Settings(key_usd_per_day=1.0), now=lambda: MIDNIGHT)
    granted = limits.reserve(caller, 0.6)
    with closing(sqlite3.connect(tmp_path / "keys.sqlite")) as disk:
        disk.execute("CREATE TRIGGER full BEFORE INSERT ON spending BEGIN SELECT RAISE(ABORT, 'disk is full'); END")

    with pytest.raises(SettingsError, match="disk is full"):
        limits.settle(caller, granted, None)

    assert limits.reserve(caller, 0.6).usd == pytest.approx(0.4)


def test_questions_that_cannot_be_written_down_are_answered_and_count(keys: KeyStore, tmp_path: Path) -> None:
    key = keys.find(keys.add("class", Grant(questions_per_day=3)))
    assert key is not None
    pupil = Caller("key:2", key)
    limits = MemoryLimits(keys, Settings(), now=lambda: MIDNIGHT)
    limits.take(pupil)
    with closing(sqlite3.connect(tmp_path / "keys.sqlite")) as disk:
        disk.execute("CREATE TRIGGER full BEFORE UPDATE ON questions BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
    limits.take(pupil)
    limits.take(pupil)

    with pytest.raises(RequestRefusedError, match="more than 3 questions in a day"):
        limits.take(pupil)
    with closing(sqlite3.connect(tmp_path / "keys.sqlite")) as disk:
        disk.execute("DROP TRIGGER full")
    with pytest.raises(RequestRefusedError, match="more than 3 questions in a day"):
        limits.take(pupil)
    assert keys.asked_today(key.id) == 1


def test_questions_that_a_shared_store_counts_are_answered_while_the_disk_is_full(
    keys: KeyStore, caller: Caller, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "keys.sqlite")) as disk:
        disk.execute("CREATE TRIGGER full BEFORE INSERT ON questions BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
    store = MemoryLimits(keys, Settings(key_questions_per_minute=1), clock=lambda: 0.0)
    limits = RecordedLimits(store, keys, Settings())

    limits.take(caller)

    with pytest.raises(RequestRefusedError, match="more than 1 questions in a minute"):
        limits.take(caller)
