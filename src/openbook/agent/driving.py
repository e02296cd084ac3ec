"""Drivers of sans-IO steps: they call the model and wait for tools, blocking or in an event loop.

The steps come from a generator that does no model IO itself. The async driver runs them in threads, so that
computation in a step does not block the event loop.
"""

from __future__ import annotations

import contextvars
import logging
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import Executor
from contextlib import aclosing, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from openbook.agent.running import Running, await_for, wait_for
from openbook.errors import KeyRefusedError, ModelError, TimedOutError, UnreachableError
from openbook.llm.messages import CitationDelta, Message, ReplyFinished, Request, TextDelta, Usage
from openbook.llm.protocol import Model, aclosing_stream, acomplete, checked_reply, closing_stream, complete

if TYPE_CHECKING:
    import asyncio

_logger = logging.getLogger(__name__)

# Errors that the next call would meet as well, after as long a wait.
_LASTING = (KeyRefusedError, TimedOutError, UnreachableError)

Happening = TypeVar("Happening")
Happening_co = TypeVar("Happening_co", covariant=True)

Delta = TextDelta | CitationDelta

Role = Literal["writer", "verifier"]
"""The purpose of a model call: to write an answer, or to check its claims."""


@dataclass(frozen=True, slots=True)
class CallModel:
    """A model call for the driver to make. Its reply is sent back into the steps."""

    request: Request
    is_answer: bool = True
    """Whether observers see the text."""
    by: Role = "writer"
    """Which model to call. If the verifier fails, that is not an error: the reply is empty and says why."""
    may_fail: bool = False
    """Whether the same applies to the writer."""
    is_before_answer: bool = False
    """Whether the call that `may_fail` precedes the answer. Then an error that would last until that is one."""

    @property
    def is_tried(self) -> bool:
        """Whether a failure is tolerated."""
        return self.may_fail or self.by == "verifier"


@dataclass(frozen=True, slots=True)
class Wait:
    """Tool calls for the driver to wait for, up to a deadline."""

    running: Running
    timeout_s: float


Steps = Generator[Happening | CallModel | Wait, ReplyFinished | None, Any]
"""Yields events and requests to the driver; receives the reply to each `CallModel`."""


def drive(
    steps: Steps[Happening], model: Model | None, verifier: Model | None = None
) -> Generator[Happening | Delta, None, None]:
    """Run steps and yield their events. Closing the generator cancels the current model call and closes the steps.

    Without `verifier`, the model checks claims too.

    Raises:
        ModelError: The model failed.
    """
    with closing(steps):
        reply: ReplyFinished | None = None
        while (step := next_step(steps, reply)) is not None:
            reply = None
            if isinstance(step, CallModel) and step.is_tried:
                reply = _tried(step, model, verifier)
            elif isinstance(step, CallModel):
                assert model is not None
                with closing_stream(model.stream(step.request)) as events:
                    for event in events:
                        if isinstance(event, ReplyFinished):
                            reply = event
                        elif step.is_answer and isinstance(event, Delta):
                            yield event
                checked_reply(reply, model)
            elif isinstance(step, Wait):
                wait_for(step.running, step.timeout_s)
            else:
                yield step


def _tried(call: CallModel, writer: Model | None, verifier: Model | None) -> ReplyFinished:
    """Make a call whose failure is tolerated."""
    model = _asked(call, writer, verifier)
    try:
        return complete(model, call.request)
    except ModelError as exc:
        return _failed(call, model, exc)


async def _atried(call: CallModel, writer: Model | None, verifier: Model | None) -> ReplyFinished:
    model = _asked(call, writer, verifier)
    try:
        return await acomplete(model, call.request)
    except ModelError as exc:
        return _failed(call, model, exc)


def _asked(call: CallModel, writer: Model | None, verifier: Model | None) -> Model:
    model = (verifier or writer) if call.by == "verifier" else writer
    assert model is not None
    return model


def _failed(call: CallModel, model: Model, error: ModelError) -> ReplyFinished:
    if call.is_before_answer and isinstance(error, _LASTING):
        raise error
    # Without the message, in which a provider may quote the question.
    status = "" if error.status is None else f", status {error.status}"
    _logger.warning("the %s %s failed: %s%s", call.by, model.name, type(error).__name__, status)
    return ReplyFinished(Message.assistant(""), Usage(known=False), "other", model.name, failure=str(error))


