"""What others may see, change and veto in a run."""

from __future__ import annotations

from dataclasses import dataclass

from openbook.llm.messages import ReplyFinished, Request, ToolCall, ToolResult


@dataclass(frozen=True, slots=True)
class Veto:
    """Returned by a hook to forbid what it was asked about."""

    reason: str
    """For people and for the model."""


class Hooks:
    """Looks into a run. Each method gives back what it got, another value in its place, or a `Veto`.

    Several hooks are asked in their order, each with what the one before gave. What they raise ends the run.
    """

    def before_model(self, request: Request) -> Request | Veto:
        """Before the model is called. A veto ends the run."""
        return request

    def after_model(self, reply: ReplyFinished) -> ReplyFinished | Veto:
        """Before a reply is believed and kept; its text has been streamed already. A veto ends the run."""
        return reply

    def before_tool(self, call: ToolCall) -> ToolCall | Veto:
        """Before a tool is called, whether there is such a tool or not. The model is told of a veto."""
        return call

    def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult | Veto:
        """Before a result, or an error, is shown to the model. It is told of a veto instead."""
        return result
