"""A real model through our wires: structure and limits. What it says is not judged: it is tiny."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.request
from contextlib import closing

import pytest

from openbook.errors import BadRequestError
from openbook.llm.messages import Message, ReplyFinished, Request, TextDelta, ToolResult, ToolSpec, ToolStarted
from openbook.llm.protocol import Model, acomplete, complete
from tools.local_model.server import CONTEXT_TOKENS

pytestmark = [pytest.mark.llm, pytest.mark.allow_hosts(["127.0.0.1"])]

HELLO = Message.user("Say hello to the harbour master.")
LOOKUP = ToolSpec(
    "lookup",
    "Look up what is known of a word.",
    {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
)


def test_a_reply_has_words_and_counted_tokens(model: Model) -> None:
    finished = complete(model, Request((HELLO,), system="You are a ship.", max_tokens=24))

    assert finished.message.text.strip()
    assert finished.model == "smollm2"
    assert finished.stop in ("end", "length")
    assert finished.usage.known
    assert finished.usage.input_tokens > 10
    assert 1 <= finished.usage.output_tokens <= 24


def test_a_stream_comes_in_pieces_that_are_the_reply(model: Model) -> None:
    *events, last = model.stream(Request((HELLO,), max_tokens=24))

    pieces = [event.text for event in events if isinstance(event, TextDelta)]
    assert len(pieces) > 3
    assert isinstance(last, ReplyFinished)
    assert "".join(pieces) == last.message.text


def test_the_limit_of_tokens_is_kept_and_named(model: Model) -> None:
    finished = complete(model, Request((HELLO,), max_tokens=3))

    assert (finished.stop, finished.usage.output_tokens) == ("length", 3)


def test_the_way_that_does_not_block_gives_a_reply_too(model: Model) -> None:
    finished = asyncio.run(acomplete(model, Request((HELLO,), max_tokens=8)))

    assert finished.message.text.strip()


def test_closing_a_stream_stops_the_model(model: Model, address: str) -> None:
    request = Request((Message.user("Count to one thousand: 1, 2, 3, 4, 5,"),), max_tokens=1500)

    with closing(model.stream(request)) as events:  # type: ignore[type-var]
        next(events)

    slot = wait_until_idle(address)
    assert slot["next_token"][0]["n_decoded"] < 500


def test_a_forced_call_names_the_tool_and_its_arguments(model: Model) -> None:
    request = Request((Message.user("What is known of tides?"),), tools=(LOOKUP,), tool_choice="any", max_tokens=64)

    *events, last = model.stream(request)

    assert isinstance(last, ReplyFinished)
    [call] = last.message.calls
    assert [event for event in events if isinstance(event, ToolStarted)] == [ToolStarted(call.id, "lookup")]
    assert (last.stop, call.name) == ("tools", "lookup")
    assert isinstance(json.loads(call.arguments)["word"], str)


def test_the_result_of_a_call_can_be_given_back(model: Model) -> None:
    asked = Message.user("What is known of tides?")
    call = complete(model, Request((asked,), tools=(LOOKUP,), tool_choice="any", max_tokens=64)).message
    result = Message("user", (ToolResult(call.calls[0].id, "They turn at noon."),))

    finished = complete(model, Request((asked, call, result), tools=(LOOKUP,), tool_choice="none", max_tokens=16))

    assert finished.usage.output_tokens <= 16


def test_what_does_not_fit_the_context_is_refused(model: Model) -> None:
    with pytest.raises(BadRequestError, match="context"):
        complete(model, Request((Message.user("tide " * CONTEXT_TOKENS),), max_tokens=8))


def wait_until_idle(address: str) -> dict[str, list[dict[str, int]]]:
    """Return the state of the server's only slot once it does nothing, or after ten seconds."""
    for _ in range(100):
        with urllib.request.urlopen(f"{address}/slots", timeout=10) as response:
            [slot] = json.load(response)
        if not slot["is_processing"]:
            return dict(slot)
        time.sleep(0.1)
    pytest.fail("the model still writes")
