"""What a citation names, and whether the text that it names is still there."""

from __future__ import annotations

import re
from collections.abc import Callable

from openbook.answering.context import Context, Shown
from openbook.types import Chunk, Citation, Span, Unit, Verdict

# `[2]`, `[2:14]` and `[2:14-18]`: a result by number, and units of it.
MARK = re.compile(r"\[(\d{1,4})(?::(\d{1,6})(?:-(\d{1,6}))?)?\]")

TextNow = Callable[[Chunk], str | None]
"""Gives the text of a chunk's document as it is now; None if it is gone."""


def mark_of(shown: Shown, first: Unit, last: Unit) -> str:
    """Write the mark for consecutive units of a result."""
    if first.number == last.number:
        return f"[{shown.number}:{first.number}]"
    return f"[{shown.number}:{first.number}-{last.number}]"


def cite(answer: str, context: Context, text_now: TextNow) -> tuple[Citation, ...]:
    """Find the marks of an answer and check each one, in order, repeats left out.

    A mark that names nothing that was shown is left out of the result: it has no place to show.
    It is for the caller to count with `unknown_marks`.
    """
    found: dict[str, Citation] = {}
    for match in MARK.finditer(answer):
        place = _resolve(match, context)
        if place is not None and match.group() not in found:
            shown, first, last = place
            found[match.group()] = _checked(match.group(), shown, first, last, text_now)
    return tuple(found.values())


def unknown_marks(answer: str, context: Context) -> tuple[str, ...]:
    """List the marks that name nothing that was shown, in order, repeats left out."""
    marks = (match.group() for match in MARK.finditer(answer) if _resolve(match, context) is None)
    return tuple(dict.fromkeys(marks))


def _resolve(match: re.Match[str], context: Context) -> tuple[Shown, Unit, Unit] | None:
    number = int(match.group(1))
    shown = next((shown for shown in context.shown if shown.number == number), None)
    if shown is None:
        return None
    first = int(match.group(2) or shown.units[0].number)
    last = int(match.group(3) or match.group(2) or shown.units[-1].number)
    if not shown.units[0].number <= first <= last <= shown.units[-1].number:
        return None
    return shown, shown.units[first - 1], shown.units[last - 1]


def _checked(mark: str, shown: Shown, first: Unit, last: Unit, text_now: TextNow) -> Citation:
    chunk = shown.result.chunk
    start, end = first.span.start_char, last.span.end_char
    quote = chunk.text[start - chunk.span.start_char : end - chunk.span.start_char]
    span = Span(chunk.span.path, start, end, first.span.start_line, last.span.end_line)
    return Citation(mark, chunk.source, span, quote, verdict_of(span, quote, text_now(chunk)), shown.label)


def verdict_of(span: Span, quote: str, text: str | None) -> Verdict:
    r"""Compare a quote with the very characters and lines that its span names.

    Returns:
        `supported` if the text holds the quote there, `stale` if it holds something else or is gone.

    Example:
        >>> verdict_of(Span("a.py", 2, 3, 2, 2), "b", "a\nb\n")
        'supported'
    """
    if text is None or text[span.start_char : span.end_char] != quote:
        return "stale"
    first = text.count("\n", 0, span.start_char) + 1
    last = first + quote.count("\n")
    return "supported" if (first, last) == (span.start_line, span.end_line) else "stale"
