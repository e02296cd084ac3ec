"""Keys: shown once, found by nothing but themselves, and what they have spent."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from openbook.errors import SettingsError
from openbook.server.failures import status_of
from openbook.server.keys import Grant, KeyStore, Use

NOON = 1_700_049_600.0  # 2023-11-15 12:00 UTC
HALF_A_DAY_S = 12 * 3600


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[KeyStore]:
    with closing(KeyStore(tmp_path)) as opened:
        yield opened


def test_a_key_is_kept_as_a_hash_and_found_by_itself_alone(keys: KeyStore, tmp_path: Path) -> None:
    key, other = keys.add("team"), keys.add("class")

    found = keys.find(key)
    assert found is not None
    assert found.name == "team"
    assert (keys.find(key[:-1]), keys.find(""), keys.find("obk_\udcff")) == (None, None, None)
    assert len(key) > 40
    assert key != other
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert key.encode() not in kept
    assert (tmp_path / "keys.sqlite").stat().st_mode & 0o077 == 0


def test_keys_are_listed_by_name_and_removed_once(keys: KeyStore, tmp_path: Path) -> None:
    for name in ("zoe", "ada"):
        keys.add(name)

    assert [key.name for key in keys.all()] == ["ada", "zoe"]
    assert (keys.remove("ada"), keys.remove("ada")) == (True, False)
    with closing(KeyStore(tmp_path)) as again:
        assert [key.name for key in again.all()] == ["zoe"]


@pytest.mark.parametrize("name", ["team", "", "-x", "a/b", "x" * 101])
def test_a_name_that_is_taken_or_none_is_refused(keys: KeyStore, name: str) -> None:
    keys.add("team")

    with pytest.raises(SettingsError) as caught:
        keys.add(name)

    assert caught.value.hint


def test_money_is_counted_by_day_and_key(tmp_path: Path) -> None:
    now_s = [NOON]
    keys = KeyStore(tmp_path, now=lambda: now_s[0])
    first, second = (keys.find(keys.add(name)) for name in ("first", "second"))
    assert first is not None
    assert second is not None

    keys.charge(first.id, 0.25)
    keys.charge(first.id, 0.5)
    keys.charge("nobody", 9.0)

    assert (keys.spent_today(first.id), keys.spent_today(second.id)) == (0.75, 0.0)
    now_s[0] += HALF_A_DAY_S
    assert keys.spent_today(first.id) == 0.0
    keys.close()


def test_a_key_is_of_no_use_from_its_end_on(tmp_path: Path) -> None:
    now_s = [NOON]
    with closing(KeyStore(tmp_path, now=lambda: now_s[0])) as keys:
        key = keys.add("guest", Grant(expires_at=NOON + 60))
        before = keys.find(key)
        now_s[0] += 60

        assert before is not None
        assert (keys.find(key), keys.get(before.id)) == (None, None)
        assert [each.name for each in keys.all()] == ["guest"]


def test_a_rotated_key_is_the_same_caller_with_another_secret(keys: KeyStore) -> None:
    old = keys.add("team", Grant("editor", usd_per_day=2.0))
    before = keys.find(old)

    new = keys.rotate("team")
    after = keys.find(new)

    assert before is not None
    assert after is not None
    assert (keys.find(old), keys.rotate("nobody")) == (None, "")
    assert (after.id, after.grant) == (before.id, before.grant)
    assert after.stamp != before.stamp


def test_use_is_counted_by_key_for_today_and_altogether(tmp_path: Path) -> None:
    now_s = [NOON]
    with closing(KeyStore(tmp_path, now=lambda: now_s[0])) as keys:
        key = keys.find(keys.add("team"))
        assert key is not None
        keys.add("idle")
        keys.count_question(key.id)
        keys.charge(key.id, 0.5)
        now_s[0] += HALF_A_DAY_S
        keys.used(key)
        keys.charge(key.id, 0.25)

        assert keys.uses() == {key.id: Use(questions_today=0, usd_today=0.25, questions=1, usd=0.75)}
        assert [each.last_used_at for each in keys.all()] == [None, NOON + HALF_A_DAY_S]


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file", encoding="utf-8")

    with pytest.raises(SettingsError, match="cannot be used"):
        KeyStore(tmp_path / "home")


def test_a_full_disk_and_a_damaged_file_are_no_fault_of_a_request(tmp_path: Path) -> None:
    with closing(KeyStore(tmp_path)) as keys:
        keys.tables._connection.execute("PRAGMA max_page_count = 1")  # no more than it has
        for name in map(str, range(1_000)):  # in what is left of its last pages
            with contextlib.suppress(SettingsError):
                keys.add(name)
        with pytest.raises(SettingsError, match="full") as full:
            keys.add("one more")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "keys.sqlite").write_bytes(b"none of SQLite's " * 1_000)
    with pytest.raises(SettingsError, match="not a database") as damaged:
        KeyStore(tmp_path / "damaged")

    assert [status_of(error.value) for error in (full, damaged)] == [507, 503]
    assert "free some space" in full.value.hint
    assert "restore the file" in damaged.value.hint
