"""Time and memory of Openbook and of semble on the same files, each side in processes of its own.

Times are wall-clock; memory is the peak of one process, the largest of those that it started
included. Machines differ and others use them, so what carries over is the ratio of two columns
that were measured in turn in one run.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import works
from benchmarks.peer import Semble

_HERE = Path(__file__).parent

# Enough for a median that one pause of the machine does not move.
_RUNS = 3
_COLD_RUNS = 5
_CHANGES = 5

# Questions of the first round fill caches and are not counted.
_WARM_UP = 20

_MANY_FILES = 1_000


@dataclass(frozen=True, slots=True)
class Measure:
    """One line of the table. A side that was not measured is None."""

    name: str
    unit: str
    openbook: float
    semble: float | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One process that ended well."""

    seconds: float
    peak_mib: float
    output: str

    def answers(self) -> list[dict[str, Any]]:
        """Read what it printed as JSON lines."""
        return [json.loads(line) for line in self.output.splitlines()]


@dataclass(frozen=True, slots=True)
class Side:
    """How a tool is started, and where it keeps its indexes."""

    name: str
    answering: tuple[str, ...]
    """Command that answers jobs."""
    searching: tuple[str, ...]
    """Command line of the tool."""
    environment: Mapping[str, str]
    model: str
    home: Path

    def ask(self, jobs: Sequence[dict[str, Any]]) -> Run:
        """Answer jobs in one process. Each has an empty place for its index."""
        lines = []
        for number, job in enumerate(jobs):
            keep = self.home / f"{time.monotonic_ns()}-{number}"
            keep.mkdir(parents=True)
            lines.append(json.dumps({"limit": 10, "model": self.model, "keep": str(keep), **job}))
        return run(self.answering, self.environment, "\n".join(lines))


def sides(semble: Semble | None, scratch: Path) -> list[Side]:
    """Return the tools to measure, Openbook first."""
    ours = Side(
        "openbook",
        (sys.executable, "-m", "benchmarks.ask_openbook"),
        (str(Path(sys.executable).with_name("openbook")), "search"),
        {**os.environ, "PYTHONPATH": str(_HERE.parent)},
        "",
        scratch / "openbook",
    )
    if semble is None:
        return [ours]
    environment = {**semble.command_environment(), "SEMBLE_CACHE_LOCATION": str(scratch / "semble")}
    script = str(_HERE / "ask_semble.py")
    return [
        ours,
        Side(
            "semble",
            (str(semble.python), "-I", script),
            (str(semble.python.with_name("semble")), "search"),
            environment,
            str(semble.model),
            scratch / "semble",
        ),
    ]


def measure(data: Path, cache: Path, semble: Semble | None, large: Sequence[Path]) -> Iterator[Measure]:
    """Yield measurements as they come. `large` may be empty, which leaves that part out."""
    packages = works.code_search(data, cache, mixed=False)
    mixed = works.code_search(data, cache, mixed=True)
    questions = [question.text for collection in mixed.collections for question in collection.questions]
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        both = sides(semble, scratch)
        yield from _from_nothing(both, [str(collection.folder) for collection in packages.collections])
        together = scratch / "mixed"
        for collection in mixed.collections:
            shutil.copytree(collection.folder, together / collection.name)
        yield from _together("7 source distributions", both, [str(together)], questions)
        yield from _changed(both, _many_files(together, scratch / "many"), questions)
        if large:
            yield from _together("large folder", both, [str(_staged(large, scratch / "large"))], questions)


def _from_nothing(both: Sequence[Side], folders: Sequence[str]) -> Iterator[Measure]:
    jobs = [{"folders": [folder], "content": "code", "questions": []} for folder in folders]
    runs: dict[str, list[Run]] = {side.name: [] for side in both}
    for _ in range(_RUNS):  # in turn, so that a slow minute of the machine meets both
        for side in both:
            runs[side.name].append(_fresh(side, jobs))
    name = f"index {len(folders)} packages from nothing, one process"
    yield _line(name, "s", {tool: statistics.median(one.seconds for one in some) for tool, some in runs.items()})
    yield _line(f"{name}, peak", "MiB", {tool: max(one.peak_mib for one in some) for tool, some in runs.items()})


def _fresh(side: Side, jobs: Sequence[dict[str, Any]]) -> Run:
    shutil.rmtree(side.home, ignore_errors=True)
    return side.ask(jobs)


