"""A Redis that several servers share: reached in time or an error, and its password shown by nothing."""

from __future__ import annotations

import contextlib
import logging
import socket
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import closing

import pytest

from openbook.errors import MissingExtraError, SettingsError, SharedError
from openbook.integrations.redis_client import RedisClient, display_address
from openbook.settings import Secret
from tests.redis_server import PASSWORD, RedisServer


@pytest.fixture
def shared(redis_server: RedisServer) -> Iterator[RedisClient]:
    with closing(RedisClient(Secret(redis_server.url), timeout_s=60)) as opened:
        yield opened


@pytest.fixture
def impatient(redis_server: RedisServer) -> Iterator[RedisClient]:
    with closing(RedisClient(Secret(redis_server.url), timeout_s=1)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://ada:secret@cache.example:6379/0", "redis://cache.example:6379/0"),
        ("rediss://cache.example/2?password=secret", "rediss://cache.example/2"),
        ("redis://:secret@[::1]:6379", "redis://[::1]:6379"),
        ("unix://ada:secret@/run/redis.sock?db=1&password=secret", "unix:///run/redis.sock"),
    ],
)
def test_an_address_is_shown_without_who_opens_it(url: str, shown: str) -> None:
    assert display_address(Secret(url)) == shown


@pytest.mark.parametrize(
    "url",
    [
        "cache.example:6379",
        "http://:secret@cache.example",
        "redis://:sec/ret@cache.example",
        "redis://:sec[ret@cache.example",
        "redis://:secret@cache.example:many",
        "redis://:12/secret@cache.example",
        "redis://:12?secret@cache.example",
        "redis://ada:12?secret@cache.example",
        "redis://:12#secret@cache.example",
        "redis://cache.example/secret",
        "unix://ada:12/secret@/run/redis.sock",
        "unix://",
        "redis://127.0.0.1:6379/0?db=secret",
        "redis://127.0.0.1:6379/0?secret=1",
    ],
)
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_what_is_no_address_is_refused_without_being_shown(url: str) -> None:
    with pytest.raises(SettingsError, match="OPENBOOK_SHARED_STORE is not an address") as caught:
        RedisClient(Secret(url))

    assert "redis://host:6379/0" in caught.value.hint
    assert "sec" not in "".join(traceback.format_exception(caught.value)).replace("Secret", "")


def test_a_package_that_is_missing_is_named_with_the_way_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("redis", "redis.backoff", "redis.retry"):
        monkeypatch.setitem(sys.modules, name, None)

    with pytest.raises(MissingExtraError, match="'redis' is not installed") as caught:
        RedisClient(Secret("redis://127.0.0.1:1/0"))

    assert "openbook[redis]" in caught.value.hint


def test_what_is_not_there_is_told_with_the_place_and_the_reason(redis_server: RedisServer) -> None:
    redis_server.kill()

    with pytest.raises(SharedError, match=r"Redis at redis://127\.0\.0\.1:\d+/0 cannot be used: Connection refused"):
        RedisClient(Secret(redis_server.url))


@pytest.mark.parametrize("who", ["", ":wrong-word@", "ada:wrong-word@"])
def test_who_is_not_let_in_is_told_so_and_no_password_is_shown(
    redis_server: RedisServer, who: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    with pytest.raises(SharedError, match=r"refuses|required") as caught:
        RedisClient(Secret(f"redis://{who}127.0.0.1:{redis_server.port}/0"))

    told = "".join(traceback.format_exception(caught.value)) + repr([vars(record) for record in caplog.records])
    assert "wrong-word" not in told
    assert PASSWORD not in told


@pytest.mark.allow_hosts(["127.0.0.1"])
def test_a_server_of_something_else_that_repeats_what_was_sent_is_no_redis_and_shows_no_password() -> None:
    def answer(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(1_000)
            connection.sendall(b"-ERR unknown command 'AUTH', with args beginning with: 'wrong-word'\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer, args=(listener,))
        thread.start()
        with pytest.raises(SharedError) as caught:
            RedisClient(Secret(f"redis://:wrong-word@127.0.0.1:{listener.getsockname()[1]}/0"))
        thread.join()

    assert "wrong-word" not in str(caught.value)


@pytest.mark.slow
def test_a_redis_that_says_nothing_is_not_waited_for(redis_server: RedisServer, impatient: RedisClient) -> None:
    redis_server.hold()

    began = time.monotonic()
    with pytest.raises(SharedError, match="no answer within 1 seconds"):
        impatient.check()

    assert time.monotonic() - began < 60  # of the minutes that a connection without limits is waited for


@pytest.mark.slow
def test_a_redis_that_says_nothing_is_asked_by_one_and_not_waited_for_by_many(
    redis_server: RedisServer, impatient: RedisClient
) -> None:
    redis_server.hold()
    reasons = []
    for _ in range(100):
        with pytest.raises(SharedError) as caught:
            impatient.check()
        reasons.append(str(caught.value).rpartition(": ")[2])
    redis_server.resume()

    until = time.monotonic() + 30
    while time.monotonic() < until:
        with contextlib.suppress(SharedError):
            impatient.check()
            break
    else:
        pytest.fail("it answers again, and is not asked")
    assert reasons.count("it did not respond a moment ago") > 50


def test_a_redis_that_came_back_is_used_again_with_the_first_call(
    redis_server: RedisServer, shared: RedisClient
) -> None:
    count = shared.script("return redis.call('INCR', KEYS[1])")
    counted = [count(["n"]), count(["n"])]
    redis_server.kill()
    with pytest.raises(SharedError):
        count(["n"])
    redis_server.start()

    counted.append(count(["n"]))

    assert counted == [1, 2, 1]


def test_a_redis_that_was_restarted_between_two_calls_costs_none_of_them(
    redis_server: RedisServer, shared: RedisClient
) -> None:
    count = shared.script("return redis.call('INCR', KEYS[1])")
    count(["n"])
    redis_server.kill()
    redis_server.start()

    assert count(["n"]) == 1


@pytest.mark.parametrize(
    ("setting", "refused", "usual", "told"),
    [("maxmemory", "1", "0", "maxmemory'$"), ("min-replicas-to-write", "1", "0", "NOREPLICAS .* write$")],
    ids=["full", "read-only"],
)
def test_a_redis_that_takes_no_writes_is_not_healthy(
    shared: RedisClient, setting: str, refused: str, usual: str, told: str
) -> None:
    shared.check()
    shared._client.config_set(setting, refused)

    try:
        with pytest.raises(SharedError, match=told) as caught:
            shared.check()
    finally:
        shared._client.config_set(setting, usual)

    assert "maxmemory" in caught.value.hint
    shared.check()


def test_what_it_does_not_allow_is_told_in_its_words(shared: RedisClient) -> None:
    wrong = shared.script("redis.call('SET', KEYS[1], 'x'); return redis.call('LPUSH', KEYS[1], 'y')")

    with pytest.raises(SharedError, match="wrong kind of value") as caught:
        wrong(["n"])

    assert "user_script" not in str(caught.value)
