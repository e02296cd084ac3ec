"""A history as JSON: every part of it comes back as it was, and a conversation goes on from there."""

from __future__ import annotations

import json

import pytest

from openbook.agent import Agent, history_from_json, history_to_json
from openbook.llm.messages import (
    Message,
    OpaqueBlock,
    Part,
    ProviderCitation,
    ShownSource,
    TextBlock,
    ToolCall,
    ToolResult,
)
from openbook.testing import ScriptedModel, ScriptedReply
from tests.unit.agent.test_agent import ADD, add

PARTS: tuple[Part, ...] = (
    TextBlock("Grüße, 你好!\n"),
    TextBlock(""),
    ToolCall("call_1", "add", '{"a": '),
    ToolResult("call_1", "42"),
    ToolResult("call_1", "it failed", is_error=True),
    ShownSource(1, "FAQ", "faq.md:3-4", ("It opens.", "It closes."), "it goes on"),
    ProviderCitation(1, 2, 3, "It closes."),
    OpaqueBlock("anthropic", '{"type": "thinking"}'),
)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: type(part).__name__)
def test_every_part_comes_back_as_it_was(part: Part) -> None:
    history = (Message("user", (part,)), Message("assistant", (part, part)))

    assert history_from_json(history_to_json(history)) == history


def test_a_message_keeps_the_order_of_its_parts() -> None:
    history = (Message("assistant", PARTS),)

    assert history_from_json(history_to_json(history)) == history


def test_it_is_plain_json() -> None:
    written = json.loads(history_to_json([Message.user("Hi"), Message("assistant", (ADD,))]))

    assert written == [
        {"role": "user", "parts": [{"text": "Hi"}]},
        {"role": "assistant", "parts": [{"id": ADD.id, "name": "add", "arguments": ADD.arguments}]},
    ]


def test_a_conversation_goes_on_where_it_was_left() -> None:
    with ScriptedModel(ScriptedReply(ADD), "It is 42.", "It was 42.") as model:
        first = Agent(model, [add])
        first.run("What is 17 + 25?")
        second = Agent(model, [add], history=history_from_json(history_to_json(first.history)))
        second.run("What was it?")

    assert model.requests[-1].messages[:-1] == first.history


@pytest.mark.parametrize(
    "text", ["", "{}", '[{"role": "system", "parts": []}]', '[{"role": "user", "parts": [{"x": 1}]}]']
)
def test_what_is_no_history_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - pydantic says what is wrong
        history_from_json(text)
