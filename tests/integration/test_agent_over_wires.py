"""An agent with tools, over HTTP and the official packages, on both wires."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from openbook.agent import Agent, Budget
from openbook.llm.choose import connect
from openbook.llm.messages import ToolCall
from openbook.llm.protocol import Model
from openbook.llm.providers import ANTHROPIC, GROQ, OPENAI, Provider
from openbook.settings import Secret
from openbook.testing import FakeServer, ScriptedReply

Start = Callable[..., FakeServer]


def weigh(parcel: str) -> str:
    """Weigh a parcel.

    Args:
        parcel: Its number.
    """
    return f"{parcel} weighs 2 kg"


CALLS = [ToolCall(f"call_{number}", "weigh", f'{{"parcel": "P{number}"}}') for number in (1, 2)]


def reach(provider: Provider, server: FakeServer) -> Model:
    urls = {"anthropic": server.anthropic_url, "groq": server.groq_url, "openai": server.openai_url}
    return connect(replace(provider, url=urls[provider.name]), provider.model, key=Secret(server.key))


@pytest.fixture(params=[ANTHROPIC, OPENAI, GROQ], ids=lambda provider: provider.name)
def provider(request: pytest.FixtureRequest) -> Provider:
    found: Provider = request.param
    return found


@pytest.mark.slow
def test_calls_and_results_travel_over_the_wire(provider: Provider, fake_server: Start) -> None:
    server = fake_server(ScriptedReply("Let me see.", *CALLS), "4 kg together.", "As I said: 4 kg.")
    agent = Agent(reach(provider, server), [weigh])

    first, second = agent.run("How heavy are both?"), agent.run("Again?")

    assert (first.text, second.text) == ("4 kg together.", "As I said: 4 kg.")
    assert first.usage.input_tokens == 20
    assert first.cost_usd is not None
    shown = str(server.requests[1].body)
    assert "P1 weighs 2 kg" in shown
    assert "P2 weighs 2 kg" in shown


def test_a_run_that_was_stopped_leaves_a_history_that_providers_accept(provider: Provider, fake_server: Start) -> None:
    server = fake_server(ScriptedReply(*CALLS), ScriptedReply(*CALLS), "Sorry.")
    agent = Agent(reach(provider, server), [weigh], budget=Budget(max_rounds=1))

    stopped, answered = agent.run("How heavy are both?"), agent.run("And now?")

    assert (stopped.stopped_by, answered.text) == ("max_rounds", "Sorry.")
    assert server.refused == []


def test_the_async_twin_speaks_the_same_wire(provider: Provider, fake_server: Start) -> None:
    server = fake_server(ScriptedReply(*CALLS), "4 kg together.")
    agent = Agent(reach(provider, server), [weigh])

    result: Any = asyncio.run(agent.arun("How heavy are both?"))

    assert result.text == "4 kg together."
