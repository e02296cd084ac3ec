"""The async methods of agents do the same as the blocking ones, and do not block the event loop."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from openbook.agent import Agent, AgentEvent, Budget, RunFinished, Tool, ToolError
from openbook.errors import ModelError, OverloadedError
from openbook.llm.messages import ToolCall, ToolResult
from openbook.testing import ScriptedModel, ScriptedReply

ASKED: contextvars.ContextVar[str] = contextvars.ContextVar("ASKED", default="nobody")


def greet(name: str) -> str:
    """Greet somebody.

    Args:
        name: Whom.
    """
    if not name:
        raise ToolError("nobody to greet")
    return f"Hello, {name}."


async def wave(name: str) -> str:
    """Wave at somebody.

    Args:
        name: At whom.
    """
    await asyncio.sleep(0)
    return f"\\o {name}"


def call(name: str, arguments: str, number: int = 1) -> ToolCall:
    return ToolCall(f"call-{number}", name, arguments)


ANNA, NOBODY, WAVE = (
    call("greet", '{"name": "Anna"}'),
    call("greet", '{"name": ""}', 2),
    call("wave", '{"name": "Bo"}', 3),
)

SCRIPTS: dict[str, list[Any]] = {
    "text": ["Hello there."],
    "tool": [ScriptedReply("Let me see.", ANNA), "Done."],
    "tools-of-both-kinds": [ScriptedReply(ANNA, NOBODY, WAVE), "Done."],
    "unknown-tool": [ScriptedReply(call("fly", "{}")), "No."],
    "repeated": [ScriptedReply(ANNA), ScriptedReply(ANNA), ScriptedReply(ANNA)],
    "rounds": [ScriptedReply(ANNA), ScriptedReply(NOBODY), ScriptedReply(WAVE)],
    "silence": [ScriptedReply()],
    "unknown-usage": [ScriptedReply("Hm.", usage=None)],
    "failure": [ScriptedReply(ANNA), OverloadedError("busy")],
}


def play(steps: list[Any], drive: Callable[[Agent], list[AgentEvent]]) -> tuple[object, ...]:
    model = ScriptedModel(*steps)
    agent = Agent(model, [greet, wave], budget=Budget(max_rounds=2), price=lambda name, usage: Decimal(1))
    error, events = "", list[AgentEvent]()
    try:
        events = drive(agent)
    except ModelError as exc:
        error = str(exc)
    model.check()
    return error, events, agent.history, agent.spent, model.requests


async def collect(agent: Agent) -> list[AgentEvent]:
    return [event async for event in agent.astream("Go.")]


@pytest.mark.parametrize("name", list(SCRIPTS))
def test_both_ways_of_running_do_the_same(name: str) -> None:
    blocking = play(SCRIPTS[name], lambda agent: list(agent.stream("Go.")))
    waiting = play(SCRIPTS[name], lambda agent: asyncio.run(collect(agent)))

    assert waiting == blocking


def test_text_and_cost_come_from_the_async_twins_too() -> None:
    with ScriptedModel("One.", "Two.") as model:
        agent = Agent(model, price=lambda name, usage: Decimal(1))

        assert asyncio.run(agent.achat("?")) == ("One.", Decimal(1))
        assert asyncio.run(agent.arun("?")).text == "Two."


def test_an_async_tool_runs_in_the_loop_of_its_caller() -> None:
    loops = []

    async def note() -> str:
        """Note where this runs."""
        loops.append(asyncio.get_running_loop())
        return "noted"

    async def main(agent: Agent) -> asyncio.AbstractEventLoop:
        await agent.arun("Note.")
        return asyncio.get_running_loop()

    with ScriptedModel(ScriptedReply(call("note", "{}")), "Done.") as model:
        here = asyncio.run(main(Agent(model, [note])))

    assert loops == [here]


def test_a_tool_that_blocks_does_not_hold_up_the_loop() -> None:
    release = threading.Event()

    def wait() -> str:
        """Wait for somebody else in the loop."""
        return "released" if release.wait(30) else "alone"

    async def main(agent: Agent) -> str:
        run = asyncio.create_task(agent.arun("Wait."))
        while not run.done() and not release.is_set():
            await asyncio.sleep(0)
            if model.requests:
                release.set()
        return (await run).text

    with ScriptedModel(ScriptedReply(call("wait", "{}")), "Done.") as model:
        asyncio.run(main(Agent(model, [wait])))

    assert model.requests[-1].messages[-1].parts == (ToolResult("call-1", "released"),)


def test_an_async_tool_that_takes_too_long_is_cancelled() -> None:
    ends: list[str] = []

    async def wait() -> str:
        """Wait forever."""
        try:
            await asyncio.Event().wait()
        finally:
            ends.append("cancelled")
        return "late"

    with ScriptedModel(ScriptedReply(call("wait", "{}")), "Never mind.") as model:
        asyncio.run(Agent(model, [Tool.from_function(wait, timeout_s=0.01)]).arun("Wait."))

    assert ends == ["cancelled"]
    assert model.requests[-1].messages[-1].parts[0] == ToolResult(
        "call-1", "'wait' took too long and was given up", is_error=True
    )


def test_a_thread_that_comes_too_late_for_a_loop_that_is_gone_disturbs_nobody() -> None:
    release, ended = threading.Event(), threading.Event()

    def wait() -> str:
        """Wait for release."""
        release.wait(30)
        ended.set()
        return "late"

    with ScriptedModel(ScriptedReply(call("wait", "{}")), "Never mind.") as model:
        asyncio.run(Agent(model, [Tool.from_function(wait, timeout_s=0.01)]).arun("Wait."))
    release.set()

    assert ended.wait(30)


def test_leaving_an_async_stream_cancels_the_call_and_forgets_the_turn() -> None:
    model = ScriptedModel("One two three.", "Four.")
    agent = Agent(model)

    async def leave() -> None:
        events = agent.astream("?")
        await anext(events)
        await events.aclose()

    asyncio.run(leave())

    assert model.cancelled == 1
    assert agent.history == ()
    assert agent.run("?").text == "Four."


def test_cancelling_a_task_cancels_the_tools_that_run() -> None:
    ends: list[str] = []

    async def main() -> None:
        began = asyncio.Event()

        async def wait() -> str:
            """Wait forever."""
            began.set()
            try:
                await asyncio.Event().wait()
            finally:
                ends.append("cancelled")
            return "late"

        run = asyncio.create_task(Agent(ScriptedModel(ScriptedReply(call("wait", "{}"))), [wait]).arun("Wait."))
        await began.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(main())

    assert ends == ["cancelled"]


def test_tools_see_the_context_of_whoever_asked() -> None:
    def who() -> str:
        """Say who asks."""
        return ASKED.get()

    ASKED.set("Anna")
    with ScriptedModel(ScriptedReply(call("who", "{}")), "Done.", ScriptedReply(call("who", "{}")), "Done.") as model:
        agent = Agent(model, [who])
        agent.run("Who?")
        asyncio.run(agent.arun("Who?"))

    assert [model.requests[place].messages[-1].parts for place in (1, 3)] == [(ToolResult("call-1", "Anna"),)] * 2


def test_the_last_event_is_the_result() -> None:
    with ScriptedModel("One.") as model:
        last = asyncio.run(collect(Agent(model)))[-1]

    assert isinstance(last, RunFinished)
