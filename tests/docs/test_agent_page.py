"""The agent that the documentation shows works as it stands, with a model that follows a script."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest

from openbook.agent import Agent, AgentResult, Budget, Hooks, KeepExchanges, KeepTokens, Summarize
from openbook.agent.events import AgentEvent
from openbook.agent.tools import Tool
from openbook.costs import Limit
from openbook.llm.messages import ToolCall, ToolResult
from openbook.testing import ScriptedModel, ScriptedReply

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "agent.md").read_text(encoding="utf-8")
MODEL = '"anthropic:claude-sonnet-5-5"'
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


SHOWN = [
    pytest.param(block, id=page)
    for page in ("README.md", "docs/agent.md")
    for block in re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text("utf-8"), re.MULTILINE | re.DOTALL)
    if MODEL in block
]


@pytest.mark.parametrize("block", SHOWN)
def test_the_agent_that_is_shown_calls_its_tool_and_prints_text_and_cost(
    block: str, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ToolCall("call-1", "read_page", '{"title": "refunds"}')
    code = block.replace(MODEL, "model")

    priced = "anthropic:claude-3-5-haiku-latest"
    with ScriptedModel(ScriptedReply(call), "It needs the receipt.", name=priced) as model:
        exec(compile(code, "agent.md", "exec"), {"model": model})

    assert model.requests[-1].messages[-1].parts == (ToolResult("call-1", "A refund needs the receipt."),)
    # Twice 10 tokens read and 5 written, at 0.80 and 4 dollars a million.
    assert capsys.readouterr().out == "It needs the receipt. 0.000056\n"


def test_the_page_shows_an_agent() -> None:
    assert "docs/agent.md" in [parameter.id for parameter in SHOWN]


@pytest.mark.parametrize("block", BLOCKS[1:], ids=lambda block: block.split("\n")[0])
def test_the_other_examples_of_the_page_can_be_loaded(block: str) -> None:
    names: dict[str, Any] = {}

    exec(compile(block, "agent.md", "exec"), names)

    assert len(names) > 1


@pytest.mark.parametrize(
    "name",
    [
        *(method for method in vars(Hooks) if not method.startswith("_")),
        *(method for method in vars(Agent) if not method.startswith("_") and method not in ("history", "reset")),
        *(limit for limit in vars(Budget) if limit.startswith("max_")),
        *(policy.__name__ for policy in (KeepExchanges, KeepTokens, Summarize)),
        *("timeout_s", "max_chars", "errors"),
        *("stopped_by", "reason"),
    ],
)
def test_what_can_be_set_is_on_the_page(name: str) -> None:
    assert re.search(rf"\b{name}\b", PAGE)


@pytest.mark.parametrize(
    "name", [*get_args(Limit), "repeated_call", "veto", *(event.__name__ for event in get_args(AgentEvent))]
)
def test_every_way_to_stop_and_every_event_is_on_the_page(name: str) -> None:
    assert f"`{name}`" in PAGE


def test_the_page_speaks_of_what_there_is() -> None:
    assert {"timeout_s", "max_chars", "errors"} <= set(Tool.__dataclass_fields__)
    assert {"stopped_by", "reason"} <= set(AgentResult.__dataclass_fields__)
