"""Chunks by lines: for code without a grammar, for configuration and for data."""

from __future__ import annotations

import re

from openbook.chunking.layout import Layout, build_chunks
from openbook.chunking.outline import MAX_SIGNATURE_CHARS, Definition
from openbook.types import Chunk, Document

# Only words that nearly every language keeps for definitions, and only at the start of a line:
# a name that is missed costs little, a wrong one sends people to the wrong place.
_DEFINITION = re.compile(
    r"""^[ \t]*
    (?:(?:export|default|public|private|protected|internal|static|abstract|final|sealed|open|override|virtual
        |inline|async|pub(?:\([a-z]+\))?|local|unsafe|extern)\s+)*
    (?:
        (?:def|defp|defn|defun|function|func|fun|fn|sub|proc|procedure|class|struct|enum|trait|interface|protocol
            |module|namespace|package\s+body|macro)
        [ \t]+(?P<name>[^\W\d][\w$]*(?:(?:::|[.:])[^\W\d][\w$]*)*)(?=[ \t\r]*(?:[({<\[:;=,]|$)|[ \t]+\w)
        |
        \((?:defn-?|defun|defmacro|define)[ \t]+\(?(?P<lisp>[^\s()"';]+)
        |
        (?i:create[ \t]+(?:or[ \t]+replace[ \t]+)?(?:table|view|function|procedure|trigger|type)[ \t]+
            (?:if[ \t]+not[ \t]+exists[ \t]+)?)(?P<sql>[\w."`\[\]]+)
    )""",
    re.VERBOSE,
)

_MAX_LINE_CHARS = 400  # a longer line defines nothing that a person named


def chunk_lines(document: Document) -> list[Chunk]:
    """Cut a document into chunks of at most 1,500 characters, at blank lines where there are some.

    Chunks are whole lines, in order, and hold every line that is not blank; only a line that is
    longer than a chunk is cut inside. In code, lines that look like definitions name the chunks.
    Empty for a blank text.
    """
    layout = Layout(document.text)
    definitions = definition_lines(layout) if document.kind == "code" else []
    openers = {each.line for each in definitions}
    pieces = list(layout.pack(1, len(layout.lines), openers=openers))
    return build_chunks(document, layout.lines, pieces, definitions)


def definition_lines(layout: Layout) -> list[Definition]:
    """Give the lines that look like definitions, in order."""
    found: list[Definition] = []
    for number, line in enumerate(layout.text.split("\n"), start=1):
        match = _DEFINITION.match(line) if len(line) <= _MAX_LINE_CHARS else None
        if match is None:
            continue
        written = match["name"] or match["lisp"] or match["sql"].strip('"`[].')
        path = tuple(part.strip('"`[]') for part in re.split(r"::|[.:]", written) if part.strip('"`[]'))
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
