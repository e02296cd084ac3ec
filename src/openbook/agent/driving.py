"""Drivers of steps: they call the model and wait for tools, in the caller's thread or beside an event loop.

The steps themselves are taken by a generator that does no input or output of models. A driver that
waits takes each of them in a thread, so whatever one step computes holds up nobody in the loop.
"""

from __future__ import annotations

import contextvars
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from concurrent.futures import Executor
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from openbook.agent.running import Running, await_for, wait_for
from openbook.errors import BadResponseError
from openbook.llm.messages import CitedDelta, Finished, Request, TextDelta
from openbook.llm.protocol import Model

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
    steps: Steps[Happening], model: Model | None, *, executor: Executor | None = None
) -> AsyncGenerator[Happening | Delta, None]:
    """Do what `drive` does, without blocking: each step is taken in a thread, the model is called in the loop.

    Args:
        steps: Not begun yet.
        model: Who is asked; None if nobody is going to be.
        executor: Whose threads take the steps; the loop's own if not given.

    Raises:
        ModelError: The model did not answer.
    """
    import asyncio

    loop, context = asyncio.get_running_loop(), contextvars.copy_context()
    taking: asyncio.Future[Happening | Ask | Wait | None] | None = None
    try:
        reply: Finished | None = None
        while True:
            taking = loop.run_in_executor(executor, context.run, _taken, steps, reply)
            step = await asyncio.shield(taking)
            reply = None
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
        if taking is None or taking.done():
            steps.close()
        else:  # a thread cannot be stopped, and what it runs cannot be closed before it is done
            taking.add_done_callback(lambda _: steps.close())


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
