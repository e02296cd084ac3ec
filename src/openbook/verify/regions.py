"""Finds the regions of a file in which citations count: prose without its code, and comments of code."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from openbook.errors import SourceError
from openbook.sources.classify import classify
from openbook.sources.readers import read_text
from openbook.text import LineIndex

if TYPE_CHECKING:
    from tree_sitter import Tree

Range = tuple[int, int]
"""Half-open, in characters."""

# Formats whose code blocks are told apart. They hold logs, examples and programs, which name lines
# of files that nobody has here.
_WITH_BLOCKS = frozenset({"markdown", "rst"})
_WITH_COMMENTS = frozenset({"code", "config"})

_FENCE = re.compile(r"[ \t]*(?:```|~~~)")

# A block goes on to the next line that is the same; a fence may name its language.
_ADOC_DELIMITER = re.compile(r"^(-{4,}|\.{4,}|/{4,}|`{3,})\w*[ \t]*$", re.MULTILINE)

# Where no grammar can be had: what most languages begin a comment with.
_COMMENT_LINE = re.compile(r"(?:^|(?<=\s))(?:#|//|--|;;?|%|\*|/\*|<!--)(?=\s).*", re.MULTILINE)

# What stands in an interactive session of a docstring is an example of output.
_EXAMPLE = re.compile(r"^[ \t]*>>> .*(?:\n[ \t]*(?!\"\"\"|''')\S.*)*", re.MULTILINE)

# Real code has one node in three characters or fewer. A tree with more of them is generated.
_MAX_NODES = 1_000_000


def regions(path: str, text: str) -> list[Range] | None:
    """Return the parts of a file in which citations count, in order; None for all of it.

    Prose of unknown form counts as a whole. A fence counts with the line that opens it, which may
    say where the code is from.

    Example:
        >>> regions("a.py", "x = 'b.py:1'  # see b.py:2")
        [(14, 26)]
    """
    kind, language = classify(path, text)
    if language in _WITH_BLOCKS:
        return list(_outside_code(text, path, language))
    if language == "asciidoc":
        return list(_outside_delimiters(text))
    if kind in _WITH_COMMENTS:
        return _comments(text, language)
    return None


def is_code(path: str, text: str) -> bool:
    """Return whether the citations of a file are those in its comments."""
    return classify(path, text)[0] in _WITH_COMMENTS


def _outside_code(text: str, path: str, language: str) -> Iterator[Range]:
    at = 0
    for block in read_text(text, path, "docs", language).blocks:
        if block.kind != "code":
            continue
        opening = text.find("\n", block.start_char, block.end_char)
        is_fence = _FENCE.match(text, block.start_char) and opening >= 0
        yield at, opening if is_fence else block.start_char
        at = block.end_char
    yield at, len(text)


def _outside_delimiters(text: str) -> Iterator[Range]:
    """Yield the regions outside of listings, literal blocks and comments of AsciiDoc."""
    at, opened = 0, ""
    for line in _ADOC_DELIMITER.finditer(text):
        if not opened:
            yield at, line.start()
            opened = line[1]
        elif line[1] == opened:
            at, opened = line.end(), ""
    if not opened:
        yield at, len(text)


def _comments(text: str, language: str) -> list[Range]:
    # Grammars take 20 ms that prose need not pay.
    from openbook.chunking.grammars import parse

    source = text.encode("utf-8", "replace")
    tree = parse(language, source)
    if tree is None:
        return [match.span() for match in _COMMENT_LINE.finditer(text)]
    found = list(_comment_bytes(tree))
    if len(source) > len(text):
        found = _as_characters(found, text, source)
    return [part for start, end in found for part in _outside_examples(text, start, end)]


def _as_characters(ranges: Iterable[Range], text: str, source: bytes) -> list[Range]:
    lines = LineIndex(text)
    starts = [0, *(match.end() for match in re.finditer(b"\n", source))]

    def char(offset: int) -> int:
        row = bisect_right(starts, offset) - 1
        return lines.start_of(row + 1) + len(source[starts[row] : offset].decode("utf-8", "replace"))

    return [(char(start), char(end)) for start, end in ranges]


def _outside_examples(text: str, start: int, end: int) -> Iterator[Range]:
    for example in _EXAMPLE.finditer(text, start, end):
        yield start, example.start()
        start = example.end()
    yield start, end


def _comment_bytes(tree: Tree) -> Iterator[Range]:
    """Yield comments, and strings that are statements: the docstrings of Python."""
    cursor = tree.walk()
    for _ in range(_MAX_NODES):
        node = cursor.node
        assert node is not None
        docstring = node.type == "string" and node.parent is not None and node.parent.type == "expression_statement"
        if "comment" in node.type or docstring:
            yield node.start_byte, node.end_byte
        elif cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


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
    """Offset in the file of each character of `text`, and of its end."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Map half-open characters of the text to the file."""
        return self.starts[start], self.starts[end]


def markdown_cells(raw: str, file: str = "") -> MarkdownCells:
    r"""Extract the Markdown cells of a notebook.

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


def parts_of(text: str, parts: Sequence[tuple[int, int]] | None) -> Callable[[int], tuple[int, int]]:
    """Return the part of a text that contains a character; parts that only white space separates are one."""
    joined: list[tuple[int, int]] = []
    for start, end in parts if parts is not None else [(0, len(text))]:
        if joined and not text[joined[-1][1] : start].strip():
            start = joined.pop()[0]
        joined.append((start, end))
    starts = [start for start, _ in joined]
    return lambda offset: joined[bisect_right(starts, offset) - 1]
