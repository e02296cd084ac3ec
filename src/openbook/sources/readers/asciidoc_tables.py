"""Reads the tables of AsciiDoc: which lines make a row, and which row is the header."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from openbook.entries import END_OF_HEAD

_BORDER = re.compile(r"\|={3,}\s*")
_ATTRIBUTES = re.compile(r"\[(?!\[)(?P<said>[^\n]*)\]\s*")
# Of the line of attributes: `[cols="1,3*<", options="header"]`, `[%header%autowidth]`.
_COLUMNS = re.compile(r"\bcols\s*=\s*(?:\"(?P<quoted>[^\"]*)\"|(?P<bare>[^\s,\]]+))")
_REPEATED = re.compile(r"\s*(?P<times>\d+)\*")
_HEADER = re.compile(r"(?:%|\bopt(?:ion)?s\s*=[^=]*?\b)header\b")
_HAS_OTHER_CELLS = re.compile(r"\b(?:format|separator)\s*=")
# Only one of two rows may be shown.
_CONDITION = re.compile(r"(?:ifn?def|ifeval|endif)::")
# A cell may span columns or rows, be repeated, and have a place and a style: `2+^|`, `.3+|`, `3*|`, `a|`.
_CELL = re.compile(
    r"(?:(?<!\S)(?:(?P<across>\d+)?(?:\.(?P<down>\d+))?(?P<sign>[+*]))?[<^>]?(?:\.[<^>])?[adehlmsv]?)?(?<!\\)\|"
)


@dataclass(frozen=True, slots=True)
class Table:
    """A table. Lines are counted from 0, all inclusive."""

    first: int
    """Its upper border."""
    last: int
    """Its lower border."""
    rows: Sequence[tuple[int, int]]
    """The first and the last line of each row; none if they do not fit the columns, or depend on conditions."""
    columns: int
    has_header: bool


def tables_in(lines: Sequence[str], is_listing: Callable[[int], bool]) -> Iterator[Table]:
    """Yield the tables between `|===`. Without `cols`, the first line shows how many columns there are.

    Example:
        >>> lines = ["|===", "|a |b", "", "|c", "|d", "|==="]
        >>> [(each.rows, each.has_header) for each in tables_in(lines, set().__contains__)]
        [([(1, 1), (3, 4)], True)]
    """
    borders = [at for at, line in enumerate(lines) if _BORDER.fullmatch(line) and not is_listing(at)]
    for first, last in zip(borders[::2], borders[1::2], strict=False):
        above = _ATTRIBUTES.fullmatch(lines[first - 1]) if first else None
        said = above["said"] if above else ""
        columns = _columns_of(said) or _cells(lines[first + 1])
        if _HAS_OTHER_CELLS.search(said) or not columns:
            continue
        rows = _rows(lines, range(first + 1, last), columns, is_listing)
        is_set_off = bool(rows) and rows[0] == (first + 1, first + 1) and not lines[first + 2].strip()
        has_header = _HEADER.search(said) is not None or (is_set_off and "noheader" not in said)
        yield Table(first, last, rows, columns, bool(rows) and has_header)


def with_rows(lines: Sequence[str], tables: Sequence[Table]) -> list[str]:
    """Return lines without borders of tables, with a rule below headers as in Markdown, and with rows marked.

    The first line of a row of several lines is the head of an entry, and the other ones are indented. A blank line in a
    table has the mark alone. A header in one line with no blank line below moves to the line of the border. `lines`
    have no other markup.
    """
    shown = list(lines)
    for table in tables:
        shown[table.first] = shown[table.last] = ""
        for first, last in table.rows:
            cells = [_CELL.sub("|", line.rstrip()) for line in lines[first : last + 1]]
            shown[first] = cells[0].lstrip() + END_OF_HEAD * (first < last)
            shown[first + 1 : last + 1] = [f" {line}" for line in cells[1:]]
        if table.has_header:
            _write_header(shown, table)
        if table.rows:
            for place in range(table.rows[0][0], table.rows[-1][1]):
                shown[place] = shown[place] if shown[place].strip() else END_OF_HEAD
    return shown


def _write_header(shown: list[str], table: Table) -> None:
    first, last = table.rows[0]
    behind = table.rows[1][0] if len(table.rows) > 1 else table.last
    header = " ".join(" ".join(shown[first : last + 1]).split())
    start = first if behind - first > 1 else table.first
    shown[first:behind] = [""] * (behind - first)
    shown[start : start + 2] = [header, "|---" * table.columns + "|"]


def _columns_of(attributes: str) -> int:
    found = _COLUMNS.search(attributes)
    if found is None:
        return 0
    said = re.split("[,;]", found["quoted"] or found["bare"] or "")
    if said[0].isdecimal() and len(said) == 1:
        return int(said[0])
    times = [int(each["times"]) if (each := _REPEATED.match(column)) else "*" not in column for column in said]
    return sum(times) if all(times) else 0


def _cells(line: str) -> int:
    """Return how many columns the cells fill that begin in a line."""
    return sum(across for across, _ in _spans(line))


def _spans(line: str) -> Iterator[tuple[int, int]]:
    """Yield how many columns and rows each cell has that begins in a line; a repeated one counts as several columns."""
    for cell in _CELL.finditer(line):
        yield int(cell["across"] or 1), int(cell["down"] or 1)


def _rows(
    lines: Sequence[str], within: range, columns: int, is_listing: Callable[[int], bool]
) -> list[tuple[int, int]]:
    """Return the lines of rows; none if a row does not end where a line does."""
    rows: list[tuple[int, int]] = []
    filled = columns
    held: list[int] = []  # columns of the rows below that are filled by cells of several rows
    if any(_CONDITION.match(lines[place]) for place in within):
        return []
    for place in within:
        cells = [] if is_listing(place) else list(_spans(lines[place]))
        if cells and filled == columns:
            rows.append((place, place))
            filled = held.pop(0) if held else 0
        for across, down in cells:
            filled += across
            held += [0] * (down - 1 - len(held))
            held[: down - 1] = [each + across for each in held[: down - 1]]
        if filled > columns:
            return []
        if rows and lines[place].strip():
            rows[-1] = (rows[-1][0], place)
    return rows
