"""Several servers behind one name: what they share in a Redis, and what happens while it is away."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import cycle
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from openbook.server.keys import Grant, KeyStore
from openbook.server.logs import JsonFormatter
from openbook.settings import Secret
from openbook.testing import ScriptedModel, ScriptedReply
from openbook.usage import Usage
from tests.redis_server import PASSWORD, RedisServer
from tests.server.conftest import Serve
from tests.server.reading import ask, events_of

QUESTION = "When do sessions end?"
PRICED = "anthropic:claude-sonnet-5-5"


@pytest.fixture
def keys(home: Path) -> Iterator[KeyStore]:
    with closing(KeyStore(home)) as opened:
        yield opened


@pytest.fixture
def url(redis_server: RedisServer) -> Secret:
    return Secret(redis_server.url)


def share_a_key(keys: KeyStore, *clients: TestClient) -> None:
    key = keys.add("team", Grant("editor"))
    for client in clients:
        client.headers["Authorization"] = f"Bearer {key}"


def test_a_conversation_begun_at_one_server_goes_on_at_another(serve: Serve, keys: KeyStore, url: Secret) -> None:
    one, other = serve(shared_store=url), serve(shared_store=url)
    share_a_key(keys, one, other)

    first = ask(one, QUESTION)
    second = ask(other, "How long does the retry policy wait?", session_id=first["session_id"])

    (listed,) = one.get("/api/sessions").json()["sessions"]
    assert (listed["title"], listed["exchanges"]) == (QUESTION, 2)
    assert one.get(f"/api/sessions/{first['session_id']}").json()["exchanges"] == [first, second]
    assert other.delete(f"/api/sessions/{first['session_id']}").status_code == 204
    assert one.get("/api/sessions").json() == {"sessions": []}


def test_a_browser_is_the_same_at_all_servers_and_sees_nothing_of_others(serve: Serve, url: Secret) -> None:
    one, other, stranger = serve(shared_store=url), serve(shared_store=url), serve(shared_store=url)
    session_id = ask(one, QUESTION)["session_id"]
    other.cookies.update(one.cookies)

    assert other.get(f"/api/sessions/{session_id}").status_code == 200
    assert stranger.get(f"/api/sessions/{session_id}").status_code == 404
    assert stranger.post("/api/query", json={"query": QUESTION, "session_id": session_id}).status_code == 404


def test_a_login_at_one_server_is_one_at_all_and_ends_at_all(serve: Serve, keys: KeyStore, url: Secret) -> None:
    one, other = serve(needs_key=True, shared_store=url), serve(needs_key=True, shared_store=url)
    one.post("/api/login", json={"key": keys.add("team")})
    other.cookies.update(one.cookies)

    inside = other.get("/api/me").json()
    one.post("/api/logout")

    assert (inside["key"], inside["role"]) == ("team", "reader")
    assert other.get("/api/me").status_code == 401


def test_a_key_asks_no_more_at_several_servers_than_at_one(serve: Serve, keys: KeyStore, url: Secret) -> None:
    servers = [serve(shared_store=url, key_questions_per_minute=4) for _ in range(2)]
    share_a_key(keys, *servers)

    def status(client: TestClient) -> int:
        return client.post("/api/query", json={"query": QUESTION}).status_code

    with ThreadPoolExecutor(10) as threads:
        statuses = list(threads.map(status, [client for client, _ in zip(cycle(servers), range(20), strict=False)]))

    # One comes back in fifteen seconds, which a slow machine may need.
    assert 4 <= statuses.count(200) <= 5
    assert set(statuses) == {200, 429}


def test_a_key_spends_no_more_at_several_servers_than_at_one(serve: Serve, keys: KeyStore, url: Secret) -> None:
    dear = ScriptedReply("Sessions end after one hour [1:2].", usage=Usage(100_000, 10_000))
    servers = [serve(ScriptedModel(dear, name=PRICED), shared_store=url, key_usd_per_day=0.2) for _ in range(2)]
    share_a_key(keys, *servers)

    first, second = (client.post("/api/query", json={"query": QUESTION, "model": PRICED}) for client in servers)

    assert (first.status_code, first.json()["cost_usd"] > 0.2) == (200, True)
    assert (second.status_code, "spent for today" in second.text) == (429, True)
    (used,) = keys.uses().values()  # written down here too, where it is listed
    assert used.questions_today == 2
    assert used.usd_today == pytest.approx(first.json()["cost_usd"])


def test_without_redis_nothing_hangs_or_is_let_through_and_all_goes_on_when_it_is_back(
    serve: Serve, keys: KeyStore, redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    client = serve(shared_store=Secret(redis_server.url))
    session_id = ask(client, QUESTION)["session_id"]
    redis_server.kill()

    whole = client.get(f"/api/sessions/{session_id}")
    asked = client.post("/api/query", json={"query": QUESTION, "session_id": session_id})
    new = client.post("/api/query", json={"query": QUESTION})
    share_a_key(keys, client)
    with_key = client.post("/api/query", json={"query": QUESTION})
    streamed = client.post("/api/query/stream", json={"query": QUESTION})
    uploaded = client.post("/api/uploads", files={"files": ("a.md", b"# A")})
    ready, alive = client.get("/readyz"), client.get("/healthz")

    refused = [whole, asked, with_key, streamed, uploaded, ready]
    assert {reply.status_code for reply in refused} == {503}
    assert all(reply.json()["error"]["message"] == "Redis cannot be used: Connection refused" for reply in refused)
    assert all("OPENBOOK_SHARED_STORE" in reply.json()["error"]["hint"] for reply in refused)
    assert (new.status_code, new.json()["answer"] != "") == (200, True)
    assert new.json()["warning"] == "Redis cannot be used: Connection refused"
    assert alive.status_code == 200
    lines = [json.loads(JsonFormatter().format(record)) for record in caplog.records if record.levelname == "WARNING"]
    assert {line["reason"] for line in lines} == {
        f"Redis at redis://127.0.0.1:{redis_server.port}/0 cannot be used: Connection refused"
    }

    redis_server.start()
    again = ask(client, QUESTION)
    assert (again["warning"], client.get("/readyz").status_code) == ("", 200)
    assert client.get(f"/api/sessions/{again['session_id']}").status_code == 200


def test_what_cannot_be_settled_costs_nobody_the_answer_and_is_told_to_the_log(
    serve: Serve, keys: KeyStore, redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    def answer_while_redis_dies(_: object) -> str:
        redis_server.kill()
        return "Sessions end after one hour [1:2]."

    client = serve(ScriptedModel(answer_while_redis_dies, name=PRICED), shared_store=Secret(redis_server.url))
    share_a_key(keys, client)

    *_, (kind, reply) = events_of(client.post("/api/query/stream", json={"query": QUESTION, "model": PRICED}).text)

    assert (kind, reply["warning"]) == ("done", "Redis cannot be used: Connection refused")
    assert [record.message for record in caplog.records].count("not settled") == 1


def test_no_reply_and_no_line_of_the_log_has_the_password(
    serve: Serve, keys: KeyStore, redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    client = serve(shared_store=Secret(redis_server.url))
    share_a_key(keys, client)
    routes = ("/api/sessions", "/readyz", "/api/me", "/metrics", "/openapi.json", "/docs")

    told = [client.get(route).text for route in routes]
    redis_server.kill()
    told += [client.get(route).text for route in routes]
    told += [JsonFormatter().format(record) + repr(vars(record)) for record in caplog.records]

    secrets = (PASSWORD, redis_server.url, redis_server.url.partition(":")[2].partition("@")[0])
    assert [secret for secret in secrets if any(secret in text for text in told)] == []
