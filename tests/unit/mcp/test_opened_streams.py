"""The SDK reads what came before it was loaded, and its first answers to that are not sent."""

from __future__ import annotations

import asyncio
import json

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse

from openbook.mcp.opened_streams import FilteredStream, ReplayedStream

PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()


def response(number: int) -> SessionMessage:
    return SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=number, result={}))


def test_what_came_before_is_read_first_and_a_broken_line_is_an_error() -> None:
    async def read() -> list[object]:
        sender, receiver = anyio.create_memory_object_stream[SessionMessage | Exception](2)
        async with sender:
            await sender.send(response(7))
            await sender.send(response(8))
        stream = ReplayedStream(receiver, [PING, b"no json"])
        async with stream:
            first, broken, later = [await stream.receive() for _ in range(3)]
            last = await anext(stream)
        return [first, broken, later, last]

    first, broken, later, last = asyncio.run(read())

    assert isinstance(first, SessionMessage)
    assert first.message.id == 1  # type: ignore[union-attr]
    assert isinstance(broken, ValueError)
    assert [each.message.id for each in (later, last)] == [7, 8]  # type: ignore[attr-defined]


def test_only_the_first_answer_to_what_was_answered_before_is_left_out() -> None:
    async def send() -> list[object]:
        sender, receiver = anyio.create_memory_object_stream[SessionMessage](3)
        stream = FilteredStream(sender, [PING, b"no json"])
        async with stream:
            for number in (1, 2, 1):
                await stream.send(response(number))
        async with receiver:
            return [message.message.id async for message in receiver]  # type: ignore[union-attr]

    assert asyncio.run(send()) == [2, 1]


def test_closing_closes_the_streams_below() -> None:
    async def close() -> tuple[bool, bool]:
        sender, receiver = anyio.create_memory_object_stream[SessionMessage](1)
        await FilteredStream(sender, []).aclose()
        ended = False
        try:
            await receiver.receive()
        except anyio.EndOfStream:
            ended = True
        await ReplayedStream(receiver, []).aclose()
        return ended, receiver.statistics().open_receive_streams == 0

    assert asyncio.run(close()) == (True, True)
