"""A document for the viewer: the units around a span, those of the span marked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from openbook.answers import has_lines
from openbook.errors import QueryError
from openbook.server.schemas import DocumentResponse, UnitResponse
from openbook.text import LONG_LINE_CHARS, LineIndex, sentences
from openbook.types import Document, Span

# A page of the viewer. More is fetched with another span.
_MOST_UNITS = 400

_LONGEST_TITLE_CHARS = 200


def view(
    document: Document,
    document_id: str,
    start_char: int,
    end_char: int,
    *,
    context: int,
    link: Callable[[Span, str | None], str] = lambda *_: "",
) -> DocumentResponse:
    """Return the units of a document around a half-open range of characters.

    Args:
        document: As it was indexed.
        document_id: Its id.
        start_char: Where the range begins.
        end_char: Where it ends; with `start_char` an empty range, nothing is marked.
        context: Units before and behind: lines, or sentences of a long line.
        link: Gives the permanent address of a place and its anchor; empty if it has none.

    Raises:
        QueryError: The range is none of this document.
    """
    if not 0 <= start_char <= end_char <= len(document.text):
        raise QueryError(
            f"the document has {len(document.text)} characters, and no {start_char} to {end_char}",
            hint="it may have changed; ask again",
        )
    lines = LineIndex(document.text)
    first = max(1, lines.line_at(start_char) - context)
    last = min(len(lines), lines.line_at(max(start_char, end_char - 1)) + context, first + _MOST_UNITS - 1)
    pieces = [(line, *piece) for line in range(first, last + 1) for piece in _pieces_of_line(document, lines, line)]
    starts = [start for _, start, _ in pieces]
    begin = max(0, bisect_right(starts, start_char) - 1 - context)
    end = min(bisect_right(starts, max(start_char, end_char - 1)) + context, begin + _MOST_UNITS)
    label = _label(document, start_char)
    span = lines.span(document.path, start_char, end_char)
    return DocumentResponse(
        document_id=document_id,
        source=document.source,
        path=document.path,
        kind=document.kind,
        language=document.language,
        title=document.path.rpartition("/")[2][:_LONGEST_TITLE_CHARS],
        url=link(span, None if has_lines(document.language) else label),
        label=label,
        units=[_unit(document, *piece, (start_char, end_char)) for piece in pieces[begin:end]],
        more_before=first > 1 or begin > 0,
        more_after=last < len(lines) or end < len(pieces),
        remarks=list(document.remarks),
    )


def _pieces_of_line(document: Document, lines: LineIndex, line: int) -> list[tuple[int, int]]:
    begin = lines.start_of(line)
    end = begin + len(document.text[begin : lines.end_of(line)].rstrip("\r\n"))
    if end - begin <= LONG_LINE_CHARS:
        return [(begin, end)]
    return list(sentences(document.text, begin, end)) or [(begin, begin)]


def _unit(document: Document, line: int, start_char: int, end_char: int, cited: tuple[int, int]) -> UnitResponse:
    return UnitResponse(
        number=line,
        text=document.text[start_char:end_char],
        start_char=start_char,
        end_char=end_char,
        cited=start_char < cited[1] and cited[0] < end_char,
        label=_label(document, start_char),
    )


def _label(document: Document, offset: int) -> str:
    """Return the original's own name for a place, such as `cell 3`; empty if it has none."""
    at = bisect_right([anchor.start_char for anchor in document.anchors], offset)
    return document.anchors[at - 1].label if at else ""
