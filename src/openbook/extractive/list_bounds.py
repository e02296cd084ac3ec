"""Finds where the lists and tables of prose begin and end, and the columns of tables. Lines are counted from 0."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from openbook.entries import BAR_OF_ROW, END_OF_HEAD, first_cell
from openbook.text import indentation

_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\(?(?:\d{1,3}|#)[.)]|:(?=\s{2,}))\s+\S")
_ROW = re.compile(rf"[ \t]*(?:{BAR_OF_ROW}|\+[-=+]{{3,}})")
# A border of a simple table of reStructuredText, which ends with a blank line.
_RULE = re.compile(r"[ \t]*=+(?:[ \t]+=+)+[ \t]*$")
_BORDER_SIGNS = " \t|+-=:"
_NAMED_ITEM = re.compile(
    r"\s*\S+\s+(?:\[[ xX]\]\s+)?(?P<name>\*\*[^*]+\*\*|(?P<ticks>`{1,2})[^`]+(?P=ticks)|\[[^\]]+\](?=\()"
    r"|[^:.–—]+?(?=:\s|\s[-–—]\s|:?\s*$))"
)
_MAX_NAME_CHARS = 40


def opens_list(line: str) -> bool:
    """Return whether a line may be the first of a list or table."""
    return any(pattern.match(line) for pattern in (_ITEM, _ROW, _RULE))


def header_of(lines: Sequence[str], first: int) -> str:
    """Return the line with the header of a table that begins at a line; the first line itself for lists."""
    return lines[first + 1] if _RULE.match(lines[first]) else lines[first]


def ends_of_items(lines: Sequence[str], first: int, is_heading: Callable[[int], bool]) -> list[int]:
    """Return the last line of each item of a list, or of each row of a table, that begins at a line."""
    if _ROW.match(lines[first]):
        return _ends_of_rows(lines, first)
    if _RULE.match(lines[first]):
        behind = next((at for at in range(first, len(lines)) if not lines[at].strip()), len(lines))
        return list(range(first, behind))
    last, items, indent = first, [first], indentation(lines[first])
    for at in range(first + 1, len(lines)):
        line = lines[at]
        is_item = _ITEM.match(line) is not None
        is_next = at == last + 1 and not is_heading(at)
        is_outer = is_item and indentation(line) < indent
        if line.strip() and (is_outer or not (is_item or is_next or indentation(line) > indent)):
            break
        items += [at] * is_item
        last = at if line.strip() else last
    return [end - 1 for _, end in pairwise((*items, last + 1))]


def _ends_of_rows(lines: Sequence[str], first: int) -> list[int]:
    """Return the last line of each row of a table, with the blank lines below that are between rows of AsciiDoc."""
    ends: list[int] = []
    is_marked = False
    for at in range(first, len(lines)):
        line = lines[at]
        if is_marked and line[:1].isspace():
            ends[-1] = at
        elif _ROW.match(line):
            ends[-1:] = [*([at - 1] if ends else []), at]
            is_marked = line.endswith(END_OF_HEAD)
        elif line != END_OF_HEAD:
            break
    return ends


def names_of(lines: Sequence[str], items: Sequence[range]) -> list[str]:
    """Return the names of items of a list or table, given by their lines; none if one of them has no name.

    Names are what stands in bold, in backticks, in a link or before a colon or dash, and first cells of rows.

    Example:
        >>> names_of(["- **hemp** rots", "- `wire` rusts", "- silk: soft"], [range(1, 2), range(2, 3)])
        ['`wire`', 'silk']
    """
    names = [_name_of(lines[each.start]) for each in items if not _goes_on(lines[each.start])]
    return names if all(names) else []


def items_around(lines: Sequence[str], first: int, last: int) -> list[range]:
    """Return the lines of each item of the list or table that a quote begins and breaks off; none if there is none.

    `first` and `last` are the lines of the quote. A quote of one item that nothing introduces is no part of a list.
    """
    start = first - (first > 0 and _is_border(lines[first - 1]))
    # A sentence that introduces a list begins it.
    below = next((at for at in range(last + 1, len(lines)) if lines[at].strip()), last)
    begins = lines[last].rstrip("*_` ").endswith((":", "："))
    for place in range(start, (below if begins else last) + 1):
        if not opens_list(lines[place]) or _is_inside(lines, place):
            continue
        ends = ends_of_items(lines, place, lambda at: lines[at].startswith("#"))
        is_introduced = any(map(str.strip, lines[start:place])) or not _ITEM.match(lines[place])
        has_several = any(_is_item_of(lines[place], line) for line in lines[place + 1 : last + 1])
        if (is_introduced or has_several) and any(line.strip(_BORDER_SIGNS) for line in lines[last + 1 : ends[-1] + 1]):
            return [range(above + 1, end + 1) for above, end in pairwise((place - 1, *ends))]
    return []


def _goes_on(line: str) -> bool:
    """Return whether a line of a table is a border, or goes on with the row above."""
    return _is_border(line) or (not _ITEM.match(line) and not _first_cell(line))


def _first_cell(line: str) -> str:
    return first_cell(re.split(r"\s{2,}", line.rstrip())[0] if not line.lstrip().startswith("|") else line)


def _name_of(line: str) -> str:
    """Return the name of an item or a row; empty if it has none, or a long one."""
    named = _NAMED_ITEM.match(line)
    name = _first_cell(line) if not _ITEM.match(line) else named["name"].strip("*[]") if named else ""
    return name.replace("``", "`") if len(name) <= _MAX_NAME_CHARS else ""


def _is_border(line: str) -> bool:
    return not line.strip(_BORDER_SIGNS)


def _is_inside(lines: Sequence[str], place: int) -> bool:
    """Return whether a line that opens lists is within one: a later item or row, or a lower border."""
    line, above = lines[place], lines[place - 1] if place else ""
    if _RULE.match(line):
        return bool(above.strip())
    if _ROW.match(line):
        return _row_above(lines, place) >= 0
    outer = (each for each in reversed(lines[:place]) if each.strip() and indentation(each) <= indentation(line))
    return _is_item_of(line, next(outer, ""))


def _is_item_of(item: str, line: str) -> bool:
    """Return whether a line opens another item of the list of an item."""
    return indentation(line) == indentation(item) and _ITEM.match(line) is not None


def columns_over(lines: Sequence[str], row: int) -> str:
    """Return the columns of the table of a row, as in `Key | Default`; empty if they have no names, or in the header.

    Example:
        >>> columns_over(["| Key  | Default |", "|------|---------|", "| port | 80      |"], 2)
        'Key | Default'
    """
    if _ROW.match(lines[row]):
        first = row
        while (above := _row_above(lines, first)) >= 0:
            first = above
        below = next((at for at in range(first + 1, row) if _ends_header(lines[at])), first)
        names = [each.strip() for each in lines[first:below] if not _is_border(each)]
        cells = [each.removeprefix("|").removesuffix("|").split("|") for each in names]
    else:
        below = _rule_above(lines, row)
        first = _rule_above(lines, below)
        starts = [*(each.start() for each in re.finditer("=+", lines[first])), None]
        cells = [[each[a:b] for a, b in pairwise(starts)] for each in lines[first + 1 : below] if first >= 0]
    columns = " | ".join(" ".join(cell.replace("**", "").split()) for each in cells for cell in each)
    return columns if columns.strip(" |") else ""


def _row_above(lines: Sequence[str], row: int) -> int:
    """Return the line of a table above one of its rows; -1 if there is none.

    In AsciiDoc, there may be other lines of a row and blank ones between, which a reader has marked.
    """
    at = row - 1
    while at >= 0 and lines[at][:1].isspace() and not _ROW.match(lines[at]):
        at -= 1
    is_next = at == row - 1 or END_OF_HEAD in (lines[at][-1:], lines[at + 1])
    return at if at >= 0 and is_next and _ROW.match(lines[at]) else -1


def _ends_header(line: str) -> bool:
    return _is_border(line) and (line.lstrip().startswith("|") or "=" in line)


def _rule_above(lines: Sequence[str], place: int) -> int:
    """Return the next border of a simple table above a line, without blank lines between; -1 if there is none."""
    for at in range(place - 1, -1, -1):
        if not lines[at].strip():
            break
        if _RULE.match(lines[at]):
            return at
    return -1
