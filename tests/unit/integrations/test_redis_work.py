"""What servers tell each other of running work through a Redis."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from openbook.integrations.redis_client import RedisClient
from openbook.integrations.redis_store import RedisWork
from openbook.server.shared_store import LOST_AFTER_S, UpdateReply, WorkRecord, WorkUpdate
from openbook.settings import Secret
from tests.redis_server import RedisServer

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


@pytest.fixture
def now_s() -> list[float]:
    return [1_000.0]


@pytest.fixture
def work(redis_server: RedisServer, now_s: list[float]) -> Iterator[RedisWork]:
    with closing(RedisClient(Secret(redis_server.url), now=lambda: now_s[0])) as shared:
        yield RedisWork(shared)


def update(work_id: str = "1", **more: object) -> WorkUpdate:
    return WorkUpdate(work_id, "ada", "{}", **more)  # type: ignore[arg-type]


def test_events_are_read_from_any_of_them_on_and_dropped_ones_are_gone(work: RedisWork) -> None:
    work.update("answer", update(events=((1, "a"), (3, "draft"), (4, "b"))))
    work.update("answer", update(events=((6, "c"),), dropped=(3,), known=4))

    assert work.find("answer", "ada", "1") == WorkRecord("1", "ada", "{}", False, ((1, "a"), (4, "b"), (6, "c")))
    assert work.find("answer", "ada", "1", after=4) == WorkRecord("1", "ada", "{}", False, ((6, "c"),))


def test_what_is_told_twice_is_there_once_and_the_whole_replaces_all(work: RedisWork) -> None:
    for _ in range(2):  # the reply to the first got lost
        work.update("answer", update(events=((1, "a"), (2, "b"))))
    twice = work.find("answer", "ada", "1")
    work.update("answer", update(events=((3, "all"),), known=2, is_whole=True, has_ended=True))
    whole = work.find("answer", "ada", "1")

    assert twice is not None
    assert whole is not None
    assert (twice.events, whole.events) == (((1, "a"), (2, "b")), ((3, "all"),))


def test_work_belongs_to_one_owner_and_one_kind(work: RedisWork) -> None:
    work.update("answer", update())
    work.update("answer", WorkUpdate("1", "eve", '{"by": "eve"}'))  # changes nothing
    work.stop("answer", "eve", "1")

    assert work.find("answer", "eve", "1") is None
    assert work.find("job", "ada", "1") is None
    assert (work.all("answer", "eve"), work.all("job")) == ([], [])
    assert work.all("answer", "ada") == work.all("answer") == [WorkRecord("1", "ada", "{}", False)]
    assert work.update("answer", update()) == UpdateReply()


def test_who_tells_hears_that_it_has_to_stop(work: RedisWork) -> None:
    work.update("job", update())
    work.stop("job", "ada", "1")

    assert work.update("job", update()) == UpdateReply(stop=True)


def test_work_is_lost_when_its_server_falls_silent_before_its_end(work: RedisWork, now_s: list[float]) -> None:
    work.update("answer", update("1"))
    work.update("answer", update("2", has_ended=True))
    now_s[0] += LOST_AFTER_S + 1

    assert [(each.id, each.is_lost) for each in work.all("answer")] == [("1", True), ("2", False)]


def test_a_redis_that_lost_it_all_asks_for_all_of_it_again(work: RedisWork, redis_server: RedisServer) -> None:
    work.update("answer", update(events=((1, "a"), (2, "b"))))
    redis_server.kill()
    redis_server.start()

    reply = work.update("answer", update(events=((3, "c"),), known=2))

    assert reply == UpdateReply(is_behind=True)
    assert work.find("answer", "ada", "1") is None
