"""What `docs/benchmarks.md` shows of the last runs: one block of tables, and a plot."""

from __future__ import annotations

import datetime
import json
import math
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import peer, quality, speed

DOCS = Path(__file__).resolve().parents[1] / "docs"
PLOT = "benchmarks.svg"

BEGIN = "<!-- Made by `python -m benchmarks report --write`: begin -->"
END = "<!-- Made by `python -m benchmarks report --write`: end -->"

_COLOURS = {"openbook": "#0b6e4f", "semble": "#8a5a00"}

# Of the plot, in pixels.
_WIDTH, _HEIGHT, _MARGIN = 800, 400, 56


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
        parts += ["### Quality", _caption(kept), quality.table(rows), f"![Quality against time per query]({PLOT})"]
    if kept := _read("speed", cache):
        parts += ["### Speed", _caption(kept), speed.table([speed.Measure(**line) for line in kept.lines])]
    if not parts:
        raise NothingMeasuredError("nothing is kept; run `python -m benchmarks quality` first")
    return "\n\n".join(parts)


def write(cache: Path, docs: Path = DOCS) -> None:
    """Put the block between the two marks of `benchmarks.md`, or at its end, and the plot beside it.

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
    if kept := _read("quality", cache):
        (docs / PLOT).write_text(plot(_rows(kept)), encoding="utf-8")


def _read(part: str, cache: Path) -> Kept | None:
    file = cache / f"{part}.json"
    return Kept(**json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else None


def _rows(kept: Kept) -> list[quality.Row]:
    return [quality.Row(**line) for line in kept.lines]


def _caption(kept: Kept) -> str:
    return f"{kept.date}, {kept.machine}; {kept.versions}.\n\n    {kept.command}"


def plot(rows: Sequence[quality.Row]) -> str:
    """Draw NDCG@10 against the median time of a search, a point for each tool and work, as SVG."""
    points = [row for row in rows if row.part == "all" and row.query_ms and "NDCG@10" in row.figures]
    points = [row for row in points if ": " not in row.work]
    times = [row.query_ms for row in points] or [1.0]
    worths = [row.figures["NDCG@10"] for row in points] or [0.0, 1.0]
    left, right = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)) + 0.01)
    low, high = math.floor(10 * min(worths)) / 10, math.ceil(10 * max(worths)) / 10

    def x(milliseconds: float) -> float:
        return _MARGIN + (math.log10(milliseconds) - left) / (right - left) * (_WIDTH - 2 * _MARGIN)

    def y(worth: float) -> float:
        return _HEIGHT - _MARGIN - (worth - low) / max(high - low, 0.1) * (_HEIGHT - 2 * _MARGIN)

    parts = [f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>']
    for power in range(left, right + 1):
        parts += [_rule(x(10**power), _MARGIN, x(10**power), _HEIGHT - _MARGIN)]
        parts += [_label(x(10**power), _HEIGHT - _MARGIN + 18, f"{10**power:g}", "middle")]
    for tenth in range(round(10 * low), round(10 * high) + 1):
        parts += [_rule(_MARGIN, y(tenth / 10), _WIDTH - _MARGIN, y(tenth / 10))]
        parts += [_label(_MARGIN - 8, y(tenth / 10) + 4, f"{tenth / 10:.1f}", "end")]
    parts += [_label(_WIDTH / 2, _HEIGHT - 14, "median time of a search in one process, ms", "middle")]
    parts += [_label(_MARGIN, 24, "NDCG@10", "middle")]
    for row in points:
        at, colour = (x(row.query_ms), y(row.figures["NDCG@10"])), _COLOURS.get(row.tool, "#555555")
        parts.append(f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="5" fill="{colour}"/>')
        # To the left of the point for the others, so that labels of points at one height stay apart.
        beside, anchor = (9, "start") if row.tool == "openbook" else (-9, "end")
        parts.append(_label(at[0] + beside, at[1] + 4, f"{row.tool}: {row.work}", anchor, colour))
    frame = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"'
    body = "\n".join(parts)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {frame} font-family="sans-serif" font-size="12">\n{body}\n</svg>\n'


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#dddddd"/>'


def _label(x: float, y: float, text: str, anchor: str, colour: str = "#333333") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{text}</text>'
