"""Two servers behind nginx with one Redis: shared state, and what clients see when a part fails under load."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from openbook.testing import FakeServer, Fault, ScriptedReply
from openbook.usage import Usage
from tests.cluster.conftest import Cluster
from tests.integration.support_cli import run_alone
from tests.server.reading import events_of
from tests.server.test_running_answers import followed

pytestmark = [pytest.mark.cluster, pytest.mark.allow_hosts(["127.0.0.1"])]

QUESTION = "When do sessions end?"
PRICED = "anthropic:claude-sonnet-5-5"

# So many ask at once, each the next question when the one before is answered. Every fourth reads instead.
CLIENTS = 8
READERS = CLIENTS // 4


class Load:
    """Clients that ask through the proxy without pause, and the replies."""

    def __init__(self, cluster: Cluster, body: dict[str, Any] | None = None, *, key: bool = False) -> None:
        self.told: list[tuple[float, str, int, float]] = []
        """Time, question, status (0: the connection broke), and seconds."""
        self.errors: list[Any] = []
        self._cluster = cluster
        self._body = {"query": QUESTION} | (body or {})
        self._key = key
        self._ends = threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=(number,)) for number in range(CLIENTS)]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        for thread in self._threads:
            thread.join()

    def wait(self, more: int) -> None:
        """Wait until so many more requests have status 200."""
        wanted = self.count(200) + more
        while self.count(200) < wanted:
            time.sleep(0.01)

    def count(self, status: int) -> int:
        return sum(each[2] == status for each in list(self.told))

    def statuses(self, what: str, since_s: float = 0.0) -> Counter[int]:
        return Counter(status for at, asked, status, _ in list(self.told) if asked == what and at >= since_s)

    def slowest_s(self) -> float:
        return max(each[3] for each in self.told)

    def _ask(self, number: int) -> None:
        what = "read" if number % 4 == 3 else "ask"
        client = self._cluster.client(key=self._key)
        while not self._ends.is_set():
            began = time.monotonic()
            try:
                reply = client.get("/api/sources") if what == "read" else client.post("/api/query", json=self._body)
                status = reply.status_code
                if status >= 500:
                    self.errors.append(reply.json()["error"])
            except httpx2.TransportError:
                status = 0
            self.told.append((began, what, status, time.monotonic() - began))


def tell(what: str, asked: Counter[int], read: Counter[int], load: Load) -> None:
    """Print a line of the table in docs/scale.md."""
    sys.stdout.write(f"\n{what}: questions {dict(asked)}, reads {dict(read)}, slowest {load.slowest_s():.1f} s\n")


def test_conversations_logins_limits_answers_and_jobs_are_those_of_one_server(
    cluster: Callable[..., Cluster],
) -> None:
    both = cluster()
    guest = run_alone("keys", "add", "guest", "--questions-per-day", "5").out.strip()
    proxy, browser = both.client(), both.client(key=False)
    one, other = both.client(server=0), both.client(server=1)

    first = one.post("/api/query", json={"query": QUESTION}).json()
    second = other.post("/api/query", json={"query": "What waits?", "session_id": first["session_id"]}).json()
    kept = proxy.get(f"/api/sessions/{first['session_id']}").json()["exchanges"]
    begun = one.post("/api/answers", json={"query": QUESTION}).json()
    ended = [client.get(f"/api/answers/{begun['id']}/events").text for client in (one, other, proxy)]
    large = b"Reeds sway.\n\n" * 45_000  # together, more than nginx takes unless it is told to
    files = [
        ("files", (name, b"# Herons\n\nHerons wade.\n" * (name == "herons.md") + large))
        for name in ("herons.md", "b.md")
    ]
    job = proxy.post("/api/uploads", files=files).json()["job_id"]
    done = [events_of(client.get(f"/api/jobs/{job}/events").text)[-1][0] for client in (one, other)]
    found = [
        client.post("/api/query", json={"query": "What do herons do?"}).json()["sources"] for client in (one, other)
    ]
    browser.post("/api/login", json={"key": both.key})
    inside = [browser.get("/api/me").json()["key"] for _ in range(4)]
    browser.post("/api/logout")
    outside = [browser.get("/api/me").json()["key"] for _ in range(4)]
    asked = [
        client.post("/api/query", json={"query": QUESTION}, headers={"Authorization": f"Bearer {guest}"}).status_code
        for client in (one, other, one, other, one, other, proxy)
    ]

    assert kept == [first, second]
    assert [text for text in ended if "event: done" not in text] == []
    assert done == ["done", "done"]
    assert [places[0].startswith("herons.md:3") for places in found] == [True, True]
    assert (inside, outside) == (["team"] * 4, [""] * 4)
    assert asked == [200] * 5 + [429] * 2
    assert proxy.get("/metrics").status_code == 404


def test_what_the_proxy_refuses_has_the_shape_of_all_errors(cluster: Callable[..., Cluster]) -> None:
    large = {"files": ("large.md", b"a" * 41 * 1024 * 1024)}

    reply = cluster().client().post("/api/uploads", files=large)

    assert reply.status_code == 413
    assert reply.json()["error"]["hint"] == "send fewer or smaller files"


def test_a_key_spends_its_budget_once(cluster: Callable[..., Cluster], fake_server: Callable[..., FakeServer]) -> None:
    held = fake_server(Fault("hold", ScriptedReply("Sessions end.", usage=Usage(1000, 100)), after=2))
    both = cluster(
        ANTHROPIC_API_KEY=held.key,
        ANTHROPIC_BASE_URL=held.anthropic_url,
        OPENBOOK_MODEL=PRICED,
        OPENBOOK_KEY_USD_PER_DAY="0.5",
        OPENBOOK_ANSWER_USD="0.5",
    )
    one, other = both.client(server=0), both.client(server=1)

    begun = one.post("/api/answers", json={"query": QUESTION}).json()
    refused = other.post("/api/query", json={"query": QUESTION})
    while not held.requests:
        time.sleep(0.01)
    other.delete(f"/api/answers/{begun['id']}")

    assert (refused.status_code, "spent for today" in refused.text) == (429, True)
    assert held.wait_for_disconnect()


def test_a_server_that_is_killed_under_load_costs_only_what_it_was_asked_at_that_moment(
    cluster: Callable[..., Cluster], fake_server: Callable[..., FakeServer]
) -> None:
    held = fake_server(Fault("hold", ScriptedReply("Sessions end after one hour."), after=4))
    model = f"{held.openai_url}#tiny"
    both = cluster(LLM_API_KEY=held.key, OPENBOOK_SERVER_MODELS=model)
    asker, watcher = both.client(server=0), both.client()
    begun = asker.post("/api/answers", json={"query": QUESTION, "model": "tiny"}).json()

    while not held.requests:
        time.sleep(0.01)

    with Load(both) as load:
        load.wait(40)
        both.kill(0)
        killed_s = time.monotonic()
        events = followed(watcher, begun["id"])
        load.wait(40)
        both.restart(0)
        load.wait(40)
    back = both.client(server=0).get("/readyz").json()["status"]

    asked, read = load.statuses("ask"), load.statuses("read")
    tell("a server killed", asked, read, load)
    # Asked of the other server instead, unless the reply had begun: then nobody can start it again.
    assert set(read) <= {200, 0}
    assert read[0] <= READERS
    assert set(asked) <= {200, 503, 0}
    assert asked[503] + asked[0] <= CLIENTS  # one for each client, at most
    assert all(
        error == {"message": "the server that was asked has stopped", "hint": "ask again"} for error in load.errors
    )
    assert not [each for each in load.told if each[0] > killed_s + 1 and each[2] != 200]
    assert (events[-1][1], events[-1][2]["message"]) == ("error", "the server that was writing this answer has stopped")
    assert back == "ok"


@pytest.mark.parametrize("held_up", [False, True], ids=["killed", "silent"])
def test_while_redis_is_away_questions_are_answered_and_conversations_wait(
    cluster: Callable[..., Cluster], held_up: bool
) -> None:
    both = cluster()
    proxy, stranger = both.client(), both.client(key=False)
    session_id = proxy.post("/api/query", json={"query": QUESTION}).json()["session_id"]

    with Load(both) as load:
        load.wait(20)
        away_s = time.monotonic()
        both.redis.hold() if held_up else both.redis.kill()
        load.wait(20)
        alone = proxy.post("/api/query", json={"query": QUESTION}).json()
        kept = [client.get(f"/api/sessions/{session_id}").status_code for client in (proxy, stranger)]
        listed = [client.get("/api/sessions").status_code for client in (proxy, stranger)]
        ready = [both.client(server=number).get("/readyz").json()["status"] for number in range(2)]
        page = stranger.get("/").status_code
        both.redis.resume() if held_up else both.redis.start()
        while {both.client(server=number).get("/readyz").json()["status"] for number in range(2)} != {"ok"}:
            time.sleep(0.1)
        load.wait(40)
    again = proxy.post("/api/query", json={"query": QUESTION}).json()

    asked = load.statuses("ask", away_s)
    tell(f"redis {'silent' if held_up else 'killed'}", asked, load.statuses("read", away_s), load)
    assert set(asked) == {200}
    assert set(load.statuses("read")) == {200}
    assert alone["answer"]
    assert alone["warning"].startswith("Redis cannot be used: ")
    assert (kept, listed, ready, page) == ([503, 503], [503, 503], ["degraded", "degraded"], 200)
    assert (again["warning"], proxy.get(f"/api/sessions/{again['session_id']}").status_code) == ("", 200)
    assert proxy.get(f"/api/sessions/{session_id}").status_code == (200 if held_up else 404)  # it keeps nothing here
    for serving in both.servers:
        assert serving.end(signal.SIGTERM) == 0
