"""Replies as values of a type."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TypedDict

import pytest
from pydantic import BaseModel, Field

from openbook.agent import Agent, Budget
from openbook.errors import BadResponseError
from openbook.llm.messages import Request, ToolCall
from openbook.testing import ScriptedModel, ScriptedReply


class Ferry(BaseModel):
    name: str
    seats: int = Field(gt=0, description="For people.")


@dataclass
class Place:
    path: str
    lines: list[int]


class Harbour(TypedDict):
    name: str
    depth_m: float


def bring(arguments: str, number: int = 1) -> ScriptedReply:
    return ScriptedReply(ToolCall(f"call-{number}", "final_result", arguments))


def depth(harbour: str) -> float:
    """Return the depth of a harbour."""
    return 7.5


@pytest.mark.parametrize(
    ("type_", "arguments", "value"),
    [
        (Ferry, '{"result": {"name": "Runa", "seats": 40}}', Ferry(name="Runa", seats=40)),
        (Place, '{"result": {"path": "a.py", "lines": [3, 4]}}', Place("a.py", [3, 4])),
        (Harbour, '{"result": {"name": "Vik", "depth_m": 7.5}}', {"name": "Vik", "depth_m": 7.5}),
        (list[int], '{"result": [1, 2]}', [1, 2]),
        (Ferry, '{"name": "Runa", "seats": 40}', Ferry(name="Runa", seats=40)),  # the name of the argument is left out
        (bool, '{"result": false}', False),
    ],
)
def test_a_reply_is_a_value_of_the_type(type_: type, arguments: str, value: object) -> None:
    with ScriptedModel(bring(arguments)) as model:
        assert Agent(model).run_as(type_, "Which one?") == value

    (request,) = model.requests
    assert request.tool_choice == "final_result"


def test_what_does_not_fit_is_told_to_the_model_which_mends_it() -> None:
    wrong, right = '{"result": {"name": "Runa", "seats": 0}}', '{"result": {"name": "Runa", "seats": 12}}'

    with ScriptedModel(bring(wrong), bring(right, 2)) as model:
        assert Agent(model).run_as(Ferry, "Which one?").seats == 12

    assert "result.seats" in str(model.requests[1].messages[-1].parts[0])


def test_other_tools_are_called_first_and_any_of_them_is_forced() -> None:
    asked = ScriptedReply(ToolCall("call-1", "depth", '{"harbour": "Vik"}'))

    with ScriptedModel(asked, bring('{"result": {"name": "Vik", "depth_m": 7.5}}', 2)) as model:
        assert Agent(model, [depth]).run_as(Harbour, "How deep is Vik?") == {"name": "Vik", "depth_m": 7.5}

    assert [request.tool_choice for request in model.requests] == ["any", "any"]


def test_after_the_last_round_only_the_value_is_asked_for() -> None:
    asked = ScriptedReply(ToolCall("call-1", "depth", '{"harbour": "Vik"}'))

    with ScriptedModel(asked, bring('{"result": 7.5}', 2)) as model:
        assert Agent(model, [depth], budget=Budget(max_rounds=1)).run_as(float, "How deep?") == 7.5

    assert model.requests[1].tool_choice == "final_result"


@pytest.mark.parametrize("text", ["[1, 2]", "```json\n[1, 2]\n```", "```\n[1, 2]\n```"])
def test_a_model_without_tools_may_write_the_value_as_json(text: str) -> None:
    with ScriptedModel(text) as model:
        assert Agent(model).run_as(list[int], "Which lines?") == [1, 2]


def test_words_are_answered_by_asking_for_the_value_and_given_up_after_the_third() -> None:
    with ScriptedModel("Lines one and two.", "I said it.", bring('{"result": [1, 2]}')) as model:
        assert Agent(model).run_as(list[int], "Which lines?") == [1, 2]

    with ScriptedModel("One.", "Two.", "Three.") as model, pytest.raises(BadResponseError, match="final_result"):
        Agent(model).run_as(list[int], "Which lines?")


def test_values_that_never_fit_end_the_run() -> None:
    wrong = [bring(f'{{"result": {{"name": "Runa", "seats": -{number}}}}}', number) for number in range(1, 5)]

    with ScriptedModel(*wrong) as model, pytest.raises(BadResponseError, match="beyond round"):
        Agent(model, budget=Budget(max_rounds=0)).run_as(Ferry, "Which one?")


def test_the_conversation_goes_on_after_a_value() -> None:
    seen: list[Request] = []

    def told(request: Request) -> str:
        seen.append(request)
        return "Forty."

    with ScriptedModel(bring('{"result": {"name": "Runa", "seats": 40}}'), told) as model:
        agent = Agent(model)
        agent.run_as(Ferry, "Which one?")
        assert agent.run("How many seats?").text == "Forty."

    assert [message.role for message in seen[0].messages] == ["user", "assistant", "user", "assistant", "user"]
    assert seen[0].messages[3].text == '{"name":"Runa","seats":40}'
    assert seen[0].tools == ()


def test_a_value_comes_without_blocking_too() -> None:
    with ScriptedModel(bring('{"result": 3}')) as model:
        assert asyncio.run(Agent(model).arun_as(int, "How many?")) == 3


def test_a_type_without_a_schema_is_refused_before_anything_is_asked() -> None:
    class Opaque:
        pass

    with ScriptedModel() as model, pytest.raises(TypeError, match="JSON schema"):
        Agent(model).run_as(Opaque, "Which one?")
