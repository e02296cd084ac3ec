"""What a library costs in SQLite and in LanceDB, and whether both find the same.

    python -m benchmarks.engines FOLDER [--at ADDRESS] [--question "..." ...]

Each figure is of one run, side by side: the whole folder into a new library, then in new processes one search (cold)
and all questions three times (warm). Without questions, ten on Python packages are asked. `--at` is where LanceDB keeps
its library, a folder of its own otherwise. With `--ask`, nothing is indexed: one process searches the library `default`
of `OPENBOOK_HOME` and prints what it took, in wall-clock and in processor time, and what it found, so that two
versions of the code can be compared on one library. `--ask changed` adds a line to a file of the library instead, and
measures the update and the search after it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.speed import run
from openbook.index.protocol import EVERYTHING
from openbook.library import Library
from openbook.memory import own_process
from openbook.settings import Settings

QUESTIONS = (
    "How is a pool of connections closed?",
    "parse the arguments of a command line",
    "Where are retries of HTTP requests configured?",
    "Read the schema of a Parquet file",
    "What happens when a model does not validate?",
    "event loop policy",
    "split text at white space",
    "cookie jar",
    "How is text normalized in Unicode?",
    "BaseModel",
)
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Column:
    """The figures of one engine."""

    index_s: float
    chunks: int
    size_mb: float
    cold_s: float
    cold_mib: float
    warm_p50_ms: float
    warm_p95_ms: float
    warm_mib: float
    found: list[Any]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--at", default="", help="folder or address of object storage for LanceDB")
    parser.add_argument("--question", action="append", help="to ask instead of those on Python packages")
    parser.add_argument("--ask", choices=("cold", "warm", "changed"), help="only search the default library")
    arguments = parser.parse_args()
    questions = arguments.question or QUESTIONS
    if arguments.ask == "changed":
        print(json.dumps(_changed(questions)))
        return
    if arguments.ask:
        print(json.dumps(_asked(questions if arguments.ask == "warm" else questions[:1], arguments.ask == "warm")))
        return
    with tempfile.TemporaryDirectory() as scratch:
        homes = [Settings(home=Path(scratch) / "home")]
        homes.append(Settings(home=Path(scratch) / "shared", storage=f"lance:{arguments.at or f'{scratch}/lance'}"))
        columns = [_measured(arguments.folder, settings, questions) for settings in homes]
    _print(columns)


def _measured(folder: Path, settings: Settings, questions: Sequence[str]) -> Column:
    started = time.perf_counter()
    with Library.open(settings=settings) as assistant:
        assistant.add(folder, allow_large=True)
        held = assistant.stats()
    index_s = time.perf_counter() - started
    environment = os.environ | {"OPENBOOK_HOME": str(settings.home), "OPENBOOK_STORAGE": settings.storage}
    options = [option for question in questions for option in ("--question", question)]
    command = [sys.executable, "-m", "benchmarks.engines", str(folder), *options, "--ask"]
    cold, warm = (run([*command, how], environment) for how in ("cold", "warm"))
    answered = json.loads(warm.output)
    took_ms = sorted(answered["ms"])
    return Column(
        index_s=index_s,
        chunks=held.chunks,
        size_mb=held.size_bytes / 1e6,
        cold_s=cold.seconds,
        cold_mib=json.loads(cold.output)["mib"],
        warm_p50_ms=statistics.median(took_ms),
        warm_p95_ms=took_ms[int(0.95 * (len(took_ms) - 1))],
        warm_mib=answered["mib"],
        found=answered["found"],
    )


def _asked(questions: Sequence[str], warm: bool) -> dict[str, Any]:
    own_process()  # as the command line does
    with Library.open(settings=Settings.from_env()) as assistant:
        told = searched(assistant, questions, rounds=1 + _ROUNDS * warm)
    return told | {"process_s": time.process_time(), "mib": peak_mib()}


def searched(assistant: Library, questions: Sequence[str], *, rounds: int) -> dict[str, Any]:
    """Ask all questions several times, and return what the rounds after the first one took, in milliseconds."""
    took_ms: list[float] = []
    processor_ms: list[float] = []
    found: list[Any] = []
    for _ in range(rounds):
        found = []
        for question in questions:
            started, worked = time.perf_counter(), time.process_time()
            results = assistant.search(question)
            took_ms.append(1000 * (time.perf_counter() - started))
            processor_ms.append(1000 * (time.process_time() - worked))
            found.append([[str(result.chunk.span), round(result.score, 6)] for result in results])
    first = len(questions) * (rounds > 1)
    return {"ms": took_ms[first:], "processor_ms_p50": statistics.median(processor_ms[first:]), "found": found}


def _changed(questions: Sequence[str]) -> dict[str, float]:
    with Library.open(settings=Settings.from_env()) as assistant:
        for question in questions:
            assistant.search(question)
        root = assistant.sources()[0]
        path = next(document.path for document in assistant.index.documents(EVERYTHING) if document.kind == "docs")
        with (Path(root.location) / path).open("a", encoding="utf-8") as file:
            file.write("\nOne more line about quokkas.\n")
        times = [time.perf_counter()]
        assistant.add(root.location, only=[path])
        times.append(time.perf_counter())
        assistant.search(questions[0])
        times.append(time.perf_counter())
    return {"changed_ms": 1000 * (times[1] - times[0]), "search_after_ms": 1000 * (times[2] - times[1])}


def peak_mib() -> float:
    """Return the most memory that this process had, in MiB."""
    # Not getrusage: it counts what the process that started this one had, and that one has indexed.
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _print(columns: Sequence[Column]) -> None:
    sqlite, lance = columns
    print("| what | unit | SQLite | LanceDB | LanceDB / SQLite |\n|---|---|---|---|---|")
    for name, unit, field in (
        ("index from nothing", "s", "index_s"),
        ("chunks", "", "chunks"),
        ("size", "MB", "size_mb"),
        ("cold search, a new process", "s", "cold_s"),
        ("its memory", "MiB", "cold_mib"),
        ("warm search, p50", "ms", "warm_p50_ms"),
        ("warm search, p95", "ms", "warm_p95_ms"),
        ("memory after all questions", "MiB", "warm_mib"),
    ):
        one, other = getattr(sqlite, field), getattr(lance, field)
        print(f"| {name} | {unit} | {_number(one)} | {_number(other)} | {other / one:.2f} |")
    same = sum(one == other for one, other in zip(sqlite.found, lance.found, strict=True))
    print(f"\n{same} of {len(sqlite.found)} questions have the same results, scores and order.")


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


if __name__ == "__main__":
    main()
