"""An agent: a model with tools, a budget and a memory."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Sequence
from contextlib import aclosing, contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

from openbook.agent.driving import Steps, ThreadStepRunner, adrive, drive
from openbook.agent.events import AgentEvent, AgentResult, RunFinished
from openbook.agent.history import History, Pruning
from openbook.agent.hooks import Hooks
from openbook.agent.loop import AgentRun, AgentRuntime
from openbook.agent.output import OutputReader
from openbook.agent.running import Start, start, starting_in
from openbook.agent.tools import Tool
from openbook.agent.toolsets import Tools, as_tools
from openbook.agent.tracing import RunSpans
from openbook.costs import Budget, BudgetLedger, Price, Spent, price_of
from openbook.errors import BadRequestError, BadResponseError, InvalidArgumentError, check_positive
from openbook.llm.messages import DEADLINE_S, Content, Message
from openbook.llm.protocol import Model
from openbook.llm.sampling import DEFAULT_SAMPLING, Sampling

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

T = TypeVar("T")


class Agent:
    """Answers messages, calls tools as needed, and remembers the conversation.

    A message is a string, or a list of strings, images and PDFs: see `openbook.llm.attachments`.

    One conversation, one turn at a time. If a turn fails or is abandoned, its messages and its cost so far are
    kept.

    Args:
        model: Anything that satisfies the protocol, or a name such as `anthropic:claude-sonnet-5-5`.
        tools: Functions (converted with `Tool.from_function`), `Tool`s, objects that define themselves, and toolsets
            such as `mcp("command")`. One, or several.
        system: The system prompt.
        budget: Per message. Default: `Budget()`.
        hooks: Run in this order.
        pruning: Prunes the history before each message. Default: keep everything.
        history: Earlier messages.
        sampling: Sampling parameters. The first call fails before anything is sent if the model does not support
            one.
        max_reply_tokens: Maximum length of one reply.
        deadline_s: Maximum seconds per model call.
        strict: Whether exceptions of functions that become tools end the run, except `ToolError`.
        tracer: Creates OpenTelemetry spans for runs, model calls and tool calls. They contain no text.
        name: Name of the agent, for spans.
        price: The price list.
        clock: Returns seconds, for `max_seconds` and tool timeouts.

    Raises:
        TypeError: Something cannot become a tool.
        ToolError: A toolset is not available.
        InvalidArgumentError: Two tools have the same name, or a limit is not above 0.
        OpenbookError: The model name is unknown, or its key or package is missing.
    """

    _spent = Spent()
    _ledger: BudgetLedger | None = None
    _is_running = False

    def __init__(
        self,
        model: Model | str,
        tools: Tools = (),
        *,
        system: str = "",
        budget: Budget | None = None,
        hooks: Sequence[Hooks] = (),
        pruning: Pruning | None = None,
        history: Sequence[Message] = (),
        sampling: Sampling = DEFAULT_SAMPLING,
        max_reply_tokens: int = 4096,
        deadline_s: float = DEADLINE_S,
        strict: bool = False,
        tracer: Tracer | None = None,
        name: str = "",
        price: Price = price_of,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not isinstance(budget, Budget | None):
            raise TypeError(f"budget is {budget!r}; write Budget(max_usd=0.05), or another limit")
        if any(not isinstance(message, Message) for message in history):
            raise TypeError("the history must contain messages only; `history_from_json` reads saved ones")
        check_positive(max_reply_tokens=max_reply_tokens, deadline_s=deadline_s)
        self._kernel = AgentRuntime(
            model=_opened(model) if isinstance(model, str) else model,
            tools=_by_name(tools, strict=strict),
            system=system,
            budget=budget or Budget(),
            hooks=tuple(hooks),
            pruning=pruning,
            price=price,
            clock=clock,
            sampling=sampling,
            max_reply_tokens=max_reply_tokens,
            deadline_s=deadline_s,
        )
        self._history: History = tuple(history)
        self._tracer = tracer
        self._name = name

    @property
    def history(self) -> History:
        """The messages of all turns, as far as they were kept."""
        return self._history

    @property
    def spent(self) -> Spent:
        """The cost of all turns since the agent was created or reset."""
        return self._spent

    @property
    def left(self) -> Budget:
        """What remains of the last message's budget, not counting rounds; the whole budget before the first message."""
        return self._kernel.budget if self._ledger is None else self._ledger.left

    def reset(self) -> None:
        """Clear the history and the cost."""
        self._history = ()
        self._spent = Spent()

    def chat(self, message: Content) -> tuple[str, Decimal | None]:
        """Return the answer, or the reason for its absence in brackets, and its cost in US dollars; None if unknown.

        Raises:
            ModelError: The model failed.
        """
        result = self.run(message)
        return str(result), result.cost_usd

    async def achat(self, message: Content) -> tuple[str, Decimal | None]:
        """Answer like `chat`, without blocking."""
        result = await self.arun(message)
        return str(result), result.cost_usd

    def run(self, message: Content) -> AgentResult:
        """Answer a message.

        Raises:
            ModelError: The model failed.
        """
        *_, last = self.stream(message)
        assert isinstance(last, RunFinished)
        return last.result

    async def arun(self, message: Content) -> AgentResult:
        """Answer like `run`, without blocking."""
        *_, last = [event async for event in self.astream(message)]
        assert isinstance(last, RunFinished)
        return last.result

    def run_as(self, output_type: type[T], message: Content) -> T:
        """Answer with a value of a type, validated by pydantic.

        The model submits it through a tool, which reports validation errors. A reply that is the value as JSON counts
        too.

        Args:
            output_type: A pydantic model, dataclass, `TypedDict`, or anything else that pydantic validates.
            message: The question.

        Raises:
            TypeError: The type has no JSON schema.
            BadResponseError: The model submitted no valid value; `history` and `spent` include the attempts.
            ModelError: The model failed.
        """
        output = OutputReader(output_type)
        *_, last = self._stream(message, output)
        return self._value(output, last)

    async def arun_as(self, output_type: type[T], message: Content) -> T:
        """Answer like `run_as`, without blocking."""
        output = OutputReader(output_type)
        *_, last = [event async for event in self._astream(message, output)]
        return self._value(output, last)

    def _value(self, output: OutputReader[T], last: AgentEvent) -> T:
        if output.has_value:
            return output.value
        assert isinstance(last, RunFinished)
        reason = last.result.reason or last.result.stop
        raise BadResponseError(f"{self._kernel.model.name} returned no value of the type: {reason}")

    def stream(self, message: Content) -> Generator[AgentEvent, None, None]:
        """Answer and yield events, `RunFinished` last. Closing the generator ends the run.

        Raises:
            ModelError: The model failed.
        """
        yield from self._stream(message)

    def _stream(self, message: Content, output: OutputReader[Any] | None = None) -> Generator[AgentEvent, None, None]:
        before = self._history
        with self._traced() as (model, spans):
            try:
                events: Generator[AgentEvent, None, None] = drive(
                    self.steps(message, output=output, spans=spans), model
                )
                yield from events
            except BadRequestError:
                self._history = before  # a rejected message, say one that is too long, would be rejected again
                raise

    @contextmanager
    def _traced(self) -> Iterator[tuple[Model, RunSpans | None]]:
        model = self._kernel.model
        if self._tracer is None:
            yield model, None
            return
        spans = RunSpans(self._tracer, model, self._name)
        with spans.around():
            yield spans.model, spans

    async def astream(self, message: Content) -> AsyncGenerator[AgentEvent, None]:
        """Answer like `stream`, without blocking. Async tools run in the event loop, hooks in a thread."""
        async with aclosing(self._astream(message)) as events:
            async for event in events:
                yield event

    async def _astream(
        self, message: Content, output: OutputReader[Any] | None = None
    ) -> AsyncGenerator[AgentEvent, None]:
        import asyncio

        before = self._history
        with self._traced() as (model, spans):
            steps = self.steps(message, starting_in(asyncio.get_running_loop()), output, spans)
            events: AsyncGenerator[AgentEvent, None] = adrive(ThreadStepRunner(steps), model)
            try:
                async with aclosing(events):
                    async for event in events:
                        yield event
            except BadRequestError:
                self._history = before
                raise

    def steps(
        self,
        message: Content,
        start: Start = start,
        output: OutputReader[Any] | None = None,
        spans: RunSpans | None = None,
    ) -> Steps[AgentEvent]:
        """Answer in steps, for a driver: see `openbook.agent.driving`.

        The driver must end `spans`.

        Raises:
            RuntimeError: Another message is being answered.
        """
        if self._is_running:
            raise RuntimeError("the agent is answering another message; one conversation, one turn at a time")
        run = AgentRun(self._kernel, self._history, start, output, spans)
        steps, before, reply = run.steps(message), self._spent, None
        self._ledger, self._is_running = run.ledger, True
        ended = False
        try:
            while True:
                try:
                    step = steps.send(reply)
                except StopIteration:
                    return
                if isinstance(step, RunFinished):
                    # Before the last event, so that its receiver sees the new history.
                    self._history, ended = run.history, True
                    self._spent = before + run.ledger.spent
                    if spans is not None:
                        spans.finish(step.result)
                reply = yield step
        except BaseException as exc:
            if not ended and run.interrupt(exc):
                self._history = run.history
            raise
        finally:
            self._is_running = False
            steps.close()
            run.ledger.abandon()
            self._spent = before + run.ledger.spent


def _by_name(tools: Tools, *, strict: bool) -> dict[str, Tool]:
    made = as_tools(tools, strict=strict)
    by_name: dict[str, Tool] = {}
    for tool in made:
        if tool.name in by_name:
            raise InvalidArgumentError(
                f"two tools have the name {tool.name!r}",
                hint="give one another name: Tool.from_function(f, name=...), mcp(..., prefix=...)",
            )
        by_name[tool.name] = tool
    return by_name


def _opened(name: str) -> Model:
    from openbook.llm.choose import require_model

    return require_model(name)
