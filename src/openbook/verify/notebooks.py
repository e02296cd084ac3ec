"""The Markdown cells of a Jupyter notebook as one text, with where each character stands in the file."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from openbook.errors import SourceError

_BETWEEN_CELLS = "\n\n"

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\],:]|[^\s{}\[\],:"]+')
# One character of a string: two escapes can be one, an emoji for instance.
_CHARACTER = re.compile(r"\\u[dD][89a-bA-B]..\\u[dD][c-fC-F]..|\\u....|\\.|[^\\]", re.DOTALL)

_Path = tuple[str | int, ...]
_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class MarkdownCells:
    """Text of the cells, a blank line between two."""

    text: str
    starts: tuple[int, ...]
    """Where each character of `text` begins in the file, and at last where the text ends."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where half-open characters of the text stand in the file."""
        return self.starts[start], self.starts[end]


def markdown_cells(raw: str, file: str = "") -> MarkdownCells:
    r"""Take the Markdown cells out of a notebook.

    Raises:
        SourceError: It is no JSON, or no notebook.

    Example:
        >>> cells = markdown_cells('{"cells": [{"cell_type": "markdown", "source": ["See a.py:1"]}]}')
        >>> cells.text, cells.span(4, 10)
        ('See a.py:1\n\n', (53, 59))
    """
    try:
        is_notebook = isinstance(json.loads(raw)["cells"], list)
    except (ValueError, KeyError, TypeError, RecursionError):
        is_notebook = False
    if not is_notebook:
        raise SourceError(file, "is no notebook", hint="open and save it in Jupyter")
    texts, starts, end = list[str](), list[int](), 0
    for strings in _markdown_strings(raw):
        for start, end in strings:
            places = [match.start() for match in _CHARACTER.finditer(raw, start, end)]
            texts.append(json.loads(raw[start - 1 : end + 1], strict=False))
            starts += places
        texts.append(_BETWEEN_CELLS)
        starts += [end] * len(_BETWEEN_CELLS)
    return MarkdownCells("".join(texts), (*starts, end))


def _markdown_strings(raw: str) -> Iterator[list[_Span]]:
    """Yield the strings of each Markdown cell as half-open characters, without their quotes."""
    kinds: dict[str | int, str] = {}
    sources: dict[str | int, list[_Span]] = defaultdict(list)
    for path, (start, end) in _strings(raw):
        if len(path) in (3, 4) and path[0] == "cells":
            if path[2:] == ("cell_type",):
                kinds[path[1]] = raw[start:end]
            elif path[2] == "source":
                sources[path[1]].append((start, end))
    yield from (sources[number] for number, kind in kinds.items() if kind == "markdown" and sources[number])


def _strings(raw: str) -> Iterator[tuple[_Path, _Span]]:
    """Yield the strings of a JSON text that are values: keys and indexes that lead to each, and where it stands."""
    path: list[str | int] = []
    is_key = False
    for token in _TOKEN.finditer(raw):
        word = token[0]
        if word in "{[":
            path.append("" if word == "{" else 0)
            is_key = word == "{"
        elif word in "}]":
            path.pop()
            is_key = False
        elif word == ",":
            is_key = isinstance(path[-1], str)
            path[-1] = path[-1] + 1 if isinstance(path[-1], int) else ""
        elif word == ":":
            is_key = False
        elif word.startswith('"') and is_key:
            path[-1] = json.loads(word, strict=False)
        elif word.startswith('"') and path:
            yield tuple(path), (token.start() + 1, token.end() - 1)
