"""Calling the functions of tools: each in a thread of its own, or as a task of the running loop."""

from __future__ import annotations

import contextvars
import inspect
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, InvalidStateError, wait
from typing import TYPE_CHECKING, Any, Protocol

from openbook.agent.tools import Tool

if TYPE_CHECKING:
    import asyncio


class Running(Protocol):
    """A call that is under way: a future of `concurrent.futures` or of `asyncio`."""

    def done(self) -> bool: ...

    def result(self) -> Any: ...

    def cancel(self) -> object:
        """Let go of it, and of what it may still bring. A thread cannot be stopped, a task is."""
        ...


Start = Callable[[Tool, Mapping[str, Any]], Running]


def start(tool: Tool, arguments: Mapping[str, Any]) -> Future[Any]:
    """Call a tool in a thread of its own."""
    # Not a pool: that would make the interpreter wait at its end for a tool that never comes back.
    future: Future[Any] = Future()
    context = contextvars.copy_context()
    threading.Thread(
        target=context.run, args=(_call, future, tool.function, arguments), name=f"tool {tool.name}", daemon=True
    ).start()
    return future


def start_in_loop(tool: Tool, arguments: Mapping[str, Any]) -> asyncio.Future[Any]:
    """Call a tool as a task of the running loop if it is `async`, else in a thread of its own."""
    import asyncio

    if inspect.iscoroutinefunction(tool.function):
        task: asyncio.Task[Any] = asyncio.create_task(tool.function(**arguments))
        return task
    return asyncio.wrap_future(start(tool, arguments))


def wait_for(running: Running, timeout_s: float) -> None:
    """Wait until a call is done, or the time is over."""
    assert isinstance(running, Future)
    wait([running], timeout=_within_reason(timeout_s))


async def await_for(running: Running, timeout_s: float) -> None:
    """Wait until a call is done, or the time is over, without blocking."""
    import asyncio

    assert isinstance(running, asyncio.Future)
    await asyncio.wait([running], timeout=_within_reason(timeout_s))


def _within_reason(timeout_s: float) -> float:
    return min(max(timeout_s, 0.0), threading.TIMEOUT_MAX)


def _call(future: Future[Any], function: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    try:
        value = function(**arguments)
        if inspect.iscoroutine(value):
            import asyncio

            value = asyncio.run(value)
    except BaseException as exc:  # noqa: BLE001 - the edge of a thread: whoever waits gets it
        _deliver(future.set_exception, exc)
    else:
        _deliver(future.set_result, value)


def _deliver(give: Callable[[Any], None], value: object) -> None:
    try:
        give(value)
    except InvalidStateError:
        return  # nobody waits any more
