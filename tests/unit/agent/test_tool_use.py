"""What the calls of each tool come to, and tools that are paid by the call."""

from __future__ import annotations

from decimal import Decimal

from openbook.agent import Agent, Budget, Tool
from openbook.llm.messages import ToolResult
from openbook.testing import ScriptedModel, ScriptedReply
from tests.unit.agent.test_agent import add, call, results


def test_the_result_says_what_each_tool_came_to() -> None:
    now = [0.0]

    def look(name: str) -> str:
        """Look something up."""
        now[0] += 2.0
        if name == "bug":
            raise KeyError(name)
        return "there " * 100

    calls = (call("look", '{"name": "a"}'), call("add", '{"a": 1, "b": 1}', 2), call("look", "{}", 3))
    with ScriptedModel(ScriptedReply(*calls), ScriptedReply(call("look", '{"name": "bug"}', 4)), "Done.") as model:
        result = Agent(model, [add, look], clock=lambda: now[0]).run("Go.")

    used = result.tools["look"]
    assert (used.calls, used.errors, used.cost_usd) == (2, 1, Decimal(0))
    assert used.seconds >= 4.0
    assert used.result_tokens >= 100
    assert result.tools["add"].calls == 1


def test_a_paid_tool_counts_in_the_cost_and_against_the_budget() -> None:
    tool = Tool.from_function(add, cost_usd=0.4)
    calls = [ScriptedReply(call("add", f'{{"a": 1, "b": {number}}}', number)) for number in (1, 2, 3)]
    with ScriptedModel(*calls, "Done.") as model:
        agent = Agent(model, [tool], price=lambda *_: Decimal(0), budget=Budget(max_usd=1))
        result = agent.run("Add.")

    assert result.tools["add"].cost_usd == result.cost_usd == agent.spent.cost_usd == Decimal("0.8")
    assert results(model)[0] == ToolResult("call-3", "not called: $0.2000 of $1 are left", is_error=True)
