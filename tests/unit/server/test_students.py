"""Students: they join with the code of their class, and come back with a PIN that cannot be tried out."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from openbook.errors import SettingsError
from openbook.server.classes import ClassStore, StudentStore
from openbook.server.failures import RequestRefusedError
from openbook.server.keys import Grant, KeyStore
from tests.fakes.clock import Clock

PIN = "704312"


@pytest.fixture
def classes(keys: KeyStore) -> ClassStore:
    return ClassStore(keys)


@pytest.fixture
def students(keys: KeyStore, classes: ClassStore) -> StudentStore:
    return StudentStore(keys, classes)


def status(students: StudentStore, code: str, name: str, pin: str) -> int:
    try:
        students.log_in(code, name, pin)
    except RequestRefusedError as exc:
        return exc.status
    return 200


@pytest.mark.slow
def test_each_student_has_a_key_of_their_own_with_the_limits_of_the_class(
    students: StudentStore, classes: ClassStore, keys: KeyStore, clock: Clock
) -> None:
    grant = Grant("owner", clock.now_s + 60, questions_per_day=20, usd_per_day=0.1)
    code = classes.add("class of 26", 30, grant)

    ada, runa = students.join(code, " Ada  Holm ", PIN), students.join(code, "Runa", PIN)

    assert (ada.name, runa.name) == ("class of 26/Ada Holm", "class of 26/Runa")
    assert ada.id != runa.id
    assert ada.grant == Grant("reader", clock.now_s + 60, 20, 0.1)
    assert students.log_in(code, "ada holm", PIN).id == ada.id
    clock.now_s += 60
    assert (keys.get(ada.id), status(students, code, "Ada Holm", PIN)) == (None, 401)


def test_a_pin_is_kept_as_a_slow_hash_and_a_code_as_a_hash(
    students: StudentStore, classes: ClassStore, tmp_path: Path
) -> None:
    code = classes.add("class", 30, Grant())
    students.join(code, "Ada", PIN)
    students.join(code, "Runa", PIN)

    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    with closing(sqlite3.connect(tmp_path / "keys.sqlite")) as opened:
        hashes = opened.execute("SELECT salt, pin FROM students").fetchall()

    assert (code.encode() in kept, PIN.encode() in kept) == (False, False)
    assert len({salt for salt, _ in hashes}) == len({pin for _, pin in hashes}) == 2


@pytest.mark.parametrize("pin", ["", "12345", "000000", "123456", "987654", "abcdef"])
def test_a_pin_that_is_tried_first_is_refused(students: StudentStore, classes: ClassStore, pin: str) -> None:
    code = classes.add("class", 30, Grant())

    with pytest.raises(RequestRefusedError, match="too easy"):
        students.join(code, "Ada", pin)


@pytest.mark.parametrize("name", ["", "../Ada", "a/b", "<b>", "x" * 61])
def test_an_invalid_name_is_refused(students: StudentStore, classes: ClassStore, name: str) -> None:
    code = classes.add("class", 30, Grant())

    with pytest.raises(RequestRefusedError, match="not a valid name"):
        students.join(code, name, PIN)


def test_a_taken_name_and_a_full_class_are_refused(students: StudentStore, classes: ClassStore) -> None:
    code = classes.add("class", 2, Grant())
    students.join(code, "Ada", PIN)

    refused = []
    for name in ("ADA", "Runa", "Zoe"):
        try:
            students.join(code, name, "another pin")
        except RequestRefusedError as exc:
            refused.append((name, exc.status, str(exc)))

    assert [(name, code) for name, code, _ in refused] == [("ADA", 409), ("Zoe", 409)]
    assert "2 students" in refused[1][2]


@pytest.mark.slow
def test_a_pin_can_be_tried_five_times_in_a_quarter_of_an_hour(
    students: StudentStore, classes: ClassStore, clock: Clock
) -> None:
    code = classes.add("class", 30, Grant())
    students.join(code, "Ada", PIN)
    students.join(code, "Runa", PIN)

    with ThreadPoolExecutor(8) as threads:
        guessed = list(threads.map(lambda guess: status(students, code, "Ada", f"guess {guess}"), range(8)))

    assert sorted(guessed) == [401] * 5 + [429] * 3
    assert (status(students, code, "Ada", PIN), status(students, code, "Runa", PIN)) == (429, 200)
    clock.now_s += 15 * 60
    assert [status(students, code, "Ada", pin) for pin in ("wrong", PIN, "wrong", "wrong")] == [401, 200, 401, 401]


@pytest.mark.slow
def test_students_and_classes_are_revoked_one_by_one_and_as_a_whole(
    students: StudentStore, classes: ClassStore, keys: KeyStore
) -> None:
    code, other = classes.add("class", 30, Grant()), classes.add("other", 30, Grant())
    kept = keys.add("team")
    for name in ("Ada", "Runa"):
        students.join(code, name, PIN)
    students.join(other, "Ada", PIN)

    keys.remove("class/Ada")
    one_by_one = [status(students, code, name, PIN) for name in ("Ada", "Runa")]
    classes.remove("class")

    assert one_by_one == [401, 200]
    assert status(students, code, "Runa", PIN) == 401
    assert [key.name for key in keys.all()] == ["other/Ada", "team"]
    assert keys.find(kept) is not None


def test_changes_of_a_class_apply_to_its_students(
    students: StudentStore, classes: ClassStore, keys: KeyStore, clock: Clock
) -> None:
    code, other = classes.add("class", 30, Grant()), classes.add("other", 30, Grant())
    ada, runa = students.join(code, "Ada", PIN), students.join(other, "Runa", PIN)
    longer = Grant("reader", clock.now_s + 60, 5, 0.5)

    assert (classes.change("class", longer), classes.change("nobody", longer)) == (True, False)

    found = [keys.get(each.id) for each in (ada, runa, students.join(code, "Zoe", PIN))]
    assert [each.grant for each in found if each] == [longer, Grant(), longer]


@pytest.mark.slow
def test_a_new_code_lets_in_who_was_there_and_a_new_pin_opens_what_was_forgotten(
    students: StudentStore, classes: ClassStore, keys: KeyStore
) -> None:
    old = classes.add("class", 30, Grant())
    ada = students.join(old, "Ada", PIN)

    code, pin = classes.rotate("class"), classes.new_pin("class/Ada")

    assert (status(students, old, "Ada", pin), status(students, code, "Ada", PIN)) == (401, 401)
    again = students.log_in(code, "Ada", pin)
    assert again.id == ada.id
    assert again.stamp != ada.stamp
    assert (classes.rotate("nobody"), classes.new_pin("nobody"), keys.rotate("class/Ada")) == ("", "", "")


def test_a_class_and_a_key_do_not_share_a_name(classes: ClassStore, keys: KeyStore) -> None:
    keys.add("team")
    classes.add("class", 30, Grant())

    with pytest.raises(SettingsError, match="there is a key 'team'"):
        classes.add("team", 1, Grant())
    with pytest.raises(SettingsError, match="there is a class 'class'"):
        keys.add("class")
