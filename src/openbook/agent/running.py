"""Runs the functions of tools, each in its own thread or as a task of the running event loop."""

from __future__ import annotations

import contextvars
import inspect
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, InvalidStateError, wait
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from openbook.agent.tools import Tool, is_async

if TYPE_CHECKING:
    import asyncio


Running = Future[Any]
"""A call in progress. Cancelling abandons it: a task is stopped, a thread cannot be."""

Start = Callable[[Tool, Mapping[str, Any]], Running]


def start(tool: Tool, arguments: Mapping[str, Any]) -> Running:
    """Run a tool in its own thread."""
    # Not a pool: at exit, the interpreter would wait for a tool that never returns.
    future: Future[Any] = Future()
    context = contextvars.copy_context()
    threading.Thread(
        target=context.run, args=(_call, future, tool.function, arguments), name=f"tool {tool.name}", daemon=True
    ).start()
    return future


def starting_in(loop: asyncio.AbstractEventLoop) -> Start:
    """Return a function, callable from any thread, that runs async tools in `loop` and others in their own threads."""

    def start_in(tool: Tool, arguments: Mapping[str, Any]) -> Running:
        import asyncio

        if is_async(tool.function):
            return asyncio.run_coroutine_threadsafe(tool.function(**arguments), loop)
        return start(tool, arguments)

    return start_in


def wait_for(running: Running, timeout_s: float) -> None:
    """Wait until a call is done or the time is up."""
    wait([running], timeout=_within_reason(timeout_s))


async def await_for(running: Running, timeout_s: float) -> None:
    """Wait until a call is done or the time is up, without blocking."""
    import asyncio

    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def wake(_: object) -> None:
        with suppress(RuntimeError):  # the loop is closed, so nobody is waiting
            loop.call_soon_threadsafe(done.set)

    running.add_done_callback(wake)
    with suppress(TimeoutError):
        async with asyncio.timeout(_within_reason(timeout_s)):
            await done.wait()


def _within_reason(timeout_s: float) -> float:
    return min(max(timeout_s, 0.0), threading.TIMEOUT_MAX)


def _call(future: Future[Any], function: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    try:
        value = function(**arguments)
        if inspect.iscoroutine(value):
            import asyncio

            value = asyncio.run(value)
    except BaseException as exc:  # noqa: BLE001 - the edge of a thread: the error goes to the waiting caller
        _deliver(future.set_exception, exc)
    else:
        _deliver(future.set_result, value)


def _deliver(give: Callable[[Any], None], value: object) -> None:
    try:
        give(value)
    except InvalidStateError:
        return  # nobody is waiting
