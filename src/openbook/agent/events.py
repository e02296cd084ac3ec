"""What happens in a run, and what comes out of it: frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from openbook.costs import Limit
from openbook.llm.messages import CitationDelta, Message, StopReason, TextDelta, ToolCall, ToolResult
from openbook.usage import Usage

StoppedBy = Limit | Literal["repeated_call", "veto", ""]
"""What ended a run before the model was done.

A limit of the budget, the same call for the third time, or a hook. Empty: nothing did.
"""


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A tool is about to be called."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class CallFinished:
    """A tool call has returned or failed. Events come in the order of the calls."""

    call: ToolCall
    result: ToolResult


@dataclass(frozen=True, slots=True)
class UsageCounted:
    """A call of the model is over."""

    usage: Usage
    """Of this call."""
    cost_usd: Decimal | None
    """Of this call. None if its price is not known."""


@dataclass(frozen=True, slots=True)
class AgentResult:
    """The result of a run."""

    text: str
    """What the model said last; empty if it was stopped before it said anything."""
    messages: tuple[Message, ...]
    """What the run added to the history, the question first."""
    usage: Usage
    """Of all calls together."""
    cost_usd: Decimal | None
    """Of all calls together, in US dollars. None if the price of any is not known."""
    rounds: int = 0
    """How many times tools were called."""
    stop: StopReason = "end"
    """Why the model stopped its last reply; `length` means that the text was cut."""
    stopped_by: StoppedBy = ""
    """`max_rounds` also where the last reply had to do without tools."""
    reason: str = ""
    """Why it was stopped, for people; else empty."""

    def __str__(self) -> str:
        return self.text or f"({self.reason or 'the model said nothing'})"


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The last event of every run."""

    result: AgentResult


AgentEvent = TextDelta | CitationDelta | CallStarted | CallFinished | UsageCounted | RunFinished
