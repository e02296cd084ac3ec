"""How a library grows: what it costs at 10,000 chunks, at 100,000 and, with `--large`, at a million.

    python -m benchmarks.scale FOLDER [--large] [--s3 s3://bucket/folder] [--write] [--keep FOLDER]

FOLDER has the text: 100,000 chunks are about 10,000 files of source code and documentation. Its files are taken in an
order that a hash of their paths decides, so a small library is a sample of a large one. A million chunks are all of
FOLDER, as it is and again with words altered (`benchmarks.copies`); their build is writing alone. All is measured in
one run, at each size in new processes:

- first: from the start of a process to its first results, with the imports
- new machine: the same where nothing of the library has been kept, as on a machine that has never seen it
- warm: ten questions, three times, after a first round
- one changed file: a line is added to one, and it is updated (`only`); and the first search after that

Memory is the peak of the process that searches. Columns of processor time are there because others use a machine too;
`--under "chrt -f 10"` lets what is measured go before them.
`--s3` adds LanceDB there at the sizes up to `--s3-chunks`; credentials are those of `AWS_...`.
`--updates 500` measures instead what so many updates of one document each do to a search of the smallest size.
`--keep` names a folder for libraries, which the next run measures again. `--write` puts table and plot into docs/.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import plots
from benchmarks.copies import fill
from benchmarks.engines import QUESTIONS, searched
from benchmarks.speed import run
from openbook.index.protocol import EVERYTHING
from openbook.library import Library
from openbook.settings import Settings

SIZES, LARGE = (10_000, 100_000), 1_000_000

BEGIN = "<!-- Made by `make bench-scale`: begin -->"
END = "<!-- Made by `make bench-scale`: end -->"

S3 = "LanceDB, S3"

# Of the first files that are taken, which say how many are needed.
_FIRST_FILES = 500

# A library counts as one of a size from this share of it on.
_NEARLY = 0.95


@dataclass(frozen=True, slots=True)
class Row:
    """What a library of one size costs in one engine."""

    engine: str
    chunks: int
    files: int
    build_s: float
    """From nothing, all steps added up."""
    bytes_a_chunk: float
    first_s: float
    first_cpu_s: float
    first_mib: float
    new_s: float
    new_cpu_s: float
    new_mib: float
    warm_p50_ms: float
    warm_p95_ms: float
    warm_cpu_p50_ms: float
    warm_mib: float
    changed_ms: float
    search_after_ms: float


_HEADS = {
    "engine": "engine",
    "chunks": "chunks",
    "files": "files",
    "build_s": "build, s",
    "bytes_a_chunk": "bytes a chunk",
    "first_s": "first, s",
    "first_cpu_s": "first, CPU s",
    "first_mib": "its MiB",
    "new_s": "new machine, s",
    "new_cpu_s": "its CPU s",
    "new_mib": "its MiB there",
    "warm_p50_ms": "warm p50, ms",
    "warm_p95_ms": "p95, ms",
    "warm_cpu_p50_ms": "p50, CPU ms",
    "warm_mib": "MiB",
    "changed_ms": "one changed file, ms",
    "search_after_ms": "search after it, ms",
}


class Growing:
    """A library of one size in one engine, with its folder."""

    def __init__(self, engine: str, scratch: Path, chunks: int, files: Sequence[Path], top: Path, s3: str = "") -> None:
        """Take all files, in the order in which they come in."""
        self.engine = engine
        self._chunks = chunks
        self._files = files
        self._top = top
        self._place = scratch / engine.replace(", ", "-") / str(chunks)
        self._folder = self._place / "text"
        self._folder.mkdir(parents=True, exist_ok=True)
        at = f"{s3}/{chunks}" if engine == S3 else self._place / "tables"
        self.settings = Settings(home=self._place / "home", storage="" if engine == "SQLite" else f"lance:{at}")
        self._log = self._place / "built.json"
        self._count: int = 0
        self._build_s: float = 0.0
        if self._log.exists():
            self._count, self._build_s = json.loads(self._log.read_text("utf-8"))

    def grow(self) -> None:
        """Add files until the library has its chunks, or there are no more files."""
        with Library.open(settings=self.settings) as assistant:
            held = assistant.stats().chunks
            while held < _NEARLY * self._chunks and self._count < len(self._files):
                wanted = int(self._count * self._chunks / held) + 1 if held else _FIRST_FILES
                self._copy(min(wanted, len(self._files)))
                started = time.perf_counter()
                assistant.add(self._folder, allow_large=True)
                self._note(time.perf_counter() - started)
                held = assistant.stats().chunks

    def fill(self, base: Settings) -> None:
        """Copy another library, and altered copies of it, until the library has its chunks."""
        self._copy(len(self._files))
        with Library.open(settings=base) as of, Library.open(settings=self.settings) as assistant:
            if assistant.stats().chunks < _NEARLY * self._chunks:
                self._note(fill(assistant.index, of.index, self._chunks, self._folder))

    def _note(self, took_s: float) -> None:
        self._build_s += took_s
        self._log.write_text(json.dumps([self._count, self._build_s]), encoding="utf-8")

    def _copy(self, count: int) -> None:
        for file in self._files[self._count : count]:
            place = self._folder / file.relative_to(self._top)
            if not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, place)
        self._count = count

    def updated(self, updates: int) -> str:
        """Update one document after the other, and say what a search takes before and after."""
        with Library.open(settings=self.settings) as assistant:
            before = searched(assistant, QUESTIONS, rounds=4)["processor_ms_p50"]
            paths = [each.path for each in assistant.index.documents(EVERYTHING) if each.kind == "docs"]
            took_ms = []
            for number in range(updates):
                path = paths[number % len(paths)]
                with (self._folder / path).open("a", encoding="utf-8") as file:
                    file.write(f"\nUpdate {number}.\n")
                started = time.perf_counter()
                assistant.add(self._folder, only=[path])
                took_ms.append(1000 * (time.perf_counter() - started))
            after = searched(assistant, QUESTIONS, rounds=4)["processor_ms_p50"]
        tenth = max(updates // 10, 1)
        first, last = (statistics.median(part) for part in (took_ms[:tenth], took_ms[-tenth:]))
        return (
            f"{self.engine}: p50 {before:.1f} ms of processor time before, {after:.1f} ms after {updates} updates;"
            f" an update took {first:.0f} ms at first, {last:.0f} ms at last"
        )

    def row(self, under: Sequence[str] = ()) -> Row:
        """Measure the library as it is, in processes that a command starts."""
        environment = os.environ | {"OPENBOOK_HOME": str(self.settings.home), "OPENBOOK_STORAGE": self.settings.storage}
        command = [*under, sys.executable, "-m", "benchmarks.engines", ".", "--ask"]
        runs = [run([*command, how], environment) for how in ("cold", "warm", "changed")]
        cold, warm, changed = (json.loads(each.output) for each in runs)
        new, new_s = cold, runs[0].seconds
        if self.settings.storage:
            with tempfile.TemporaryDirectory() as home:
                on_new = run([*command, "cold"], environment | {"OPENBOOK_HOME": home})
            new, new_s = json.loads(on_new.output), on_new.seconds
        took_ms = sorted(warm["ms"])
        with Library.open(settings=self.settings) as assistant:
            held = assistant.stats()
        return Row(
            self.engine,
            held.chunks,
            held.documents,
            self._build_s,
            held.size_bytes / held.chunks,
            runs[0].seconds,
            cold["process_s"],
            cold["mib"],
            new_s,
            new["process_s"],
            new["mib"],
            statistics.median(took_ms),
            took_ms[int(0.95 * (len(took_ms) - 1))],
            warm["processor_ms_p50"],
            warm["mib"],
            changed["changed_ms"],
            changed["search_after_ms"],
        )


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--large", action="store_true", help="a million chunks, too")
    parser.add_argument("--keep", type=Path, help="folder for libraries that the next run goes on with")
    parser.add_argument("--write", action="store_true", help="put table and plot into docs/")
    parser.add_argument("--updates", type=int, metavar="N", help="only update one document after the other")
    parser.add_argument("--s3", default="", help="address of object storage to measure LanceDB at, too")
    parser.add_argument("--s3-chunks", type=int, default=SIZES[-1], help="largest size that is measured there")
    parser.add_argument("--engine", action="append", help=f"measure only this one, such as {S3!r}")
    parser.add_argument("--under", default="", help="command that starts what is measured, such as 'chrt -f 10'")
    arguments = parser.parse_args()
    if arguments.engine and arguments.write:
        parser.error("the page shows all engines: --engine goes without --write")
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as scratch:
        place = arguments.keep or Path(scratch)
        if arguments.updates:
            for library in _libraries(arguments.folder, place, SIZES[0]):
                library.grow()
                print(library.updated(arguments.updates), flush=True)
            return
        rows = []
        sizes = [*SIZES, *([LARGE] if arguments.large else [])]
        s3 = {size: arguments.s3 if size <= arguments.s3_chunks else "" for size in sizes}
        for row in _measured(arguments.folder, place, s3, arguments.under.split(), arguments.engine):
            rows.append(row)
            print(table([row]).splitlines()[-1], file=sys.stderr, flush=True)
    print(table(rows))
    if arguments.write:
        command = "make bench-scale FOLDER=..." + " LARGE=yes" * arguments.large
        if arguments.under:
            command += f' UNDER="{arguments.under}"'
        if arguments.s3:
            command += f" S3=s3://... S3_CHUNKS={arguments.s3_chunks}"
        write(rows, command, f"a load of {load:.0f} to {os.getloadavg()[0]:.0f}")


def _libraries(folder: Path, scratch: Path, chunks: int, s3: str = "") -> list[Growing]:
    files = [file for file in folder.rglob("*") if file.is_file() and not file.is_symlink()]
    files.sort(key=lambda file: hashlib.sha256(file.relative_to(folder).as_posix().encode()).digest())
    engines = ("SQLite", "LanceDB", S3) if s3 else ("SQLite", "LanceDB")
    return [Growing(engine, scratch, chunks, files, folder, s3) for engine in engines]


def _measured(
    folder: Path, scratch: Path, sizes: Mapping[int, str], under: Sequence[str], engines: Sequence[str] | None
) -> Iterator[Row]:
    """Yield what is measured, at each size also on the object storage that it names."""
    for size, s3 in sizes.items():
        base = _base(folder, scratch) if size == LARGE else None
        for library in _libraries(folder, scratch, size, s3):
            if engines and library.engine not in engines:
                continue
            if base:
                library.fill(base)
            else:
                library.grow()
            yield library.row(under)


def _base(folder: Path, scratch: Path) -> Settings:
    """Index the whole folder, unless that is done, and return the settings that open its library."""
    base = Settings(home=scratch / "base")
    with Library.open(settings=base) as assistant:
        if not assistant.stats().chunks:
            assistant.add(folder, allow_large=True)
    return base


def table(rows: Sequence[Row]) -> str:
    """Write a table in Markdown."""
    lines = ["| " + " | ".join(_HEADS.values()) + " |", "|" + "---|" * len(_HEADS)]
    lines += ["| " + " | ".join(map(_cell, asdict(row).values())) + " |" for row in rows]
    return "\n".join(lines)


def _cell(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if value >= 20 else f"{value:.2g}"


def write(rows: Sequence[Row], command: str, load: str, docs: Path = plots.DOCS) -> None:
    """Put the table between the two marks of `benchmarks-libraries.md`, and the plots beside the page."""
    page = docs / "benchmarks-libraries.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    block = f"{date}, {machine}, {load}.\n\n    {command}\n\n{table(rows)}\n\n![{plots.GROWTH_SHOWN}]({plots.GROWTH})"
    page.write_text(f"{before}{BEGIN}\n\n{block}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    plots.write(docs)


if __name__ == "__main__":
    main()
