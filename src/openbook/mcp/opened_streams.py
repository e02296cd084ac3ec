"""Streams for a connection that is already open: they replay its first messages, and drop answers already sent."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from contextvars import Context
from typing import TYPE_CHECKING

from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse, jsonrpc_message_adapter

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import ReadStream, WriteStream


class ReplayedStream(ObjectReceiveStream[SessionMessage | Exception]):
    """Yields messages that were already read, then those of a stream."""

    def __init__(self, stream: ReadStream[SessionMessage | Exception], lines: Iterable[bytes]) -> None:
        self._stream = stream
        self._before = deque(map(_parsed, lines))
        self.last_context: Context | None = None
        """Context of the sender of the last message, as in the streams of the SDK."""

    async def receive(self) -> SessionMessage | Exception:
        if self._before:
            return self._before.popleft()
        message = await self._stream.receive()
        self.last_context = getattr(self._stream, "last_context", None)
        return message

    async def aclose(self) -> None:
        await self._stream.aclose()


class FilteredStream(ObjectSendStream[SessionMessage]):
    """Writes to a stream, except answers to requests that are already answered."""

    def __init__(self, stream: WriteStream[SessionMessage], answered: Iterable[bytes]) -> None:
        self._stream = stream
        requests = (parsed.message for parsed in map(_parsed, answered) if isinstance(parsed, SessionMessage))
        self._answered = {request.id for request in requests if isinstance(request, JSONRPCRequest)}

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message, unless it answers a request that is already answered."""
        if isinstance(item.message, JSONRPCResponse) and item.message.id in self._answered:
            self._answered.remove(item.message.id)
            return
        await self._stream.send(item)

    async def aclose(self) -> None:
        await self._stream.aclose()


def _parsed(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as exc:
        return exc
