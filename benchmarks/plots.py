"""Plots of the tables of two pages, drawn from the pages themselves: `python -m benchmarks.plots`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = ("benchmarks.md", "benchmarks-libraries.md")
QUALITY, SPEED, GROWTH = "benchmarks.svg", "benchmarks-speed.svg", "benchmarks-growth.svg"
GROWTH_SHOWN = "Processor time of a warm search by the number of chunks, as curves"

_COLOURS = {"openbook": "#0b6e4f", "semble": "#b9770e"}
_ENGINES = {"SQLite": "#0b6e4f", "LanceDB": "#1f5fa8", "LanceDB, S3": "#b9770e"}

# In pixels.
_WIDTH, _LEFT, _RIGHT, _TOP = 800, 345, 50, 46
_BAR, _GAP = 13, 12


class Group(NamedTuple):
    """Bars that belong together, with their label."""

    label: str
    bars: dict[str, float]


def write(docs: Path = DOCS) -> None:
    """Write a plot beside the pages for each of their tables that is there."""
    pages = [(docs / page).read_text(encoding="utf-8") for page in PAGES if (docs / page).is_file()]
    for name, picture in draw("\n".join(pages)).items():
        (docs / name).write_text(picture, encoding="utf-8")


def draw(page: str) -> dict[str, str]:
    """Return the plots of the text of pages by file name, as SVG."""
    quality = [
        Group(row["work"], {tool: float(row[f"{tool}, all"]) for tool in _COLOURS})
        for row in _table(page, "Quality")
        if row["figure"] == "NDCG@10" and row["semble, all"]
    ]
    speed = [
        Group(row["what"], {"semble": float(row["semble / openbook"])})
        for row in _table(page, "Speed")
        if row["semble / openbook"] and "chunks" not in row["what"]
    ]
    plots = {
        QUALITY: ("NDCG@10 by file: higher is better", quality, 1.0),
        SPEED: ("semble's time, memory or disk, divided by Openbook's: above 1, Openbook needs less", speed, 4.0),
    }
    drawn = {name: _bars(title, groups, most) for name, (title, groups, most) in plots.items() if groups}
    if rows := list(_table(page, "Growth")):
        drawn[GROWTH] = _curves("Processor time of a warm search (ms, median), by chunks", rows, "p50, CPU ms")
    return drawn


def _table(page: str, heading: str) -> Iterator[dict[str, str]]:
    """Yield the rows of the first table below a heading, by the names of its columns."""
    lines = iter(page.partition(f"\n### {heading}\n")[2].split("\n"))
    head = next((_cells(line) for line in lines if line.startswith("|")), [])
    next(lines, None)  # the rule below the head
    for line in lines:
        if not line.startswith("|"):
            return
        yield dict(zip(head, _cells(line), strict=True))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _bars(title: str, groups: Sequence[Group], most: float) -> str:
    """Draw horizontal bars from 0 to at least `most`."""
    most = max(most, *(value for group in groups for value in group.bars.values()))
    scale = (_WIDTH - _LEFT - _RIGHT) / most
    height = _TOP + sum(_BAR * len(group.bars) + _GAP for group in groups) + 8
    parts = [f'<rect width="{_WIDTH}" height="{height}" fill="white"/>', _label(12, 24, title, size=14)]
    parts += [_rule(_LEFT + tick * scale, height) for tick in (0, 1) if tick <= most]
    top = _TOP
    for group in groups:
        middle = top + _BAR * len(group.bars) / 2 + 4
        parts.append(_label(_LEFT - 8, middle, group.label, anchor="end"))
        for tool, value in group.bars.items():
            name = f"{value:.3f} {tool}" if len(group.bars) > 1 else f"{value:g}"
            parts.append(
                f'<rect x="{_LEFT}" y="{top}" width="{value * scale:.1f}" height="{_BAR - 1}" fill="{_COLOURS[tool]}"/>'
            )
            inside = value * scale > (_WIDTH - _LEFT) / 2
            at, anchor, colour = (-6, "end", "white") if inside else (6, "start", "#333333")
            parts.append(_label(_LEFT + value * scale + at, top + 10, name, anchor=anchor, colour=colour, size=11))
            top += _BAR
        top += _GAP
    return _picture(height, parts)


def _curves(title: str, rows: Sequence[dict[str, str]], column: str) -> str:
    """Draw a line for each engine, both axes logarithmic, from 1,000 chunks and 1 on."""
    left, right, top, bottom = 60, 40, 50, 300
    points = [(row["engine"], _number(row["chunks"]), _number(row[column])) for row in rows]
    widest, highest = (max(values) for values in zip(*((chunks, value) for _, chunks, value in points), strict=True))
    decades = [max(4, math.ceil(math.log10(widest))), max(1, math.ceil(math.log10(highest)))]

    def place(chunks: float, value: float) -> tuple[float, float]:
        x = left + (_WIDTH - left - right) * (math.log10(chunks) - 3) / (decades[0] - 3)
        return x, bottom - (bottom - top) * max(math.log10(value), 0) / decades[1]

    parts = [f'<rect width="{_WIDTH}" height="{bottom + 30}" fill="white"/>', _label(12, 24, title, size=14)]
    for decade in range(3, decades[0] + 1):
        x, _ = place(10**decade, 1)
        parts.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" stroke="#dddddd"/>')
        parts.append(_label(x, bottom + 18, f"{10**decade:,}", anchor="middle"))
    for decade in range(decades[1] + 1):
        _, y = place(1000, 10**decade)
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{_WIDTH - right}" y2="{y:.1f}" stroke="#dddddd"/>')
        parts.append(_label(left - 8, y + 4, f"{10**decade:,}", anchor="end"))
    for number, (engine, colour) in enumerate(_ENGINES.items()):
        places = [place(chunks, value) for name, chunks, value in points if name == engine]
        if not places:
            continue
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in places]
        parts.append(_label(left + 12, top + 16 * (number + 1), engine, colour=colour))
    return _picture(bottom + 30, parts)


def _number(cell: str) -> float:
    return float(cell.replace(",", ""))


def _picture(height: int, parts: Sequence[str]) -> str:
    frame = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    body = "\n".join(parts)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {frame} font-family="sans-serif">\n{body}\n</svg>\n'


def _rule(x: float, height: float) -> str:
    return f'<line x1="{x:.1f}" y1="{_TOP - 6}" x2="{x:.1f}" y2="{height - 8}" stroke="#bbbbbb"/>'


def _label(x: float, y: float, text: str, *, anchor: str = "start", colour: str = "#333333", size: int = 12) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{text}</text>'


if __name__ == "__main__":
    write()
