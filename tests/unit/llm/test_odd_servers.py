"""Servers and models that do what no documentation allows, over real HTTP."""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import ClassVar

import pytest

from openbook.errors import (
    BadRequestError,
    BadResponseError,
    CutOffError,
    ModelError,
    OverloadedError,
    RateLimitedError,
    TimedOutError,
)
from openbook.llm.choose import connect
from openbook.llm.context_size import context_size
from openbook.llm.messages import Message, Request, ToolCall, ToolResult
from openbook.llm.protocol import acomplete, complete
from openbook.llm.providers import GROQ, LLAMACPP
from openbook.llm.retry import RetryPolicy, RetryState
from openbook.llm.transport import ProviderClient, _Call
from openbook.settings import Secret
from openbook.testing import FakeServer, Refusal
from tests.unit.llm.calls import FERRY, HELLO, WIRES, Clock, model_on

Start = Callable[..., FakeServer]

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

wires = pytest.mark.parametrize("wire", WIRES)


@wires
@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])
def test_a_page_in_place_of_a_stream_is_said_at_once(fake_server: Start, wire: str, *, blocking: bool) -> None:
    server, clock = fake_server(Refusal(200, page="<html><body>Welcome</body></html>")), Clock()
    model = model_on(server, wire, clock=clock)

    with pytest.raises(BadResponseError, match="sent 'text/html' in place of a stream"):
        complete(model, HELLO) if blocking else asyncio.run(acomplete(model, HELLO))

    assert clock.slept == []


_WHOLE_REPLIES = {
    "anthropic": {"content": [{"type": "text", "text": "Hello."}], "stop_reason": "end_turn"},
    "openai": {"choices": [{"index": 0, "message": {"content": "Hello."}, "finish_reason": "stop"}]},
}


def whole(reply: object) -> Refusal:
    """Return a reply that is sent as JSON, though a stream was asked for."""
    return Refusal(200, page=json.dumps(reply), headers={"content-type": "application/json; charset=utf-8"})


@pytest.mark.parametrize("wire", ["anthropic", "openai"])
@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])
def test_a_reply_that_comes_whole_in_place_of_a_stream_is_read(
    fake_server: Start, wire: str, *, blocking: bool
) -> None:
    model = model_on(fake_server(whole(_WHOLE_REPLIES[wire])), wire)

    finished = complete(model, HELLO) if blocking else asyncio.run(acomplete(model, HELLO))

    assert (finished.message.text, finished.stop) == ("Hello.", "end")


@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])
@pytest.mark.parametrize("reason", [{}, {"finish_reason": None}], ids=["none", "null"])
def test_a_whole_reply_is_complete_without_a_reason(
    fake_server: Start, reason: dict[str, None], *, blocking: bool
) -> None:
    reply = {"choices": [{"index": 0, "message": {"content": "Hello."}, **reason}]}
    model = model_on(fake_server(whole(reply)), "openai")

    finished = complete(model, HELLO) if blocking else asyncio.run(acomplete(model, HELLO))

    assert (finished.message.text, finished.stop) == ("Hello.", "end")


@wires
@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])
@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        pytest.param({"message": "No such model", "code": 404}, BadRequestError, r"\(404\): No such model", id="model"),
        pytest.param({"message": "Too many", "code": 429}, RateLimitedError, r"rate limit.*: Too many", id="rate"),
        pytest.param("The disk is full", OverloadedError, "The disk is full", id="text"),
    ],
)
def test_an_error_in_place_of_a_reply_is_told_as_the_server_says_it(
    fake_server: Start, wire: str, error: object, kind: type[ModelError], message: str, *, blocking: bool
) -> None:
    model = model_on(fake_server(whole({"error": error})), wire)

    with pytest.raises(kind, match=message):
        complete(model, HELLO) if blocking else asyncio.run(acomplete(model, HELLO))


