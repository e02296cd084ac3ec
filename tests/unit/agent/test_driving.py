"""Steps that are taken in threads: one at a time, or ahead of whoever watches."""

from __future__ import annotations

import asyncio
import threading

import pytest

from openbook.agent.driving import Ask, InThreads, Steps, adrive
from openbook.llm.messages import Finished, Message, Request
from openbook.testing import ScriptedModel

ASK = Ask(Request((Message.user("?"),)))


class Told:
    """Steps that tell two events, ask, and tell how they were answered; `taken` says how far they came."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.ended = threading.Event()
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def steps(self) -> Steps[str]:
        try:
            for event in ("one", "two"):
                self.taken.append(event)
                yield event
                assert self.may_go_on.wait(30)
            reply = yield ASK
            assert isinstance(reply, Finished)
            yield reply.message.text
        finally:
            self.ended.set()


@pytest.mark.parametrize("ahead", [False, True])
def test_what_happens_is_told_in_order(ahead: bool) -> None:
    told = Told()

    async def watch(model: ScriptedModel) -> list[object]:
        events = adrive(InThreads(told.steps(), ahead=ahead), model)
        return [event if isinstance(event, str) else "words" async for event in events]

    with ScriptedModel("Yes.") as model:
        assert asyncio.run(watch(model)) == ["one", "two", "words", "Yes."]


def test_nothing_more_is_done_for_whoever_leaves() -> None:
    told = Told()

    async def leave() -> object:
        events = adrive(InThreads(told.steps()), None)
        first = await anext(events)
        await events.aclose()
        return first

    assert asyncio.run(leave()) == "one"
    assert told.taken == ["one"]
    assert told.ended.is_set()


def test_ahead_an_event_is_told_while_the_next_step_is_taken() -> None:
    told = Told()
    told.may_go_on.clear()

    async def watch() -> object:
        events = adrive(InThreads(told.steps(), ahead=True), None)
        first = await anext(events)
        await events.aclose()
        told.may_go_on.set()
        return first

    assert asyncio.run(watch()) == "one"
    assert told.ended.wait(30)
    assert "Yes." not in told.taken


@pytest.mark.parametrize("ahead", [False, True])
def test_an_error_comes_behind_what_was_told(ahead: bool) -> None:
    def steps() -> Steps[str]:
        yield "one"
        raise LookupError("lost")

    async def watch() -> None:
        events = adrive(InThreads(steps(), ahead=ahead), None)
        assert await anext(events) == "one"
        with pytest.raises(LookupError, match="lost"):
            await anext(events)

    asyncio.run(watch())
