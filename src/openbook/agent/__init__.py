"""A small tool-calling kernel: functions in, text and cost out. It knows nothing of retrieval."""

from __future__ import annotations

from openbook.agent.agent import Agent
from openbook.agent.events import AgentEvent, AgentResult, CallFinished, CallStarted, RunFinished, UsageCounted
from openbook.agent.hooks import Hooks, Veto
from openbook.agent.pruning import KeepExchanges, KeepTokens, Summarize, SummaryRequest
from openbook.agent.tools import Tool
from openbook.costs import Budget
from openbook.errors import ToolError
from openbook.llm.messages import CitationDelta, TextDelta
from openbook.llm.sampling import Sampling

__all__ = [
    "Agent",
    "AgentEvent",
    "AgentResult",
    "Budget",
    "CallFinished",
    "CallStarted",
    "CitationDelta",
    "Hooks",
    "KeepExchanges",
    "KeepTokens",
    "RunFinished",
    "Sampling",
    "Summarize",
    "SummaryRequest",
    "TextDelta",
    "Tool",
    "ToolError",
    "UsageCounted",
    "Veto",
]
