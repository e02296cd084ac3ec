"""Servers and models that do what no documentation allows, over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ClassVar

import pytest

from openbook.errors import BadResponseError, OverloadedError
from openbook.llm.choose import connect
from openbook.llm.messages import Message, Request, ToolCall, ToolResult
from openbook.llm.protocol import acomplete, complete
from openbook.llm.providers import GROQ
from openbook.llm.retry import RetryState
from openbook.llm.transport import _Call
from openbook.settings import Secret
from openbook.testing import FakeServer, Refusal
from tests.unit.llm.calls import FERRY, HELLO, WIRES, Clock, model_on

Start = Callable[..., FakeServer]

wires = pytest.mark.parametrize("wire", WIRES)


@wires
@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])
def test_a_page_in_place_of_a_stream_is_said_at_once(fake_server: Start, wire: str, *, blocking: bool) -> None:
    server, clock = fake_server(Refusal(200, page="<html><body>Welcome</body></html>")), Clock()
    model = model_on(server, wire, clock=clock)

    with pytest.raises(BadResponseError, match="sent 'text/html' in place of a stream"):
        complete(model, HELLO) if blocking else asyncio.run(acomplete(model, HELLO))

    assert clock.slept == []


@wires
@pytest.mark.parametrize("asked", ["0", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_a_wait_of_no_time_is_none(fake_server: Start, wire: str, asked: str) -> None:
    server, clock = fake_server(Refusal(429, headers={"retry-after": asked}), "Hello."), Clock()

    complete(model_on(server, wire, clock=clock), HELLO)

    assert clock.slept == [1.0]


@wires
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
