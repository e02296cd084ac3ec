"""An MCP server on standard input and output, of the official package, with tools that go right and wrong."""

from __future__ import annotations

import asyncio
import os
import sys

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.utilities.types import Image

server = MCPServer("harbour")

# A picture of one pixel is enough to be no text.
_PIXEL = bytes.fromhex("89504e470d0a1a0a")


@server.tool(name="harbour.depth")
def depth(berth: int) -> str:
    """Return the depth of water at a berth, in metres."""
    return f"{berth * 2} m"


@server.tool()
def broken() -> str:
    """Fail."""
    raise ValueError("the gauge is broken")


@server.tool()
def seen(name: str) -> str:
    """Return a variable of the environment."""
    return os.environ.get(name, "not set")


@server.tool()
async def slow() -> str:
    """Take a minute."""
    await asyncio.sleep(60)
    return "done"


@server.tool()
def picture() -> Image:
    """Show the harbour."""
    return Image(data=_PIXEL, format="png")


@server.tool()
def leave() -> str:
    """End the server."""
    os._exit(3)


if __name__ == "__main__":
    if "--http" in sys.argv:
        server.run("streamable-http", port=int(sys.argv[2]))
    else:
        server.run("stdio")
