from __future__ import annotations

import asyncio
from contextlib import aclosing, closing

import pytest

from openbook.errors import CutOffError, RateLimitedError
from openbook.llm.messages import (
    CitationDelta,
    Event,
    Message,
    ProviderCitation,
    ReplyFinished,
    Request,
    TextDelta,
    ToolCall,
    ToolStarted,
    Usage,
)
from openbook.llm.protocol import Model, acomplete, complete
from openbook.testing import ScriptedModel, ScriptedReply

HELLO = Request((Message.user("Hello?"),))
CALL = ToolCall("c1", "search", '{"query": "tide"}')


def test_a_scripted_model_is_a_model() -> None:
    assert isinstance(ScriptedModel(), Model)


def test_steps_are_played_in_order_and_requests_are_kept() -> None:
    again = Request((Message.user("Again?"),))

    with ScriptedModel("One.", ScriptedReply("Two.")) as model:
        texts = [complete(model, HELLO).message.text, complete(model, again).message.text]

    assert texts == ["One.", "Two."]
    assert model.requests == [HELLO, again]


def test_a_stream_gives_words_calls_and_citations_and_then_the_end() -> None:
    cited = ProviderCitation(1, 2, 3)
    reply = ScriptedReply("So it is. ", cited, CALL, usage=Usage(1, 2))

    with ScriptedModel(reply) as model:
        events = list(model.stream(HELLO))

    assert events[:5] == [
        TextDelta("So "),
        TextDelta("it "),
        TextDelta("is. "),
        CitationDelta(cited),
        ToolStarted("c1", "search"),
    ]
    assert events[5:] == [ReplyFinished(reply.message, Usage(1, 2), "tools", model.name)]


@pytest.mark.parametrize("text", ["", " ", " a  b\n", "a\n\nb"])
def test_the_deltas_of_a_text_are_the_text(text: str) -> None:
    with ScriptedModel(text) as model:
        events = list(model.stream(HELLO))

    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == text


def test_a_step_can_be_a_function_of_the_request() -> None:
    with ScriptedModel(lambda request: f"You said {request.messages[-1].text!r}.") as model:
        text = complete(model, HELLO).message.text

    assert text == "You said 'Hello?'."


def test_a_step_can_be_an_error() -> None:
    with ScriptedModel(RateLimitedError("slow down", retry_after_s=7)) as model, pytest.raises(RateLimitedError):
        complete(model, HELLO)


def test_a_reply_can_break_off() -> None:
    events: list[Event] = []

    with ScriptedModel(ScriptedReply("So far", error=CutOffError("cut"))) as model, pytest.raises(CutOffError):
        events.extend(model.stream(HELLO))

    assert events == [TextDelta("So "), TextDelta("far")]


def test_usage_that_is_not_reported_is_not_known() -> None:
    with ScriptedModel(ScriptedReply("Hm.", usage=None)) as model:
        usage = complete(model, HELLO).usage

    assert not usage.known


def test_both_ways_to_call_say_the_same() -> None:
    step = ScriptedReply("Let me see.", CALL)

    with ScriptedModel(step, step) as model:
        blocking, other = complete(model, HELLO), asyncio.run(acomplete(model, HELLO))

    assert blocking == other


def test_a_step_that_is_not_read_fails_the_test() -> None:
    with (
        pytest.raises(AssertionError, match="1 step of the script was not read"),
        ScriptedModel("One.", "Two.") as model,
    ):
        complete(model, HELLO)


def test_a_failure_is_not_hidden_behind_the_steps_after_it() -> None:
    with pytest.raises(KeyError), ScriptedModel("One."):
        raise KeyError


def test_a_call_too_many_fails_the_test_even_if_its_error_is_caught() -> None:
    model = ScriptedModel()

    with pytest.raises(AssertionError, match="by a call with 1 message"):
        complete(model, HELLO)

    with pytest.raises(AssertionError, match="has 0 steps, and was asked for one more"):
        model.check()


def test_a_call_too_many_is_told_from_others_by_its_instructions() -> None:
    request = Request(
        HELLO.messages, system="You check claims against the lines that they cite. You know nothing else."
    )

    with pytest.raises(AssertionError, match='that begins with "You check claims against the lines'):
        complete(ScriptedModel(), request)


def test_a_stream_that_is_closed_early_counts_as_cancelled() -> None:
    with ScriptedModel("One two three.", "Four.") as model:
        with closing(model.stream(HELLO)) as events:
            next(events)
        complete(model, HELLO)

    assert model.cancelled == 1


def test_a_stream_that_does_not_block_can_be_cancelled_too() -> None:
    model = ScriptedModel("One two three.")

    async def read_one() -> None:
        async with aclosing(model.astream(HELLO)) as events:
            await anext(events)

    asyncio.run(read_one())

    assert model.cancelled == 1
