"""Resolves citation marks, and checks whether the cited text is current."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from openbook.answers import Citation, Verdict, anchor_of
from openbook.extractive.context import Context, ContextItem, label_of
from openbook.extractive.definition_heads import definition_at, definition_heads, line_of
from openbook.extractive.headings import headings_over
from openbook.grounding.marks import parse_mark
from openbook.retrieval.definitions import defines_type
from openbook.text import CLOCK
from openbook.types import Chunk, Document, Span, Unit

if TYPE_CHECKING:
    from openbook.index.protocol import Index

TextNow = Callable[[Chunk], str | None]
"""Returns the current text of the document of a chunk; None if it is deleted."""

# Pages of HTML can have anchors within a chunk, as can what is spoken: a time for each paragraph.
_PAGES = (".htm", ".html", ".xhtml")
_LINE_END = re.compile(r"[\n\f]")

# `func (s *Dock[T]) `, `fun <T> Dock<T>.`, `function Dock:` and `Dock<T>::` before a name.
_TYPE = r"(\w+)(?:<[^()]*>|\[[^()]*\])?\??"
_OWNER = re.compile(
    rf"\bfunc[ ]*\((?:\w+[ ]+)?\*?{_TYPE}\)[ ]*$|\bfun(?:ction)?[ ]+(?:<[^()]*>[ ]*)?{_TYPE}[.:]$|{_TYPE}::$"
)
_OWNER_CHARS = 200

NOWHERE = Span("", 0, 0, 1, 1)
"""The span of a mark that cites nothing in the context. No document has an empty path."""


@dataclass(frozen=True, slots=True)
class UnitRange:
    """A range of units of a result, as cited by a mark."""

    shown: ContextItem
    first: Unit
    last: Unit

    @property
    def span(self) -> Span:
        """From the first to the last unit."""
        first, last = self.first.span, self.last.span
        return Span(first.path, first.start_char, last.end_char, first.start_line, last.end_line)

    @property
    def quote(self) -> str:
        """Exact slice of the document."""
        chunk = self.shown.result.chunk
        return chunk.text[
            self.first.span.start_char - chunk.span.start_char : self.last.span.end_char - chunk.span.start_char
        ]

    @property
    def mark(self) -> str:
        """The mark that cites the range."""
        last = "" if self.first.number == self.last.number else f"-{self.last.number}"
        return f"[{self.shown.number}:{self.first.number}{last}]"


def places_of(mark: str, shown: Mapping[int, ContextItem]) -> tuple[UnitRange | None, ...]:
    """Resolve the ranges of a mark; a range outside of the context is None. A text that is no mark has none."""
    parsed = parse_mark(mark)
    entry = shown.get(parsed.number) if parsed else None
    if parsed is None or entry is None or not entry.units:
        return (None,)
    every = ((1, len(entry.units)),)
    return tuple(
        UnitRange(entry, entry.units[first - 1], entry.units[last - 1])
        if 1 <= first <= last <= len(entry.units)
        else None
        for first, last in parsed.ranges or every
    )


def numbered(context: Context) -> dict[int, ContextItem]:
    """Return the items of a context by number."""
    return {entry.number: entry for entry in context.shown}


def citation_of(
    mark: str, place: UnitRange | None, verdict: Verdict, reason: str = "", *, claim: int | None = None
) -> Citation:
    """Create the citation for one checked range of a mark."""
    if place is None:
        return Citation(mark, "", NOWHERE, "", verdict, reason=reason, claim=claim)
    chunk, label = place.shown.result.chunk, _label_at(place)
    symbol, anchor = symbol_at(place), anchor_of(chunk)
    return Citation(mark, chunk.source, place.span, place.quote, verdict, label, reason, symbol, claim, anchor)


def _label_at(place: UnitRange) -> str:
    result = place.shown.result
    return label_of(replace(result, chunk=replace(result.chunk, context=headings_at(place))))


def at_own_anchors(citations: Iterable[Citation], index: Index) -> tuple[Citation, ...]:
    """Return citations with the anchors at their own starts, where a chunk can have several."""

    @cache
    def document(source: str, path: str) -> Document | None:
        return index.document(source, path)

    return tuple(
        each.at_own_anchor(found)
        if (each.span.path.lower().endswith(_PAGES) or CLOCK.fullmatch(each.anchor or ""))
        and (found := document(each.source, each.span.path))
        else each
        for each in citations
    )


def headings_at(place: UnitRange) -> tuple[str, ...]:
    """Return the headings of the section of a range, outermost first, with the one that it begins with."""
    chunk = place.shown.result.chunk
    # A whole page of HTML may be on one line, with form feeds between its blocks.
    found = _LINE_END.search(chunk.text, place.first.span.start_char - chunk.span.start_char)
    return headings_over(chunk, found.start() if found else len(chunk.text))


def symbol_at(place: UnitRange) -> str:
    """Return the display name of the definition at a range; empty if there is none, or if it is unknown.

    Of several definitions in a chunk, it is the one that begins in the range, or else the innermost one around it.
    Lines above the only one have the name of what is around it.
    """
    chunk = place.shown.result.chunk
    if not chunk.symbol or len(chunk.defines) <= 1:
        is_above = bool(chunk.defines) and _is_above(place)
        return ".".join(chunk.context) if is_above else _display_name(chunk.symbol, chunk.signature)
    head = definition_at(place.shown, place.first, place.last)
    if head is None:
        return ""
    line, (*_, owner, own) = line_of(place.shown, head), ("", *chunk.symbol.split("."))
    written = _written_owner(line, head.defines)
    if head.defines == own and written in ("", owner):
        return _display_name(chunk.symbol, chunk.signature)
    # The whole chunk is in the scope, such as a class, of the definition that it is named after, but for an owner that
    # is written in front of its name.
    is_within = chunk.symbol.startswith(f"{'.'.join(chunk.context)}.")
    scope = chunk.context[: -1 if _written_owner(chunk.signature, own) else None] if is_within else ()
    return _display_name(".".join(filter(None, (*scope, written, head.defines))), line)


def _written_owner(line: str, name: str) -> str:
    """Return the owner in front of a name: the receiver of Go, the extended type of Kotlin, `Dock::` of C++."""
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", line) if name else None
    owner = _OWNER.search(line, max(0, found.start() - _OWNER_CHARS), found.start()) if found else None
    return next(filter(None, owner.groups()), "") if owner else ""


def _is_above(place: UnitRange) -> bool:
    """Return whether a range ends before the definitions of its chunk begin, with their comments."""
    heads = definition_heads(place.shown)
    return bool(heads) and place.last.number < min(head.first.number for head in heads)


def _display_name(symbol: str, signature: str) -> str:
    name = symbol.rpartition(".")[2]
    defined = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", signature) if name else None
    if defined is None or defines_type(signature, name):
        return symbol
    return f"{symbol}()" if signature.startswith(("(", "<", "["), defined.end()) else symbol


def is_current(span: Span, quote: str, text: str | None) -> bool:
    r"""Return whether a text contains a quote at exactly the offsets and lines of a span; not if it is None.

    Example:
        >>> is_current(Span("a.py", 2, 3, 2, 2), "b", "a\nb\n")
        True
    """
    if text is None or text[span.start_char : span.end_char] != quote:
        return False
    first = text.count("\n", 0, span.start_char) + 1
    return (first, first + quote.count("\n")) == (span.start_line, span.end_line)
