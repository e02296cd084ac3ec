"""Measures quality and speed, and writes what `docs/benchmarks.md` shows.

    python -m benchmarks all --data FOLDER            # quality, speed, then the report into docs/
    python -m benchmarks quality --data FOLDER [--only WORK ...] [--package NAME ...] [--details]
    python -m benchmarks speed --data FOLDER [--large]
    python -m benchmarks report [--write]             # the last complete runs once more
    python -m benchmarks answers --data FOLDER        # extractive answers, refusal, the dense leg alone

FOLDER holds the question sets. Packages are fetched with pip, npm and apt-get into a cache, once.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
from pathlib import Path

from platformdirs import user_cache_path

from benchmarks import peer, quality, report, speed

_HERE = Path(__file__).parent
_WORKS = quality.FOLDER_WORKS + quality.GIVEN_WORKS


def main() -> int:
    """Run the part that the command line names."""
    arguments = _parser().parse_args()
    arguments.cache = arguments.cache.expanduser().resolve()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    if arguments.part in {"quality", "all"}:
        _quality(arguments)
    if arguments.part in {"speed", "all"}:
        _speed(arguments)
    if arguments.part in {"report", "all"}:
        print(report.block(arguments.cache))
    if arguments.part == "all" or (arguments.part == "report" and arguments.write):
        report.write(arguments.cache)
    if arguments.part == "answers":
        for command in (("-m", "benchmarks.extractive"), ("-m", "benchmarks.refusal"), (str(_HERE / "dense.py"),)):
            subprocess.run([sys.executable, *command, "--data", arguments.data], check=True)
    return 0


def _quality(arguments: argparse.Namespace) -> None:
    plan = quality.Plan(
        data=arguments.data,
        cache=arguments.cache,
        checkouts=arguments.checkouts,
        only=tuple(arguments.only),
        collections=tuple(arguments.package),
        options={"view": arguments.view} if arguments.view else {},
        details=arguments.details,
    )
    rows = []
    semble = _semble(arguments)
    with contextlib.ExitStack() as stack:
        asker = stack.enter_context(peer.Asker(semble)) if semble else None
        for row in quality.measure(plan, asker):
            rows.append(row)
            print(f"{row.work} {row.tool} {row.part}", file=sys.stderr, flush=True)
    print(quality.table(rows))
    if plan.only == _WORKS and not plan.collections and not plan.options:
        report.keep("quality", _command(arguments, "quality"), rows, arguments.cache)


def _speed(arguments: argparse.Namespace) -> None:
    large = speed.default_large() if arguments.large == [] else arguments.large or []
    measures = []
    for one in speed.measure(arguments.data, arguments.cache, _semble(arguments), large):
        measures.append(one)
        print(one.name, file=sys.stderr, flush=True)
    print(speed.table(measures))
    report.keep("speed", _command(arguments, "speed"), measures, arguments.cache)


def _semble(arguments: argparse.Namespace) -> peer.Semble | None:
    if arguments.semble == "none":
        return None
    # Not resolved: the link is what makes it the Python of its environment.
    python = Path(arguments.semble).absolute() if arguments.semble else peer.environment(arguments.cache)
    return peer.Semble(python, peer.model_folder(arguments.semble_model, arguments.cache), arguments.cache)


def _command(arguments: argparse.Namespace, part: str) -> str:
    """Write the command without the paths of this machine."""
    options = ["--data DATA"]
    if part == "quality" and arguments.checkouts:
        options.append("--checkouts CHECKOUTS")
    if part == "speed" and arguments.large is not None:
        options.append("--large" if arguments.large == [] else "--large FOLDER")
    if arguments.semble == "none":
        options.append("--semble none")
    return f"python -m benchmarks {part} {' '.join(options)}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    for name in ("all", "quality", "speed", "report", "answers"):
        part = parts.add_parser(name)
        default = user_cache_path("openbook-benchmarks", appauthor=False)
        part.add_argument("--cache", type=Path, default=default, help=f"folder for packages; default {default.name}")
        if name != "report":
            part.add_argument("--data", type=Path, required=True, help="folder with the question sets")
        if name in {"all", "quality", "speed"}:
            part.add_argument("--semble", help="Python that has semble, or `none`; by default one is made in the cache")
            part.add_argument("--semble-model", type=Path, default=peer.SHIPPED_MODEL, help="static model for semble")
        if name in {"all", "quality"}:
            _add_quality(part)
        if name in {"all", "speed"}:
            part.add_argument(
                "--large",
                type=Path,
                nargs="*",
                metavar="FOLDER",
                help="measure a large library, too: these folders, or the standard library and installed packages",
            )
    part = parts.choices["report"]
    part.add_argument("--write", action="store_true", help="put it into docs/")
    return parser


def _add_quality(part: argparse.ArgumentParser) -> None:
    part.add_argument("--checkouts", type=Path, help="folder with the checkouts `flask` and `requests` for swe-qa")
    part.add_argument("--only", nargs="+", choices=_WORKS, default=_WORKS, metavar="WORK", help=", ".join(_WORKS))
    part.add_argument("--package", nargs="+", default=[], metavar="NAME", help="only collections of these names")
    part.add_argument("--details", action="store_true", help="a line for each package")
    part.add_argument("--view", choices=("auto", "files", "passages"))


if __name__ == "__main__":
    sys.exit(main())
