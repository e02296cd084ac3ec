"""OpenTelemetry spans: one per run, and one per model and tool call. They contain no text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

from openbook.agent.events import AgentResult
from openbook.agent.running import Running
from openbook.agent.tools import Tool
from openbook.llm.messages import ToolCall
from openbook.llm.protocol import Model
from openbook.llm.tracing import TracedModel, ending, model_attributes, usage_attributes

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer


class RunSpans:
    """The spans of one run. Spans of model and tool calls are its children."""

    def __init__(self, tracer: Tracer, model: Model, name: str) -> None:
        """Start the run's span as a child of the current one."""
        from opentelemetry.trace import set_span_in_context

        attributes = model_attributes(model.name) | {"gen_ai.operation.name": "invoke_agent"}
        if name:
            attributes["gen_ai.agent.name"] = name
        self._tracer = tracer
        self._run = tracer.start_span(f"invoke_agent {name}".strip(), attributes=attributes)
        self._inside = set_span_in_context(self._run)
        self.model: Model = TracedModel(model, tracer, self._inside)
        """The model of the agent, wrapped so that its calls become spans."""
        self._open: dict[Any, Running] = {}  # calls of tools by their spans
        self._ending = Lock()

    @contextmanager
    def around(self) -> Iterator[None]:
        """End the run's span after the block, and before it those of the tool calls that are done."""
        with ending(self._run):
            try:
                yield
            finally:
                # Whoever waits for a call may go on before its callback has run in the thread of the tool.
                with self._ending:
                    done = [(span, running) for span, running in self._open.items() if running.done()]
                for span, running in done:
                    self._end(span, running)

    def finish(self, result: AgentResult) -> None:
        """Record the result of the run."""
        self._run.set_attributes(
            {
                **usage_attributes(result.usage),
                "gen_ai.response.finish_reasons": (result.stop,),
                "openbook.rounds": result.rounds,
            }
        )
        if result.stopped_by:
            self._run.set_attribute("openbook.stopped_by", result.stopped_by)
        if result.cost_usd is not None:
            self._run.set_attribute("openbook.cost_usd", float(result.cost_usd))

    def tool(self, call: ToolCall, tool: Tool, begin: Callable[[], Running]) -> Running:
        """Start a tool call in its own span, which is current inside the tool and ends with it."""
        from opentelemetry.context import attach, detach
        from opentelemetry.trace import set_span_in_context

        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool.name,
            "gen_ai.tool.call.id": call.id,
            "gen_ai.tool.type": "function",
        }
        span = self._tracer.start_span(f"execute_tool {tool.name}", self._inside, attributes=attributes)
        token = attach(set_span_in_context(span, self._inside))
        try:
            running = begin()
        finally:
            detach(token)
        with self._ending:
            self._open[span] = running
        running.add_done_callback(lambda done: self._end(span, done))
        return running

    def _end(self, span: Any, done: Running) -> None:
        from opentelemetry.trace import StatusCode

        with self._ending:
            if self._open.pop(span, None) is None:  # ended by the other thread
                return
            # A cancelled call is only abandoned; the function may still be running.
            error = "cancelled" if done.cancelled() else type(done.exception()).__name__ if done.exception() else ""
            if error:
                span.set_attribute("error.type", error)
                span.set_status(StatusCode.ERROR)
            span.end()
