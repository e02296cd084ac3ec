"""The agent page names exactly the existing names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from openbook.agent import Agent, AgentResult, Budget, Hooks, KeepExchanges, KeepTokens, Summarize
from openbook.agent.events import AgentEvent
from openbook.agent.tools import Tool
from openbook.costs import Limit

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "agent.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name",
    [
        *(method for method in vars(Hooks) if not method.startswith("_")),
        *(method for method in vars(Agent) if not method.startswith("_") and method not in ("history", "reset")),
        *(limit for limit in vars(Budget) if limit.startswith("max_")),
        *(policy.__name__ for policy in (KeepExchanges, KeepTokens, Summarize)),
        *("timeout_s", "max_chars", "errors", "strict"),
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