@wires
@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])
@pytest.mark.parametrize(
    ("reply", "message"),
    [
        pytest.param({"hello": 1}, "sent 'application/json' in place of a stream", id="no-reply"),
        pytest.param(["x" * 2_000_000], "sent a reply that is too long", id="too-long"),
    ],
)
def test_json_that_is_no_reply_is_none(
    fake_server: Start, wire: str, reply: object, message: str, *, blocking: bool
) -> None:
    model = model_on(fake_server(whole(reply)), wire)

    with pytest.raises(BadResponseError, match=message):
        complete(model, HELLO) if blocking else asyncio.run(acomplete(model, HELLO))


@wires
@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(Refusal(200, page="[" * 200_000, headers={"content-type": "application/json"}), id="whole"),
        pytest.param(
            Refusal(
                200,
                page=f"event: message_start\ndata: {'[' * 50_000}\n\n",
                headers={"content-type": "text/event-stream"},
            ),
            id="stream",
        ),
    ],
)
def test_json_that_is_nested_too_deep_to_be_read_is_invalid(
    fake_server: Start, wire: str, page: Refusal, *, blocking: bool
) -> None:
    model = model_on(fake_server(page), wire)

    with pytest.raises(BadResponseError, match="sent invalid JSON"):
        complete(model, HELLO) if blocking else asyncio.run(acomplete(model, HELLO))


def streamed(*deltas: object, ending: str) -> Refusal:
    """Return a stream of Chat Completions whose chunks have no `finish_reason`."""
    chunks = ({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas)
    frames = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    return Refusal(200, page=frames + ending, headers={"content-type": "text/event-stream"})


@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])
def test_a_stream_that_is_said_to_be_json_is_read(fake_server: Start, *, blocking: bool) -> None:
    done, cut = (
        Refusal(200, page=stream.page, headers={"content-type": "application/json"})
        for stream in (streamed({"content": "Hello."}, ending=ending) for ending in ("data: [DONE]\n\n", ""))
    )
    model = model_on(fake_server(done, cut), "openai")

    finished = complete(model, HELLO) if blocking else asyncio.run(acomplete(model, HELLO))
    with pytest.raises(CutOffError):
        complete(model, HELLO) if blocking else asyncio.run(acomplete(model, HELLO))

    assert finished.message.text == "Hello."


@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])
def test_a_stream_without_a_reason_is_whole_if_it_says_that_it_is_done(fake_server: Start, *, blocking: bool) -> None:
    call = {"tool_calls": [{"index": 0, "id": "call_1", "function": {"name": "ferry", "arguments": "{}"}}]}
    replies = ([{"content": "Hello"}, {"content": "."}], [{"content": "<thin"}], [call])
    model = model_on(fake_server(*(streamed(*each, ending="data: [DONE]\n\n") for each in replies)), "openai")

    told = [complete(model, HELLO) if blocking else asyncio.run(acomplete(model, HELLO)) for _ in replies]

    assert [(each.message.text, each.stop) for each in told] == [("Hello.", "end"), ("<thin", "end"), ("", "tools")]


@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])
@pytest.mark.parametrize(
    ("stream", "kind"),
    [
        pytest.param(streamed({"content": "Hello"}, ending=""), CutOffError, id="not-done"),
        pytest.param(streamed({"content": ""}, ending="data: [DONE]\n\n"), CutOffError, id="nothing"),
    ],
)
def test_a_stream_that_does_not_is_cut_off(
    fake_server: Start, stream: Refusal, kind: type[ModelError], *, blocking: bool
) -> None:
    model = model_on(fake_server(stream), "openai")

    with pytest.raises(kind):
        complete(model, HELLO) if blocking else asyncio.run(acomplete(model, HELLO))


@contextmanager
def dripping(status: int, kind: str) -> Iterator[tuple[str, Event]]:
    """Serve a body that never ends, a space at a time. Give the address, and whether a client has left."""
    left = Event()

    class Exchange(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(status)
            self.send_header("content-type", kind)
            self.end_headers()
            with suppress(OSError):
                for _ in range(1_000):
                    self.wfile.write(b" ")
                    time.sleep(0.03)
                return
            left.set()

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Exchange) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", left
        server.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])
