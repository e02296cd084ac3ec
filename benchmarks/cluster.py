"""How long it takes to prepare a folder in processes of this machine and on a Ray cluster.

    python -m benchmarks.cluster FOLDER [--address local] [--workers 1 2] [--turns 2] [--running] [--batches]

Without `--batches`: `openbook add` of the folder into a new library, with each number of workers, in processes and on
Ray; a folder below 16 MB is never sent. `own CPU` is the processor time of the process that reads, sends and writes,
of which there is one. `--turns 2` holds each worker on Ray to half a processor, so that on two processors the process
that writes has one for itself, as it has where workers are other machines. `--running` starts Ray before what is timed
and ends it after that, as if the cluster were always there. With `--batches`: preparing alone, by the size of the
batches that are sent, with as many workers as come last. One machine cannot show what a cluster gains; it shows what
Ray costs.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from openbook.embedding.static import load_embedder
from openbook.ingest.preparation import FileJob, FilePreparer, Preparer
from openbook.integrations import ray_executor
from openbook.integrations.ray_connection import connected
from openbook.library import Library
from openbook.settings import Settings
from openbook.sources.folder import Folder

# A turn is long for a switch and short for a batch of files; processes that have come are looked for each second.
_TURN_S, _TURNS_A_LOOK = 0.05, 20

_BATCHES = ((8, 64), (32, 256), (64, 512), (128, 1024))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--address", default="local", help="as after ray: in OPENBOOK_EXECUTOR")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--turns", type=int, default=1, help="of which each worker on Ray has one")
    parser.add_argument("--running", action="store_true")
    parser.add_argument("--batches", action="store_true")
    arguments = parser.parse_args()
    settings = Settings(workers=arguments.workers[-1], executor=f"ray:{arguments.address}")
    if arguments.batches:
        _print_batches(arguments.folder, arguments.address, settings)
    else:
        running = arguments.address if arguments.running else None
        _print_ways(arguments.folder, settings, arguments.workers, arguments.turns, running)


def _print_ways(folder: Path, settings: Settings, workers: Sequence[int], turns: int, running: str | None) -> None:
    print("| way | workers | files | seconds | times as fast | own CPU, s |\n|---|---|---|---|---|---|")
    for executor in ("", settings.executor) if turns == 1 and running is None else (settings.executor,):
        first_s = 0.0
        for number in workers:
            with (
                contextlib.nullcontext() if running is None else connected(running, number),
                tempfile.TemporaryDirectory() as home,
                Library.open(settings=replace(settings, executor=executor, workers=number, home=Path(home))) as library,
                in_turns(turns),
            ):
                worked = time.process_time()
                report = library.add(folder, allow_large=True)
                own_s = time.process_time() - worked
            first_s = first_s or report.seconds
            figures = f"{report.added} | {report.seconds:.1f} | {first_s / report.seconds:.2f} | {own_s:.1f}"
            print(f"| {executor or 'processes'} | {number} | {figures} |", flush=True)


@contextlib.contextmanager
def in_turns(turns: int) -> Iterator[None]:
    """Let each process that prepares files for this one run in one of so many turns, and stand still in the others."""
    ended = threading.Event()
    children: list[int] = []

    def take_turns() -> None:
        nonlocal children
        for turn in count():
            if turn % _TURNS_A_LOOK == 0:
                children = _preparing()
            for place, child in enumerate(children):
                _send(signal.SIGCONT if place % turns == turn % turns else signal.SIGSTOP, child)
            if ended.wait(_TURN_S):
                return

    if turns == 1:
        yield
        return
    thread = threading.Thread(target=take_turns)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        for child in {*children, *_preparing()}:  # else half of them stay stopped, and nobody can end them in order
            _send(signal.SIGCONT, child)


def _send(number: signal.Signals, child: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, number)


def _preparing() -> list[int]:
    """Return the processes below this one that prepare files."""
    parents, found = {}, []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parents[int(folder.name)] = int((folder / "stat").read_text("utf-8").rpartition(")")[2].split()[1])
            if b"pickle.load(sys.stdin.buffer)" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))

    def is_ours(process: int) -> bool:
        return process in parents and (parents[process] == os.getpid() or is_ours(parents[process]))

    return sorted(filter(is_ours, found))


def _print_batches(folder: Path, address: str, settings: Settings) -> None:
    print("| files in a batch | KB in a batch | first result, s | the rest, s | own CPU, s |")
    print("|---|---|---|---|---|")
    source = Folder(folder)
    jobs = [FileJob(file.path, "") for file in source.scan().files]
    preparer = FilePreparer(source, Preparer(source.name, settings, load_embedder))
    for files, size_kb in _BATCHES:
        ray_executor.BATCH_FILES, ray_executor.BATCH_BYTES = files, size_kb * 1024
        started = time.perf_counter()
        outcomes = ray_executor.RayExecutor(address).run(preparer, jobs, settings)
        next(outcomes)
        first = ended = time.perf_counter()
        worked = time.process_time()
        for _ in outcomes:
            ended = time.perf_counter()  # before the connection is closed
        own_s = time.process_time() - worked
        print(f"| {files} | {size_kb} | {first - started:.1f} | {ended - first:.1f} | {own_s:.1f} |", flush=True)


if __name__ == "__main__":
    main()
