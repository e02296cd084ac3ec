"""Cancel work whose client has disconnected."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import Request

from openbook.server.failures import RequestRefusedError

T = TypeVar("T")

# As proxies write it into their logs: the client closed the request. Nobody receives it.
_GONE = 499


async def unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Do work for a request, and stop it if the client goes away.

    Raises:
        RequestRefusedError: The client has gone.
    """
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)
    raise RequestRefusedError(_GONE, "the client has gone")


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