async def adrive(
    steps: StepRunner[Happening], model: Model | None, verifier: Model | None = None
) -> AsyncGenerator[Happening | Delta, None]:
    """Run steps like `drive`, without blocking: steps run in `StepRunner`, model calls in the event loop.

    Raises:
        ModelError: The model failed.
    """
    try:
        reply: ReplyFinished | None = None
        while True:
            wanted: CallModel | Wait | None = None
            async with aclosing(steps.take(reply)) as taken:
                async for step in taken:
                    if isinstance(step, CallModel | Wait):
                        wanted = step
                    else:
                        yield step
            reply = None
            if wanted is None:
                return
            if isinstance(wanted, Wait):
                await await_for(wanted.running, wanted.timeout_s)
                continue
            if wanted.is_tried:
                reply = await _atried(wanted, model, verifier)
                continue
            assert model is not None
            async with aclosing_stream(model.astream(wanted.request)) as events:
                async for event in events:
                    if isinstance(event, ReplyFinished):
                        reply = event
                    elif wanted.is_answer and isinstance(event, Delta):
                        yield event
            checked_reply(reply, model)
    finally:
        steps.close()


class StepRunner(Protocol[Happening_co]):
    """Runs steps outside the event loop."""

    def take(self, reply: ReplyFinished | None) -> AsyncGenerator[Happening_co | CallModel | Wait, None]:
        """Run up to the next `CallModel` or `Wait`, or to the end, and yield each step."""

    def close(self) -> None:
        """Run no further steps. A step in progress may be aborted."""


class ThreadStepRunner(Generic[Happening]):
    """Runs steps in threads of this process."""

    def __init__(self, steps: Steps[Happening], executor: Executor | None = None, *, ahead: bool = False) -> None:
        """Take steps that have not started.

        `steps` are closed at the end. By default, the threads are those of the event loop. `ahead`: a thread continues
        with the next step while events are still being delivered, because switching threads for each step costs more
        than most steps when many questions are answered at once. Only for steps without side effects: some may run
        after the consumer has gone.
        """
        self._steps = steps
        self._executor = executor
        self._ahead = ahead
        self._is_left = False
        self._context = contextvars.copy_context()
        self._taking: asyncio.Future[Happening | CallModel | Wait | None] | None = None

    async def take(self, reply: ReplyFinished | None) -> AsyncGenerator[Happening | CallModel | Wait, None]:
        """Yield each step as it happens."""
        import asyncio

        loop = asyncio.get_running_loop()
        events: asyncio.Queue[Any] = asyncio.Queue()

        def tell(event: Happening) -> None:
            loop.call_soon_threadsafe(events.put_nowait, event)

        while True:
            taking = loop.run_in_executor(self._executor, self._context.run, self._take, reply, tell)
            self._taking = taking
            taking.add_done_callback(events.put_nowait)
            while (event := await events.get()) is not taking:
                yield event
            step = taking.result()
            if step is None:
                return
            yield step
            if isinstance(step, CallModel | Wait):
                return
            reply = None

    def _take(
        self, reply: ReplyFinished | None, tell: Callable[[Happening], None]
    ) -> Happening | CallModel | Wait | None:
        """Return the next step that was not delivered through `tell`."""
        step = next_step(self._steps, reply)
        while self._ahead and not self._is_left and step is not None and not isinstance(step, CallModel | Wait):
            tell(step)
            step = next_step(self._steps, None)
        return step

    def close(self) -> None:
        """Run no further steps, and close the generator once no step is running."""
        self._is_left = True
        taking = self._taking
        if taking is None or taking.done():
            self._steps.close()
        else:  # a thread cannot be stopped, and a running generator cannot be closed
            taking.add_done_callback(lambda _: self._steps.close())
        if taking is not None:  # nobody is left to receive an error
            taking.add_done_callback(lambda done: done.cancelled() or done.exception())


def next_step(steps: Steps[Happening], reply: ReplyFinished | None) -> Happening | CallModel | Wait | None:
    """Run one step; None after the last."""
    try:
        return steps.send(reply)
    except StopIteration:
        return None
