"""How long a folder takes to index and to search, how much room it needs, and how much memory.

    python -m benchmarks.speed PATH ...

Each step is a process of its own, as a user would start it, except the warm searches, which share
one. Times are wall-clock, in seconds; memory is the largest process of the step.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from openbook.assistant import Assistant
from openbook.settings import Settings

# Asked of every folder, so they are about nothing in particular.
_QUESTIONS = (
    "parse command line arguments",
    "how are errors reported to the user?",
    "open a connection with a timeout",
    "configuration",
    "where is the cache invalidated when a file changes?",
)

_COLD_RUNS = 5

_CLI = (sys.executable, "-m", "openbook")


@dataclass(frozen=True)
class Run:
    """One process that ended."""

    seconds: float
    peak_mib: float


def main() -> None:
    """Print one row a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", type=Path, nargs="+", metavar="PATH")
    print(
        "| folder | files | chunks | index s | unchanged s | on disk MB | index peak MiB | cold search s |"
        " cold peak MiB | warm search ms |\n|---|---|---|---|---|---|---|---|---|---|"
    )
    for path in parser.parse_args().paths:
        print(_row(path), flush=True)


def _row(path: Path) -> str:
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "OPENBOOK_HOME": home}
        add = ("add", str(path), "--library", "speed")
        first = _run(add, environment)
        unchanged = _run(add, environment)
        cold = [
            _run(("search", _QUESTIONS[run % len(_QUESTIONS)], "--library", "speed", "--json"), environment)
            for run in range(_COLD_RUNS)
        ]
        with Assistant.open("speed", settings=Settings(home=Path(home))) as assistant:
            held = assistant.stats()
            warm = _warm(assistant)
    seconds = statistics.median(run.seconds for run in cold)
    return (
        f"| {path.resolve().name} | {held.documents} | {held.chunks} | {first.seconds:.1f} | {unchanged.seconds:.2f}"
        f" | {held.size_bytes / 1e6:.1f} | {first.peak_mib:.0f} | {seconds:.2f}"
        f" | {max(run.peak_mib for run in cold):.0f} | {warm * 1000:.1f} |"
    )


def _warm(assistant: Assistant) -> float:
    """Give the median of searches in one process, after one round that fills the caches."""
    taken = []
    for question in _QUESTIONS * 5:
        started = time.perf_counter()
        assistant.search(question)
        taken.append(time.perf_counter() - started)
    return statistics.median(taken[len(_QUESTIONS) :])


def _run(arguments: Sequence[str], environment: dict[str, str]) -> Run:
    started = time.perf_counter()
    null = os.open(os.devnull, os.O_WRONLY)
    actions = [(os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)]
    child = os.posix_spawn(sys.executable, [*_CLI, *arguments], environment, file_actions=actions)
    os.close(null)
    # Of the child alone: what getrusage says of all children never falls again. Linux counts in KiB.
    _, status, usage = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) > 1:
        raise SystemExit(f"openbook {' '.join(arguments)} failed")
    return Run(time.perf_counter() - started, usage.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
