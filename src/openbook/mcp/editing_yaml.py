"""Puts an entry into a block of YAML, or takes it out, as text: all else stays as it is, to the letter.

Only the layout that agents write is understood: a key at the beginning of a line, and its entries indented below it.
Everything else is refused, so that nothing is written that means something else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_TOP = re.compile(r"(?P<key>[\w.-]+):[ \t]*(?P<value>[^#\s][^#\r\n]*?)?[ \t]*(?:#[^\r\n]*)?\r?\n?")


def edit_yaml(text: str, table: str, name: str, entry: Mapping[str, Any] | None) -> str:
    r"""Return the text with an entry put into a block, in place of one of that name; without it if it is None.

    Raises:
        ValueError: The block is written in another way; the message says how.

    Example:
        >>> edit_yaml("extensions:\n  a:\n    x: 1\nz: 2\n", "extensions", "b", {"cmd": "run"})
        'extensions:\n  a:\n    x: 1\n  b:\n    cmd: "run"\nz: 2\n'
    """
    lines = text.splitlines(keepends=True)
    if any(line.lstrip(" ").startswith("\t") for line in lines):
        raise ValueError("it is indented with tabs")
    tops = [at for at, line in enumerate(lines) if (found := _TOP.fullmatch(line)) and found["key"] == table]
    if len(tops) > 1:
        raise ValueError(f"it has {table!r} twice")
    if not tops:
        return text if entry is None else _appended(text, table, name, entry)
    top = tops[0]
    found = _TOP.fullmatch(lines[top])
    if found is not None and found["value"] and found["value"] != "{}":
        raise ValueError(f"its {table!r} is not a block of lines")
    end = _end_of(lines, top, 0)
    indent = next((_indent(line) for line in lines[top + 1 : end] if _says(line)), 2)
    old = [at for at in range(top + 1, end) if _indent(lines[at]) == indent and _is_named(lines[at], name)]
    if entry is None and not old:
        return text
    first = old[0] if old else end
    last = _end_of(lines, first, indent) if old else end
    new = [] if entry is None else _written(name, entry, indent, _line_end(text))
    head = lines[:first]
    if new and found is not None and found["value"]:
        head[top] = lines[top].replace("{}", "", 1)
    if new and head and not head[-1].endswith("\n"):
        head[-1] += _line_end(text)
    left = [*head, *new, *lines[last:]]
    if entry is None and not any(map(_says, left[top + 1 : end - (last - first)])):
        del left[top]
    return "".join(left)


def _appended(text: str, table: str, name: str, entry: Mapping[str, Any]) -> str:
    end = _line_end(text)
    before = text if not text or text.endswith("\n") else text + end
    return "".join([before, f"{table}:{end}", *_written(name, entry, 2, end)])


def _written(name: str, entry: Mapping[str, Any], indent: int, end: str) -> list[str]:
    # What JSON writes on a line is YAML.
    inner = " " * indent * 2
    rows = (f"{inner}{key}: {json.dumps(value, ensure_ascii=False)}{end}" for key, value in entry.items())
    return [f"{' ' * indent}{name}:{end}", *rows]


def _end_of(lines: Sequence[str], first: int, indent: int) -> int:
    """Return the line behind a block: blank lines and comments at its end belong to what follows."""
    end = first + 1
    for at in range(first + 1, len(lines)):
        if _says(lines[at]):
            if _indent(lines[at]) <= indent:
                break
            end = at + 1
    return end


def _says(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _is_named(line: str, name: str) -> bool:
    return re.fullmatch(rf"""["']?{re.escape(name)}["']?:(?:\s.*)?""", line.strip()) is not None


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
