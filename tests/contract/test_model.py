"""The contract of models. A new one joins by adding a line to `MODELS`.

Each plays the same script: the scripted model directly, the others over HTTP from the fake server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from openbook.llm.choose import connect
from openbook.llm.messages import Message, ReplyFinished, Request, TextDelta, ToolCall, ToolSpec, ToolStarted, Usage
from openbook.llm.protocol import Model, acomplete, complete
from openbook.llm.providers import ANTHROPIC, GROQ, OPENAI, Provider
from openbook.settings import Secret
from openbook.testing import FakeServer, ScriptedModel, ScriptedReply

Servers = Callable[..., FakeServer]
Player = Callable[..., Model]

SEARCH = ToolSpec("search", "Search the sources.", {"type": "object", "properties": {"query": {"type": "string"}}})
ASK = Request((Message.user("When does the tide turn?"),), tools=(SEARCH,))


def scripted(_: Servers, *steps: Any) -> Model:
    return ScriptedModel(*steps)


def over_http(provider: Provider, path: str) -> Callable[..., Model]:
    def play(servers: Servers, *steps: Any) -> Model:
        server = servers(*steps)
        return connect(replace(provider, url=server.anthropic_url + path), "m", key=Secret(server.key))

    return play


MODELS: dict[str, Callable[..., Model]] = {
    "scripted": scripted,
    "anthropic": over_http(ANTHROPIC, ""),
    "openai": over_http(OPENAI, "/v1"),
    "groq": over_http(GROQ, "/openai/v1"),
}


@pytest.fixture(params=list(MODELS.values()), ids=list(MODELS))
def play(request: pytest.FixtureRequest, fake_server: Servers) -> Player:
    def start(*steps: Any) -> Model:
        model: Model = request.param(fake_server, *steps)
        return model

    return start


def test_a_model_has_a_name_of_provider_and_model(play: Player) -> None:
    model = play()

    assert isinstance(model, Model)
    assert all(model.name.partition(":"))


@pytest.mark.slow
def test_a_stream_ends_with_the_reply_and_its_deltas_are_the_text(play: Player) -> None:
    model = play("Ebb — at noon ⚓, flood at six.")

    *events, last = model.stream(ASK)

    assert isinstance(last, ReplyFinished)
    assert not any(isinstance(event, ReplyFinished) for event in events)
    deltas = [event.text for event in events if isinstance(event, TextDelta)]
    assert len(deltas) > 1
    assert "".join(deltas) == last.message.text == "Ebb — at noon ⚓, flood at six."


@pytest.mark.slow
def test_tool_calls_are_announced_and_come_whole_and_in_order(play: Player) -> None:
    calls = ToolCall("c1", "search", '{"query": "tide ⚓"}'), ToolCall("c2", "search", "{}")

    *events, last = play(ScriptedReply("Let me look.", *calls)).stream(ASK)

    assert isinstance(last, ReplyFinished)
    assert last.message == Message("assistant", (*Message.assistant("Let me look.").parts, *calls))
    assert last.stop == "tools"
    started = [event for event in events if isinstance(event, ToolStarted)]
    assert started == [ToolStarted("c1", "search"), ToolStarted("c2", "search")]


@pytest.mark.parametrize("arguments", ['{"query": ', "tide", "[1]"])
def test_arguments_that_are_no_object_come_as_the_model_wrote_them(play: Player, arguments: str) -> None:
    finished = complete(play(ScriptedReply(ToolCall("c1", "search", arguments))), ASK)

    assert finished.message.calls == (ToolCall("c1", "search", arguments),)


@pytest.mark.parametrize("stop", ["end", "length", "refused"])
def test_the_reason_to_stop_arrives(play: Player, stop: Any) -> None:
    finished = complete(play(ScriptedReply("So", stop=stop)), ASK)

    assert finished.stop == stop


def test_usage_counts_cached_tokens_in(play: Player) -> None:
    usage = Usage(input_tokens=20, output_tokens=4, cached_input_tokens=8)

    finished = complete(play(ScriptedReply("Noon.", usage=usage)), ASK)

    assert finished.usage == usage


def test_usage_that_is_not_reported_is_not_known(play: Player) -> None:
    finished = complete(play(ScriptedReply("Noon.", usage=None)), ASK)

    assert not finished.usage.known


def test_an_empty_reply_is_no_error(play: Player) -> None:
    finished = complete(play(ScriptedReply()), ASK)

    assert (finished.message, finished.stop) == (Message("assistant", ()), "end")


def test_a_stream_can_be_closed_early_and_the_model_called_again(play: Player) -> None:
    model = play("One two three four five.", "Six.")
    events: Any = model.stream(ASK)
    next(events)

    events.close()

    assert complete(model, ASK).message.text == "Six."


def test_both_ways_to_call_give_the_same(play: Player) -> None:
    step = ScriptedReply("Let me see.", ToolCall("c1", "search", "{}"))
    model = play(step, step)

    blocking, other = complete(model, ASK), asyncio.run(acomplete(model, ASK))

    assert blocking == other
