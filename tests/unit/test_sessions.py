"""Conversations: whose they are, how long they live, and what outlives a restart."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from openbook.errors import SessionError
from openbook.generation import Exchange
from openbook.sessions import Sessions, new_id

EXCHANGE = Exchange("When do  sessions\nend?", "After one hour.")


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sessions(tmp_path: Path, clock: Clock) -> Iterator[Sessions]:
    with closing(Sessions(tmp_path / "home" / "sessions.sqlite", expire_s=100, now=clock)) as opened:
        yield opened


def begin(sessions: Sessions, owner: str = "ada", exchange: Exchange = EXCHANGE) -> str:
    session_id = new_id()
    sessions.add(owner, session_id, exchange, {"query": exchange.question}, begins=True)
    return session_id


def test_a_conversation_is_titled_by_its_first_question_and_listed_latest_first(
    sessions: Sessions, clock: Clock
) -> None:
    first = begin(sessions)
    clock.now_s += 1
    second = begin(sessions, exchange=Exchange("x" * 500, ""))
    clock.now_s += 1
    sessions.add("ada", first, EXCHANGE, {})

    listed = sessions.of("ada")

    assert [(session.id, session.exchanges) for session in listed] == [(first, 2), (second, 1)]
    assert (listed[0].title, len(listed[1].title)) == ("When do sessions end?", 80)
    assert (listed[0].created_at, listed[0].updated_at) == (1_000.0, 1_002.0)


def test_nobody_but_its_owner_reads_renames_or_deletes_a_conversation(sessions: Sessions) -> None:
    session_id = begin(sessions)

    with pytest.raises(SessionError):
        sessions.add("eve", session_id, EXCHANGE, {"query": "mine now"})

    assert (sessions.of("eve"), sessions.records("eve", session_id)) == ([], None)
    assert sessions.history("eve", session_id, 9) == ()
    assert not sessions.owns("eve", session_id)
    assert not sessions.rename("eve", session_id, "mine")
    assert not sessions.delete("eve", session_id)
    found = sessions.records("ada", session_id)
    assert found is not None
    assert (found[0].title, found[1]) == ("When do sessions end?", [{"query": EXCHANGE.question}])


def test_the_history_is_the_last_exchanges_in_their_order(sessions: Sessions) -> None:
    session_id = begin(sessions)
    for number in range(3):
        sessions.add("ada", session_id, Exchange(f"q{number}", f"a{number}"), {})

    assert sessions.history("ada", session_id, 2) == (Exchange("q1", "a1"), Exchange("q2", "a2"))
    assert sessions.history("ada", session_id, 0) == ()


def test_a_conversation_expires_after_its_last_question(sessions: Sessions, clock: Clock) -> None:
    old, kept = begin(sessions), begin(sessions)
    clock.now_s += 60
    sessions.add("ada", kept, EXCHANGE, {})
    clock.now_s += 60

    assert [session.id for session in sessions.of("ada")] == [kept]
    assert (sessions.owns("ada", old), sessions.rename("ada", old, "x")) == (False, False)
    assert (sessions.expire(), sessions.expire()) == (1, 0)


def test_what_was_deleted_while_it_was_answered_stays_deleted_and_says_so(sessions: Sessions) -> None:
    session_id = begin(sessions)
    sessions.delete("ada", session_id)

    with pytest.raises(SessionError, match="deleted meanwhile"):
        sessions.add("ada", session_id, EXCHANGE, {})

    assert sessions.of("ada") == []


def test_conversations_outlive_a_restart(tmp_path: Path, sessions: Sessions, clock: Clock) -> None:
    session_id = begin(sessions)
    sessions.rename("ada", session_id, "Ends of sessions")
    sessions.close()

    with closing(Sessions(tmp_path / "home" / "sessions.sqlite", expire_s=100, now=clock)) as again:
        titles = [session.title for session in again.of("ada")]

    assert titles == ["Ends of sessions"]


def test_threads_share_them(sessions: Sessions) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: begin(sessions, f"owner {number % 4}"), range(80)))

    assert [len(sessions.of(f"owner {number}")) for number in range(4)] == [20] * 4


def test_ids_are_128_random_bits() -> None:
    ids = {new_id() for _ in range(100)}

    assert (len(ids), {len(bytes.fromhex(id_)) for id_ in ids}) == (100, {16})


def test_a_file_that_cannot_be_used_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "sessions.sqlite").write_bytes(b"this is no database, and long enough to be taken for one" * 20)

    with pytest.raises(SessionError, match="cannot be kept") as caught:
        Sessions(tmp_path / "sessions.sqlite", expire_s=100)

    assert "OPENBOOK_HOME" in caught.value.hint
