"""Reads spreadsheets: one line per row, with column names, and anchors of sheet and cells."""

from __future__ import annotations

import datetime
import io
from collections.abc import Iterator, Sequence
from typing import Any

from openbook.errors import SkippedFileError
from openbook.sources.readers.composing import Composer
from openbook.sources.readers.reading import Reading
from openbook.sources.readers.zipped import ZipPackage

_MAX_ROWS = 50_000
"""Limit per workbook. A row is a line of about 100 characters, so this is 5 MB of text; more is a database."""

_MAX_CELLS = 2_000_000
_MAX_COLUMNS = 1_000

# Rows per anchor, and so per chunk: one in small workbooks, so that each row can be cited separately.
_FEW_ROWS, _ROWS_TOGETHER = 2_000, 10


def read_spreadsheet(raw: bytes, path: str, language: str) -> Reading:
    """Read a workbook in the format of Excel (XLSX, XLS) or OpenDocument (ODS).

    The sheet name is a heading. If the first row has column names, each row is a line such as `City: Bonn | People:
    330000`; else it is a line of its cells. Anchors are `Sheet1!A2:C2`, with ten rows each in a workbook of more than
    2,000. Values are as stored: formulas as their last result, dates as 2024-03-01. Hidden sheets are included; charts,
    images and comments are not.
    """
    if language != "xls":
        ZipPackage(raw, path)  # rejects zip bombs
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(raw))
        sheets = [(name, _cells(workbook, name)) for name in workbook.sheet_names]
    except PasswordError as exc:
        raise SkippedFileError(path, "encrypted; save it without a password") from exc
    except (CalamineError, ValueError, OSError, OverflowError) as exc:
        raise SkippedFileError(path, f"damaged: {exc}"[:200]) from exc
    return _compose(sheets, language)


def _cells(workbook: Any, name: str) -> tuple[tuple[int, int], list[list[Any]]]:
    """Return the first used cell of a sheet, and its rows; no rows for a chart sheet."""
    sheet = workbook.get_sheet_by_name(name)
    if sheet.start is None or sheet.width > _MAX_COLUMNS or sheet.width * sheet.height > _MAX_CELLS:
        return (0, 0), []
    return sheet.start, sheet.to_python(skip_empty_area=True, nrows=_MAX_ROWS + 1)


def _compose(sheets: Sequence[tuple[str, tuple[tuple[int, int], list[list[Any]]]]], language: str) -> Reading:
    composer = Composer()
    left = _MAX_ROWS
    together = 1 if sum(len(rows) for _, (_, rows) in sheets) <= _FEW_ROWS else _ROWS_TOGETHER
    cut, empty = [], []
    for name, ((first_row, first_column), rows) in sheets:
        if not rows:
            empty.append(name)
            continue
        if len(rows) > left:
            cut.append(name)
        if left:
            _add_rows(composer, name, (first_row, first_column), rows[:left], together)
        left -= min(left, len(rows))
    remarks = [f"only the first {_MAX_ROWS:,} rows are read; not all of {', '.join(cut)}"] if cut else []
    remarks += [f"nothing read of sheets without cells, or too wide: {', '.join(empty)}"] if empty else []
    return composer.reading(language, remarks)


def _add_rows(
    composer: Composer, sheet: str, start: tuple[int, int], rows: Sequence[Sequence[Any]], together: int
) -> None:
    titles = _titles(rows)
    last = column_letters(start[1] + max(map(len, rows)) - 1)
    first = column_letters(start[1])
    composer.anchor(f"{sheet}!{first}{start[0] + 1}:{last}{start[0] + 1}")
    composer.heading(sheet, 1)
    composer.row(_shown(rows[0], ()))
    numbered = ((start[0] + place + 1, list(_shown(row, titles))) for place, row in enumerate(rows) if place)
    shown = [(number, cells) for number, cells in numbered if cells]
    for begun in range(0, len(shown), together):
        group = shown[begun : begun + together]
        composer.anchor(f"{sheet}!{first}{group[0][0]}:{last}{group[-1][0]}")
        composer.part()
        for _, cells in group:
            composer.row(cells)
    composer.part()


def _titles(rows: Sequence[Sequence[Any]]) -> tuple[str, ...]:
    """Return the column names if the first row has them: only text, all different, with rows below."""
    head = [str(value).strip() if isinstance(value, str) else None for value in rows[0]]
    named = [title for title in head if title]
    is_header = None not in head and 1 < len(named) == len(set(named)) and len(rows) > 1
    return tuple(title or "" for title in head) if is_header else ()


def _shown(row: Sequence[Any], titles: Sequence[str]) -> Iterator[str]:
    for place, value in enumerate(row):
        text = _written(value)
        title = titles[place] if place < len(titles) else ""
        if text or (not titles and any(map(_written, row))):
            yield f"{title}: {text}" if title else text


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat(" ") if isinstance(value, datetime.datetime) else value.isoformat()
    return " ".join(str(value).split())


def column_letters(column: int) -> str:
    """Return the letters of a column, which counts from 0.

    Example:
        >>> column_letters(0), column_letters(27)
        ('A', 'AB')
    """
    letters = ""
    column += 1
    while column:
        column, place = divmod(column - 1, 26)
        letters = chr(ord("A") + place) + letters
    return letters
