"""How soon an agent is answered about a folder that nobody has read: seconds to the first answer and to the last file.

    python -m benchmarks.monorepo FOLDER QUERY ...

The server is `openbook mcp` as a process of its own, asked by the official client over its pipes as soon as the tools
are listed. `first answer`: a search for the first query shows a place. `all`: no reply says any more that files are
still read; the other queries are asked in turn until then. Memory is the most that the server and its children held.
Runs on Linux.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import TextContent

from openbook.libraries.catalog import name_for
from openbook.library import Library
from openbook.settings import Settings

_PLACE = re.compile(r"^\S+:\d+-\d+", re.MULTILINE)
_READING = re.compile(r"^\((?:indexed [\d,]+ of|still looking)", re.MULTILINE)

# Between two looks at the memory.
_LOOK_S = 0.1


class Memory:
    """The most memory that the children of this process held together, in MiB."""

    def __init__(self) -> None:
        self.most = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Look no more."""
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(_LOOK_S):
            self.most = max(self.most, sum(map(_held, _below(os.getpid()))))


def _below(process: int) -> list[int]:
    """Return the children of a process, and theirs."""
    try:
        told = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    except OSError:
        return []
    children = list(map(int, told.split()))
    return [*children, *itertools.chain.from_iterable(map(_below, children))]


def _held(process: int) -> float:
    """Return the memory of a process that it shares with no other, and its part of what it shares."""
    try:
        told = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0.0
    return float(next((line.split()[1] for line in told.splitlines() if line.startswith("Pss:")), 0)) / 1024


async def measure(folder: Path, queries: Sequence[str], home: Path) -> None:
    """Start the server, ask, and print what it took."""
    environment = {**os.environ, "OPENBOOK_HOME": str(home)}
    server = StdioServerParameters(command=sys.executable, args=["-m", "openbook", "mcp", str(folder)], env=environment)
    memory, first, calls = Memory(), 0.0, 0
    began = time.perf_counter()
    async with Client(stdio_client(server)) as client:
        await client.list_tools()
        listed = time.perf_counter()
        for query in itertools.chain(queries[:1], itertools.cycle(queries)):
            result = await client.call_tool("search", {"query": query})
            text = "".join(part.text for part in result.content if isinstance(part, TextContent))
            calls += 1
            first = first or (time.perf_counter() if _PLACE.search(text) else 0.0)
            if not _READING.search(text):
                break
        everything = time.perf_counter()
    memory.close()
    with Library.open(name_for([folder]), settings=Settings(home=home)) as library:
        stats = library.stats()
    print("| documents | chunks | tools listed | first answer | all | searches until then | memory | load |")
    print("|---|---|---|---|---|---|---|---|")
    print(
        f"| {stats.documents:,} | {stats.chunks:,} | {listed - began:.1f} s | {first - began:.1f} s"
        f" | {everything - began:.1f} s | {calls} | {memory.most:.0f} MiB | {os.getloadavg()[0]:.0f} |"
    )


def main() -> None:
    """Measure in a home of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("queries", nargs="+", metavar="QUERY")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        asyncio.run(measure(arguments.folder.resolve(), arguments.queries, Path(home)))


if __name__ == "__main__":
    main()
