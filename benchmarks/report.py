"""What `docs/benchmarks.md` shows of the last runs: one block of tables, with plots."""

from __future__ import annotations

import datetime
import json
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import peer, plots, quality, speed

DOCS = Path(__file__).resolve().parents[1] / "docs"

BEGIN = "<!-- Made by `python -m benchmarks report --write`: begin -->"
END = "<!-- Made by `python -m benchmarks report --write`: end -->"

QUALITY_SHOWN = "What the two find in each set of questions, as bars"
SPEED_SHOWN = "What semble needs in each row, divided by what Openbook needs, as bars"


class NothingMeasuredError(Exception):
    """No complete run is kept in the cache."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A complete run of one part, as the cache keeps it."""

    date: str
    machine: str
    versions: str
    command: str
    lines: list[dict[str, Any]]


def keep(part: str, command: str, lines: Iterable[quality.Row | speed.Measure], cache: Path) -> None:
    """Remember a complete run."""
    kept = Kept(
        datetime.datetime.now(datetime.UTC).date().isoformat(),
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        ", ".join(f"{name} {version(name)}" for name in ("openbook", "numpy", "tokenizers", "tree-sitter"))
        + f", semble {peer.VERSION}",
        command,
        [asdict(line) for line in lines],
    )
    (cache / f"{part}.json").write_text(json.dumps(asdict(kept), indent=1), encoding="utf-8")


def block(cache: Path) -> str:
    """Write the tables of the last complete runs as Markdown.

    Raises:
        NothingMeasuredError: No part has been run as a whole.
    """
    parts = []
    if kept := _read("quality", cache):
        rows = [row for row in _rows(kept) if ": " not in row.work]
        parts += ["### Quality", _caption(kept), quality.table(rows), f"![{QUALITY_SHOWN}]({plots.QUALITY})"]
    if kept := _read("speed", cache):
        measures = [speed.Measure(**line) for line in kept.lines]
        parts += ["### Speed", _caption(kept), speed.table(measures), f"![{SPEED_SHOWN}]({plots.SPEED})"]
    if not parts:
        raise NothingMeasuredError("nothing is kept; run `python -m benchmarks quality` first")
    return "\n\n".join(parts)


def write(cache: Path, docs: Path = DOCS) -> None:
    """Put the block between the two marks of `benchmarks.md`, or at its end, and the plots beside it.

    Raises:
        NothingMeasuredError: No part has been run as a whole.
    """
    page = docs / "benchmarks.md"
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not begin:
        before, after = f"{text.rstrip()}\n\n", "\n"
    page.write_text(f"{before}{BEGIN}\n\n{block(cache)}\n\n{END}{after}", encoding="utf-8")
    plots.write(docs)


def _read(part: str, cache: Path) -> Kept | None:
    file = cache / f"{part}.json"
    return Kept(**json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else None


def _rows(kept: Kept) -> list[quality.Row]:
    return [quality.Row(**line) for line in kept.lines]


def _caption(kept: Kept) -> str:
    return f"{kept.date}, {kept.machine}; {kept.versions}.\n\n    {kept.command}"
