"""The contract of conversation stores. A new one joins by adding one line to `KEEPERS`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from openbook.answers import Exchange
from openbook.errors import SessionError
from openbook.integrations.redis_client import RedisClient
from openbook.integrations.redis_sessions import RedisSessions
from openbook.sessions.protocol import MAX_LISTED, Cut, Sessions, new_id
from openbook.sessions.sqlite import SqliteSessions
from openbook.settings import Secret
from tests.fakes.clock import Clock
from tests.redis_server import RedisServer

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

EXCHANGE = Exchange("When do  sessions\nend?", "After one hour.")


Open = Callable[[], Sessions]


def sqlite(request: pytest.FixtureRequest, clock: Clock, stack: ExitStack) -> Open:
    path: Path = request.getfixturevalue("tmp_path") / "home" / "sessions.sqlite"
    return lambda: stack.enter_context(closing(SqliteSessions(path, expire_s=100, now=clock)))


def redis(request: pytest.FixtureRequest, clock: Clock, stack: ExitStack) -> Open:
    server: RedisServer = request.getfixturevalue("redis_server")

    def connect() -> Sessions:
        shared = stack.enter_context(closing(RedisClient(Secret(server.url), now=clock)))
        return stack.enter_context(closing(RedisSessions(shared, expire_s=100)))

    return connect


KEEPERS = {"sqlite": sqlite, "redis": redis}


@pytest.fixture
def clock() -> Clock:
    return Clock(1_000.0)


@pytest.fixture(params=list(KEEPERS.values()), ids=list(KEEPERS))
def connect(request: pytest.FixtureRequest, clock: Clock) -> Iterator[Open]:
    """Open the conversations of this test, once more with each call."""
    with ExitStack() as stack:
        yield request.param(request, clock, stack)


@pytest.fixture
def sessions(connect: Open) -> Sessions:
    return connect()


def begin(sessions: Sessions, owner: str = "ada", exchange: Exchange = EXCHANGE) -> str:
    session_id = new_id()
    sessions.add(owner, session_id, exchange, {"id": "first", "query": exchange.question}, begins=True)
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
    assert sessions.find("eve", session_id) is None
    assert not sessions.rename("eve", session_id, "mine")
    assert not sessions.delete("eve", session_id)
    found = sessions.records("ada", session_id)
    assert found is not None
    assert (found[0].title, found[1]) == ("When do sessions end?", [{"id": "first", "query": EXCHANGE.question}])


def test_the_history_is_the_last_exchanges_in_their_order(sessions: Sessions) -> None:
    session_id = begin(sessions)
    for number in range(3):
        sessions.add("ada", session_id, Exchange(f"q{number}", f"a{number}"), {})

    assert sessions.history("ada", session_id, 2) == (Exchange("q1", "a1"), Exchange("q2", "a2"))
    assert sessions.history("ada", session_id, 0) == ()


def test_an_exchange_replaces_another_one_and_all_that_came_after_it(sessions: Sessions) -> None:
    session_id = begin(sessions)
    for number in range(3):
        sessions.add("ada", session_id, Exchange(f"q{number}", f"a{number}"), {"id": f"a{number}"})

    before = sessions.history("ada", session_id, 2, before=2)
    sessions.add("ada", session_id, Exchange("new", "answer"), {"id": "new"}, cut=Cut(2, 4, "a1"))

    found = sessions.records("ada", session_id)
    assert before == (EXCHANGE, Exchange("q0", "a0"))
    assert found is not None
    assert found[1] == [{"id": "first", "query": EXCHANGE.question}, {"id": "a0"}, {"id": "new"}]
    assert sessions.history("ada", session_id, 9) == (EXCHANGE, Exchange("q0", "a0"), Exchange("new", "answer"))
    assert sessions.history("ada", session_id, 9, before=0) == ()


def test_the_first_exchange_can_be_replaced(sessions: Sessions) -> None:
    session_id = begin(sessions)

    sessions.add("ada", session_id, Exchange("new", "answer"), {"n": 1}, cut=Cut(0, 1, "first"))

    assert sessions.history("ada", session_id, 9) == (Exchange("new", "answer"),)


def test_nothing_is_replaced_in_a_conversation_that_has_changed_meanwhile(sessions: Sessions) -> None:
    session_id = begin(sessions)
    sessions.add("ada", session_id, Exchange("And then?", "Nothing."), {"n": 1})

    with pytest.raises(SessionError, match="changed meanwhile"):
        sessions.add("ada", session_id, Exchange("new", "answer"), {"n": 2}, cut=Cut(0, 1, "first"))

    assert sessions.history("ada", session_id, 9) == (EXCHANGE, Exchange("And then?", "Nothing."))


def test_of_replacements_of_one_exchange_only_the_first_is_stored(sessions: Sessions) -> None:
    session_id = begin(sessions)
    cut = Cut(0, 1, "first")
    sessions.add("ada", session_id, Exchange("one", "answer"), {"id": "one"}, cut=cut)

    with pytest.raises(SessionError, match="changed meanwhile"):
        sessions.add("ada", session_id, Exchange("two", "answer"), {"id": "two"}, cut=cut)

    assert sessions.history("ada", session_id, 9) == (Exchange("one", "answer"),)


def test_a_conversation_is_pinned_and_unpinned_by_its_owner_alone(sessions: Sessions) -> None:
    session_id, other = begin(sessions), begin(sessions)

    pinned = sessions.pin("ada", session_id, pinned=True), sessions.pin("ada", session_id, pinned=True)

    assert (pinned, sessions.pin("eve", other, pinned=True)) == ((True, True), False)
    assert {session.id: session.pinned for session in sessions.of("ada")} == {session_id: True, other: False}
    found = sessions.records("ada", session_id)
    assert found is not None
    assert found[0].pinned
    assert sessions.pin("ada", session_id, pinned=False)
    assert not any(session.pinned for session in sessions.of("ada"))
    assert sessions.delete("ada", session_id)


def test_a_conversation_expires_after_its_last_question(sessions: Sessions, clock: Clock) -> None:
    old, kept = begin(sessions), begin(sessions)
    clock.now_s += 60
    sessions.add("ada", kept, EXCHANGE, {})
    clock.now_s += 60

    assert [session.id for session in sessions.of("ada")] == [kept]
    assert (sessions.find("ada", old), sessions.rename("ada", old, "x")) == (None, False)
    assert (sessions.expire(), sessions.expire()) == (1, 0)


def test_what_was_deleted_while_it_was_answered_stays_deleted_and_says_so(sessions: Sessions) -> None:
    session_id = begin(sessions)
    sessions.delete("ada", session_id)

    with pytest.raises(SessionError, match="has been deleted"):
        sessions.add("ada", session_id, EXCHANGE, {})

    assert sessions.of("ada") == []


def test_all_conversations_of_one_owner_are_deleted_expired_ones_as_well(sessions: Sessions, clock: Clock) -> None:
    begin(sessions)
    clock.now_s += 60
    mine, other = begin(sessions), begin(sessions, owner="eve")
    clock.now_s += 60

    deleted = sessions.delete_all("ada"), sessions.delete_all("ada")

    assert (deleted, sessions.of("ada"), sessions.find("ada", mine)) == ((2, 0), [], None)
    assert ([each.id for each in sessions.of("eve")], sessions.expire()) == ([other], 0)


def test_conversations_outlive_who_keeps_them(connect: Open, sessions: Sessions) -> None:
    session_id = begin(sessions)
    sessions.rename("ada", session_id, "Ends of sessions")
    sessions.close()

    titles = [session.title for session in connect().of("ada")]

    assert titles == ["Ends of sessions"]


def test_a_conversation_begun_at_one_server_goes_on_at_another(connect: Open) -> None:
    one, other = connect(), connect()
    session_id = begin(one)

    other.add("ada", session_id, Exchange("And then?", "Nothing."), {"query": "And then?"})

    assert one.history("ada", session_id, 9) == (EXCHANGE, Exchange("And then?", "Nothing."))
    assert one.delete("ada", session_id)
    assert (other.find("ada", session_id), other.of("ada")) == (None, [])


def test_conversations_of_the_same_time_are_listed_by_id(sessions: Sessions) -> None:
    ids = [begin(sessions) for _ in range(20)]

    assert [session.id for session in sessions.of("ada")] == sorted(ids)


@pytest.mark.slow
def test_of_many_conversations_the_latest_are_listed(sessions: Sessions, clock: Clock) -> None:
    ids = []
    for _ in range(MAX_LISTED + 2):
        ids.append(begin(sessions))
        clock.now_s += 0.01

    assert [session.id for session in sessions.of("ada")] == ids[:1:-1]


def test_no_conversation_begins_under_the_id_of_another(sessions: Sessions) -> None:
    session_id = begin(sessions)

    with pytest.raises(SessionError):
        sessions.add("eve", session_id, EXCHANGE, {"query": "mine now"}, begins=True)

    assert (sessions.of("eve"), sessions.of("ada")) == ([], [sessions.find("ada", session_id)])


def test_records_come_back_as_they_were(sessions: Sessions) -> None:
    record = {"query": "Où? 船\U0001f6a2 \x00", "claims": [{"text": "", "score": 0.1, "marks": []}], "cost": None}
    odd = Exchange("Où? 船\U0001f6a2 \x00", "\r\n")
    session_id = new_id()

    sessions.add("ada", session_id, odd, record, begins=True)

    found = sessions.records("ada", session_id)
    assert found is not None
    assert (found[1], sessions.history("ada", session_id, 1)) == ([record], (odd,))


def test_exchanges_added_at_once_are_all_kept_whole(sessions: Sessions) -> None:
    session_id = begin(sessions)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: sessions.add("ada", session_id, Exchange(f"{n}", f"{n}"), {"n": n}), range(40)))

    found = sessions.records("ada", session_id)
    assert found is not None
    history = sessions.history("ada", session_id, 100)
    assert found[0].exchanges == 41
    assert [exchange.question for exchange in history[1:]] == [str(record["n"]) for record in found[1][1:]]


@pytest.mark.slow
def test_many_that_expired_are_forgotten_at_once(sessions: Sessions, clock: Clock) -> None:
    for number in range(1_203):
        begin(sessions, f"owner {number % 7}")
    clock.now_s += 101
    kept = begin(sessions, "owner 1")

    assert (sessions.expire(), sessions.expire()) == (1_203, 0)
    assert [session.id for session in sessions.of("owner 1")] == [kept]


def test_threads_share_them(sessions: Sessions) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: begin(sessions, f"owner {number % 4}"), range(80)))

    assert [len(sessions.of(f"owner {number}")) for number in range(4)] == [20] * 4


def test_ids_are_128_random_bits() -> None:
    ids = {new_id() for _ in range(100)}

    assert (len(ids), {len(bytes.fromhex(id_)) for id_ in ids}) == (100, {16})
