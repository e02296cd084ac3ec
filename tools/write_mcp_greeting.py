"""Writes src/openbook/mcp/greeting.json: what the SDK answers to the first requests of agents.

    python tools/write_mcp_greeting.py

The server answers these before the SDK is imported. Run it when a tool, the instructions or the SDK has changed.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.shared.message import SessionMessage
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION, MODERN_PROTOCOL_VERSIONS

from openbook.library import Library
from openbook.mcp.greeting import VERSION
from openbook.mcp.server import CHANGES, build_server
from openbook.settings import Settings
from openbook.watched_library import WatchedLibrary

FILE = Path(__file__).parents[1] / "src" / "openbook" / "mcp" / "greeting.json"

LISTS = ("tools/list", "prompts/list", "resources/templates/list")
"""Requests whose answers are the same for all libraries, but for the tools for courses."""

_COURSE = "Course Title: Parcels\n\nLesson 0: Scales\nA scale stands on level ground.\n"

CLIENT = {"name": "client", "version": "1"}


def handshake(version: str) -> list[dict[str, Any]]:
    """Return the messages of a client of the protocol until 2025."""
    hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT}
    asked = [("initialize", hello), ("ping", {}), *((method, {}) for method in LISTS)]
    first, *others = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(asked)
    ]
    return [first, {"jsonrpc": "2.0", "method": "notifications/initialized"}, *others]


def modern(version: str) -> list[dict[str, Any]]:
    """Return the messages of a client of the protocol since 2026."""
    meta = {PROTOCOL_VERSION_META_KEY: version, CLIENT_INFO_META_KEY: CLIENT, CLIENT_CAPABILITIES_META_KEY: {}}
    return [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": {"_meta": meta}}
        for number, method in enumerate(("server/discover", *LISTS))
    ]


def answers(server: MCPServer, messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the results that the SDK sends for messages, by method."""
    return asyncio.run(_answers(server, messages))


async def _answers(server: MCPServer, messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
    to_server, read = anyio.create_memory_object_stream[SessionMessage | Exception](len(messages))
    write, from_server = anyio.create_memory_object_stream[SessionMessage](len(messages))
    results: dict[str, Any] = {}
    async with anyio.create_task_group() as group, to_server, from_server:
        lowlevel = server._lowlevel_server  # noqa: SLF001 - the SDK serves only its own transports otherwise
        group.start_soon(lowlevel.run, read, write, lowlevel.create_initialization_options(CHANGES))
        for message in messages:
            await to_server.send(SessionMessage(jsonrpc_message_adapter.validate_python(message)))
            if "id" in message:
                answer = (await from_server.receive()).message
                assert isinstance(answer, JSONRPCResponse), answer
                results[message["method"]] = answer.result
        await to_server.aclose()
    return results


def greeting() -> dict[str, Any]:
    """Return what the SDK answers, as the server keeps it."""
    with tempfile.TemporaryDirectory() as home, Library.open("empty", settings=Settings(home=Path(home))) as library:
        library.add_text(_COURSE, "course.txt")  # so that the tools for courses are listed
        server = build_server(WatchedLibrary(library, (), watch=False), version=VERSION)
        return {
            "handshake_versions": HANDSHAKE_PROTOCOL_VERSIONS,
            "modern_versions": MODERN_PROTOCOL_VERSIONS,
            "handshake": answers(server, handshake(LATEST_HANDSHAKE_VERSION)),
            "modern": answers(server, modern(MODERN_PROTOCOL_VERSIONS[-1])),
        }


def main() -> None:
    """Write the file."""
    FILE.write_text(json.dumps(greeting(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
