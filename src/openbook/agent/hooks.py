"""Hooks: observe, change and veto the steps of a run."""

from __future__ import annotations

from dataclasses import dataclass

from openbook.llm.messages import ReplyFinished, Request, ToolCall, ToolResult


@dataclass(frozen=True, slots=True)
class Veto:
    """Returned by a hook to forbid a step."""

    reason: str
    """Shown to users and to the model."""


class Hooks:
    """Observes a run. Each method returns its argument, a replacement, or a `Veto`.

    Several hooks run in order, each on the result of the previous one. An exception ends the run.
    """

    def before_model(self, request: Request) -> Request | Veto:
        """Run before each model call. A veto ends the run."""
        return request

    def after_model(self, reply: ReplyFinished) -> ReplyFinished | Veto:
        """Run before a reply is used and kept; its text is already streamed. A veto ends the run."""
        return reply

    def before_tool(self, call: ToolCall) -> ToolCall | Veto:
        """Run before each tool call, even if the tool does not exist. A veto is reported to the model."""
        return call

    def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult | Veto:
        """Run before the model sees a result or an error. A veto replaces it."""
        return result
