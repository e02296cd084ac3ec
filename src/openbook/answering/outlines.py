"""Slices of documents that tools show: the lines that say what a document holds, and lines by number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from openbook.answering.context import Shown
from openbook.answering.passages import passages_of
from openbook.spans import LineIndex, trim, units
from openbook.types import Chunk, Document, RetrievalResult

# Headings of Markdown, and of reStructuredText, whose underline is no shorter than three.
_HEADING = re.compile(r"^(?:#{1,6}[ \t]+\S.*|\S.*(?=\r?\n([=\-~^\"'`#*+.:_])\1{2,}[ \t]*\r?$))", re.MULTILINE)

_COURSE_FACT = re.compile(r"[ \t]*Course [A-Z]\w*:")


def outline_of(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Cut out what the definitions, headings and lessons of a document begin with, in order, each once.

    A chunk in which there is none gives its first line, so that no part of the document is missing.

    Args:
        chunks: All of one document, in order. None gives [].
    """
    found: dict[tuple[int, int], Chunk] = {}
    lessons: set[object] = set()
    for chunk in chunks:
        if chunk.lesson is not None:
            heads = [] if chunk.lesson in lessons else [first_line(chunk)]
            lessons.add(chunk.lesson)
        elif chunk.kind == "code":
            heads = list(_definitions(chunk)) or [first_line(chunk)]
        else:
            heads = list(_headings(chunk)) or [first_line(chunk)]
        for head in heads:
            found.setdefault((head.span.start_char, head.span.end_char), head)
    return [found[place] for place in sorted(found)]


def _definitions(chunk: Chunk) -> Iterator[Chunk]:
    passages = passages_of(Shown(1, RetrievalResult(chunk, 0.0), units(chunk)))
    for head in passages:
        if head.is_head:
            yield piece_of(chunk, head.first.span.start_char, head.last.span.end_char, symbol=head.defines)


def _headings(chunk: Chunk) -> Iterator[Chunk]:
    for heading in _HEADING.finditer(chunk.text):
        yield piece_of(chunk, chunk.span.start_char + heading.start(), chunk.span.start_char + heading.end())


def first_line(chunk: Chunk) -> Chunk:
    """Cut out the first unit of a chunk: a line, or a sentence where it is long."""
    first = units(chunk)[0].span
    return piece_of(chunk, first.start_char, first.end_char, symbol="")


def header_of(course: Chunk) -> Chunk:
    """Cut out the lines that a course introduces itself with: title, link and instructor; else the first one."""
    facts = [unit.span for unit in units(course) if _COURSE_FACT.match(unit.text)]
    return piece_of(course, facts[0].start_char, facts[-1].end_char) if facts else first_line(course)


def piece_of(chunk: Chunk, start_char: int, end_char: int, *, symbol: str | None = None) -> Chunk:
    """Cut a piece out of a chunk, trimmed at its end. It keeps the names that hold around it.

    Args:
        chunk: What to cut from.
        start_char: Offset in the document, as `end_char`. Not all between them may be blank.
        end_char: Behind the piece.
        symbol: What the piece defines, if not what the chunk does.
    """
    start, end = start_char - chunk.span.start_char, end_char - chunk.span.start_char
    _, end = trim(chunk.text, start, end)
    first = chunk.span.start_line + chunk.text.count("\n", 0, start)
    span = replace(
        chunk.span,
        start_char=start_char,
        end_char=chunk.span.start_char + end,
        start_line=first,
        end_line=first + chunk.text.count("\n", start, end),
    )
    text = chunk.text[start:end]
    signature = chunk.signature if chunk.signature in text else ""
    piece = replace(chunk, span=span, text=text, signature=signature, docstring="")
    return piece if symbol is None else replace(piece, symbol=symbol, defines=(symbol,) if symbol else ())


def lines_of(document: Document, chunks: Sequence[Chunk], first: int, last: int) -> Chunk | None:
    """Cut lines out of a document, with the names of the chunks that they lie in; None if they are blank.

    Args:
        document: With its text.
        chunks: Of the document, in order.
        first: 1-based; not beyond the last line.
        last: 1-based, inclusive. What is beyond the last line is left out.
    """
    lines = LineIndex(document.text)
    start, end = lines.start_of(first), lines.end_of(max(first, min(last, len(lines))))
    _, end = trim(document.text, start, end)
    if not document.text[start:end].strip():
        return None
    span, text = lines.span(document.path, start, end), document.text[start:end]
    inside = [chunk for chunk in chunks if chunk.span.start_char < end and start < chunk.span.end_char]
    if not inside:
        return Chunk(document.source, span, text, document.kind, document.language)
    defines = tuple(dict.fromkeys(name for chunk in inside for name in chunk.defines))
    return replace(inside[0], span=span, text=text, defines=defines, signature="", docstring="")
