"""Converts reStructuredText to Markdown for display, with a mapping of lines.

Nothing is executed: no file is included, and directives and roles have no effect. Unknown markup stays text. docutils
is not used: it takes Sphinx directives and roles only from global registries, replaces unknown ones by errors, and not
all of its nodes have line numbers.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from openbook.containers import NOTES
from openbook.extractive.inline_markup import code_span, plain_rst
from openbook.sources.readers.rst import read_rst
from openbook.text import LineIndex, indentation
from openbook.types import Block

_SIMPLE = re.compile(r"\s*=+(?: +=+)+$")
_RULE = re.compile(r"\s*-+(?: +-+)*$")
_GRID = re.compile(r"\s*\+(?:[-=]+\+)+$")


def read_table(rows: Sequence[str], first: int) -> list[list[str] | None] | None:
    r"""Parse the table at a line. Returns a row of cells for each of its lines, or None for lines that add none.

    A row of several lines is at its first line. None if no table begins there, or if cells span several rows or
    columns.

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
                return None  # unterminated
            made.append(None)
            continue
        starts = [start for start, _ in columns]
        cells = [row[start:end].strip() for start, end in zip(starts, [*starts[1:], None], strict=True)]
        if any(row[end:start].strip() for (_, end), (start, _) in itertools.pairwise(columns)):
            return None  # a cell that spans columns
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


_DIRECTIVE = re.compile(r"\.\. (?P<name>[\w:+-]+)::(?:\s+(?P<words>\S.*))?$")
_OPTION = re.compile(r":(?P<name>[\w-]+):(?:\s+(?P<value>\S.*))?$")
_FIELD = re.compile(r":(?P<name>[^:`\s][^:`]*):(?:\s+(?P<words>\S.*))?$")
_NUMBERED = re.compile(r"#\.(?=\s)")
_ITEM = re.compile(r"(?:[-*+•]|(?:\d{1,9}|#)[.)])\s")
_DOCTEST = ">>> "

_SPECIAL = re.compile(r"[\\`*_\[\]]")

_LITERAL = frozenset(
    "code code-block sourcecode parsed-literal prompt math raw ipython testcode testoutput doctest graphviz mermaid"
    " csv-table".split()
)
# They structure a book, and have no content.
_SILENT = frozenset(
    "contents index highlight currentmodule meta default-role module py:module py:currentmodule tabularcolumns only"
    " centered sectnum title".split()
)


@dataclass(slots=True)
class Translated:
    """Markdown, with the position of each original line."""

    lines: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    """For each original line, the Markdown line at which it begins, from 0."""

    def range_of(self, first: int, last: int) -> tuple[int, int]:
        """Map a range of original lines to Markdown lines, both from 1 and inclusive.

        Omitted lines have none.
        """
        if not 1 <= first <= last <= len(self.starts):
            return 0, 0
        end = self.starts[last] if last < len(self.starts) else len(self.lines)
        begin = self.starts[first - 1]
        return (begin + 1, end) if end > begin else (0, 0)


@dataclass(frozen=True, slots=True)
class _Part:
    """The indented content of a directive."""

    indent: int
    """Indentation of the directive. Deeper lines are its content."""
    prefix: str
    is_silent: bool = False


def rst_as_markdown(text: str) -> Translated:
    r"""Convert a document.

    Example:
        >>> rst_as_markdown("Tides\n=====\n\nSee :doc:`moon`.\n").lines
        ['# Tides', '', '', '', 'See moon.', '']
    """
    return _Translator(text).translate()


