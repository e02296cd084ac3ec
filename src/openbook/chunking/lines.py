"""Chunks by lines: code without a grammar, configuration and data."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from openbook.chunking.layout import COMMENT_LINE, Layout, build_chunks
from openbook.chunking.outline import MAX_SIGNATURE_CHARS, Definition
from openbook.entries import SECTION
from openbook.types import Chunk, Document

# Only keywords that nearly every language uses for definitions, and only at the start of a line: a missed name costs
# little, a wrong one is misleading.
_DEFINITION = re.compile(
    r"""^[ \t]*
    (?:(?:export|default|public|private|protected|internal|static|abstract|final|sealed|open|override|virtual
        |inline|async|pub(?:\([a-z]+\))?|local|unsafe|extern|data|suspend|companion|enum(?=\s+class))\s+)*
    (?:
        (?:def|defp|defn|defun|function|func|fun|fn|sub|proc|procedure|class|struct|enum|trait|interface|protocol
            |object|module|namespace|package\s+body|macro)
        [ \t]+(?P<name>[^\W\d][\w$]*(?:(?:::|[.:])[^\W\d][\w$]*)*)(?=[ \t\r]*(?:[({<\[:;=,]|$)|[ \t]+\w)
        |
        \((?:defn-?|defun|defmacro|define)[ \t]+\(?(?P<lisp>[^\s()"';^]+)
        |
        (?i:create[ \t]+(?:or[ \t]+replace[ \t]+)?(?:table|view|function|procedure|trigger|type)[ \t]+
            (?:if[ \t]+not[ \t]+exists[ \t]+)?)(?P<sql>[\w."`\[\]]+)
    )""",
    re.VERBOSE,
)

LINE_RULES: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "hcl": re.compile(r'(?:(?:resource|data)[ \t]+"([\w-]+)"|module|variable|output|provider)[ \t]+"([\w-]+)"'),
        "objc": re.compile(r"@(?:interface|implementation|protocol)[ \t]+(\w+)(?!.*;)|[-+][ \t]*\([^)]*\)[ \t]*(\w+)"),
        "powershell": re.compile(r"[ \t]*(?:function|filter|workflow)[ \t]+(?:\w+:)?([\w-]+)", re.IGNORECASE),
        "proto": re.compile(r"[ \t]*(?:message|service|rpc|enum|extend|oneof)[ \t]+([\w.]+)[ \t]*[{(]"),
        "r": re.compile(
            r"""[ \t]*(?:([\w.]+)[ \t]*(?:<<?-|=)[ \t]*(?:function\b|\\\(|(?:R6::)?R6Class\()"""
            r"""|set(?:Class|Generic|RefClass)\([ \t]*["']([\w.]+))"""
        ),
    }
)
"""Other beginnings of definitions, by language without rules. The groups form the path."""

_MAX_LINE_CHARS = 400  # longer lines have no definition with a useful name


_TABLES = frozenset({"csv", "tsv"})

# A key of YAML with others below it: `mirror:`.
_KEY = re.compile(r"([ \t]*)([\w.-]+):[ \t\r]*(?:#.*)?$")

# Sections that are shorter together are one chunk: a setting alone would rank high because it is short.
_MAX_JOINED_CHARS = 400


def chunk_lines(document: Document) -> list[Chunk]:
    """Split a document into chunks of at most 1,500 characters, at blank lines if possible.

    Chunks are whole lines, in order, and contain every non-blank line; only a line longer than a chunk is split. In
    code, lines that look like definitions name the chunks. In configuration files, each section and each setting below
    a comment has its own chunks, with the names of its sections as their context; short ones share one. Blank text has
    no chunks.
    """
    layout = Layout(document.text)
    if document.kind == "config":
        return [
            replace(chunk, context=part.names)
            for part in _parts(document.text, layout)
            for chunk in build_chunks(document, layout.lines, list(layout.pack(part.first, part.last)), [])
        ]
    definitions = definition_lines(layout, document.language) if document.kind == "code" else []
    openers = {each.line for each in definitions}
    pieces = list(layout.pack(1, len(layout.lines), openers=openers))
    chunks = build_chunks(document, layout.lines, pieces, definitions)
    header = _header_of_table(document)
    return [replace(chunk, context=(header, *chunk.context)) for chunk in chunks] if header else chunks


class _Part(NamedTuple):
    """A part of settings, by its lines from 1."""

    first: int
    last: int
    names: tuple[str, ...] = ()
    """The sections that it consists of, or its own and the keys that it stands below, outermost first."""
    is_section: bool = False

    def joined(self, behind: _Part) -> _Part:
        """Return it with the part behind it."""
        return self._replace(last=behind.last, names=tuple(dict.fromkeys((*self.names, *behind.names))))


def _parts(text: str, layout: Layout) -> list[_Part]:
    """Return the sections of settings, and the settings whose comment follows a blank line; short ones are joined.

    The lines above the first section have no name. A comment directly above a header belongs to its section. Only
    sections are joined, and settings with the same names.
    """
    lines = text.split("\n")
    found: list[_Part] = []
    for part, behind in pairwise([*_begins(lines), _Part(len(lines) + 1, 0)]):
        whole = part._replace(last=behind.first - 1)
        before = found[-1] if found else None
        if before and (before.names == part.names or (before.is_section and part.is_section)):
            length = layout.lines.end_of(whole.last) - layout.lines.start_of(before.first)
            if length <= _MAX_JOINED_CHARS:
                found[-1] = before.joined(whole)
                continue
        found.append(whole)
    return [part for part in found if part.first <= part.last]


def _begins(lines: Sequence[str]) -> list[_Part]:
    """Return the parts with their first lines only."""
    begins = [_Part(1, 0)]
    section: tuple[str, ...] = ()
    keys: list[tuple[int, str]] = []
    for number, line in enumerate(lines, start=1):
        header = SECTION.match(line) if line.startswith("[") else None
        if header is not None:
            section, keys, first = (_unquoted(header["name"]),), [], number
            while first > begins[-1].first and COMMENT_LINE.match(lines[first - 2]):
                first -= 1
            begins.append(_Part(first, 0, section, is_section=True))
        elif number > 1 and COMMENT_LINE.match(line) and not lines[number - 2].strip():
            indent = len(line) - len(line.lstrip())
            names = (*section, *(key for column, key in keys if column < indent))
            begins.append(_Part(number, 0, names))
        elif key := _KEY.match(line):
            keys = [*(each for each in keys if each[0] < len(key[1])), (len(key[1]), key[2])]
    return begins


def _unquoted(name: str) -> str:
    return name[1:-1] if name[0] in "\"'" and name[0] == name[-1] else name


def _header_of_table(document: Document) -> str:
    """Return the header line of a table in text; empty if it is not a table, or has none."""
    if document.language not in _TABLES:
        return ""
    first = document.text.lstrip("\ufeff").partition("\n")[0].strip()
    cells = [cell.strip(' "') for cell in re.split(r"[,;\t|]", first)]
    is_header = 1 < len(cells) == len({*cells} - {""}) and not any(cell[0].isdigit() for cell in cells)
    return first if is_header and len(first) <= _MAX_LINE_CHARS else ""


def definition_lines(layout: Layout, language: str = "") -> list[Definition]:
    """Return the lines that look like definitions, in order."""
    found: list[Definition] = []
    for number, line in enumerate(layout.text.split("\n"), start=1):
        path = _path_defined(line, language) if len(line) <= _MAX_LINE_CHARS else ()
        if path:
            found.append(
                Definition(
                    path=path,
                    names=(path[-1],),
                    role="function",
                    first_line=number,
                    line=number,
                    last_line=number,
                    signature=line.strip()[:MAX_SIGNATURE_CHARS],
                )
            )
    return found


def _path_defined(line: str, language: str) -> tuple[str, ...]:
    own = LINE_RULES[language].match(line) if language in LINE_RULES else None
    if own is not None:
        return tuple(filter(None, own.groups()))
    match = _DEFINITION.match(line)
    if match is None:
        return ()
    written = match["name"] or match["lisp"] or match["sql"].strip('"`[].')
    parts = (part.strip('"`[]') for part in re.split(r"::|[.:]", written))
    return tuple(filter(None, parts))
