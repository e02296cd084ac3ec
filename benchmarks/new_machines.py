"""What a first answer costs on a machine that has nothing of a library on LanceDB yet.

    OPENBOOK_HOME=... OPENBOOK_STORAGE=lance:... python -m benchmarks.new_machines [--times N] [--under COMMAND]

The library `default` there is searched once in a new process: on a machine that has kept nothing of it where nothing
was published, on one where it was, and on one that has kept it. Figures are medians: from the start of the process to
its results, its processor time, and the peak of its memory. The library is compacted first,
and what is published of it deleted and published again.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile

from benchmarks.speed import run
from openbook.integrations.lance_published import PublishedStates
from openbook.library import Library
from openbook.settings import Settings

_ASK = [sys.executable, "-m", "benchmarks.engines", ".", "--ask", "cold"]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--under", default="", help="command that starts what is measured, such as 'chrt -f 10'")
    arguments = parser.parse_args()
    command = [*arguments.under.split(), *_ASK]
    settings = Settings.from_env()
    published = PublishedStates(f"{settings.storage.removeprefix('lance:').rstrip('/')}/default")
    print("| machine | first, s | CPU s | MiB |\n|---|---|---|---|")
    _optimize(settings)
    published.remove()
    _print("new, nothing published", [_asked(command) for _ in range(arguments.times)])
    _optimize(settings)
    _print("new", [_asked(command) for _ in range(arguments.times)])
    _print("has kept it", [_asked(command, home=str(settings.home)) for _ in range(arguments.times)])


def _optimize(settings: Settings) -> None:
    with Library.open(settings=settings) as assistant:
        assistant.index.optimize(every=True)


def _asked(command: list[str], home: str = "") -> tuple[float, float, float]:
    with tempfile.TemporaryDirectory() as empty:
        done = run(command, os.environ | {"OPENBOOK_HOME": home or empty})
    told = json.loads(done.output)
    return done.seconds, told["process_s"], told["mib"]


def _print(machine: str, figures: list[tuple[float, float, float]]) -> None:
    seconds, worked, mib = (statistics.median(each) for each in zip(*figures, strict=True))
    print(f"| {machine} | {seconds:.2f} | {worked:.2f} | {mib:.0f} |", flush=True)


if __name__ == "__main__":
    main()
