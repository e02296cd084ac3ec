"""What can become a tool: functions, tools, objects that define themselves, sets of tools, and lists of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from openbook.agent import Agent, Tool
from openbook.agent.toolsets import as_tools
from openbook.errors import ToolError
from openbook.testing import ScriptedModel, ScriptedReply
from tests.unit.agent.test_agent import add, call, results


class Tides:
    """Defines itself, as tools of courses do."""

    def get_tool_definition(self) -> dict[str, Any]:
        return {
            "name": "tides",
            "description": "Return the next high water.",
            "input_schema": {
                "type": "object",
                "properties": {"port": {"type": "string"}, "day": {"type": "integer"}},
                "required": ["port"],
            },
        }

    def execute(self, port: str, day: int = 0) -> str:
        return f"{port}, day {day}: 11:40"


class Boats:
    def tools(self) -> Sequence[Tool]:
        return as_tools([add, Tides()])


def test_functions_tools_objects_and_sets_can_be_mixed() -> None:
    def mul(a: int, b: int) -> int:
        """Multiply two numbers."""
        return a * b

    tools = as_tools((mul, Boats(), Tool.from_function(mul, name="times")))

    assert [tool.name for tool in tools] == ["mul", "add", "tides", "times"]


@pytest.mark.parametrize("given", [add, Tides(), Boats()])
def test_one_needs_no_list(given: Any) -> None:
    with ScriptedModel("Hello.") as model:
        Agent(model, given).run("Hi")

    assert model.requests[0].tools[-1].name in ("add", "tides")


def test_an_object_that_defines_itself_is_called_by_name() -> None:
    with ScriptedModel(ScriptedReply(call("tides", '{"port": "Rye", "day": 2}')), "At 11:40.") as model:
        Agent(model, [Tides()]).run("When is high water in Rye?")

    assert results(model)[0].text == "Rye, day 2: 11:40"
    assert model.requests[0].tools[0].parameters["required"] == ["port"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("{}", "argument 'port' is missing"),
        ("[1]", "the arguments are not a JSON object"),
        ('{"port"', "the arguments are not a JSON object: "),
    ],
)
def test_arguments_that_do_not_fit_a_schema_are_told(arguments: str, told: str) -> None:
    (tool,) = as_tools(Tides())

    with pytest.raises(ToolError, match=told):
        tool.read_arguments(arguments)


def test_arguments_beyond_a_closed_schema_are_told() -> None:
    schema = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
    tool = Tool.from_schema("probe", "Probe.", schema, print)

    with pytest.raises(ToolError, match="argument 'b' is unknown; 'probe' takes a"):
        tool.read_arguments('{"b": 1}')


@pytest.mark.parametrize("wrong", ["search", 3, [None]])
def test_what_is_no_tool_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="is no tool"):
        as_tools(wrong)


@pytest.mark.parametrize(
    ("name", "description", "schema", "told"),
    [
        ("a b", "Do it.", {"type": "object"}, "cannot be the name"),
        ("a", " ", {"type": "object"}, "does not say what it is for"),
        ("a", "Do it.", {"type": "string"}, "of an object"),
    ],
)
def test_a_tool_of_a_schema_is_checked_where_it_is_made(name: str, description: str, schema: Any, told: str) -> None:
    with pytest.raises(TypeError, match=told):
        Tool.from_schema(name, description, schema, print)


def test_an_object_with_half_a_definition_is_refused() -> None:
    class Half(Tides):
        def get_tool_definition(self) -> dict[str, Any]:
            return {"name": "half"}

    with pytest.raises(TypeError, match=r"Half\.get_tool_definition"):
        as_tools(Half())
