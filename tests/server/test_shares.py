"""Links that show answers to whoever has them, and what a stranger with such a link cannot reach."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from openbook.server.keys import Grant, KeyStore, Role
from openbook.server.shares import ShareStore
from tests.fakes.clock import Clock
from tests.server.conftest import Serve
from tests.server.reading import ask

QUESTION = "When do sessions end?"
RETRIES = "How long does the retry policy wait?"


@pytest.fixture
def store(home: Path) -> Iterator[KeyStore]:
    with closing(KeyStore(home)) as opened:
        yield opened


def signed(store: KeyStore, name: str, role: Role = "editor") -> dict[str, str]:
    return {"Authorization": f"Bearer {store.add(name, Grant(role))}"}


def share(client: TestClient, session_id: str, headers: dict[str, str] | None = None, **more: Any) -> Any:
    response = client.post("/api/shares", json={"session_id": session_id, **more}, headers=headers)
    assert response.status_code == 201, response.text
    return response.json()


def opened(client: TestClient, link: str) -> Any:
    """Open a link as a stranger would: without cookies, without a key."""
    client.cookies.clear()
    return client.post("/api/shared", json={"token": link.partition("#")[2]})


def test_a_stranger_with_a_link_sees_an_answer_with_its_cited_lines(serve: Serve, store: KeyStore) -> None:
    client, ada = serve(needs_key=True), signed(store, "ada")
    client.headers.update(ada)
    reply = ask(client, QUESTION)
    made = share(client, reply["session_id"])
    del client.headers["Authorization"]

    shown = opened(client, made["link"]).json()

    (answer,) = shown["answers"]
    assert (shown["title"], answer["query"], answer["html"]) == (QUESTION, QUESTION, reply["html"])
    assert [each["quote"] for each in answer["citations"]] == ["Sessions end after one hour."]
    assert answer["citations"][0]["place"] == "guide.md:3 (Sessions)"


@pytest.mark.slow
def test_a_stranger_with_a_link_reaches_nothing_else(serve: Serve, store: KeyStore) -> None:
    client, ada = serve(needs_key=True), signed(store, "ada")
    reply = client.post("/api/query", json={"query": QUESTION}, headers=ada).json()
    later = {"query": RETRIES, "session_id": reply["session_id"]}
    made = share(client, reply["session_id"], ada)
    client.post("/api/query", json=later, headers=ada)
    document = reply["citations"][0]["document_id"]
    token = made["link"].partition("#")[2]

    text = opened(client, made["link"]).text

    for secret in (reply["session_id"], document, reply["id"], "retry", "Retries", "ada", "harbour.example", "usage"):
        assert secret not in text
    for method, route in (
        *(
            ("GET", f"/api/sessions{more}")
            for more in ("", f"/{reply['session_id']}", f"/{reply['session_id']}/export")
        ),
        *(("GET", f"/api/documents/{document}{more}") for more in ("", "/text")),
        *(
            ("GET", route)
            for route in ("/api/sources", "/api/shares", "/api/answers", "/api/admin/people", "/api/courses")
        ),
        *(("POST", route) for route in ("/api/query", "/api/search", "/api/session-matches", "/api/shares")),
    ):
        for headers in ({}, {"Authorization": f"Bearer {token}"}, {"Cookie": f"openbook_login={token}"}):
            assert client.request(method, route, json={}, headers=headers).status_code == 401, route


@pytest.mark.parametrize(
    "token", ["", "x", "../../api/sessions", "%00", "' OR 1=1 --", "\U0001f600", "a" * 101, "0" * 43]
)
def test_a_made_up_token_opens_nothing(client: TestClient, token: str) -> None:
    share(client, ask(client, QUESTION)["session_id"])

    assert client.post("/api/shared", json={"token": token}).status_code in (404, 422)


@pytest.mark.slow
def test_a_link_to_one_answer_shows_neither_the_others_nor_the_title(client: TestClient) -> None:
    first = ask(client, QUESTION)
    second = ask(client, RETRIES, session_id=first["session_id"])
    made = share(client, first["session_id"], answer_id=second["id"])

    text = opened(client, made["link"]).text

    assert "retry" in text
    assert "essions" not in text


def test_a_link_ends_when_it_is_revoked_and_only_by_its_owner(serve: Serve, store: KeyStore) -> None:
    client, ada, eve = serve(needs_key=True), signed(store, "ada"), signed(store, "eve", "owner")
    reply = client.post("/api/query", json={"query": QUESTION}, headers=ada).json()
    made = share(client, reply["session_id"], ada)
    route = f"/api/shares/{made['id']}"

    assert client.post("/api/shares", json={"session_id": reply["session_id"]}, headers=eve).status_code == 404
    assert client.get("/api/shares", headers=eve).json() == {"shares": []}
    assert client.delete(route, headers=eve).status_code == 404
    (listed,) = client.get("/api/shares", headers=ada).json()["shares"]
    assert {**listed, "link": made["link"]} == made
    assert client.delete(route, headers=ada).status_code == 204
    assert opened(client, made["link"]).status_code == 404
    log = client.get("/api/admin/log", headers=eve).json()["events"]
    assert [each["did"] for each in log] == ["revoked link", "shared"]


@pytest.mark.parametrize("how", ["removed", "reader", "expired"])
def test_a_link_shows_nothing_once_its_key_may_no_longer_share(serve: Serve, store: KeyStore, how: str) -> None:
    client, ada = serve(needs_key=True), signed(store, "ada")
    reply = client.post("/api/query", json={"query": QUESTION}, headers=ada).json()
    made = share(client, reply["session_id"], ada)
    assert opened(client, made["link"]).status_code == 200

    if how == "removed":
        store.remove("ada")
    else:
        store.change("ada", Grant("reader") if how == "reader" else Grant("editor", expires_at=1.0))

    assert opened(client, made["link"]).status_code == 404


def test_what_was_shared_without_a_key_is_shut_once_keys_are_needed(serve: Serve) -> None:
    client = serve()
    made = share(client, ask(client, QUESTION)["session_id"])

    assert opened(client, made["link"]).status_code == 200
    assert opened(serve(needs_key=True), made["link"]).status_code == 404


@pytest.mark.parametrize(
    ("allowed", "role", "status"),
    [("editor", "reader", 403), ("reader", "reader", 201), ("owner", "editor", 403), ("off", "owner", 403)],
)
def test_the_settings_say_who_may_share(serve: Serve, store: KeyStore, allowed: str, role: Role, status: int) -> None:
    client, headers = serve(needs_key=True, server_shares=allowed), signed(store, "ada", role)
    reply = client.post("/api/query", json={"query": QUESTION}, headers=headers).json()

    response = client.post("/api/shares", json={"session_id": reply["session_id"]}, headers=headers)

    assert response.status_code == status


@pytest.mark.slow
def test_deleted_and_replaced_answers_vanish_from_links(client: TestClient) -> None:
    reply = ask(client, QUESTION)
    route = f"/api/sessions/{reply['session_id']}"
    one, both = (share(client, reply["session_id"], answer_id=answer_id) for answer_id in (reply["id"], None))
    cookies = dict(client.cookies)

    ask(client, QUESTION, session_id=reply["session_id"], replaces=reply["id"])

    for made in (one, both):
        assert opened(client, made["link"]).status_code == 404
    client.cookies.update(cookies)
    again = share(client, reply["session_id"])
    client.delete(route)
    assert client.get("/api/shares").json() == {"shares": []}
    assert opened(client, again["link"]).status_code == 404


def test_an_answer_whose_source_was_removed_is_withheld(client: TestClient) -> None:
    made = share(client, ask(client, QUESTION)["session_id"])
    client.delete("/api/sources/harbour")

    shown = opened(client, made["link"])

    (answer,) = shown.json()["answers"]
    assert (answer["withheld"], answer["html"], answer["citations"]) == (True, "", [])
    assert "one hour" not in shown.text


def test_of_a_refusal_no_lines_are_shown(client: TestClient) -> None:
    reply = ask(client, "Which parliament elects the chancellor of the harbour?")
    assert reply["nearest"]

    shown = opened(client, share(client, reply["session_id"])["link"])

    (answer,) = shown.json()["answers"]
    assert (answer["refused"], answer["html"], answer["citations"]) == (True, "", [])
    assert reply["nearest"][0]["quote"] not in shown.text


def test_a_link_leaves_no_token_in_the_home_or_the_log(
    client: TestClient, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    token = share(client, ask(client, QUESTION)["session_id"])["link"].partition("#")[2]
    page = client.get("/shared")
    opened(client, f"#{token}")

    kept = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert token.encode() not in kept
    assert token not in caplog.text + json.dumps([vars(each) for each in caplog.records], default=str)
    assert 'content="noindex"' in page.text
    assert page.headers["x-robots-tag"] == "noindex, nofollow"
    assert page.headers["referrer-policy"] == "no-referrer"


def test_an_owner_has_at_most_a_hundred_links(client: TestClient, home: Path) -> None:
    session_id = ask(client, QUESTION)["session_id"]
    share(client, session_id)
    with closing(sqlite3.connect(home / "shares.sqlite")) as tables, tables:
        for number in range(99):
            tables.execute(
                "INSERT INTO shares SELECT ?, ?, owner, key_id, session_id, answers, created_at, expires_at"
                " FROM shares LIMIT 1",
                (f"{number:032x}", str(number)),
            )

    assert client.post("/api/shares", json={"session_id": session_id}).status_code == 409


def test_a_link_ends_by_itself(tmp_path: Path) -> None:
    clock = Clock(1_000.0)
    with closing(ShareStore(tmp_path, now=clock)) as store:
        made, token = store.add("ada", "", "s", ["a"], 60.0)
        assert store.find(token) == made
        clock.now_s += 60.0

        assert (store.find(token), store.of("ada")) == (None, [])
        store.add("eve", "", "s", ["a"], 60.0)  # which forgets what has ended
        with closing(sqlite3.connect(tmp_path / "shares.sqlite")) as tables:
            assert tables.execute("SELECT count(*) FROM shares").fetchone() == (1,)
