"""The server as it runs: real connections, clients that leave, models that hang, many callers at once."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from openbook.library import Library
from openbook.llm.choose import open_model
from openbook.server.app import SecuredApp, create_app
from openbook.server.models import ModelRegistry
from openbook.server.running import Server, browser_url, listen
from openbook.settings import Settings
from openbook.testing import FakeServer, Fault, ScriptedReply
from tests.server.reading import events_of

QUESTION = "When do sessions end?"
Start = Callable[..., FakeServer]


@contextmanager
def running(app: SecuredApp, *, buffer_bytes: int = 0, grace_s: int = 0, signals: int = 1) -> Iterator[str]:
    """Run a server in a thread of this process, give its address, and stop it by one Ctrl-C or more."""
    listener, started = listen("127.0.0.1", 0), threading.Event()
    if buffer_bytes:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer_bytes)
    server = Server(app, grace_s=grace_s, started=started.set, stopping=app.stop)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    assert started.wait(30)
    try:
        yield browser_url(listener).rstrip("/")
    finally:
        for _ in range(signals):
            server.handle_exit(signal.SIGINT, None)
        thread.join()


@pytest.mark.allow_hosts(["127.0.0.1"])
def test_no_reply_waits_to_be_sent_in_larger_pieces() -> None:
    told: list[int] = []

    async def read() -> None:
        def tell(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            told.append(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listener = listen("127.0.0.1", 0)
        async with await asyncio.start_server(tell, sock=listener):
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            await reader.read()
            writer.close()

    asyncio.run(read())

    assert [bool(each) for each in told] == [True]


@pytest.fixture(params=[0, 2], ids=["threads", "processes"])
def workers(request: pytest.FixtureRequest) -> int:
    """How many processes answer."""
    return int(request.param)


def app_of(folder: Path, home: Path, model: FakeServer, workers: int, **settings: Any) -> tuple[SecuredApp, str]:
    name = f"{model.openai_url}#tiny"
    environ = {"LLM_API_KEY": model.key}
    models = ModelRegistry([name], "extractive", open_one=lambda name: open_model(name, environ=environ, folder=home))
    settings = {"server_wait_s": 600.0} | settings  # a busy machine takes its time
    assistant = Library.of(folder, settings=Settings(home=home, workers=1, **settings))
    return create_app(assistant, models=models, workers=workers), name


async def leave_when_the_model_is_asked(url: str, body: dict[str, str], model: FakeServer) -> None:
    before = len(model.requests)
    async with httpx2.AsyncClient(timeout=60) as client:
        asking = asyncio.create_task(client.post(url, json=body))
        while len(model.requests) == before:
            assert not asking.done()
            await asyncio.sleep(0.01)
        asking.cancel()
        await asyncio.wait([asking])


@pytest.mark.slow
def test_a_client_that_goes_away_ends_the_call_of_the_model(
    fake_server: Start, folder: Path, home: Path, workers: int
) -> None:
    held = fake_server(Fault("hold", ScriptedReply("Sessions end after one hour."), after=4), Fault("hold", after=0))
    app, name = app_of(folder, home, held, workers)
    body = {"query": QUESTION, "model": name}

    with running(app) as url:
        with httpx2.stream("POST", f"{url}/api/query/stream", json=body, timeout=30) as response:
            told = next(text for text in response.iter_text() if "delta" in text)
        left_the_stream = held.wait_for_disconnect()
        asyncio.run(leave_when_the_model_is_asked(f"{url}/api/query", body, held))
        left_the_query = held.wait_for_disconnect()
        until = time.monotonic() + 60
        while 'openbook_questions_total{outcome="cancelled"} 2.0' not in httpx2.get(f"{url}/metrics").text:
            assert time.monotonic() < until
            time.sleep(0.01)

    assert "event: delta" in told
    assert (left_the_stream, left_the_query) == (True, True)


@pytest.mark.slow
def test_while_a_model_is_waited_for_everything_else_is_answered(
    fake_server: Start, folder: Path, home: Path, workers: int
) -> None:
    held = fake_server(*[Fault("hold", after=0)] * 8)
    app, name = app_of(folder, home, held, workers)

    async def ask_meanwhile(url: str) -> tuple[list[asyncio.Task[Any]], list[int]]:
        async with httpx2.AsyncClient(base_url=url, timeout=30) as client:
            body = {"query": QUESTION, "model": name}
            waiting = [asyncio.create_task(client.post("/api/query", json=body)) for _ in range(8)]
            while len(held.requests) < len(waiting):  # noqa: ASYNC110 - it counts in another thread
                await asyncio.sleep(0.01)
            replies = [
                await client.get("/healthz"),
                await client.post("/api/query", json={"query": QUESTION}),
                await client.get("/api/courses"),
            ]
            open_still = [task for task in waiting if not task.done()]
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            return open_still, [reply.status_code for reply in replies]

    with running(app) as url:
        still_waiting, statuses = asyncio.run(ask_meanwhile(url))

    assert statuses == [200, 200, 200]
    assert len(still_waiting) == 8


@pytest.mark.slow
def test_a_stopping_server_sends_waiting_clients_an_error_and_ends_model_calls(
    fake_server: Start, folder: Path, home: Path, workers: int
) -> None:
    held = fake_server(Fault("hold", after=0), Fault("hold", after=0))
    app, name = app_of(folder, home, held, workers)
    body = {"query": QUESTION, "model": name}

    with ThreadPoolExecutor(2) as callers:
        with running(app) as url:
            routes = ("/api/query", "/api/query/stream")
            asking = [callers.submit(httpx2.post, f"{url}{route}", json=body, timeout=30) for route in routes]
            while len(held.requests) < len(asking):
                time.sleep(0.01)
        whole, streamed = (each.result() for each in asking)

    kind, told = events_of(streamed.text)[-1]
    assert held.wait_for_disconnect()
    assert (whole.status_code, kind, whole.json()) == (503, "error", {"error": told})
    assert told["message"] == "the server stopped before it had answered"


@pytest.mark.slow
@pytest.mark.parametrize(("signals", "grace_s"), [(1, 0), (2, 600)])
def test_stopping_ends_requests_whose_body_has_not_arrived_with_an_error_and_logs_no_crash(
    fake_server: Start, folder: Path, home: Path, caplog: pytest.LogCaptureFixture, signals: int, grace_s: int
) -> None:
    held = fake_server(Fault("hold", after=0))
    app, name = app_of(folder, home, held, 0)
    head = (
        "POST /api/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"
    )

    with (
        ThreadPoolExecutor(1) as callers,
        running(app, signals=signals, grace_s=grace_s) as url,
        caplog.at_level(logging.WARNING),
    ):
        address = urlsplit(url)
        silent = socket.create_connection((address.hostname, address.port), timeout=30)
        silent.sendall(head.encode())
        body = {"query": QUESTION, "model": name}
        asking = callers.submit(httpx2.post, f"{url}/api/query", json=body, timeout=30)
        while not held.requests:
            time.sleep(0.01)
    with silent, silent.makefile("rb") as reply:
        told = reply.read()

    assert (asking.result().status_code, told.split(b" ", 2)[1]) == (503, b"503")
    assert b"the server stopped before it had answered" in told
    assert [record.message for record in caplog.records if record.exc_info or "Traceback" in record.message] == []


@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
@pytest.mark.parametrize(
    ("route", "status"), [("/api/search", b"413"), ("/api/uploads", b"401")], ids=["too large", "without a key"]
)
@pytest.mark.parametrize("length", ["Content-Length: 20000000", "Transfer-Encoding: chunked"])
def test_a_client_that_sends_a_whole_body_before_it_reads_gets_the_refusal(
    folder: Path, home: Path, route: str, status: bytes, length: str
) -> None:
    app = create_app(Library.of(folder, settings=Settings(home=home, workers=1)), needs_key=True)
    head = (
        f"POST {route} HTTP/1.1\r\nHost: localhost\r\nX-Openbook: 1\r\nAuthorization: Bearer none\r\n{length}\r\n\r\n"
    )
    piece = b"x" * 1_000_000
    sent = b"%x\r\n%s\r\n" % (len(piece), piece) if "chunked" in length else piece

    with running(app) as url:
        address = urlsplit(url)
        with socket.create_connection((address.hostname, address.port), timeout=30) as client:
            client.sendall(head.encode() + sent * 20 + (b"0\r\n\r\n" if "chunked" in length else b""))
            reply = client.makefile("rb").read()

    assert reply.split(b" ", 2)[1] == status
    assert b'{"error":' in reply


def test_a_proxy_closes_idle_connections_before_the_server_does() -> None:
    proxy_s = 60  # the default of nginx and of AWS

    assert Server(lambda *_: None).config.timeout_keep_alive > proxy_s  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_third_ctrl_c_ends_the_process_even_if_its_shutdown_hangs() -> None:
    code = (
        "import signal; from openbook.server.running import Server; server = Server(lambda *_: None)\n"
        "for _ in range(3): server.handle_exit(signal.SIGINT, None)"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 128 + signal.SIGINT


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["cut", "end", "malformed", "error"])
def test_a_failure_in_the_middle_of_a_model_reply_is_reported_and_nothing_is_kept(
    fake_server: Start, folder: Path, home: Path, workers: int, fault: Any
) -> None:
    model = fake_server(Fault(fault, ScriptedReply("Sessions end after one hour."), after=4))
    app, name = app_of(folder, home, model, workers)

    with running(app) as url, httpx2.Client(base_url=url, timeout=30) as client:
        text = client.post("/api/query/stream", json={"query": QUESTION, "model": name}).text
        sessions = client.get("/api/sessions").json()["sessions"]
        again = client.post("/api/query", json={"query": QUESTION})

    kind, told = events_of(text)[-1]
    assert (kind, bool(told["message"])) == ("error", True)
    assert model.openai_url.partition("://")[2] not in text
    assert (sessions, again.status_code) == ([], 200)


@pytest.mark.slow
def test_a_worker_that_is_killed_while_a_model_writes_costs_no_answer(
    fake_server: Start, folder: Path, home: Path
) -> None:
    def write(_: Any) -> str:
        assert app.state.answer_pool is not None
        os.kill(app.state.answer_pool.pids[0], signal.SIGKILL)
        return "Sessions end after one hour [1:2]."

    model = fake_server(write)
    app, name = app_of(folder, home, model, 1)

    with running(app) as url:
        text = httpx2.post(f"{url}/api/query/stream", json={"query": QUESTION, "model": name}, timeout=60).text

    kind, reply = events_of(text)[-1]
    assert kind == "done"
    assert [citation["verdict"] for citation in reply["citations"]] == ["exact"]


@pytest.mark.slow
def test_a_slow_reader_gets_everything_and_blocks_nobody(
    fake_server: Start, folder: Path, home: Path, workers: int
) -> None:
    # More than the buffers on the way take. Code makes no claims, which would have to be checked.
    words = "Sessions end after one hour [1:2].\n\n```\n" + f"{'x' * 100}\n" * 400 + "```"
    app, name = app_of(folder, home, fake_server(ScriptedReply(words), piece=4_000), workers)
    small = httpx2.HTTPTransport(socket_options=[(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)])

    body = {"query": QUESTION, "model": name}
    with (
        running(app, buffer_bytes=16_384) as url,
        httpx2.Client(transport=small, timeout=30) as slow,
        slow.stream("POST", f"{url}/api/query/stream", json=body) as response,
    ):
        pieces = response.iter_raw(16_384)
        first = next(pieces)
        meanwhile = httpx2.post(f"{url}/api/query", json={"query": QUESTION})
        rest = b"".join(pieces)

    assert meanwhile.status_code == 200
    assert events_of((first + rest).decode())[-1][0] == "done"


@pytest.mark.slow
def test_many_callers_at_once_see_nothing_of_each_other(
    fake_server: Start, folder: Path, home: Path, workers: int
) -> None:
    callers, rounds = 10, 2

    def echo(received: Any) -> str:
        said = re.findall(r"caller (\d+) asks", str(received.body))
        if "The last question:" in str(received.body):
            return f"When do sessions end, caller {said[-1]} asks?"
        return f"Sessions end after one hour [1:2]. Heard: {' '.join(sorted(set(said)))}."

    app, name = app_of(folder, home, fake_server(*[echo] * callers * (2 * rounds - 1)), workers)

    async def converse(url: str, number: int) -> tuple[list[str], int]:
        async with httpx2.AsyncClient(base_url=url, timeout=60) as client:
            body: dict[str, Any] = {"query": f"When do sessions end, caller {number} asks?", "model": name}
            heard = []
            for _ in range(rounds):
                reply = (await client.post("/api/query", json=body)).json()
                body["session_id"] = reply["session_id"]
                heard.append(reply["answer"].partition("Heard: ")[2])
            sessions = (await client.get("/api/sessions")).json()["sessions"]
            return heard, len(sessions)

    async def all_at_once(url: str) -> list[tuple[list[str], int]]:
        return await asyncio.gather(*(converse(url, number) for number in range(callers)))

    with running(app) as url:
        told = asyncio.run(all_at_once(url))

    assert told == [([f"{number}."] * rounds, 1) for number in range(callers)]
