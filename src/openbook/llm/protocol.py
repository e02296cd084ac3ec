"""The model protocol: a name, and a method that turns a request into events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Protocol, TypeVar, runtime_checkable

from openbook.errors import BadResponseError
from openbook.llm.messages import Event, ReplyFinished, Request

Stream = TypeVar("Stream")


@runtime_checkable
class Model(Protocol):
    """Writes text and calls tools.

    A stream ends with exactly one `ReplyFinished`. A caller that stops reading earlier closes it, which cancels the
    request. Errors are subclasses of `openbook.errors.ModelError`.
    """

    @property
    def name(self) -> str:
        """Provider and model, such as `anthropic:claude-sonnet-5-5`."""

    def stream(self, request: Request) -> Iterator[Event]: ...

    def astream(self, request: Request) -> AsyncIterator[Event]: ...


class ModelWrapper:
    """A wrapper around another model, with the same name."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r})"


@contextmanager
def closing_stream(stream: Stream) -> Iterator[Stream]:
    """Close a stream at the end of the block, if it can be closed."""
    try:
        yield stream
    finally:
        close = getattr(stream, "close", None)
        if close is not None:
            close()


@asynccontextmanager
async def aclosing_stream(stream: Stream) -> AsyncIterator[Stream]:
    """Close a stream like `closing_stream`, without blocking."""
    try:
        yield stream
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()


def complete(model: Model, request: Request) -> ReplyFinished:
    """Read a stream to its end.

    Raises:
        ModelError: The call failed, or the stream ended without `ReplyFinished`.
    """
    finished = None
    for event in model.stream(request):
        if isinstance(event, ReplyFinished):
            finished = event
    return checked_reply(finished, model)


async def acomplete(model: Model, request: Request) -> ReplyFinished:
    """Read a stream to its end, without blocking.

    Raises:
        ModelError: The call failed, or the stream ended without `ReplyFinished`.
    """
    finished = None
    async for event in model.astream(request):
        if isinstance(event, ReplyFinished):
            finished = event
    return checked_reply(finished, model)


def checked_reply(finished: ReplyFinished | None, model: Model) -> ReplyFinished:
    """Return the final reply of a stream, or raise an error without one."""
    if finished is None:
        raise BadResponseError(f"{model.name} ended its stream without a result")
    return finished
