"""A small tool-calling kernel: functions in, text and cost out. It has no retrieval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from openbook.agent.agent import Agent
from openbook.agent.events import AgentEvent, AgentResult, CallFinished, CallStarted, RunFinished, ToolUse, UsageCounted
from openbook.agent.history import (
    KeepExchanges,
    KeepTokens,
    Summarize,
    SummaryRequest,
    history_from_json,
    history_to_json,
)
from openbook.agent.hooks import Hooks, Veto
from openbook.agent.tools import Tool
from openbook.agent.toolsets import DefinedTool, Toolset
from openbook.costs import Budget
from openbook.errors import ToolError
from openbook.llm.attachments import image, pdf, pdf_pages
from openbook.llm.messages import Attachment, CitationDelta, TextDelta
from openbook.llm.sampling import Sampling

if TYPE_CHECKING:
    from openbook.agent.mcp_client import McpToolset, mcp

__all__ = [
    "Agent",
    "AgentEvent",
    "AgentResult",
    "Attachment",
    "Budget",
    "CallFinished",
    "CallStarted",
    "CitationDelta",
    "DefinedTool",
    "Hooks",
    "KeepExchanges",
    "KeepTokens",
    "McpToolset",
    "RunFinished",
    "Sampling",
    "Summarize",
    "SummaryRequest",
    "TextDelta",
    "Tool",
    "ToolError",
    "ToolUse",
    "Toolset",
    "UsageCounted",
    "Veto",
    "history_from_json",
    "history_to_json",
    "image",
    "mcp",
    "pdf",
    "pdf_pages",
]


def __getattr__(name: str) -> Any:
    if name not in ("McpToolset", "mcp"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from openbook.agent import mcp_client  # lazy: it needs `asyncio`, which few agents use

    return getattr(mcp_client, name)
