"""Which cookies a browser gets, for how long, and which are accepted."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from fastapi import Request, Response

from openbook.server.auth import Authenticator
from openbook.server.failures import RequestRefusedError
from openbook.server.keys import Grant, KeyStore
from tests.fakes.clock import Clock

DAY_S = 24 * 3600.0
OLD = "0123456789abcdef" * 2  # as cookies were before they were signed


def request(method: str, cookies: str = "") -> Request:
    headers = [(b"cookie", cookies.encode())] if cookies else []
    return Request(
        {"type": "http", "method": method, "path": "/", "headers": headers, "scheme": "http", "server": None}
    )


def cookie_of(response: Response) -> str:
    """Return what a browser would send back."""
    return response.headers["set-cookie"].partition(";")[0]


@pytest.fixture
def open_to_all(keys: KeyStore) -> Authenticator:
    return Authenticator(keys, needs_key=False, cookie_s=90 * DAY_S)


@pytest.fixture
def for_keys(keys: KeyStore) -> Authenticator:
    return Authenticator(keys, needs_key=True, cookie_s=90 * DAY_S)


def login_of(authenticator: Authenticator, keys: KeyStore, name: str) -> str:
    """Let a browser in with a new key, and return its cookie."""
    key = keys.find(keys.add(name))
    assert key is not None
    response = Response()
    authenticator.log_in(request("POST"), response, key)
    return cookie_of(response)


def is_in(authenticator: Authenticator, cookie: str) -> bool:
    try:
        return authenticator.caller(request("GET", cookie), Response()).key is not None
    except RequestRefusedError:
        return False


def test_reading_gives_no_cookie_and_changing_gives_one(open_to_all: Authenticator) -> None:
    read, changed = Response(), Response()

    callers = [open_to_all.caller(request("GET"), read) for _ in range(2)]
    caller = open_to_all.caller(request("POST"), changed)

    assert ("set-cookie" in read.headers, callers[0] == callers[1]) == (False, False)
    assert open_to_all.caller(request("GET", cookie_of(changed)), Response()) == caller


def test_a_cookie_is_kept_for_as_long_as_a_conversation_from_each_visit_on(
    open_to_all: Authenticator, for_keys: Authenticator, keys: KeyStore, clock: Clock
) -> None:
    first, login = Response(), login_of(for_keys, keys, "team")
    open_to_all.greet(request("GET"), first)
    clock.now_s += 60 * DAY_S
    again, renewed, unknown = Response(), Response(), Response()

    open_to_all.greet(request("GET", cookie_of(first)), again)
    for_keys.greet(request("GET", login), renewed)
    for_keys.greet(request("GET", "openbook_login=guessed"), unknown)

    assert again.headers["set-cookie"].startswith(f"{cookie_of(first)}; HttpOnly; Max-Age=7776000")
    assert renewed.headers["set-cookie"].startswith(f"{login}; HttpOnly; Max-Age=7776000")
    assert "set-cookie" not in unknown.headers
    clock.now_s += 60 * DAY_S
    assert is_in(for_keys, login)


@pytest.mark.parametrize(
    "cookie",
    ["0123456789abcdef" * 2, "0123456789abcdef" * 2 + "." + "0" * 64, "", "é"],
    ids=["old", "made up", "", "odd"],
)
def test_a_cookie_that_this_server_did_not_issue_is_replaced(open_to_all: Authenticator, cookie: str) -> None:
    response = Response()

    open_to_all.greet(request("GET", f"openbook_browser={cookie}"), response)

    callers = [open_to_all.caller(request("GET", f"openbook_browser={cookie}"), Response()).owner for _ in range(2)]
    assert cookie_of(response) != f"openbook_browser={cookie}"
    assert callers[0] != callers[1]


def test_a_cookie_of_another_server_is_that_of_a_stranger(open_to_all: Authenticator, tmp_path: Path) -> None:
    elsewhere = Response()
    with closing(KeyStore(tmp_path / "other")) as others:
        other = Authenticator(others, needs_key=False)
        other.greet(request("GET"), elsewhere)
        there = other.caller(request("GET", cookie_of(elsewhere)), Response())

    assert open_to_all.caller(request("GET", cookie_of(elsewhere)), Response()) != there


def test_a_login_holds_neither_the_key_nor_what_is_stored(
    for_keys: Authenticator, keys: KeyStore, tmp_path: Path
) -> None:
    key = keys.add("team")
    login = login_of(for_keys, keys, "other")

    assert not is_in(for_keys, f"openbook_key={key}")
    assert not is_in(for_keys, f"openbook_login={key}")
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert login.partition("=")[2].encode() not in kept


def test_a_login_ends_by_logout_by_time_and_with_its_key(for_keys: Authenticator, keys: KeyStore, clock: Clock) -> None:
    left, rotated, removed, expired, stays = (
        login_of(for_keys, keys, name) for name in ("left", "rotated", "removed", "expired", "stays")
    )
    keys.change("expired", Grant(expires_at=clock.now_s + 60))
    assert all(is_in(for_keys, each) for each in (left, rotated, removed, expired, stays))

    for_keys.log_out(request("POST", left), Response())
    keys.rotate("rotated")
    keys.remove("removed")
    clock.now_s += 60

    assert [is_in(for_keys, each) for each in (left, rotated, removed, expired, stays)] == [False] * 4 + [True]
    clock.now_s += 90 * DAY_S
    assert not is_in(for_keys, stays)


def test_a_new_login_of_a_browser_ends_the_one_before(for_keys: Authenticator, keys: KeyStore) -> None:
    before = login_of(for_keys, keys, "team")
    other = keys.find(keys.add("other"))
    assert other is not None

    for_keys.log_in(request("POST", before), Response(), other)

    assert not is_in(for_keys, before)
