"""Chunks by lines: code without a grammar, configuration and data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType

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
            replace(chunk, context=names)
            for first, last, names in _parts(document.text, layout)
            for chunk in build_chunks(document, layout.lines, list(layout.pack(first, last)), [])
        ]
    definitions = definition_lines(layout, document.language) if document.kind == "code" else []
    openers = {each.line for each in definitions}
    pieces = list(layout.pack(1, len(layout.lines), openers=openers))
    chunks = build_chunks(document, layout.lines, pieces, definitions)
    header = _header_of_table(document)
    return [replace(chunk, context=(header, *chunk.context)) for chunk in chunks] if header else chunks


def _parts(text: str, layout: Layout) -> list[tuple[int, int, tuple[str, ...]]]:
    """Return the first and last line of each part of settings, and the names of its sections, outermost first.

    A part is a section, or a setting whose comment follows a blank line; short neighbours are joined. The lines above
    the first section have no name. A comment directly above a header belongs to its section.
    """
    lines = text.split("\n")
    begins: list[tuple[int, tuple[str, ...]]] = [(0, ())]
    section: tuple[str, ...] = ()
    keys: list[tuple[int, str]] = []
    for at, line in enumerate(lines):
        header = SECTION.match(line) if line.startswith("[") else None
        if header is not None:
            section, keys = (_unquoted(header["name"]),), []
            while at > begins[-1][0] and COMMENT_LINE.match(lines[at - 1]):
                at -= 1
            begins.append((at, section))
        elif at and COMMENT_LINE.match(line) and not lines[at - 1].strip():
            indent = len(line) - len(line.lstrip())
            begins.append((at, (*section, *(key for column, key in keys if column < indent))))
        elif key := _KEY.match(line):
            keys = [*(each for each in keys if each[0] < len(key[1])), (len(key[1]), key[2])]
    found: list[tuple[int, int, tuple[str, ...]]] = []
    for (begin, names), (end, _) in pairwise([*begins, (len(lines), ())]):
        before = found[-1] if found else None
        if before and layout.lines.end_of(end) - layout.lines.start_of(before[0]) <= _MAX_JOINED_CHARS:
            found[-1] = (before[0], end, tuple(dict.fromkeys((*before[2], *names))))
        elif begin < end:
            found.append((begin + 1, end, names))
    return found


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
