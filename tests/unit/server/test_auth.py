"""Which cookies a browser gets, and for how long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from fastapi import Request, Response

from openbook.server.auth import Authenticator
from openbook.server.keys import KeyStore

BROWSER = "0123456789abcdef" * 2


def request(method: str, cookie: str = "") -> Request:
    headers = [(b"cookie", cookie.encode())] if cookie else []
    return Request(
        {"type": "http", "method": method, "path": "/", "headers": headers, "scheme": "http", "server": None}
    )


@pytest.fixture
def authenticator(tmp_path: Path) -> Iterator[Authenticator]:
    with closing(KeyStore(tmp_path)) as keys:
        yield Authenticator(keys, needs_key=False, cookie_s=90 * 24 * 3600.0)


def test_reading_gives_no_cookie_and_changing_gives_one(authenticator: Authenticator) -> None:
    read, changed = Response(), Response()

    callers = [authenticator.caller(request("GET"), read) for _ in range(2)]
    caller = authenticator.caller(request("POST"), changed)
    _, _, cookie = changed.headers["set-cookie"].partition("openbook_browser=")

    assert ("set-cookie" in read.headers, callers[0] == callers[1]) == (False, False)
    assert authenticator.caller(request("GET", f"openbook_browser={cookie[:32]}"), Response()) == caller


def test_a_cookie_is_kept_for_as_long_as_a_conversation_from_each_visit_on(tmp_path: Path) -> None:
    with closing(KeyStore(tmp_path)) as keys:
        key = keys.add("team")
        open_to_all = Authenticator(keys, needs_key=False, cookie_s=90 * 24 * 3600.0)
        for_keys = Authenticator(keys, needs_key=True, cookie_s=90 * 24 * 3600.0)
        given = []
        for authenticator, cookie in (
            (open_to_all, f"openbook_browser={BROWSER}"),
            (for_keys, f"openbook_key={key}"),
            (for_keys, "openbook_key=obk_guessed"),
            (open_to_all, ""),
        ):
            response = Response()
            authenticator.greet(request("GET", cookie), response)
            given.append(response.headers.get("set-cookie", ""))

    browser, own_key, unknown, first = given
    assert browser.startswith(f"openbook_browser={BROWSER}; HttpOnly; Max-Age=7776000")
    assert own_key.startswith(f"openbook_key={key}; HttpOnly; Max-Age=7776000")
    assert (unknown, first.startswith("openbook_browser=")) == ("", True)