class _Translator:
    def __init__(self, text: str) -> None:
        self._text = text
        self._offsets = LineIndex(text)
        self._rows = [row.rstrip().expandtabs() for row in text.split("\n")]
        self._made = Translated()
        self._parts: list[_Part] = []
        self._language = ""

    def translate(self) -> Translated:
        at = 0
        for block in read_rst(self._text).blocks:
            first = self._row_of(block.start_char)
            last = self._row_of(max(block.start_char, block.end_char - 1))
            first = max(first, at)
            while first < last and not self._rows[first]:
                first += 1
            between = self._enter(first).rstrip() if first <= last else ""
            for row in range(at, first):
                self._put(row, between)
            if first <= last:
                self._block(block, first, last)
                at = last + 1
        for row in range(at, len(self._rows)):
            self._put(row)
        return self._made

    def _row_of(self, offset: int) -> int:
        return self._offsets.line_at(offset) - 1

    def _put(self, row: int, *lines: str) -> None:
        """Append the Markdown of a row, by default a blank line."""
        while len(self._made.starts) <= row:
            self._made.starts.append(len(self._made.lines))
        self._made.lines += lines or ("",)

    def _block(self, block: Block, first: int, last: int) -> None:
        if block.kind == "heading":
            self._parts = []
            self._heading(block, first, last)
        elif block.kind == "code" and not self._rows[first].lstrip().startswith(".. "):
            self._fence(first, last)
        else:
            self._paragraph(first, last)

    def _heading(self, block: Block, first: int, last: int) -> None:
        title = _SPECIAL.sub(r"\\\g<0>", block.title)
        self._put(first, f"{'#' * min(block.level, 6)} {title}", "")
        for row in range(first + 1, last + 1):
            self._put(row)

    def _enter(self, row: int) -> str:
        """Close directives that end before a row, and return the prefix of its lines."""
        indent = indentation(self._rows[row])
        while self._parts and indent <= self._parts[-1].indent:
            self._parts.pop()
        return self._parts[-1].prefix if self._parts else ""

    def _fence(self, first: int, last: int) -> None:
        prefix = self._enter(first)
        if self._parts and self._parts[-1].is_silent:
            for row in range(first, last + 1):
                self._skip(row)
            return
        rows = self._rows[first : last + 1]
        margin = min((indentation(row) for row in rows if row), default=0)
        ticks = max((len(run) for row in rows for run in re.findall("`{3,}", row)), default=2) + 1
        self._put(first, prefix.rstrip(), f"{prefix}{'`' * ticks}{self._language}", f"{prefix}{rows[0][margin:]}")
        for row in range(first + 1, last + 1):
            self._put(row, f"{prefix}{self._rows[row][margin:]}")
        self._made.lines += [f"{prefix}{'`' * ticks}", prefix.rstrip()]
        self._language = ""

    def _skip(self, row: int) -> None:
        while len(self._made.starts) <= row:
            self._made.starts.append(len(self._made.lines))

    def _paragraph(self, first: int, last: int) -> None:
        row = first
        while row <= last:
            prefix = self._enter(row)
            table = read_table(self._rows, row)
            if table is not None:
                self._table(table, row, prefix)
                row += len(table)
                continue
            line = self._rows[row].lstrip()
            if self._parts and self._parts[-1].is_silent:
                self._skip(row)
            elif line.startswith((".. ", "..")) and (line == ".." or line.startswith(".. ")):
                row = self._explicit(row, last, prefix)
                continue
            else:
                self._put(row, f"{prefix}{self._line(row, last)}")
            row += 1

    def _table(self, table: Sequence[Sequence[str] | None], row: int, prefix: str) -> None:
        """Convert a table. Rows that are None, such as borders, are omitted."""
        self._made.lines.append(prefix.rstrip())
        is_first = True
        for place, cells in enumerate(table):
            if cells is None:
                self._skip(row + place)
                continue
            shown = " | ".join(_inline(cell).replace("|", "\\|") for cell in cells)
            lines = [f"{prefix}| {shown} |"]
            if is_first:
                lines.append(f"{prefix}{'| --- ' * len(cells)}|")
            is_first = False
            self._put(row + place, *lines)
        self._made.lines.append(prefix.rstrip())

    def _explicit(self, row: int, last: int, prefix: str) -> int:
        """Convert a directive, or skip a comment or target. Returns the row after it and its options."""
        indent = indentation(self._rows[row])
        found = _DIRECTIVE.match(self._rows[row].lstrip())
        if found is None:
            self._parts.append(_Part(indent, prefix, is_silent=True))
            self._skip(row)
            return row + 1
        name, words = found["name"], found["words"] or ""
        options, end = {}, row + 1
        while end <= last and indentation(self._rows[end]) > indent:
            option = _OPTION.match(self._rows[end].strip())
            if option is None:
                break
            options[option["name"]] = option["value"] or ""
            end += 1
        self._put(row, *self._shown(name, words, options, indent, prefix))
        for option_row in range(row + 1, end):
            self._skip(option_row)
        return end

    def _shown(self, name: str, words: str, options: dict[str, str], indent: int, prefix: str) -> Iterator[str]:
        short = name.rpartition(":")[2]
        if name in _SILENT:
            self._parts.append(_Part(indent, prefix, is_silent=True))
        elif name in _LITERAL:
            self._language = words.split()[0] if name in ("code", "code-block", "sourcecode") and words else ""
            yield prefix.rstrip()
        elif name in NOTES:
            self._parts.append(_Part(indent, f"{prefix}> "))
            said = f" {_inline(words)}" if words else ""
            yield from (prefix.rstrip(), f"{prefix}> **{_spoken(name)}**{said}", *([] if said else [f"{prefix}>"]))
        elif name in ("image", "figure"):
            self._parts.append(_Part(indent, prefix))
            yield f"{prefix}![{options.get('alt') or words.rpartition('/')[2]}](x)"
        elif name == "toctree":
            self._parts.append(_Part(indent, f"{prefix}- "))
            yield prefix.rstrip()
        else:
            self._parts.append(_Part(indent, prefix))
            is_name = short != name or short in ("function", "class", "method", "attribute", "exception", "option")
            yield f"{prefix}**{short}** {code_span(words) if is_name and words else _inline(words)}".rstrip()

    def _line(self, row: int, last: int) -> str:
        """Convert one line of a paragraph. A line deeper than the previous one is the definition of that term."""
        line, indent = self._rows[row].lstrip(), indentation(self._rows[row])
        margin = " " * max(0, indent - (self._parts[-1].indent + 3 if self._parts else 0))
        if line.startswith(_DOCTEST):
            return f"{margin}{code_span(line)}  "
        if line.startswith("| ") or line == "|":
            return f"{margin}{_inline(line[2:])}\\"
        named = _FIELD.match(line)
        if named is not None:
            return f"{margin}- **{_inline(named['name'])}** {_inline(named['words'] or '')}".rstrip()
        line = _NUMBERED.sub("1.", line)
        is_item = _ITEM.match(line) is not None
        defined = row < last and indentation(self._rows[row + 1]) > indent and not is_item
        if defined and not line.endswith("::") and self._is_first(row):
            return f"{margin}- **{_inline(line)}**  "
        if line.endswith("::"):
            line = line[:-1] if line[:-2].strip() and not line.endswith(" ::") else line[:-2]
        # Escape text that Markdown would parse as a heading or quote.
        return f"{margin}{chr(92) if line.startswith(('#', '>')) else ''}{_inline(line)}"

    def _is_first(self, row: int) -> bool:
        """Return whether a line begins a paragraph, or follows deeper lines."""
        return row == 0 or not self._rows[row - 1] or indentation(self._rows[row - 1]) > indentation(self._rows[row])


def _spoken(name: str) -> str:
    return {
        "seealso": "See also", "versionadded": "New in", "versionchanged": "Changed in", "versionremoved": "Removed in",
        "deprecated": "Deprecated since", "rubric": "", "admonition": "", "topic": "", "sidebar": "",
    }.get(name, name.capitalize()) or "Note"  # fmt: skip


def _inline(line: str) -> str:
    return plain_rst(line, cites="*")
