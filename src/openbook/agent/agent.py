"""An agent: a model with tools, a budget and a memory."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from decimal import Decimal
from typing import Any, TypeVar

from openbook.agent.events import AgentEvent, AgentResult, RunFinished
from openbook.agent.hooks import Hooks
from openbook.agent.loop import Ask, Kernel, Run, Step, Wait
from openbook.agent.pruning import History, Pruning
from openbook.agent.running import Start, await_for, start, start_in_loop, wait_for
from openbook.agent.tools import Tool
from openbook.costs import Budget, Price, Spent, price_of
from openbook.errors import SettingsError
from openbook.llm.messages import CitedDelta, Finished, Message, TextDelta
from openbook.llm.protocol import Model
from openbook.usage import Usage

Stream = TypeVar("Stream")


class Agent:
    """Answers messages, calling tools as it sees fit, and remembers what was said.

    One conversation, one turn at a time. A turn that fails, or that is left before its end, is
    forgotten, but what it cost is not.
    """

    def __init__(
        self,
        model: Model | str,
        tools: Sequence[Tool | Callable[..., Any]] = (),
        *,
        system: str = "",
        budget: Budget | None = None,
        hooks: Sequence[Hooks] = (),
        pruning: Pruning | None = None,
        history: Sequence[Message] = (),
        max_reply_tokens: int = 4096,
        deadline_s: float = 120.0,
        price: Price = price_of,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare; nothing is called yet.

        Args:
            model: Anything that satisfies the protocol, or a name such as `anthropic:claude-sonnet-5-5`.
            tools: Plain functions become tools as by `Tool.from_function`.
            system: What the model is told first.
            budget: For each message. Without one, `Budget()`.
            hooks: Asked in this order.
            pruning: Decides before each message what is kept of the history. Without it, everything.
            history: What was said before.
            max_reply_tokens: Most that the model may write in one reply.
            deadline_s: Seconds that one call of the model may take.
            price: Gives prices.
            clock: Seconds, for `max_seconds` and the time that tools have.

        Raises:
            TypeError: A function cannot become a tool.
            ValueError: Two tools have one name.
            OpenbookError: The name of the model means nothing, or its key or package is missing.
        """
        self._kernel = Kernel(
            model=_opened(model) if isinstance(model, str) else model,
            tools=_by_name(tools),
            system=system,
            budget=budget or Budget(),
            hooks=tuple(hooks),
            pruning=pruning,
            price=price,
            clock=clock,
            max_reply_tokens=max_reply_tokens,
            deadline_s=deadline_s,
        )
        self._history: History = tuple(history)
        self._spent = Spent()
        self._is_running = False

    @property
    def history(self) -> History:
        """What was said in all turns that came to their end, as far as it was kept."""
        return self._history

    @property
    def spent(self) -> Spent:
        """What all turns have cost since the agent was made or reset."""
        return self._spent

    def reset(self) -> None:
        """Forget what was said, and what it cost."""
        self._history = ()
        self._spent = Spent()

    def chat(self, message: str) -> tuple[str, Decimal | None]:
        """Give the answer, or in brackets why there is none, and its cost in US dollars, None if it is not known.

        Raises:
            ModelError: The model did not answer.
        """
        result = self.run(message)
        return str(result), result.cost_usd

    async def achat(self, message: str) -> tuple[str, Decimal | None]:
        """Do what `chat` does, without blocking."""
        result = await self.arun(message)
        return str(result), result.cost_usd

    def run(self, message: str) -> AgentResult:
        """Answer.

        Raises:
            ModelError: The model did not answer.
        """
        *_, last = self.stream(message)
        assert isinstance(last, RunFinished)
        return last.result

    async def arun(self, message: str) -> AgentResult:
        """Do what `run` does, without blocking."""
        *_, last = [event async for event in self.astream(message)]
        assert isinstance(last, RunFinished)
        return last.result

    def stream(self, message: str) -> Generator[AgentEvent, None, None]:
        """Answer, and tell what happens; `RunFinished` comes last. Closing the generator ends the run.

        Raises:
            ModelError: The model did not answer.
        """
        with self._turn(message, start) as advance:
            reply = None
            while (step := advance(reply)) is not None:
                reply = None
                if isinstance(step, Ask):
                    with _closing(self._kernel.model.stream(step.request)) as events:
                        for event in events:
                            if isinstance(event, Finished):
                                reply = event
                            elif step.is_answer and isinstance(event, TextDelta | CitedDelta):
                                yield event
                elif isinstance(step, Wait):
                    wait_for(step.running, step.timeout_s)
                else:
                    yield step

    async def astream(self, message: str) -> AsyncGenerator[AgentEvent, None]:
        """Do what `stream` does, without blocking. Tools that are `async` run in the same loop."""
        import asyncio

        # Prices take a second to load, which must not hold up everybody else.
        await asyncio.to_thread(self._kernel.price, self._kernel.model.name, Usage())
        with self._turn(message, start_in_loop) as advance:
            reply = None
            while (step := advance(reply)) is not None:
                reply = None
                if isinstance(step, Ask):
                    async with _aclosing(self._kernel.model.astream(step.request)) as events:
                        async for event in events:
                            if isinstance(event, Finished):
                                reply = event
                            elif step.is_answer and isinstance(event, TextDelta | CitedDelta):
                                yield event
                elif isinstance(step, Wait):
                    await await_for(step.running, step.timeout_s)
                else:
                    yield step

    @contextmanager
    def _turn(self, message: str, start: Start) -> Iterator[Callable[[Finished | None], Step | None]]:
        """Give what takes a reply, if one was asked for, and gives the next step, None behind the last."""
        if self._is_running:
            raise RuntimeError("the agent is answering another message; one conversation, one turn at a time")
        run = Run(self._kernel, self._history, start)
        steps = run.steps(message)
        before = self._spent

        def advance(reply: Finished | None) -> Step | None:
            try:
                step = steps.send(reply)
            except StopIteration:
                return None
            if isinstance(step, RunFinished):
                # Before anybody is told, so that whoever is told finds it.
                self._history = run.history
                self._spent = before + run.ledger.spent
            return step

        self._is_running = True
        try:
            yield advance
        finally:
            self._is_running = False
            steps.close()
            run.ledger.abandon()
            self._spent = before + run.ledger.spent


def _by_name(tools: Sequence[Tool | Callable[..., Any]]) -> dict[str, Tool]:
    made = [tool if isinstance(tool, Tool) else Tool.from_function(tool) for tool in tools]
    by_name = {tool.name: tool for tool in made}
    if len(by_name) < len(made):
        raise ValueError(f"two tools have the same name: {', '.join(tool.name for tool in made)}")
    return by_name


def _opened(name: str) -> Model:
    from openbook.llm.choose import open_model

    model = open_model(name)
    if model is None:
        raise SettingsError(f"model is {name!r}, and an agent needs one that writes", hint="name one, or set its key")
    return model


@contextmanager
def _closing(stream: Stream) -> Iterator[Stream]:
    """Close a stream behind its reader, if it can be closed."""
    try:
        yield stream
    finally:
        close = getattr(stream, "close", None)
        if close is not None:
            close()


@asynccontextmanager
async def _aclosing(stream: Stream) -> AsyncIterator[Stream]:
    try:
        yield stream
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()
