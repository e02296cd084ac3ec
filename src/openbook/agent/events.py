"""What happens in a run, and what comes out of it: frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, get_args

from openbook.costs import Limit
from openbook.llm.messages import CitationDelta, Message, StopReason, TextDelta, ToolCall, ToolResult
from openbook.usage import Usage

StoppedBy = Limit | Literal["no_output", "repeated_call", "veto", ""]
"""What ended a run before the model was done.

A limit of the budget, words where a value was wanted, the same call for the third time, or a hook. Empty: nothing did.
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
class ToolUse:
    """What the calls of one tool came to in a run."""

    calls: int = 0
    errors: int = 0
    """Calls whose result was an error."""
    seconds: float = 0.0
    """How long was waited for them. Calls at once are waited for together."""
    result_tokens: int = 0
    """Tokens of their results, as estimated, which every later call of the model in the run reads."""
    cost_usd: Decimal = Decimal(0)
    """As the tool says, in US dollars. The result's `cost_usd` includes it."""


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
    """Why it was stopped, or why there is no text, for people; else empty."""
    tools: Mapping[str, ToolUse] = field(default_factory=dict)
    """What each tool that was called came to, by name."""

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
    """Return why a reply holds no text, for people.

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