def _together(name: str, both: Sequence[Side], folders: Sequence[str], questions: Sequence[str]) -> Iterator[Measure]:
    """Index folders as one, ask warm, then ask from new processes."""
    warm = [*questions[:_WARM_UP], *questions]
    job = {"folders": list(folders), "content": "all", "questions": warm}
    runs = {side.name: _fresh(side, [job]) for side in both}
    answers = {tool: one.answers()[0] for tool, one in runs.items()}
    yield _line(f"{name}: chunks", "", {tool: answer["chunks"] for tool, answer in answers.items()})
    yield _line(f"{name}: index", "s", {tool: answer["index_seconds"] for tool, answer in answers.items()})
    yield _line(f"{name}: peak of indexing and asking", "MiB", {tool: one.peak_mib for tool, one in runs.items()})
    yield _line(f"{name}: on disk", "MB", {side.name: _size_mb(side.home) for side in both})
    medians = {tool: [asked["seconds"] for asked in answer["asked"][_WARM_UP:]] for tool, answer in answers.items()}
    yield _line(
        f"{name}: warm search, median", "ms", {tool: 1000 * statistics.median(m) for tool, m in medians.items()}
    )
    cold = {side.name: _cold(side, folders, questions) for side in both}
    seconds = {tool: statistics.median(one.seconds for one in some) for tool, some in cold.items()}
    yield _line(f"{name}: search in a new process", "s", seconds)
    peaks = {tool: max(one.peak_mib for one in some) for tool, some in cold.items()}
    yield _line(f"{name}: search in a new process, peak", "MiB", peaks)


def _cold(side: Side, folders: Sequence[str], questions: Sequence[str]) -> list[Run]:
    if side.name == "openbook":
        (home,) = side.home.iterdir()
        environment = {**side.environment, "OPENBOOK_HOME": str(home)}
        where = ["--library", "measured"]
    else:
        environment = dict(side.environment)
        where = [*folders, "--content", "all", "--top-k", "10"]
    return [run((*side.searching, question, *where), environment) for question in questions[:_COLD_RUNS]]


def _staged(folders: Sequence[Path], stage: Path) -> Path:
    """Copy folders beside each other, without what one tool reads and the other passes over by its name."""
    for number, folder in enumerate(folders):
        skipped = shutil.ignore_patterns("site-packages", "__pycache__", "*.so", "*.so.*", "*.pyd")
        shutil.copytree(folder.resolve(), stage / f"part-{number}", ignore=skipped)
    return stage


def _many_files(origin: Path, folder: Path) -> Path:
    """Copy the first thousand Python files, in order of their paths, under their own folders."""
    files = sorted(origin.rglob("*.py"))[:_MANY_FILES]
    for file in files:
        copy = folder / file.relative_to(origin)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)
    return folder


def _changed(both: Sequence[Side], folder: Path, questions: Sequence[str]) -> Iterator[Measure]:
    files = sorted(folder.rglob("*.py"))
    job = {
        "folders": [str(folder)],
        "content": "code",
        "questions": list(questions[:1]),
        "change": str(files[len(files) // 2]),
        "changes": _CHANGES,
    }
    seconds = {side.name: statistics.median(_fresh(side, [job]).answers()[0]["changed_seconds"]) for side in both}
    yield _line(f"search after one of {len(files)} files changed, one process", "s", seconds)


def _line(name: str, unit: str, values: Mapping[str, float]) -> Measure:
    return Measure(name, unit, values["openbook"], values.get("semble"))


def _size_mb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def default_large() -> list[Path]:
    """Name the standard library and the packages of this environment: about 100,000 chunks."""
    return [Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("purelib"))]


def run(command: Sequence[str], environment: Mapping[str, str], given: str = "") -> Run:
    """Run a command to its end.

    Raises:
        SystemExit: It failed.
    """
    with tempfile.TemporaryFile() as given_file, tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        given_file.write(given.encode())
        given_file.seek(0)
        numbers = [file.fileno() for file in (given_file, output, errors)]
        actions = [(os.POSIX_SPAWN_DUP2, number, target) for target, number in enumerate(numbers)]
        started = time.perf_counter()
        child = os.posix_spawnp(command[0], list(command), dict(environment), file_actions=actions)
        # Of the child alone: what getrusage says of all children never falls again. Linux counts in KiB.
        _, status, usage = os.wait4(child, 0)
        seconds = time.perf_counter() - started
        output.seek(0)
        errors.seek(0)
        if os.waitstatus_to_exitcode(status) > 1:  # 1 says that nothing was found
            raise SystemExit(f"{' '.join(command)[:200]} failed: {errors.read()[-500:].decode(errors='replace')}")
        return Run(seconds, usage.ru_maxrss / 1024, output.read().decode())


def table(measures: Sequence[Measure]) -> str:
    """Write the lines as Markdown; the last column is how many times more semble takes."""
    lines = ["| what | unit | openbook | semble | semble / openbook |", "|---|---|---|---|---|"]
    for one in measures:
        theirs, ratio = "", ""
        if one.semble is not None:
            theirs, ratio = _number(one.semble), f"{one.semble / one.openbook:.2f}" if one.openbook else ""
        lines.append(f"| {one.name} | {one.unit} | {_number(one.openbook)} | {theirs} | {ratio} |")
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"
