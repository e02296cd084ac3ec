"""`openbook keys`: who may use the server, how much, and what was done."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from openbook.answers import Exchange
from openbook.server.classes import ClassStore, StudentStore
from openbook.server.feedback import FeedbackStore
from openbook.server.keys import KeyStore
from openbook.server.shares import ShareStore
from openbook.sessions.protocol import new_id
from openbook.sessions.sqlite import SqliteSessions
from tests.integration.support_cli import assert_fails_clearly, run

Captured = pytest.CaptureFixture[str]


@pytest.mark.slow
def test_a_key_is_made_with_limits_changed_and_rotated(capsys: Captured) -> None:
    made = run(capsys, "keys", "add", "guest", "--expires", "2099-07-31", "--questions-per-day", "50")
    changed = run(capsys, "keys", "change", "guest", "--role", "editor", "--usd-per-day", "1.5")
    rotated = run(capsys, "keys", "rotate", "guest")
    listed = run(capsys, "keys", "list")

    assert (made.code, changed.code, rotated.code) == (0, 0, 0)
    assert re.fullmatch(r"obk_[\w-]{43}\n", rotated.out)
    assert rotated.out != made.out
    assert re.fullmatch(r"guest  editor  made [\d-]{10}  never used  today .*  until 2099-07-31\n", listed.out)
    assert "  today 0 of 50 questions, $0.00 of $1.50  " in listed.out


def test_a_key_is_listed_with_the_minute_of_its_last_use(capsys: Captured) -> None:
    run(capsys, "keys", "add", "guest")
    keys = KeyStore(Path(os.environ["OPENBOOK_HOME"]))
    guest = keys.named("guest")
    assert guest is not None
    keys.used(guest)
    keys.close()

    assert re.search(r"  used \d{4}-\d\d-\d\d \d\d:\d\d  today ", run(capsys, "keys", "list").out)


@pytest.mark.slow
@pytest.mark.parametrize(("amount", "why"), [("nan", "not a number"), ("inf", "infinite"), ("-1", "not in the range")])
@pytest.mark.parametrize("command", [["add", "guest"], ["invite", "class of 26"], ["change", "team"]])
def test_an_amount_of_money_that_is_none_is_wrong_usage(
    capsys: Captured, command: list[str], amount: str, why: str
) -> None:
    run(capsys, "keys", "add", "team")

    outcome = run(capsys, "keys", *command, "--usd-per-day", amount)

    assert_fails_clearly(outcome, 2)
    assert all(words in outcome.err for words in ("--usd-per-day", why))
    assert run(capsys, "keys", "list").out.count("\n") == 1


@pytest.mark.slow
def test_a_class_and_its_students_are_listed_and_revoked(capsys: Captured) -> None:
    code = run(capsys, "keys", "invite", "class of 26", "--seats", "3", "--expires", "90d").out.strip()
    keys = KeyStore(Path(os.environ["OPENBOOK_HOME"]))
    for name in ("Ada", "Runa"):
        StudentStore(keys, ClassStore(keys)).join(code, name, "704312")
    keys.close()

    listed = run(capsys, "keys", "list").out
    pin = run(capsys, "keys", "rotate", "class of 26/Ada").out
    removed = [run(capsys, "keys", "remove", name).code for name in ("class of 26/Ada", "class of 26")]

    assert [line.partition("  ")[0] for line in listed.splitlines()] == [
        *("class of 26/Ada", "class of 26/Runa", "class of 26"),
    ]
    assert "class of 26  class  2 of 3 students  until " in listed
    assert re.fullmatch(r"\d{8}\n", pin)
    assert (removed, run(capsys, "keys", "list").out) == ([0, 0], "")
    log = run(capsys, "keys", "log").out
    assert [line[21:] for line in log.splitlines()] == [
        "console  added class  class of 26, 3 seats",
        "console  replaced PIN  class of 26/Ada",
        "console  removed key  class of 26/Ada",
        "console  removed class  class of 26",
    ]
    assert code not in log + listed


def test_what_a_removed_student_wrote_is_deleted_and_the_log_tells_how_much(capsys: Captured) -> None:
    code = run(capsys, "keys", "invite", "c27").out.strip()
    home = Path(os.environ["OPENBOOK_HOME"])
    with closing(KeyStore(home)) as keys:
        students = StudentStore(keys, ClassStore(keys))
        owners = [f"key:{students.join(code, name, '704312').id}" for name in ("Ada", "Runa", "Zoe")]
    for owner in owners:
        write_in(home, owner)

    ada = run(capsys, "keys", "remove", "c27/Ada")
    left = stored_in(home)
    class_ = run(capsys, "keys", "remove", "c27")

    assert ada.err == "removed c27/Ada, with 1 conversation, 1 rating, 1 share link\n"
    assert left == sorted(owners[1:] * 3)
    assert class_.err == "removed c27, with 2 conversations, 2 ratings, 2 share links\n"
    assert stored_in(home) == []
    assert not [path.name for path in home.glob("*.sqlite*") if SECRET.encode() in path.read_bytes()]
    log = [line[21:] for line in run(capsys, "keys", "log").out.splitlines()]
    assert log[1:] == [
        "console  removed key  c27/Ada",
        "console  deleted texts  c27/Ada: 1 conversation, 1 rating, 1 share link",
        "console  removed class  c27",
        "console  deleted texts  c27: 2 conversations, 2 ratings, 2 share links",
    ]


def test_a_key_is_removed_even_if_conversations_cannot_be_deleted(capsys: Captured) -> None:
    run(capsys, "keys", "add", "ada")
    home = Path(os.environ["OPENBOOK_HOME"])
    (home / "sessions.sqlite").write_bytes(b"no database" * 100)

    outcome = run(capsys, "keys", "remove", "ada")

    assert_fails_clearly(outcome, 3, "removed ada, but what they wrote is not deleted yet")
    assert run(capsys, "keys", "list").out == ""


SECRET = "My question is about a private matter."


def write_in(home: Path, owner: str) -> None:
    """Store a conversation with a rating and a link."""
    record = {"id": "a1", "session_id": new_id(), "query": SECRET, "model": "", "refused": False, "citations": []}
    with (
        closing(SqliteSessions(home / "sessions.sqlite", expire_s=1000)) as sessions,
        closing(FeedbackStore(home)) as feedback,
        closing(ShareStore(home)) as shares,
    ):
        sessions.add(owner, str(record["session_id"]), Exchange(SECRET, "An answer."), record, begins=True)
        feedback.rate(owner, "who", record, "bad", comment=SECRET)
        shares.add(owner, owner.partition(":")[2], str(record["session_id"]), ["a1"], 1000)


def stored_in(home: Path) -> list[str]:
    """Return the owner of each conversation, rating and link."""
    owners: list[str] = []
    for file, table in (("sessions", "sessions"), ("feedback", "ratings"), ("shares", "shares")):
        with closing(sqlite3.connect(home / f"{file}.sqlite")) as opened:
            owners += [owner for (owner,) in opened.execute(f"SELECT owner FROM {table}")]
    return sorted(owners)


@pytest.mark.parametrize("when", ["soon", "2099-13-01", "-1d", "9999999999d"])
def test_what_is_no_end_is_refused(capsys: Captured, when: str) -> None:
    assert_fails_clearly(run(capsys, "keys", "add", "guest", f"--expires={when}"), 2, "nor a date")


@pytest.mark.slow
def test_a_name_that_nobody_has_is_told(capsys: Captured) -> None:
    for command in ("change", "rotate", "remove"):
        assert_fails_clearly(run(capsys, "keys", command, "nobody"), 1, "no key, class or student named 'nobody'")