@pytest.mark.parametrize(
    ("status", "kind"), [(200, "text/event-stream"), (200, "application/json"), (500, "application/json")]
)
def test_a_body_that_never_ends_is_left_at_the_deadline(status: int, kind: str, *, blocking: bool) -> None:
    request = replace(HELLO, deadline_s=0.3)
    with dripping(status, kind) as (url, left):
        model = connect(replace(LLAMACPP, url=f"{url}/v1"), "any")
        model.load()  # before the time begins

        with pytest.raises(ModelError) as failed:
            complete(model, request) if blocking else asyncio.run(acomplete(model, request))

        assert left.wait(20)
    assert isinstance(failed.value, TimedOutError) or status == 500


@pytest.mark.slow
def test_nothing_else_is_waited_for_longer_than_its_deadline() -> None:
    with dripping(200, "application/json") as (url, left):
        provider = replace(LLAMACPP, url=f"{url}/v1")

        assert context_size(provider, "any", deadline_s=0.3) is None
        assert left.wait(20)
        left.clear()
        with pytest.raises(TimedOutError):
            ProviderClient(provider, None, RetryPolicy(), sdk="openai", kind="OpenAI").post("/embeddings", {}, 0.3)
        assert left.wait(20)


@wires
@pytest.mark.parametrize("asked", ["0", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_a_wait_of_no_time_is_none(fake_server: Start, wire: str, asked: str) -> None:
    server, clock = fake_server(Refusal(429, headers={"retry-after": asked}), "Hello."), Clock()

    complete(model_on(server, wire, clock=clock), HELLO)

    assert clock.slept == [1.0]


@pytest.fixture
def nothing_finalized() -> Iterator[None]:
    """Hold back the garbage collector: what it finalizes in the depth of a recursion fails."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@wires
@pytest.mark.usefixtures("nothing_finalized")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        pytest.param("ferry", '{"port": NaN}', id="nan"),
        pytest.param("ferry", '{"port": 1e999}', id="infinity"),
        pytest.param("ferry", f'{{"port": {"1" * 5000}}}', id="long-number"),
        pytest.param("ferry", "[" * 100_000, id="deep"),
        pytest.param("ferry", '{"port": "\\ud83d"}', id="half-a-character-escaped"),
        pytest.param("ferry", '{"port": "\ud83d"}', id="half-a-character"),
        pytest.param("functions.ferry", "{}", id="name-with-a-dot"),
        pytest.param("", "{}", id="no-name"),
        pytest.param("ferry" * 40, "{}", id="long-name"),
    ],
)
def test_a_call_that_makes_no_sense_can_be_sent_back_to_the_model(
    fake_server: Start, wire: str, name: str, arguments: str
) -> None:
    server = fake_server("Sorry.")
    called = ToolCall("functions.ferry:0", name, arguments)
    results = ToolResult(called.id, "no half \udcff", is_error=True)
    history = (Message.user("When?"), Message("assistant", (called,)), Message("user", (results,)))

    reply = complete(model_on(server, wire), Request(history, tools=(FERRY,)))

    assert reply.message.text == "Sorry."


def test_a_call_that_groq_could_not_read_is_written_again_if_no_word_was_shown() -> None:
    class Unreadable(Exception):  # noqa: N818 - stands for what the SDK raises inside of a stream
        body: ClassVar[dict[str, str]] = {"message": "Failed to call a function.", "code": "tool_use_failed"}

    model = connect(GROQ, "any", key=Secret("key"))
    silent, begun = (_Call(model, HELLO, RetryState(Clock().retries(), 9.0), native=False) for _ in range(2))
    begun.attempts.streaming = True

    assert silent.pause_s(Unreadable()) == 1.0
    with pytest.raises(OverloadedError):
        begun.pause_s(Unreadable())
