"""Joins the lines of table cells, so that each row of a table is one line. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from openbook.sources.readers.pdf_glyphs import HYPHEN
from openbook.sources.readers.pdf_layout import HEADING_FACTOR
from openbook.sources.readers.pdf_pages import PageLine, Row

# A table has rows of at least three cells, of which two are below those of another row. Columns of text are longer than
# cells.
_MIN_CELLS, _MIN_ALIGNED, _MAX_LINES = 3, 2, 8

# More cells would take quadratic time.
_MAX_CELLS = 100

# White space between the lines of a cell, in font heights. That between a caption and a table is larger.
_MAX_GAP = 0.5
# Tolerance in points: lines may overlap a little.
_TOLERANCE = 2.0

_Cells = list[list[PageLine]]


def with_whole_rows(rows: Sequence[Row]) -> list[Row]:
    """Join the lines of each table row whose cells have several lines, in the order of the page.

    Most programs store a table cell by cell: below a line is the next one of the cell, and above and to the right of it
    is the next cell.
    """
    groups = list(_groups(rows))
    cells = [cells for cells, _ in groups]
    whole: list[Row] = []
    for at, (row_cells, lines) in enumerate(groups):
        beside = (cells[other] for other in (at - 1, at + 1) if 0 <= other < len(cells))
        is_joined = _is_of_several_lines(row_cells) and any(_are_aligned(row_cells, other) for other in beside)
        whole += [tuple(map(_joined, row_cells))] if is_joined else lines
    return whole


def _groups(rows: Sequence[Row]) -> Iterator[tuple[_Cells, list[Row]]]:
    """Yield the lines that may be one row of a table, with their cells."""
    cells: _Cells = []
    lines: list[Row] = []
    for row in rows:
        more = _with_line(cells, row)
        if more is None:
            yield cells, lines
            cells, lines = [[part] for part in row], [row]
        else:
            cells, lines = more, [*lines, row]
    if lines:
        yield cells, lines


def _with_line(cells: _Cells, row: Row) -> _Cells | None:
    """Return the cells of a row with the parts of another line; None if it is not of the row."""
    if not cells:
        return [[part] for part in row]
    if len(cells) > _MAX_CELLS:
        return None
    cells = [*cells[:-1], list(cells[-1])]
    for part in row:
        if not _is_as_large(cells[0][0], part):
            return None
        if _is_below(cells[-1][-1], part) and (len(cells) == 1 or part.left > _right_of(cells[-2])):
            cells[-1].append(part)
        elif _is_beside(cells, part):
            cells.append([part])
        else:
            return None
    return cells


def _is_as_large(line: PageLine, part: PageLine) -> bool:
    """Return whether a part is as large as a line; ticks and other signs may have any size."""
    is_sign = not any(map(str.isalnum, part.text))
    return is_sign or max(line.height, part.height) <= HEADING_FACTOR * min(line.height, part.height)


def _is_below(line: PageLine, part: PageLine) -> bool:
    gap = line.bottom - part.top
    is_next = -_MAX_GAP * part.height < gap < _MAX_GAP * part.height
    return is_next and part.left < line.right and line.left < part.right and part.angle == line.angle


def _is_beside(cells: _Cells, part: PageLine) -> bool:
    top = max(line.top for line in chain.from_iterable(cells))
    bottom = min(line.bottom for line in chain.from_iterable(cells))
    is_level = part.bottom < top + part.height and part.top > bottom - part.height
    return is_level and part.left > _right_of(cells[-1])


def _right_of(cell: list[PageLine]) -> float:
    return max(line.right for line in cell) - _TOLERANCE


def _is_of_several_lines(cells: _Cells) -> bool:
    """Return whether cells have several lines, and are not the columns of a table that is stored by columns."""
    counts = {len(cell) for cell in cells}
    return len(cells) >= _MIN_CELLS and 1 < max(counts) <= _MAX_LINES and len(counts) > 1


def _are_aligned(cells: _Cells, others: _Cells) -> bool:
    if len(others) < _MIN_CELLS or max(map(len, others)) > _MAX_LINES:
        return False
    places = [(min(line.left for line in other), max(line.right for line in other)) for other in others]
    shared = (any(line.left < right and left < line.right for line in cell for left, right in places) for cell in cells)
    return sum(shared) >= _MIN_ALIGNED


def _joined(cell: list[PageLine]) -> PageLine:
    """Return the lines of a cell as one."""
    text = " ".join(line.text for line in cell).replace(f"{HYPHEN} ", HYPHEN)
    right = max(line.right for line in cell)
    return replace(
        cell[0],
        text=text,
        left=min(line.left for line in cell),
        right=right,
        reach=right,
        bottom=cell[-1].bottom,
        is_bold=all(line.is_bold for line in cell),
    )
