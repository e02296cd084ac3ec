"""Renders documents: Markdown, reStructuredText and tables as HTML, with the cited lines marked."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape

import nh3

from openbook.server.rendering import render_document, visible
from openbook.server.rst_markdown import rst_as_markdown
from openbook.sources.readers.composing import CELL_BORDER
from openbook.text import LineIndex
from openbook.types import Document

SEPARATED = {"csv": ",", "tsv": "\t"}
WORKBOOKS = frozenset({"xlsx", "xls", "ods"})

_SHEET = re.compile(r"(?P<sheet>.+)!\$?[A-Z]+\d+:\$?[A-Z]+\d+")
_TITLED = re.compile(r"(?P<title>[^:|]{1,200}): (?P<value>.*)", re.DOTALL)

# As many cells as a browser lays out without delay. The rows around the cited ones are shown.
_MAX_CELLS = 20_000
_MAX_COLUMNS = 200

_TAGS = set("div h3 p table tbody td th thead tr".split())

Row = tuple[int, int, Sequence[str]]
"""First and last line, from 1, and the cells."""


def separated_html(text: str, delimiter: str, first: int, last: int) -> str:
    r"""Return CSV as an HTML table, lines `first` to `last` with the class `cited`; empty if it is not CSV.

    Example:
        >>> separated_html("city,people\nBonn,330000\n", ",", 2, 2).count("<td>")
        2
        >>> separated_html("one\ntwo\n", ",", 1, 1)
        ''
    """
    try:
        rows = list(_separated(text, delimiter))
    except csv.Error:  # a NUL, or a field above 131,072 characters
        return ""
    if len(rows) < 2 or max(len(cells) for *_, cells in rows) < 2:
        return ""
    return _clean(_table(rows[1:], rows[0], first, last))


def _separated(text: str, delimiter: str) -> Iterator[Row]:
    lines = text.splitlines(keepends=True)
    dialect = csv.excel()
    head = lines[0] if lines else ""
    # Programs write semicolons in locales with a decimal comma.
    dialect.delimiter = ";" if delimiter == "," and head.count(";") > head.count(",") else delimiter
    reader, before = csv.reader(lines, dialect), 0
    for cells in reader:
        if cells:
            yield before + 1, reader.line_num, cells
        before = reader.line_num


def workbook_html(document: Document, first: int, last: int) -> str:
    """Return the sheets of a workbook as tables below their names, with the cited rows in the class `cited`."""
    lines = LineIndex(document.text)
    starts: list[tuple[str, int]] = []
    for anchor in document.anchors:
        named = _SHEET.fullmatch(anchor.label)
        sheet = named["sheet"] if named else ""
        if sheet and (not starts or starts[-1][0] != sheet):
            starts.append((sheet, lines.line_at(anchor.start_char)))
    rows = document.text.split("\n")
    parts = []
    for at, (sheet, begin) in enumerate(starts):
        end = starts[at + 1][1] if at + 1 < len(starts) else len(rows) + 1
        parts.append(f"<h3>{escape(sheet)}</h3>\n{_sheet(rows, begin, end, first, last)}")
    return _clean("\n".join(parts))


def _sheet(rows: Sequence[str], begin: int, end: int, first: int, last: int) -> str:
    """Return one sheet as a table. Its first line is its name, which becomes the heading."""
    split = [(number, rows[number - 1].split(CELL_BORDER)) for number in range(begin + 1, end) if rows[number - 1]]
    if not split:
        return ""
    titled = [_TITLED.fullmatch(cell) for _, cells in split[1:] for cell in cells]
    # The first row has only the titles, which each other row repeats.
    titles = split[0][1]
    if titled and all(found and found["title"] in titles for found in titled):
        named = ((number, number, _placed(cells, titles)) for number, cells in split[1:])
        return _table(list(named), (split[0][0], split[0][0], titles), first, last)
    return _table([(number, number, cells) for number, cells in split], None, first, last)


def _placed(cells: Iterable[str], titles: Sequence[str]) -> list[str]:
    values = dict(cell.split(": ", 1) for cell in cells)
    return [values.get(title, "") for title in titles]


def _table(rows: Sequence[Row], head: Row | None, first: int, last: int) -> str:
    columns = min(_MAX_COLUMNS, max((len(cells) for *_, cells in (*rows, *filter(None, [head]))), default=1))
    most = max(1, _MAX_CELLS // columns)
    cited = next((at for at, (begin, end, _) in enumerate(rows) if begin <= last and first <= end), 0)
    begin = max(0, min(cited - most // 2, len(rows) - most))
    shown = rows[begin : begin + most]
    left_out = len(rows) - len(shown)
    title = "" if head is None else f"<thead>{_row(head, columns, 'th', first, last)}</thead>\n"
    body = "\n".join(_row(row, columns, "td", first, last) for row in shown)
    note = f"<p>{left_out:,} rows are not shown here.</p>\n" if left_out else ""
    return f'{note}<div class="table" tabindex="0"><table>\n{title}<tbody>\n{body}\n</tbody></table></div>\n'


def _row(row: Row, columns: int, tag: str, first: int, last: int) -> str:
    begin, end, cells = row
    cited = ' class="cited"' if begin <= last and first <= end else ""
    filled = [*cells[:columns], *[""] * (columns - len(cells))]
    return f"<tr{cited}>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in filled)}</tr>"


def _clean(html: str) -> str:
    return nh3.clean(visible(html), tags=_TAGS, attributes={"div": {"class", "tabindex"}, "tr": {"class"}})


# Longer ones are shown as lines.
_MAX_RST_CHARS = 200_000
_MAX_TABLE_CHARS = 1_000_000


def document_html(document: Document, start_char: int, end_char: int) -> str:
    """Return a document as sanitized HTML, with a range of characters in the class `cited`.

    Empty for documents that are shown as lines: other formats, and long ones.
    """
    cited = LineIndex(document.text).span(document.path, start_char, end_char)
    first, last = (cited.start_line, cited.end_line) if cited.end_char > cited.start_char else (0, 0)
    if document.language == "markdown":
        return render_document(document.text, first, last)
    if document.language == "rst" and len(document.text) <= _MAX_RST_CHARS:
        made = rst_as_markdown(document.text)
        return render_document("\n".join(made.lines), *made.range_of(first, last))
    if len(document.text) > _MAX_TABLE_CHARS:
        return ""
    if document.language in SEPARATED:
        return separated_html(document.text, SEPARATED[document.language], first, last)
    return workbook_html(document, first, last) if document.language in WORKBOOKS else ""
