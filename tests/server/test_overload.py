"""More questions than the server can take: they wait by turns, are told their place, and are refused beyond a limit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from openbook.testing import FakeServer, Fault, ScriptedReply
from tests.server.reading import events_of
from tests.server.test_over_sockets import QUESTION, app_of, running

Start = Callable[..., FakeServer]
HELD = Fault("hold", after=0)


@asynccontextmanager
async def held(client: httpx2.AsyncClient, model: FakeServer, body: dict[str, Any]) -> AsyncIterator[None]:
    """Have the model hold a question, which takes the only place."""
    asking = asyncio.create_task(client.post("/api/query", json=body))
    while not model.requests:  # noqa: ASYNC110 - it counts in another thread
        await asyncio.sleep(0.01)
    try:
        yield
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)


@pytest.mark.slow
def test_a_question_that_waits_is_told_its_place_and_its_clock_runs(
    fake_server: Start, folder: Path, home: Path
) -> None:
    model = fake_server(HELD, ScriptedReply("Sessions end after one hour [1:2]."))
    app, name = app_of(folder, home, model, 0, server_answers=1)
    body = {"query": QUESTION, "model": name}

    async def ask(url: str) -> tuple[str, dict[str, Any]]:
        async with httpx2.AsyncClient(base_url=url, timeout=30) as client:
            await client.get("/api/me")  # gets a cookie, so that it is known again
            async with held(client, model, body):
                async with client.stream("POST", "/api/query/stream", json=body) as response:
                    parts = response.aiter_text()  # which ends the response when nothing refers to it
                    told = await anext(parts)
                    queue = (await client.get("/api/queue")).json()
                while (await client.get("/api/queue")).json()["waiting"]:  # noqa: ASYNC110 - the server notices it
                    await asyncio.sleep(0.01)
            return told, queue

    async def go_on(url: str) -> tuple[str, httpx2.Response]:
        async with httpx2.AsyncClient(base_url=url, timeout=30) as client:
            reply = await client.post("/api/query", json=body)
            return (await client.get("/metrics")).text, reply

    with running(app) as url:
        told, queue = asyncio.run(ask(url))
        counted, reply = asyncio.run(go_on(url))

    [(kind, first)] = events_of(told)
    assert (kind, first["stage"], first["place"]) == ("status", "queued", 1)
    assert (queue["waiting"], queue["most"], queue["places"]) == (1, 200, [1])
    timing = dict(part.split(";dur=") for part in reply.headers["Server-Timing"].split(", "))
    assert set(timing) == {"queued", "searching", "writing", "checking", "rendering", "total"}
    assert float(timing["total"]) == reply.json()["took_ms"]
    assert sum(reply.json()["stages_ms"].values()) <= reply.json()["took_ms"] + 1
    assert 'openbook_stage_seconds_count{stage="queued"}' in counted


@pytest.mark.slow
def test_questions_beyond_the_queue_are_refused_with_retry_after(fake_server: Start, folder: Path, home: Path) -> None:
    model = fake_server(HELD)
    app, name = app_of(folder, home, model, 0, server_answers=1, server_queue=0)
    body = {"query": QUESTION, "model": name}

    async def ask(url: str) -> tuple[list[httpx2.Response], str]:
        async with httpx2.AsyncClient(base_url=url, timeout=30) as client, held(client, model, body):
            routes = ("/api/query", "/api/query/stream", "/api/answers")
            refused = [await client.post(route, json=body) for route in routes]
            chat = {"messages": [{"role": "user", "content": QUESTION}]}
            refused.append(await client.post("/v1/chat/completions", json=chat))
            return refused, (await client.get("/metrics")).text

    with running(app) as url:
        refused, counted = asyncio.run(ask(url))

    assert [(each.status_code, each.headers["Retry-After"]) for each in refused] == [(503, "1")] * 4
    assert refused[0].json()["error"]["hint"] == "try again in 1 second"
    assert 'openbook_questions_total{outcome="overloaded"} 4.0' in counted


@pytest.mark.slow
def test_an_answer_in_the_background_knows_its_place(fake_server: Start, folder: Path, home: Path) -> None:
    model = fake_server(HELD)
    app, name = app_of(folder, home, model, 0, server_answers=1)
    body = {"query": QUESTION, "model": name}

    async def ask(url: str) -> dict[str, Any]:
        async with httpx2.AsyncClient(base_url=url, timeout=30) as client, held(client, model, body):
            await client.get("/api/me")
            begun = (await client.post("/api/answers", json=body)).json()
            async with client.stream("GET", f"/api/answers/{begun['id']}/events") as response:
                await anext(response.aiter_text())
            [listed] = (await client.get("/api/answers")).json()["answers"]
            await client.delete(f"/api/answers/{begun['id']}", headers={"X-Openbook": "1"})
            return dict(listed, left=(await client.get("/api/queue")).json()["waiting"])

    with running(app) as url:
        listed = asyncio.run(ask(url))

    assert (listed["state"], listed["place"], listed["left"]) == ("running", 1, 0)
