"""Writes docs/mcp-transcript.md: an agent that needs three tools, and all that goes over the wire.

    python tools/write_mcp_transcript.py

The model is scripted, so that the same is written every time; the agent, the client and the server are
the real ones, and the server is a process of its own.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import TextContent

from openbook.agent import Agent
from openbook.libraries.catalog import name_for
from openbook.library import Library
from openbook.llm.messages import ToolCall
from openbook.settings import Settings
from openbook.testing import ScriptedModel, ScriptedReply

PROJECT = Path(__file__).parents[1]
PAGE = PROJECT / "docs" / "mcp-transcript.md"
FOLDER = PROJECT / "tests" / "sample"

QUESTION = "When does a parcel count as lost, and where is that in the code?"

DRAFT = (
    "A parcel that nobody has seen for 30 days is lost (harbour/parcels.py:10-11). "
    "`is_lost` tells it, and a delivered parcel is never lost (harbour/parcels.py:40-42)."
)


def _call(number: int, name: str, **arguments: object) -> ScriptedReply:
    return ScriptedReply(ToolCall(f"call_{number}", name, json.dumps(arguments)))


STEPS = (
    _call(1, "search", query="When does a parcel count as lost?", limit=2, max_tokens=600),
    _call(2, "read_lines", path="harbour/parcels.py", first_line=8, last_line=12),
    _call(3, "verify_citations", text=DRAFT),
    ScriptedReply(
        "A parcel that nobody has seen for 14 days is lost (harbour/parcels.py:10-11). "
        "`is_lost` tells it, and a delivered parcel is never lost (harbour/parcels.py:40-42)."
    ),
)

HEAD = """\
<!-- Written by tools/write_mcp_transcript.py: run it again instead of changing this page. -->

# An agent at work, on the wire

A coding agent is asked a question that needs three tools. It searches, reads the lines around what it found,
writes a draft, has it checked, mends the claim that is in conflict, and answers. The server is
`openbook mcp tests/sample`, started by the agent as a process of its own, over a folder that was indexed before; the
client is the official one.
The words of the model are scripted. `->` is what the client sends, `<-` what the server answers.
Long texts are cut, where it says so; `...` stands for what only programs read.
"""

# Of one message: longer ones are read by nobody.
_MAX_CHARS = 2_000


class Wire:
    """Reads or writes messages, and keeps each as a line."""

    def __init__(self, stream: Any, sign: str, lines: list[str]) -> None:
        self._stream = stream
        self._sign = sign
        self._lines = lines

    def __aiter__(self) -> Wire:
        return self

    async def __anext__(self) -> Any:
        return self._kept(await self._stream.__anext__())

    async def __aenter__(self) -> Wire:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self._stream.__aexit__(*raised)

    async def receive(self) -> Any:
        return self._kept(await self._stream.receive())

    async def send(self, message: Any) -> None:
        await self._stream.send(self._kept(message))

    async def aclose(self) -> None:
        await self._stream.aclose()

    def _kept(self, message: Any) -> Any:
        sent = message.message.model_dump(by_alias=True, mode="json", exclude_none=True)
        self._lines.append(f"{self._sign} {_shown(sent)}")
        return message


def _shown(message: dict[str, Any]) -> str:
    """Write a message without what only machines need: what client and server can do."""
    message.pop("jsonrpc", None)
    message.get("params", {}).pop("_meta", None)
    result = message.get("result", {})
    if "tools" in result:
        result["tools"] = [f"... {len(result['tools'])} tools: {', '.join(tool['name'] for tool in result['tools'])}"]
    for name in ("instructions", "capabilities", "_meta"):
        if name in result:
            result[name] = "..."
    text = json.dumps(message, ensure_ascii=False)
    return text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]} ... ({len(text)} characters)"


@asynccontextmanager
async def recorded(transport: Any, lines: list[str]) -> AsyncIterator[tuple[Wire, Wire]]:
    """Keep what goes over a transport."""
    async with transport as (read, write):
        yield Wire(read, "<-", lines), Wire(write, "->", lines)


async def exchange(home: str) -> tuple[list[str], str]:
    """Let the agent answer, and give the lines of the wire with the answer."""
    lines: list[str] = []
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "openbook", "mcp", str(FOLDER)],
        env={**os.environ, "OPENBOOK_HOME": home},
    )
    async with Client(recorded(stdio_client(server), lines)) as client:
        await client.list_tools()
        with ScriptedModel(*STEPS) as model:
            result = await Agent(model, _tools(client)).arun(QUESTION)
    return lines, result.text


def _tools(client: Client) -> list[Callable[..., Awaitable[str]]]:
    async def search(query: str, limit: int, max_tokens: int) -> str:
        """Find passages.

        Args:
            query: What to look for.
            limit: Most results.
            max_tokens: Most tokens.
        """
        return await _ask(client, "search", query=query, limit=limit, max_tokens=max_tokens)

    async def read_lines(path: str, first_line: int, last_line: int) -> str:
        """Read lines.

        Args:
            path: Of the document.
            first_line: Counts from 1.
            last_line: Is read too.
        """
        return await _ask(client, "read_lines", path=path, first_line=first_line, last_line=last_line)

    async def verify_citations(text: str) -> str:
        """Check a draft.

        Args:
            text: The draft.
        """
        return await _ask(client, "verify_citations", text=text)

    return [search, read_lines, verify_citations]


async def _ask(client: Client, name: str, **arguments: object) -> str:
    result = await client.call_tool(name, arguments)
    return "".join(part.text for part in result.content if isinstance(part, TextContent))


def page() -> str:
    """Run the exchange, and write the page of it."""
    with tempfile.TemporaryDirectory() as home:
        # At a first start, the tools that are listed depend on how far the machine has read.
        here = Settings.from_env({**os.environ, "OPENBOOK_HOME": home})
        with Library.open(name_for([FOLDER]), settings=here) as library:
            library.add(FOLDER)
        lines, answer = asyncio.run(exchange(home))
    wire = "\n\n".join(lines)
    return f"{HEAD}\nThe question: {QUESTION}\n\n```text\n{wire}\n```\n\nThe answer:\n\n> {answer}\n"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
