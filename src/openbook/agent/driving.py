"""Drivers of steps: they call the model and wait for tools, in the caller's thread or beside an event loop.

The steps themselves are taken by a generator that does no input or output of models. A driver that
waits takes them in threads, so whatever a step computes holds up nobody in the loop.
"""

from __future__ import annotations

import contextvars
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from concurrent.futures import Executor
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from openbook.agent.running import Running, await_for, wait_for
from openbook.errors import BadResponseError
from openbook.llm.messages import CitedDelta, Finished, Request, TextDelta
from openbook.llm.protocol import Model

if TYPE_CHECKING:
    import asyncio

Happening = TypeVar("Happening")
Stream = TypeVar("Stream")

Delta = TextDelta | CitedDelta


@dataclass(frozen=True, slots=True)
class Ask:
    """Send the reply to this back into the steps."""

    request: Request
    is_answer: bool = True
    """Whether whoever watches is shown the words."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Go on when this is done, or when the time is over."""

    running: Running
    timeout_s: float


Steps = Generator[Happening | Ask | Wait, Finished | None, Any]
"""Gives what happens, and what is to be done; takes the reply to each `Ask`."""


def drive(steps: Steps[Happening], model: Model | None) -> Generator[Happening | Delta, None, None]:
    """Take steps, and tell what happens. Closing the generator ends a call of the model and closes the steps.

    Args:
        steps: Not begun yet.
        model: Who is asked; None if nobody is going to be.

    Raises:
        ModelError: The model did not answer.
    """
    with closing(steps):
        reply: Finished | None = None
        while (step := _taken(steps, reply)) is not None:
            reply = None
            if isinstance(step, Ask):
                assert model is not None
                with _closing(model.stream(step.request)) as events:
                    for event in events:
                        if isinstance(event, Finished):
                            reply = event
                        elif step.is_answer and isinstance(event, Delta):
                            yield event
                _check(reply, model)
            elif isinstance(step, Wait):
                wait_for(step.running, step.timeout_s)
            else:
                yield step


async def adrive(
    steps: Steps[Happening], model: Model | None, *, executor: Executor | None = None, ahead: bool = False
) -> AsyncGenerator[Happening | Delta, None]:
    """Do what `drive` does, without blocking: steps are taken in threads, the model is called in the loop.

    Args:
        steps: Not begun yet.
        model: Who is asked; None if nobody is going to be.
        executor: Whose threads take the steps; the loop's own if not given.
        ahead: Whether a thread goes on to the next step while what happens is still being told. Changing
            threads for each step costs more than most steps where many questions are answered at once.
            Only for steps that change nothing: some may be taken that nobody waits for any more.

    Raises:
        ModelError: The model did not answer.
    """
    import asyncio

    loop, context = asyncio.get_running_loop(), contextvars.copy_context()
    taking: asyncio.Future[Happening | Ask | Wait | None] | None = None
    told: asyncio.Queue[Any] = asyncio.Queue()
    taker = _Taker(steps, lambda event: loop.call_soon_threadsafe(told.put_nowait, event), ahead=ahead)
    try:
        reply: Finished | None = None
        while True:
            taking = loop.run_in_executor(executor, context.run, taker.take, reply)
            taking.add_done_callback(told.put_nowait)
            while (event := await told.get()) is not taking:
                yield event
            step, reply = taking.result(), None
            if step is None:
                return
            if isinstance(step, Ask):
                assert model is not None
                async with _aclosing(model.astream(step.request)) as events:
                    async for event in events:
                        if isinstance(event, Finished):
                            reply = event
                        elif step.is_answer and isinstance(event, Delta):
                            yield event
                _check(reply, model)
            elif isinstance(step, Wait):
                await await_for(step.running, step.timeout_s)
            else:
                yield step
    finally:
        taker.close_behind(taking)


class _Taker:
    """Takes steps in a thread: one at a time, or `ahead` of whoever watches up to the next that needs the loop."""

    def __init__(self, steps: Steps[Any], tell: Callable[[Any], object], *, ahead: bool) -> None:
        self._steps = steps
        self._tell = tell
        self._goes_on = ahead

    def take(self, reply: Finished | None) -> Any:
        """Give the next step that was not told."""
        step = _taken(self._steps, reply)
        while self._goes_on and step is not None and not isinstance(step, Ask | Wait):
            self._tell(step)
            step = _taken(self._steps, None)
        return step

    def close_behind(self, taking: asyncio.Future[Any] | None) -> None:
        """Take no further step, and close the steps once none is being taken."""
        self._goes_on = False
        if taking is None or taking.done():
            self._steps.close()
        else:  # a thread cannot be stopped, and what it runs cannot be closed before it is done
            taking.add_done_callback(lambda _: self._steps.close())
        if taking is not None:  # an error that nobody waits for any more is no news
            taking.add_done_callback(lambda done: done.cancelled() or done.exception())


def _taken(steps: Steps[Happening], reply: Finished | None) -> Happening | Ask | Wait | None:
    """Take a step; None behind the last."""
    try:
        return steps.send(reply)
    except StopIteration:
        return None


def _check(reply: Finished | None, model: Model) -> None:
    if reply is None:
        raise BadResponseError(f"{model.name} ended its stream without a result")


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
