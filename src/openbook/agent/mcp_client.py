"""Tools of an MCP server: a local program or a URL."""

from __future__ import annotations

import asyncio
import re
import shlex
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import PurePath
from types import TracebackType
from typing import IO, Any, Self

from openbook.agent.tools import Tool
from openbook.errors import MissingExtraError, ToolError

# `npx` and `uvx` may have to download the program first.
_CONNECT_S = 60.0
_TIMEOUT_S = 30.0
_CLOSE_S = 10.0

_LAST_WORDS = 500  # characters of a program's standard error to show in a message
_UNUSABLE = re.compile(r"[^A-Za-z0-9_-]")
_NAME_CHARS = 64


def mcp(
    server: str | Sequence[str],
    *,
    prefix: str = "",
    env: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    timeout_s: float = _TIMEOUT_S,
) -> McpToolset:
    """Return the tools of an MCP server, for agents and answers. The server is started when first needed.

    Args:
        server: A command, as one string or a list of words, that speaks MCP over standard input and output; or the
            `http://` or `https://` URL of a server. No shell is involved.
        prefix: Prepended to each tool name, for servers with the same names.
        env: Environment variables of the program, in addition to `PATH`, `HOME` and a few others that every program
            needs. Nothing else is passed on, so model keys stay private.
        headers: Sent with each request to a URL, such as `Authorization`.
        timeout_s: Maximum seconds per call.

    Raises:
        MissingExtraError: The package `mcp` is not installed.
        ValueError: There is no command.
    """
    return McpToolset(server, prefix=prefix, env=env, headers=headers, timeout_s=timeout_s)


class McpToolset:
    """The tools of one MCP server: see `mcp`. Use it as a context manager, blocking or async, or `close` it.

    If not closed, it is closed on garbage collection and at exit.
    """

    def __init__(
        self,
        server: str | Sequence[str],
        *,
        prefix: str,
        env: Mapping[str, str] | None,
        headers: Mapping[str, str] | None,
        timeout_s: float,
    ) -> None:
        if find_spec("mcp") is None:
            raise MissingExtraError("the package 'mcp' is not installed", hint="pip install 'openbook[mcp]'")
        is_address = isinstance(server, str) and server.startswith(("http://", "https://"))
        words = shlex.split(server) if isinstance(server, str) and not is_address else list(server)
        if not words:
            raise ValueError("there is no command that could be started")
        self._session = _Session(str(server) if is_address else "", words, dict(env or {}), dict(headers or {}))
        self._prefix = prefix
        self._timeout_s = timeout_s
        self._tools: tuple[Tool, ...] | None = None
        self._lock = threading.Lock()
        self._stop = weakref.finalize(self, self._session.close)

    def __repr__(self) -> str:
        return f"mcp({self._session.name!r})"

    def tools(self) -> Sequence[Tool]:
        """Return the tools in the server's order, connecting first.

        Raises:
            ToolError: The server cannot be started or reached, or was closed.
        """
        with self._lock:
            if self._tools is None:
                self._tools = tuple(map(self._tool, self._session.connect()))
            return self._tools

    def close(self) -> None:
        """Close the connection and end the program. Calls in progress fail."""
        self._stop()

    def __enter__(self) -> Self:
        self.tools()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self.tools)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)

    def _tool(self, told: Any) -> Tool:
        name = _UNUSABLE.sub("_", f"{self._prefix}{told.name}")[:_NAME_CHARS]
        schema = {"type": "object", **told.input_schema}
        return Tool.from_schema(
            name,
            told.description or told.title or told.name,
            schema,
            partial(self._call, told.name),
            timeout_s=self._timeout_s,
        )

    def _call(self, name: str, /, **arguments: Any) -> str:
        # A bound method keeps this object, and so the connection, alive while an agent has the tool.
        return self._session.call(name, arguments, self._timeout_s)


