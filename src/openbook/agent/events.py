"""Events and results of a run, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, get_args

from openbook.costs import Limit
from openbook.llm.messages import CitationDelta, Message, StopReason, TextDelta, ToolCall, ToolResult
from openbook.usage import Usage

StoppedBy = Limit | Literal["no_output", "repeated_call", "veto", ""]
"""What ended a run before the model was done; empty if nothing did.

A budget limit, text instead of a required value, a third identical call, or a hook.
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
    """A model call has finished."""

    usage: Usage
    """Tokens of this call."""
    cost_usd: Decimal | None
    """Cost of this call. None if its price is unknown."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """Totals for the calls of one tool in a run."""

    calls: int = 0
    errors: int = 0
    """Number of calls that returned an error."""
    seconds: float = field(default=0.0, compare=False)
    """Time spent waiting. Parallel calls are counted once."""
    result_tokens: int = 0
    """Estimated tokens of the results, which every later model call of the run reads."""
    cost_usd: Decimal = Decimal(0)
    """Price according to the tool, in US dollars. Included in the result's `cost_usd`."""


@dataclass(frozen=True, slots=True)
class AgentResult:
    """The result of a run."""

    text: str
    """The last text of the model; empty if the run was stopped before any."""
    messages: tuple[Message, ...]
    """Messages that the run added to the history, the question first."""
    usage: Usage
    """Total of all calls."""
    cost_usd: Decimal | None
    """Total of all calls, in US dollars. None if the price of any call is unknown."""
    rounds: int = 0
    """Rounds of tool calls."""
    stop: StopReason = "end"
    """Why the model stopped its last reply; `length` means that the text was truncated."""
    stopped_by: StoppedBy = ""
    """`max_rounds` also if the last reply was made without tools."""
    reason: str = ""
    """Why the run was stopped, or why there is no text, for users; else empty."""
    tools: Mapping[str, ToolUse] = field(default_factory=dict)
    """Totals for each tool that was called, by name."""

    def __str__(self) -> str:
        if self.text:
            return self.text
        if self.stopped_by in get_args(Limit) and self.stopped_by != "max_rounds":
            return f"(the budget allows no further call of the model: {self.reason})"
        return f"({self.reason or no_text(self.stop)})"


_NO_TEXT: Mapping[StopReason, str] = {
    "length": "the tokens of the reply were used up before the model wrote any text",
    "refused": "the model declined to answer",
    "filtered": "the provider's content filter withheld the reply",
    "stop": "the model wrote nothing before a stop text",
}


def no_text(stop: StopReason) -> str:
    """Return why a reply contains no text, as a message for users.

    Example:
        >>> no_text("length")
        'the tokens of the reply were used up before the model wrote any text'
    """
    return _NO_TEXT.get(stop, "the model wrote nothing")


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The last event of every run."""

    result: AgentResult


AgentEvent = TextDelta | CitationDelta | CallStarted | CallFinished | UsageCounted | RunFinished
