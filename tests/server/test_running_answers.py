"""Answers in the background: they go on without who asked, are followed from any event on, and only Stop ends them."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi.testclient import TestClient

from openbook.testing import FakeServer, Fault, ScriptedModel, ScriptedReply
from tests.server.conftest import Serve
from tests.server.test_over_sockets import app_of, running

QUESTION = "When do sessions end?"
MODEL = "scripted:model"
ANSWER = "They end.\n\nSessions end after one hour [1:2]."
_EVENT = re.compile(r"event: (\w+)\ndata: (.*)\nid: (\d+)\n\n|id: (\d+)\nevent: (\w+)\ndata: (.*)\n\n")


def begin(client: TestClient, **more: Any) -> Any:
    response = client.post("/api/answers", json={"query": QUESTION, **more})
    assert response.status_code == 202, response.text
    return response.json()


def followed(client: TestClient | httpx2.Client, answer_id: str, **how: Any) -> list[tuple[int, str, Any]]:
    """Follow an answer to its end: number, name and value of each event."""
    text = client.get(f"/api/answers/{answer_id}/events", **how).text
    found = [match.groups() for match in _EVENT.finditer(text)]
    assert _EVENT.sub("", text).replace(": ping\n\n", "") == ""
    return [(int(g[2] or g[3]), g[0] or g[4], json.loads(g[1] or g[5])) for g in found]


def test_a_background_answer_is_finished_and_stored_without_a_follower(serve: Serve) -> None:
    client = serve(ScriptedModel(ANSWER), verifier="off")

    begun = begin(client, model=MODEL)
    *_, (_, kind, reply) = followed(client, begun["id"])
    kept = client.get(f"/api/sessions/{begun['session_id']}").json()
    (listed,) = client.get("/api/answers").json()["answers"]

    assert (kind, reply["session_id"]) == ("done", begun["session_id"])
    assert [each["answer"] for each in kept["exchanges"]] == [ANSWER]
    assert (listed["state"], listed["query"]) == ("done", QUESTION)


def test_an_answer_is_followed_from_the_last_event_that_is_known(serve: Serve) -> None:
    client = serve(ScriptedModel(ANSWER))
    begun = begin(client, model=MODEL)
    *_, (last, kind, _) = followed(client, begun["id"])

    assert kind == "done"
    assert followed(client, begun["id"], params={"after": last}) == []
    assert [each[1] for each in followed(client, begun["id"], headers={"Last-Event-ID": str(last - 1)})] == ["done"]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_only_the_owner_follows_or_stops_an_answer(serve: Serve, method: str) -> None:
    client = serve()
    begun = begin(client)
    stranger = TestClient(client.app, base_url="http://localhost", headers={"X-Openbook": "1"})
    path = f"/api/answers/{begun['id']}" + ("/events" if method == "GET" else "")

    assert stranger.request(method, path).status_code == 404
    assert stranger.get("/api/answers").json() == {"answers": []}
    assert followed(client, begun["id"])[-1][1] == "done"


def test_a_question_that_is_refused_begins_no_answer(client: TestClient) -> None:
    response = client.post("/api/answers", json={"query": "???"})

    assert response.status_code == 400
    assert client.get("/api/answers").json() == {"answers": []}


@pytest.mark.slow
def test_a_client_that_disconnects_can_replay_the_events_later(
    fake_server: Callable[..., FakeServer], folder: Path, home: Path
) -> None:
    held = fake_server(Fault("hold", ScriptedReply("Sessions end after one hour."), after=4))
    app, name = app_of(folder, home, held, 0)

    with running(app) as url, httpx2.Client(base_url=url, timeout=30, headers={"X-Openbook": "1"}) as client:
        begun = client.post("/api/answers", json={"query": QUESTION, "model": name}).json()
        events = f"/api/answers/{begun['id']}/events"
        seen = []
        for _ in range(2):
            with client.stream("GET", events) as response:
                seen.append(next(text for text in response.iter_text() if "delta" in text))
        (still,) = client.get("/api/answers").json()["answers"]
        stopped = client.delete(f"/api/answers/{begun['id']}")
        left = held.wait_for_disconnect()
        told = client.get(events).text
        again = client.delete(f"/api/answers/{begun['id']}")
        sessions = client.get("/api/sessions").json()["sessions"]

    assert still == {**begun, "state": "running"}
    assert ["event: delta" in each for each in seen] == [True, True]
    assert (stopped.status_code, again.status_code, left, sessions) == (204, 204, True, [])
    assert "event: stopped" in told
    assert told.index("event: draft") < told.index("event: stopped")
    assert '"left_out":0' in told.replace(" ", "")  # all that was written is rendered


@pytest.mark.slow
def test_a_server_that_stops_tells_those_who_follow(
    fake_server: Callable[..., FakeServer], folder: Path, home: Path
) -> None:
    held = fake_server(Fault("hold", ScriptedReply("Sessions end after one hour."), after=4))
    app, name = app_of(folder, home, held, 0)

    with httpx2.Client(timeout=30, headers={"X-Openbook": "1"}) as client:
        with running(app) as url:
            begun = client.post(f"{url}/api/answers", json={"query": QUESTION, "model": name}).json()
            following = client.stream("GET", f"{url}/api/answers/{begun['id']}/events")
            response = following.__enter__()
            texts = response.iter_text()
            first = next(texts)
            while not held.requests:  # else the server may stop before the model is asked
                time.sleep(0.01)
        told = first + "".join(texts)
        following.__exit__(None, None, None)

    assert "the server stopped before it had answered" in told
    assert held.wait_for_disconnect()


@pytest.mark.slow
def test_of_one_caller_so_many_run_at_once_and_no_more(
    fake_server: Callable[..., FakeServer], folder: Path, home: Path
) -> None:
    held = fake_server(*[Fault("hold", after=0)] * 5)
    app, name = app_of(folder, home, held, 0)
    body = {"query": QUESTION, "model": name}

    with running(app) as url, httpx2.Client(base_url=url, timeout=30, headers={"X-Openbook": "1"}) as client:
        begun = [client.post("/api/answers", json=body) for _ in range(6)]
        while len(held.requests) < 5:  # else some may end before their model is asked
            time.sleep(0.01)
        client.delete(f"/api/answers/{begun[0].json()['id']}")
        after = client.post("/api/answers", json={"query": QUESTION})

    assert [each.status_code for each in begun] == [202] * 5 + [429]
    assert "stop it" in begun[-1].json()["error"]["hint"]
    assert after.status_code == 202