class _Session:
    """A connection with its own event loop and thread, so that threads and event loops can use it."""

    def __init__(self, address: str, words: list[str], env: dict[str, str], headers: dict[str, str]) -> None:
        # Leave out arguments and queries, which may contain a token.
        self.name = address.partition("?")[0].rpartition("@")[2] or PurePath(words[0]).name
        self._address, self._words, self._env, self._headers = address, words, env, headers
        self._ready: Future[list[Any]] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._client: Any = None
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)

    def connect(self) -> list[Any]:
        """Return the tools that the server lists.

        Raises:
            ToolError: It cannot be started or reached, or was closed.
        """
        if self._is_closed:
            raise ToolError(f"the connection to {self.name} is closed")
        self._thread.start()
        try:
            return self._ready.result(_CONNECT_S)
        except TimeoutError as exc:
            self.close()
            raise ToolError(f"{self.name} did not answer as an MCP server within {_CONNECT_S:.0f} s") from exc

    def call(self, name: str, arguments: Mapping[str, Any], timeout_s: float) -> str:
        """Call a tool and return its text.

        Raises:
            ToolError: It failed or timed out, or the connection is gone.
        """
        if self._is_closed or self._loop is None or not self._thread.is_alive():
            raise ToolError(f"the connection to {self.name} is closed")
        calling = asyncio.run_coroutine_threadsafe(self._client.call_tool(name, dict(arguments)), self._loop)
        try:
            result = calling.result(timeout_s)
        except TimeoutError as exc:
            calling.cancel()
            raise ToolError(f"{name!r} took longer than {timeout_s:g} s") from exc
        text = _text_of(result)
        if result.is_error:
            raise ToolError(text or f"{name!r} failed without a word")
        return text

    def close(self) -> None:
        """Close the connection and wait until the program has exited."""
        self._is_closed = True
        if self._loop is not None and self._stop is not None:
            with suppress(RuntimeError):  # it has already ended
                self._loop.call_soon_threadsafe(self._stop.set)
        if self._thread.is_alive():
            self._thread.join(_CLOSE_S)

    def _run(self) -> None:
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
            try:
                asyncio.run(self._serve(said))
            except BaseException as exc:  # noqa: BLE001 - the edge of a thread: the error goes to the waiting caller
                if not self._ready.done():
                    self._ready.set_exception(ToolError(f"{self.name} is no MCP server: {_why(exc)}{_last(said)}"))

    async def _serve(self, said: IO[str]) -> None:
        from mcp import Client

        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        async with AsyncExitStack() as stack:
            self._client = client = await stack.enter_async_context(Client(await self._transport(said, stack)))
            found, cursor = [], None
            while True:
                page = await client.list_tools(cursor=cursor)
                found += page.tools
                if not (cursor := page.next_cursor):
                    break
            self._ready.set_result(found)
            await self._stop.wait()

    async def _transport(self, said: IO[str], stack: AsyncExitStack) -> Any:
        from mcp import StdioServerParameters, stdio_client

        if not self._address:
            started = StdioServerParameters(command=self._words[0], args=self._words[1:], env=self._env or None)
            return stdio_client(started, errlog=said)  # type: ignore[arg-type]
        from mcp.client.streamable_http import streamable_http_client
        from mcp.shared._httpx_utils import create_mcp_http_client

        http = await stack.enter_async_context(create_mcp_http_client(headers=self._headers))
        return streamable_http_client(self._address, http_client=http)


def _text_of(result: Any) -> str:
    """Return the text of a result; for images and audio, a placeholder."""
    parts = [getattr(part, "text", None) or f"[{part.type} that is not shown]" for part in result.content]
    if not parts and result.structured_content is not None:
        from pydantic_core import to_json

        return to_json(result.structured_content, fallback=str).decode()
    return "\n".join(parts)


def _why(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def _last(said: IO[str]) -> str:
    """Return the end of a program's standard error, for a message."""
    said.seek(0)
    words = said.read()[-_LAST_WORDS:].strip()
    return f"; it wrote: {words}" if words else ""
