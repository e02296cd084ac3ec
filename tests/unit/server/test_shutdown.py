"""Requests that the shutdown of a server cancels."""

from __future__ import annotations

import asyncio

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from openbook.server.shutdown import ShutdownMiddleware


async def waiting_for_the_body(_: Scope, receive: Receive, __: Send) -> None:
    await receive()


async def writing(_: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await receive()


@pytest.mark.parametrize(("app", "statuses"), [(waiting_for_the_body, [503]), (writing, [200])])
def test_a_cancelled_request_gets_an_error_unless_its_response_has_begun(app: ASGIApp, statuses: list[int]) -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    async def cancelled() -> None:
        request = asyncio.ensure_future(ShutdownMiddleware(app)({"type": "http"}, receive, send))
        await asyncio.sleep(0)
        request.cancel()
        await request

    asyncio.run(cancelled())

    assert [message["status"] for message in sent if message["type"] == "http.response.start"] == statuses
