"""Tables of reStructuredText, in both of its notations, as rows of cells."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

_SIMPLE = re.compile(r"\s*=+(?: +=+)+$")
_RULE = re.compile(r"\s*-+(?: +-+)*$")
_GRID = re.compile(r"\s*\+(?:[-=]+\+)+$")


def read_table(rows: Sequence[str], first: int) -> list[list[str] | None] | None:
    r"""Read the table that begins at a line: for each of its lines a row of cells, None for one that adds none.

    A row of several lines stands at its first line. None where no table begins, and for one whose cells go over
    several rows or columns.

    Example:
        >>> read_table(["== ===", "a  b", "== ===", "1  two", "== ==="], 0)
        [None, ['a', 'b'], None, ['1', 'two'], None]
    """
    if _SIMPLE.match(rows[first]):
        return _simple(rows, first)
    return _grid(rows, first) if _GRID.match(rows[first]) else None


def _simple(rows: Sequence[str], first: int) -> list[list[str] | None] | None:
    border = rows[first]
    columns = [(run.start(), run.end()) for run in re.finditer("=+", border)]
    made: list[list[str] | None] = [None]
    last: list[str] | None = None
    borders = 1
    for at in range(first + 1, len(rows)):
        row = rows[at]
        if row == border:
            borders += 1
            made.append(None)
            last = None
            if at + 1 >= len(rows) or not rows[at + 1]:
                return made if borders > 1 and any(made) else None
            continue
        if _RULE.match(row) or not row:
            if not row and (at + 1 >= len(rows) or not rows[at + 1]):
                return None  # it does not end
            made.append(None)
            continue
        starts = [start for start, _ in columns]
        cells = [row[start:end].strip() for start, end in zip(starts, [*starts[1:], None], strict=True)]
        if any(row[end:start].strip() for (_, end), (start, _) in itertools.pairwise(columns)):
            return None  # a cell over several columns
        if last is not None and not cells[0]:
            last[:] = [f"{before} {more}".strip() for before, more in zip(last, cells, strict=True)]
            made.append(None)
        else:
            last = cells
            made.append(cells)
    return None


def _grid(rows: Sequence[str], first: int) -> list[list[str] | None] | None:
    marks = [at for at, sign in enumerate(rows[first]) if sign == "+"]
    made: list[list[str] | None] = [None]
    last: list[str] | None = None
    for at in range(first + 1, len(rows)):
        row = rows[at]
        if _GRID.match(row):
            if [place for place, sign in enumerate(row) if sign == "+"] != marks:
                return None
            last = None
            made.append(None)
        elif len(row) == len(rows[first]) and all(row[mark] == "|" for mark in marks):
            cells = [row[begin + 1 : end].strip() for begin, end in itertools.pairwise(marks)]
            if last is None:
                last = cells
                made.append(cells)
            else:
                last[:] = [f"{before} {more}".strip() for before, more in zip(last, cells, strict=True)]
                made.append(None)
        elif not row:
            return made if any(made) else None
        else:
            return None
    return made if any(made) else None
