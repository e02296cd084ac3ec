"""Several servers behind one name: what they share in a Redis, and what happens while it is away."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from itertools import cycle
from pathlib import Path

import httpx2
import pytest
from fastapi.testclient import TestClient

from openbook.server.keys import Grant, KeyStore
from openbook.server.logs import JsonFormatter
from openbook.settings import Secret
from openbook.testing import FakeServer, Fault, ScriptedModel, ScriptedReply
from openbook.usage import Usage
from tests.redis_server import PASSWORD, RedisServer
from tests.server.conftest import Serve
from tests.server.reading import ask, events_of
from tests.server.test_over_sockets import app_of, running
from tests.server.test_running_answers import followed

QUESTION = "When do sessions end?"
PRICED = "anthropic:claude-sonnet-5-5"
ALONE = (
    "Redis cannot be used: Connection refused: this answer is not stored, and limits are counted by this server only"
)


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_without_redis_questions_of_no_conversation_are_answered_and_nothing_hangs(
    serve: Serve, keys: KeyStore, redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    model = ScriptedModel("Sessions end after one hour [1:2].", name=PRICED)
    client = serve(model, shared_store=Secret(redis_server.url), key_questions_per_minute=3)
    session_id = ask(client, QUESTION)["session_id"]
    redis_server.kill()

    whole = client.get(f"/api/sessions/{session_id}")
    asked = client.post("/api/query", json={"query": QUESTION, "session_id": session_id})
    new = client.post("/api/query", json={"query": QUESTION})
    share_a_key(keys, client)
    with_key, _, _, one_too_many = [client.post("/api/query", json={"query": QUESTION}) for _ in range(4)]
    priced = client.post("/api/query", json={"query": QUESTION, "model": PRICED})
    ready, alive, page = client.get("/readyz"), client.get("/healthz"), client.get("/")
    sources, counted = client.get("/api/sources"), client.get("/metrics").text

    assert [reply.status_code for reply in (whole, asked)] == [503, 503]
    assert all(
        reply.json()["error"]["message"] == "Redis cannot be used: Connection refused" for reply in (whole, asked)
    )
    assert all("OPENBOOK_SHARED_STORE" in reply.json()["error"]["hint"] for reply in (whole, asked))
    for reply in (new, with_key):
        assert (reply.status_code, reply.json()["answer"] != "") == (200, True)
        assert reply.json()["warning"] == ALONE
    assert [one_too_many.status_code, priced.status_code] == [429, 429]  # this server counts for itself
    assert [each.status_code for each in (alive, page, ready, sources)] == [200] * 4
    assert ready.json()["status"] == "degraded"
    assert "openbook_shared_store_up 0.0" in counted
    lines = [json.loads(JsonFormatter().format(record)) for record in caplog.records if record.levelname == "WARNING"]
    assert {line["reason"] for line in lines} == {
        f"Redis at redis://127.0.0.1:{redis_server.port}/0 cannot be used: Connection refused"
    }

    redis_server.start()
    again = ask(client, QUESTION)
    assert (again["warning"], client.get("/readyz").json()["status"]) == ("", "ok")
    assert client.get(f"/api/sessions/{again['session_id']}").status_code == 200


def test_without_redis_no_money_is_spent_and_no_login_is_believed(
    serve: Serve, keys: KeyStore, redis_server: RedisServer
) -> None:
    client = serve(ScriptedModel("Unused.", name=PRICED), shared_store=Secret(redis_server.url))
    browser = TestClient(client.app, base_url="http://localhost", headers={"X-Openbook": "1"})
    browser.post("/api/login", json={"key": keys.add("ada")})
    share_a_key(keys, client)
    redis_server.kill()

    priced = client.post("/api/query", json={"query": QUESTION, "model": PRICED})
    inside = [
        browser.get("/api/me"),
        browser.get("/api/sessions"),
        browser.post("/api/query", json={"query": QUESTION}),
    ]

    assert [reply.status_code for reply in (priced, *inside)] == [503] * 4
    assert browser.get("/").status_code == 200


Two = Callable[[int], tuple[FakeServer, str, httpx2.Client, httpx2.Client]]


@pytest.fixture
def at_two(
    fake_server: Callable[..., FakeServer], folder: Path, home: Path, url: Secret, keys: KeyStore
) -> Iterator[Two]:
    """Run two servers with one key, and a model that begins so many answers and ends none."""
    with ExitStack() as stack:

        def start(answers: int) -> tuple[FakeServer, str, httpx2.Client, httpx2.Client]:
            held = fake_server(*[Fault("hold", ScriptedReply("Sessions end after one hour."), after=4)] * answers)
            headers = {"X-Openbook": "1", "Authorization": f"Bearer {keys.add('team', Grant('editor'))}"}

            def client() -> tuple[str, httpx2.Client]:
                app, name = app_of(folder, home, held, 0, shared_store=url)
                address = stack.enter_context(running(app))
                return name, stack.enter_context(httpx2.Client(base_url=address, timeout=30, headers=headers))

            (name, one), (_, other) = client(), client()
            return held, name, one, other

        yield start


@pytest.mark.slow
def test_an_answer_that_one_server_writes_is_listed_followed_and_stopped_at_another(
    at_two: Two,
) -> None:
    held, name, one, other = at_two(1)
    begun = one.post("/api/answers", json={"query": QUESTION, "model": name}).json()
    events = f"/api/answers/{begun['id']}/events"

    listed = other.get("/api/answers").json()["answers"]
    with other.stream("GET", events) as response:
        seen = next(text for text in response.iter_text() if "delta" in text)
    stopped = other.delete(f"/api/answers/{begun['id']}").status_code
    at_home, away = (followed(client, begun["id"]) for client in (one, other))
    states = [client.get("/api/answers").json()["answers"][0]["state"] for client in (one, other)]

    assert listed == [{**begun, "state": "running"}]
    assert "Sess" in seen
    assert (stopped, held.wait_for_disconnect(), states) == (204, True, ["stopped", "stopped"])
    assert away == at_home
    assert away[-1][1] == "stopped"


def test_an_answer_that_is_done_is_the_same_at_all_servers(serve: Serve, url: Secret, keys: KeyStore) -> None:
    one, other = serve(shared_store=url), serve(shared_store=url)
    share_a_key(keys, one, other)
    begun = one.post("/api/answers", json={"query": QUESTION}).json()

    at_home, away = (followed(client, begun["id"])[-1] for client in (one, other))

    assert (away, away[1]) == (at_home, "done")


@pytest.mark.slow
def test_nobody_reaches_the_answer_or_job_of_somebody_else_through_another_server(serve: Serve, url: Secret) -> None:
    one, stranger = serve(shared_store=url), serve(shared_store=url)
    begun = one.post("/api/answers", json={"query": QUESTION}).json()
    job = one.post("/api/uploads", files={"files": ("a.md", b"# Herons\n\nHerons wade.")}).json()["job_id"]

    paths = (f"/api/answers/{begun['id']}/events", f"/api/jobs/{job}", f"/api/jobs/{job}/events")
    assert [stranger.get(path).status_code for path in paths] == [404] * 3
    assert [stranger.delete(f"/api/{path}").status_code for path in (f"answers/{begun['id']}", f"jobs/{job}")] == [
        404
    ] * 2
    assert stranger.get("/api/answers").json() == {"answers": []}


@pytest.mark.slow
def test_a_caller_has_so_many_answers_at_all_servers_together(
    at_two: Two,
) -> None:
    held, name, one, other = at_two(5)

    statuses = [one.post("/api/answers", json={"query": QUESTION, "model": name}).status_code for _ in range(5)]
    while len(held.requests) < 5:  # begun answers ask the model after the reply that says so
        time.sleep(0.01)

    assert (statuses, other.post("/api/answers", json={"query": QUESTION}).status_code) == ([202] * 5, 429)


@pytest.mark.slow
def test_a_job_of_one_server_is_followed_and_stopped_at_another(
    serve: Serve, url: Secret, keys: KeyStore, folder: Path
) -> None:
    one, other = serve(shared_store=url), serve(shared_store=url)
    share_a_key(keys, one, other)
    goes_on = threading.Event()
    before = one.app.state.jobs.start("", "harbour", lambda _: {"waited": goes_on.wait(30)})  # type: ignore[attr-defined]
    queued = [one.post("/api/sources", json={"path": str(folder)}).json() for _ in range(2)]

    waiting = other.get(f"/api/jobs/{queued[0]['job_id']}").json()
    sources = {each["name"]: each["state"] for each in other.get("/api/sources").json()["sources"]}
    cancelled = other.delete(f"/api/jobs/{queued[1]['job_id']}").status_code
    stopped = events_of(other.get(f"/api/jobs/{queued[1]['job_id']}/events").text)
    goes_on.set()
    followed = events_of(other.get(f"/api/jobs/{queued[0]['job_id']}/events").text)

    assert before.doing.result(30) is None
    assert (waiting["state"], sources["harbour"]) == ("queued", "indexing")
    assert (cancelled, stopped[-1][0], stopped[-1][1]["message"]) == (204, "error", "it was cancelled")
    assert (followed[-1][0], followed[-1][1]["state"]) == ("done", "done")


def test_a_cost_that_cannot_be_settled_is_logged_and_the_answer_is_sent(
    serve: Serve, keys: KeyStore, redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    def answer_while_redis_dies(_: object) -> str:
        redis_server.kill()
        return "Sessions end after one hour [1:2]."

    client = serve(ScriptedModel(answer_while_redis_dies, name=PRICED), shared_store=Secret(redis_server.url))
    share_a_key(keys, client)

    *_, (kind, reply) = events_of(client.post("/api/query/stream", json={"query": QUESTION, "model": PRICED}).text)

    assert (kind, reply["warning"]) == ("done", ALONE)
    assert [record.message for record in caplog.records].count("not settled") == 1


@pytest.mark.slow
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
