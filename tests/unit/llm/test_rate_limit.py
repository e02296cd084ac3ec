"""Calls beyond a rate limit of one's own wait for their turn, in order, and do not fail."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import pytest

from openbook.errors import RateLimitedError
from openbook.llm.messages import Event, Message, ReplyFinished, Request
from openbook.llm.protocol import acomplete, complete
from openbook.llm.rate_limit import RateLimitedModel, rate_limited
from openbook.llm.request_tokens import estimate_request
from openbook.settings import Settings
from openbook.testing import ScriptedModel, ScriptedReply
from openbook.usage import Usage
from tests.unit.llm.calls import HELLO, Clock


class Plain:
    """A model whose streams cannot be closed."""

    name = "plain:one"

    def stream(self, request: Request) -> Iterator[Event]:
        return iter([ReplyFinished(Message.assistant("Hello."))])

    def astream(self, request: Request) -> AsyncIterator[Event]:
        return _Once()


class _Once:
    def __init__(self) -> None:
        self._events: list[Event] = [ReplyFinished(Message.assistant("Hello."))]

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        if not self._events:
            raise StopAsyncIteration
        return self._events.pop()


def limited(clock: Clock, model: Any, **limits: float) -> RateLimitedModel:
    return RateLimitedModel(model, clock=lambda: clock.now, sleep=clock.sleep, asleep=clock.asleep, **limits)


@pytest.mark.parametrize("is_async", [False, True], ids=["blocking", "async"])
def test_no_more_calls_begin_in_a_minute_than_are_allowed(*, is_async: bool) -> None:
    clock = Clock()
    model = limited(clock, ScriptedModel(*["Hello."] * 5), requests_per_minute=2)

    began = []
    for _ in range(5):
        if is_async:
            asyncio.run(acomplete(model, HELLO))
        else:
            complete(model, HELLO)
        began.append(clock.now)
        clock.now += 1

    assert began == [0, 1, 60, 61, 120]


def test_calls_count_with_the_tokens_that_were_used_once_they_have_ended() -> None:
    clock = Clock()
    replies = [ScriptedReply("Hello.", usage=Usage(900, 100))] * 3
    model = limited(clock, ScriptedModel(*replies), tokens_per_minute=2000 + estimate_request(HELLO))

    for _ in range(3):
        complete(model, replace(HELLO, max_tokens=1000))

    assert clock.slept == [60]  # two calls of 1000 leave no room for a third that may have as many


def test_usage_that_is_not_known_leaves_the_estimate() -> None:
    clock = Clock()
    model = limited(clock, Plain(), tokens_per_minute=1000)

    for _ in range(2):
        complete(model, replace(HELLO, max_tokens=900))

    assert clock.slept == [60]


def test_a_call_that_is_larger_than_the_limit_waits_until_nothing_else_counts() -> None:
    clock = Clock()
    model = limited(clock, ScriptedModel("One.", "Two."), tokens_per_minute=10)

    for _ in range(2):
        complete(model, HELLO)

    assert clock.slept == [60]


def test_a_wait_that_is_too_long_is_an_error_that_says_how_long() -> None:
    clock = Clock()
    model = limited(clock, ScriptedModel("One."), requests_per_minute=1, max_wait_s=30)
    complete(model, HELLO)

    with pytest.raises(RateLimitedError, match="in 60 s") as caught:
        complete(model, HELLO)

    assert caught.value.retry_after_s == 60


def test_a_wait_that_is_cancelled_sends_nothing_and_does_not_count() -> None:
    async def cancel() -> list[str]:
        scripted = ScriptedModel("One.", "Two.")
        now = [0.0]
        model = RateLimitedModel(scripted, requests_per_minute=1, clock=lambda: now[0])
        said = [(await acomplete(model, HELLO)).message.text]
        waiting = asyncio.create_task(acomplete(model, HELLO))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        now[0] = 60.0
        said.append((await acomplete(model, HELLO)).message.text)
        return said

    assert asyncio.run(cancel()) == ["One.", "Two."]


def test_ctrl_c_ends_a_wait_and_gives_the_turn_back() -> None:
    clock = Clock()

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    scripted = ScriptedModel("One.", "Two.")
    model = RateLimitedModel(scripted, requests_per_minute=1, clock=lambda: clock.now, sleep=interrupt)
    complete(model, HELLO)

    with pytest.raises(KeyboardInterrupt):
        complete(model, HELLO)
    clock.now = 60

    assert complete(model, HELLO).message.text == "Two."


def test_leaving_a_stream_ends_the_call() -> None:
    scripted = ScriptedModel("Two words.")
    stream = limited(Clock(), scripted, requests_per_minute=9).stream(HELLO)

    next(stream)
    stream.close()

    assert scripted.requests == [HELLO]


def test_models_whose_streams_cannot_be_closed_are_called_too() -> None:
    model = limited(Clock(), Plain(), requests_per_minute=9)

    assert asyncio.run(acomplete(model, HELLO)).message.text == "Hello."
    assert (model.name, repr(model).startswith("RateLimitedModel(")) == ("plain:one", True)


def test_settings_limit_a_model_or_leave_it_as_it_is() -> None:
    model = Plain()

    assert rate_limited(model, Settings()) is model
    assert isinstance(rate_limited(model, Settings(model_requests_per_minute=5)), RateLimitedModel)
    assert isinstance(rate_limited(model, Settings(model_tokens_per_minute=5)), RateLimitedModel)


@pytest.mark.parametrize(
    "limits", [{"requests_per_minute": 0}, {"tokens_per_minute": 0.5}, {"requests_per_minute": -1}]
)
def test_a_limit_that_allows_nothing_is_refused(limits: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="at least one request"):
        limited(Clock(), Plain(), **limits)
