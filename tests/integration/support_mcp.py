"""Helpers for tests of the MCP server: a folder, a library over it, and the official client in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mcp.client.client import Client

from openbook.library import Library
from openbook.mcp.server import build_server
from openbook.settings import Settings
from openbook.watched_library import WatchedLibrary

CODE = '''\
"""Parcels."""


def weigh(parcel: str) -> float:
    """Weigh a parcel. A parcel may weigh at most 31 kg."""
    return scale(parcel)
'''

TEST = """\
from parcels import weigh


def test_a_parcel_is_weighed() -> None:
    assert weigh("P1") == 2.0
"""

COURSE = """\
Course Title: Parcels for Beginners

Lesson 0: Scales
A scale has to stand on level ground. It is read twice.

Lesson 1: Labels
A label is glued to the largest side.
"""


def write_shop(beside: Path) -> Path:
    folder = beside / "shop"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "parcels.py").write_text(CODE, encoding="utf-8")
    (folder / "test_parcels.py").write_text(TEST, encoding="utf-8")
    (folder / "course.txt").write_text(COURSE, encoding="utf-8")
    return folder


@contextmanager
def watched(folder: Path) -> Iterator[WatchedLibrary]:
    with Library.open("shop", settings=Settings.from_env()) as assistant:
        library = WatchedLibrary(assistant, [folder])
        yield library
        library.close()


def ask(library: WatchedLibrary, use: Callable[[Client], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with Client(build_server(library, version="1")) as client:
            return await use(client)

    return asyncio.run(run())


def call(library: WatchedLibrary, tool: str, **arguments: Any) -> Any:
    return ask(library, lambda client: client.call_tool(tool, arguments))
