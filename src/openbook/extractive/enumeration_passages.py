"""Passages for an enumeration that a question asks for: its definition with its values, or the value that it names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from openbook.extractive.context import ContextItem
from openbook.extractive.definition_heads import MAX_COMBINED_LINES, MAX_QUOTE_LINES
from openbook.extractive.passages import Passage
from openbook.extractive.setting_passages import TextOf
from openbook.extractive.statements import layout_of
from openbook.questions.enumerations_asked import AskedEnumeration
from openbook.questions.question import Question
from openbook.retrieval.enumerations import Enumeration, Member, enumerations_in
from openbook.retrieval.roles import is_unasked
from openbook.types import Unit

# Longer enumerations are cut after a value. A few screens of comments say less than the names of the others.
_MAX_LINES = 40
# The names of the values that are left out.
_MAX_NAMES = 30


def with_enumerations(
    query: Question, passages: Sequence[Passage], context: Sequence[ContextItem], text_of: TextOf | None = None
) -> list[Passage]:
    """Return passages with the enumeration of a question, which scores higher than what it overlaps."""
    asked = query.enumeration
    if asked is None:
        return list(passages)
    return [*passages, *(each for shown in context for each in _passages_in(query, asked, shown, text_of))]


def _passages_in(
    query: Question, asked: AskedEnumeration, shown: ContextItem, text_of: TextOf | None
) -> Iterator[Passage]:
    chunk = shown.result.chunk
    if chunk.kind != "code" or is_unasked(chunk, query.text):
        return
    text, base = (text_of(chunk.source, chunk.span.path) if text_of else None) or "", 0
    # A document may have been indexed again since the search.
    if text[chunk.span.start_char : chunk.span.end_char] != chunk.text:
        text, base = chunk.text, chunk.span.start_char
    for each in enumerations_in(text, chunk.language):
        if not asked.is_name(each.name):
            continue
        if not asked.member:
            yield from _of_all(shown, each, text, base)
        for member in each.members:
            if member.name == asked.member:
                yield from _of_member(shown, each, member, base)


def _of_all(shown: ContextItem, found: Enumeration, text: str, base: int) -> Iterator[Passage]:
    """Yield the definition of an enumeration that begins in a result, as far as it is there and not too long."""
    within = _units(shown, base + found.start, base + found.end)
    if not within or within[0].span.start_char > base + found.start:
        return
    lines, at = layout_of(shown), within[0].number - 1
    first = at
    while first and lines[first - 1].leads and not lines[first].is_apart:
        first -= 1
    first = at if at - first >= MAX_COMBINED_LINES else first
    least, last, count = shown.units[first].span.start_line, within[0], 0
    for member in found.members:
        own = _units(shown, base + member.start, base + member.end)
        if not own or own[-1].span.end_char < base + member.end or own[-1].span.end_line - least >= _MAX_LINES:
            break
        last, count = own[-1], count + 1
    left = [f"`{member.name}`" for member in found.members[count:]]
    if not left:
        last = next((unit for unit in within[-1:] if unit.span.end_line <= last.span.end_line + 1), last)
    names = ", ".join(left if len(left) <= _MAX_NAMES else [*left[:_MAX_NAMES], "..."])
    end = within[0].span.start_line + text.count("\n", found.start, found.end)
    yield _passage(shown, shown.units[first], last, found.name, f"(goes on to line {end}: {names})" if left else "")


def _of_member(shown: ContextItem, found: Enumeration, member: Member, base: int) -> Iterator[Passage]:
    """Yield a value that a result has, or the first sentence of the comment above if that is long."""
    within = _units(shown, base + member.start, base + member.end)
    if not within or within[-1].span.end_char < base + member.end:
        return
    last, note = within[-1], ""
    if len(within) > MAX_COMBINED_LINES:
        lines, opening = layout_of(shown), within[:MAX_QUOTE_LINES]
        said = (unit for unit in opening if lines[unit.number - 1].ends_sentence and any(map(str.isalnum, unit.text)))
        last, note = next(said, opening[-1]), f"(goes on to line {last.span.end_line})"
    passage = _passage(shown, within[0], last, member.name, note)
    yield replace(passage, within=f"{found.name}\n{passage.within}")


def _units(shown: ContextItem, start: int, end: int) -> Sequence[Unit]:
    return [unit for unit in shown.units if unit.span.start_char < end and unit.span.end_char > start]


def _passage(shown: ContextItem, first: Unit, last: Unit, name: str, note: str) -> Passage:
    within = "\n".join((*shown.result.chunk.context, shown.result.chunk.symbol, shown.result.chunk.span.path))
    return Passage(
        shown, first, last, None, name, within, is_head=True, is_whole=True, is_enumeration=True, goes_on=note
    )
