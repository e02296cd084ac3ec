"""What the MCP server costs: seconds of the first search, milliseconds of warm ones, and memory.

    python -m benchmarks.mcp_server FOLDER ...

The server is `openbook mcp` as a process of its own, asked by the official client over its pipes. Warm
calls are 20 questions, five times each, as a whole: to the server and back. Memory is what the process
holds after them, and the most that it held. Runs on Linux.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from openbook.libraries.catalog import name_for
from openbook.library import Library
from openbook.settings import Settings

QUESTIONS = (
    "How is a request sent?|Where are errors raised?|read a file|parse arguments|open a connection|close the session"
    "|encode as JSON|retry after a failure|cache of results|split a path|validate input|log a warning|default timeout"
    "|redirects are followed|compile a pattern|start the server|render a template|write the header|hash of a value"
    "|convert a date"
).split("|")


async def measure(folders: Sequence[Path], home: Path) -> None:
    """Ask the server, and print what it took. The first search waits for files as long as a call does."""
    environment = {**os.environ, "OPENBOOK_HOME": str(home)}
    command = ["-m", "openbook", "mcp", *map(str, folders)]
    server = StdioServerParameters(command=sys.executable, args=command, env=environment)
    started = time.perf_counter()
    async with Client(stdio_client(server)) as client:
        await client.list_tools()
        ready, cpu_s = time.perf_counter(), _cpu_seconds()
        await client.call_tool("search", {"query": QUESTIONS[0]})
        first = time.perf_counter()
        took = []
        for question in QUESTIONS * 5:
            asked = time.perf_counter()
            await client.call_tool("search", {"query": question})
            took.append((time.perf_counter() - asked) * 1000)
        held, most = _memory()
    with Library.open(name_for(folders), settings=Settings(home=home)) as assistant:
        chunks = assistant.stats().chunks
    print("| chunks | tools listed | CPU until then | first search | warm search, p50 | p95 | memory | at most |")
    print("|---|---|---|---|---|---|---|---|")
    p95 = statistics.quantiles(took, n=20)[-1]
    print(
        f"| {chunks:,} | {ready - started:.2f} s | {cpu_s:.2f} s | {first - ready:.2f} s"
        f" | {statistics.median(took):.1f} ms | {p95:.1f} ms | {held:.0f} MiB | {most:.0f} MiB |"
    )


def _cpu_seconds() -> float:
    """Return the CPU seconds that the server has used."""
    [child] = _children()
    fields = Path(f"/proc/{child}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _children() -> list[str]:
    return Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text(encoding="ascii").split()


def _memory() -> tuple[float, float]:
    """Return what the server holds, and held at most, in MiB. Linux tells it in files."""
    [told] = [Path(f"/proc/{child}/status").read_text(encoding="utf-8") for child in _children()]
    sizes = {line.split()[0]: int(line.split()[1]) / 1024 for line in told.splitlines() if line.endswith("kB")}
    return sizes["VmRSS:"], sizes["VmHWM:"]


def main() -> None:
    """Measure in a home of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    with tempfile.TemporaryDirectory() as home:
        asyncio.run(measure([folder.resolve() for folder in parser.parse_args().folders], Path(home)))


if __name__ == "__main__":
    main()
