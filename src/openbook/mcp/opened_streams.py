"""Streams of a connection that has already begun: they replay its first messages to the SDK, and drop its answers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from contextvars import Context
from types import TracebackType
from typing import Protocol, Self

from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse, jsonrpc_message_adapter


class _Stream(Protocol):
    async def aclose(self) -> None: ...
    async def __aenter__(self) -> object: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, traceback: TracebackType | None, /
    ) -> bool | None: ...


class _ReadStream(_Stream, Protocol):
    async def receive(self) -> SessionMessage | Exception: ...
    async def __anext__(self) -> SessionMessage | Exception: ...


class _WriteStream(_Stream, Protocol):
    async def send(self, item: SessionMessage, /) -> None: ...


class _Wrapped:
    """Closes and enters the stream that it wraps."""

    _stream: _Stream

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, raised, traceback)


class Replayed(_Wrapped):
    """Replays lines that were already read, and then reads from a stream."""

    def __init__(self, stream: _ReadStream, lines: Iterable[bytes]) -> None:
        self._stream: _ReadStream = stream
        self._before = deque(map(_parsed, lines))
        self.last_context: Context | None = None
        """Of the sender of the last message, as streams of the SDK have it."""

    async def receive(self) -> SessionMessage | Exception:
        if self._before:
            return self._before.popleft()
        message = await self._stream.receive()
        self.last_context = getattr(self._stream, "last_context", None)
        return message

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        if self._before:
            return self._before.popleft()
        message = await anext(self._stream)
        self.last_context = getattr(self._stream, "last_context", None)
        return message


class Muted(_Wrapped):
    """Writes to a stream, without the answers to requests that are already answered."""

    def __init__(self, stream: _WriteStream, answered: Iterable[bytes]) -> None:
        self._stream: _WriteStream = stream
        requests = (parsed.message for parsed in map(_parsed, answered) if isinstance(parsed, SessionMessage))
        self._answered = {request.id for request in requests if isinstance(request, JSONRPCRequest)}

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message, unless its request is already answered."""
        if isinstance(item.message, JSONRPCResponse) and item.message.id in self._answered:
            self._answered.remove(item.message.id)
            return
        await self._stream.send(item)


def _parsed(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as exc:
        return exc
