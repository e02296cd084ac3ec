"""The agent loop: call the model, run the tools it requests, return the results, until it is done.

The loop does no IO. It yields events for observers, and `CallModel` and `Wait` for the driver, so it works
with threads and `asyncio` alike.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from openbook.agent.driving import CallModel, Wait
from openbook.agent.events import (
    AgentEvent,
    AgentResult,
    CallFinished,
    CallStarted,
    RunFinished,
    StoppedBy,
    ToolUse,
    UsageCounted,
)
from openbook.agent.history import History, Pruning, SummaryRequest, after_summary
from openbook.agent.hooks import Hooks, Veto
from openbook.agent.output import OutputReader
from openbook.agent.running import Running, Start
from openbook.agent.tools import Tool
from openbook.agent.tracing import RunSpans
from openbook.costs import Budget, BudgetExceeded, BudgetLedger, Price, estimate_tokens
from openbook.errors import OpenbookError, ToolError
from openbook.llm.messages import Content, Message, ReplyFinished, Request, StopReason, ToolCall, ToolResult
from openbook.llm.protocol import Model
from openbook.llm.request_tokens import TokenEstimator
from openbook.llm.sampling import Sampling

_logger = logging.getLogger(__name__)

Value = TypeVar("Value")

# Repeating a call once can make sense, say after a change. A third identical call means that the model is stuck.
_SAME_CALLS = 3

# How often to ask again for the value when the model replies with text. After that it will not call the tool.
_VALUE_REMINDERS = 2

# Rounds beyond the tool budget: one for the value, and two to correct it.
_OUTPUT_ROUNDS = 3

# Each call uses a thread.
_CALLS_AT_ONCE = 16


Step = AgentEvent | CallModel | Wait
Steps = Generator[Step, ReplyFinished | None, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRuntime:
    """What all runs of an agent share: model, tools, hooks, budget."""

    model: Model
    tools: Mapping[str, Tool]
    system: str
    budget: Budget
    hooks: Sequence[Hooks]
    pruning: Pruning | None
    price: Price
    clock: Callable[[], float]
    sampling: Sampling
    max_reply_tokens: int
    deadline_s: float
    meter: TokenEstimator = field(default_factory=TokenEstimator)


@dataclass(frozen=True, slots=True)
class _Job:
    """A call and its tool."""

    call: ToolCall
    tool: Tool
    arguments: Mapping[str, Any]


class AgentRun:
    """One run: a question, its tool calls and its answer."""

    def __init__(
        self,
        kernel: AgentRuntime,
        history: History,
        start: Start,
        output: OutputReader[Any] | None = None,
        spans: RunSpans | None = None,
    ) -> None:
        if output is not None:
            kernel = replace(kernel, tools={**kernel.tools, output.tool.name: output.tool})
        self.ledger: BudgetLedger = BudgetLedger(
            kernel.budget, kernel.model.name, price=kernel.price, clock=kernel.clock
        )
        self._kernel = kernel
        self._start = start
        self._output = output
        self._spans = spans
        self._before = history
        self._new: History = ()
        self._calls: Counter[tuple[str, str]] = Counter()
        self._results: list[ToolResult] = []
        self._uses: dict[str, ToolUse] = {}
        self._rounds = 0
        self._words = 0
        self._text = ""
        self._stop: StopReason = "end"
        self._stopped_by: StoppedBy = ""
        self._reason = ""

    @property
    def history(self) -> History:
        """The earlier history, as pruned, and the messages of this run."""
        return self._before + self._new

    def steps(self, question: Content) -> Steps:
        """Yield the steps; the last one is `RunFinished`."""
        yield from self._prune()
        self._new = (Message.user(*([question] if isinstance(question, str) else question)),)
        while not self._stopped_by:
            reply = yield from self._ask(CallModel(self._request()))
            if reply is None:
                break
            self._stop = reply.stop
            if reply.message.text.strip():
                self._text = reply.message.text
            if reply.message.text.strip() or reply.message.calls:
                self._new += (reply.message,)
            if reply.message.calls:
                yield from self._act(reply.message.calls)
            elif self._output is None or self._output.take_text(reply.message.text):
                break
            else:
                self._insist(self._output)
            if self._output is not None and self._output.has_value:
                break
        yield RunFinished(self._result())

    def interrupt(self, error: BaseException) -> bool:
        """Close a run that was cancelled or failed, so that the next one can continue from what was done.

        Returns:
            Whether anything was done. A question without any reply can simply be asked again.
        """
        if not any(message.role == "assistant" for message in self._new):
            return False
        # The driver receives model errors; here the run is only closed.
        why = _error_text(error) if isinstance(error, Exception) else "the turn ended before an answer"
        if calls := self._new[-1].calls:
            done = {result.call_id: result for result in self._results}
            results = (done.get(call.id) or _failed(call, f"no result is known: {why}") for call in calls)
            self._new += (Message("user", tuple(results)),)
        if self._new[-1].role == "user":
            self._new += (Message.assistant(f"({why})"),)
        return True

    def _request(self) -> Request:
        kernel = self._kernel
        return Request(
            self.history,
            system=kernel.system,
            tools=tuple(tool.spec for tool in kernel.tools.values()),
            tool_choice=self._tool_choice(),
            max_tokens=kernel.max_reply_tokens,
            sampling=kernel.sampling,
            deadline_s=kernel.deadline_s,
        )

    def _tool_choice(self) -> str:
        kernel = self._kernel
        is_last = self._rounds >= kernel.budget.max_rounds
        if self._output is not None:
            return self._output.tool.name if is_last or len(kernel.tools) == 1 else "any"
        # Providers reject a history with tool calls if the request has no tools.
        return "none" if kernel.tools and is_last else "auto"

    def _insist(self, output: OutputReader[Any]) -> None:
        """Ask again for the value if the model replied with text, at most twice."""
        self._words += 1
        if self._words > _VALUE_REMINDERS:
            self._halt("no_output", f"the model wrote words and did not call {output.tool.name!r}")
            return
        if self._new[-1].role == "user":  # the model wrote nothing
            self._new += (Message.assistant("(nothing)"),)
        self._new += (Message.user(f"Call {output.tool.name!r} with your reply."),)

    def _prune(self) -> Steps:
        pruned = self._before if self._kernel.pruning is None else self._kernel.pruning(self._before)
        if not isinstance(pruned, SummaryRequest):
            self._before = pruned
            return
        wish = pruned.request
        request = replace(self._request(), messages=wish.messages, max_tokens=wish.max_tokens)
        request = replace(request, tool_choice="none" if request.tools else "auto")
        reply = yield from self._ask(CallModel(request, is_answer=False))
        if reply is not None and reply.message.text.strip():
            self._before = after_summary(reply.message.text, pruned.rest)

    def _ask(self, ask: CallModel) -> Generator[Step, ReplyFinished | None, ReplyFinished | None]:
        """Call the model within the budget. None means that the run must end."""
        kernel = self._kernel
        request = _apply_hooks(ask.request, (hooks.before_model for hooks in kernel.hooks))
        if isinstance(request, Veto):
            self._halt("veto", request.reason)
            return None
        granted = self.ledger.reserve(kernel.meter.max_input_tokens(request), request.max_tokens, request.deadline_s)
        if isinstance(granted, BudgetExceeded):
            self._halt(granted.limit, granted.reason)
            return None
        request = replace(request, max_tokens=granted.output_tokens, deadline_s=granted.deadline_s)
        reply = yield replace(ask, request=request)
        assert reply is not None
        spent = self.ledger.settle(reply.usage)
        kernel.meter.learn(request, reply)
        yield UsageCounted(spent.usage, spent.cost_usd)
        seen = _apply_hooks(reply, (hooks.after_model for hooks in kernel.hooks))
        if isinstance(seen, Veto):
            self._halt("veto", seen.reason)
            return None
        return seen

    def _act(self, calls: Sequence[ToolCall]) -> Steps:
        """Run tool calls in parallel, and add their results in the order of the calls."""
        self._results = []
        self._calls.update(map(_identity, calls))
        again = [call.name for call in calls if self._calls[_identity(call)] >= _SAME_CALLS]
        if again:
            self._halt("repeated_call", f"the model called {again[0]!r} with the same arguments for the third time")
        elif self._rounds >= self._kernel.budget.max_rounds + self._brings_output(calls) * _OUTPUT_ROUNDS:
            self._halt("max_rounds", f"the model wants tools beyond round {self._rounds}")
        if self._stopped_by:
            results = [_failed(call, f"not called: {self._reason}") for call in calls]
        else:
            self._rounds += 1
            results = yield from self._call_all(calls)
        self._new += (Message("user", tuple(results)),)

    def _brings_output(self, calls: Sequence[ToolCall]) -> bool:
        return self._output is not None and [call.name for call in calls] == [self._output.tool.name]

    def _call_all(self, calls: Sequence[ToolCall]) -> Generator[Step, None, list[ToolResult]]:
        prepared = [self._prepared(call, place) for place, call in enumerate(calls)]
        for job in prepared:
            yield CallStarted(job.call if isinstance(job, _Job) else job[0])
        started_s = self._kernel.clock()
        running = [self._begin(job) if isinstance(job, _Job) else None for job in prepared]
        results = self._results
        try:
            for asked, job, future in zip(calls, prepared, running, strict=True):
                if isinstance(job, _Job):
                    assert future is not None
                    left_s = job.tool.timeout_s - (self._kernel.clock() - started_s)
                    yield Wait(future, min(left_s, self.ledger.left_s))
                    call, result = job.call, _outcome(job, future)
                else:
                    call, result = job
                seen = _apply_hooks(result, (partial(hooks.after_tool, call) for hooks in self._kernel.hooks))
                result = _failed(call, f"withheld: {seen.reason}") if isinstance(seen, Veto) else seen
                results.append(replace(result, call_id=asked.id))  # hooks may have changed the id
                self._count(job, results[-1], self._kernel.clock() - started_s)
                yield CallFinished(call, results[-1])
        finally:
            for future in running:
                if future is not None and not future.done():
                    future.cancel()
        return results

    def _begin(self, job: _Job) -> Running:
        begin = partial(self._start, job.tool, job.arguments)
        return begin() if self._spans is None else self._spans.tool(job.call, job.tool, begin)

    def _prepared(self, call: ToolCall, place: int) -> _Job | tuple[ToolCall, ToolResult]:
        """Return the call to make, or what to tell the model instead."""
        if place >= _CALLS_AT_ONCE:
            return call, _failed(call, f"not called: at most {_CALLS_AT_ONCE} calls at once")
        seen = _apply_hooks(call, (hooks.before_tool for hooks in self._kernel.hooks))
        if isinstance(seen, Veto):
            return call, _failed(call, f"not allowed: {seen.reason}")
        tool = self._kernel.tools.get(seen.name)
        if tool is None:
            known = ", ".join(self._kernel.tools) or "none"
            return seen, _failed(call, f"there is no tool {seen.name!r}; there are: {known}")
        try:
            job = _Job(seen, tool, tool.read_arguments(seen.arguments))
        except ToolError as exc:
            return seen, _failed(call, str(exc))
        too_much = self.ledger.charge(tool.cost_usd)
        return (seen, _failed(call, f"not called: {too_much.reason}")) if too_much else job

    def _count(self, job: _Job | tuple[ToolCall, ToolResult], result: ToolResult, seconds: float) -> None:
        if isinstance(job, _Job):
            before = self._uses.get(job.tool.name, ToolUse())
            self._uses[job.tool.name] = ToolUse(
                before.calls + 1,
                before.errors + result.is_error,
                before.seconds + seconds,
                before.result_tokens + estimate_tokens(result.text),
                before.cost_usd + job.tool.cost_usd,
            )

    def _halt(self, stopped_by: StoppedBy, reason: str) -> None:
        self._stopped_by, self._reason = stopped_by, reason

    def _result(self) -> AgentResult:
        has_value = self._output is not None and self._output.has_value
        if not (self._stopped_by or has_value) and 0 < self._kernel.budget.max_rounds <= self._rounds:
            self._halt("max_rounds", f"tools were withheld after round {self._rounds}")
        result = AgentResult(
            self._output.text if self._output is not None and has_value else self._text,
            self._new,
            self.ledger.spent.usage,
            self.ledger.spent.cost_usd,
            self._rounds,
            self._stop,
            self._stopped_by,
            self._reason,
            dict(self._uses),
        )
        if self._new[-1].role == "assistant":
            return result
        # Providers require alternating turns, and the model should know why there was no answer.
        closing = result if has_value else replace(result, text="")
        self._new += (Message.assistant(str(closing)),)
        return replace(result, messages=self._new)


def _apply_hooks(value: Value, looks: Iterable[Callable[[Value], Value | Veto]]) -> Value | Veto:
    for look in looks:
        seen = look(value)
        if isinstance(seen, Veto):
            return seen
        value = seen
    return value


def _outcome(job: _Job, running: Running) -> ToolResult:
    tool = job.tool
    if not running.done():
        running.cancel()
        return _failed(job.call, f"{tool.name!r} took too long and was given up")
    try:
        # Serializing the return value may fail too.
        return ToolResult(job.call.id, tool.show(running.result()))
    except tool.errors as exc:
        # The model gets one line; for debugging, log the traceback.
        _logger.info("the tool %s failed", tool.name, exc_info=exc)
        return _failed(job.call, tool.show(_error_text(exc)))


def _error_text(error: Exception) -> str:
    if isinstance(error, OpenbookError):
        return f"{error} {error.hint}".strip()
    # A `KeyError` prints only its key, and a group none of its exceptions.
    inner = "; ".join(map(_error_text, error.exceptions)) if isinstance(error, ExceptionGroup) else error
    return f"{type(error).__name__}: {inner}".removesuffix(": ")


def _failed(call: ToolCall, text: str) -> ToolResult:
    return ToolResult(call.id, text, is_error=True)


def _identity(call: ToolCall) -> tuple[str, str]:
    """Return a key for a call that ignores the order and spacing of its arguments."""
    try:
        return call.name, json.dumps(json.loads(call.arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return call.name, call.arguments
