"""Finds the lists and tables of prose that a question asks for, and what a quote of a list or table leaves out."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from openbook.answers import has_lines
from openbook.extractive.context import ContextItem
from openbook.extractive.definition_heads import in_comment
from openbook.extractive.headings import headings_in
from openbook.extractive.list_bounds import (
    columns_over,
    ends_of_items,
    header_of,
    items_around,
    names_of,
    opens_list,
)
from openbook.extractive.passages import Passage, PassageKey, join_passages, lines_of_code, overlap
from openbook.extractive.setting_passages import TextOf
from openbook.extractive.statements import layout_of
from openbook.questions.lists_asked import AskedList
from openbook.retrieval.roles import ASIDE, role_of
from openbook.retrieval.signals import coverage
from openbook.text import paragraphs, sentences
from openbook.tokens import tokenize, words_to_read
from openbook.types import Chunk

# CONTRIBUTING.md lists what is needed to build a project.
_ASIDE = ASIDE - {"contributing"}
_MIN_ITEMS = 2
# Longer lists are cut after an item.
_MAX_LINES = 24
# A rest of so many words is an item or two. It is quoted, so that the list is whole.
_MAX_REST_WORDS = 25
# A longer item of what is left out is not quoted on its own.
_MAX_ITEM_WORDS = 40
# The names of the items that are left out.
_MAX_NAMES = 30
# A list of steps is quoted as far as it has so many words, as all quotes together.
_MAX_STEPS_WORDS = 100
_NUMBERED = re.compile(r"[ \t]*\(?(?:\d{1,3}|#)[.)]\s")
# The mark of a comment, which may be followed by an item of a list.
_COMMENT = re.compile(r"^(\s*)(?://+!?|#+|--+|;+|\*)(?=\s|$)")
# The paragraph above a list is searched for in this many lines.
_LINES_ABOVE = 6


def lists_in(asked: AskedList | None, passages: Sequence[Passage]) -> dict[PassageKey, tuple[Passage, float]]:
    """Return the lists that a question asks for, in the results of passages, with the share of its words."""
    if asked is None:
        return {}
    shown = {passage.shown.number: passage.shown for passage in passages}
    found = (each for item in shown.values() for each in lists_asked_for(asked, item))
    return {passage.key: (passage, share) for passage, share in found}


def lists_asked_for(asked: AskedList, shown: ContextItem) -> Iterator[tuple[Passage, float]]:
    """Yield the lists in a result whose openings have words of what is asked for, with the share of these words.

    The opening of a list is the sentence that introduces it, the header of a table, and the heading above.
    """
    chunk = shown.result.chunk
    if not shown.is_prose or role_of(chunk.span.path, chunk.kind) in _ASIDE:
        return
    for each in _lists(chunk):
        if share := asked.share_of(each.opening):
            yield _passage(shown, each.start, each.ends[-1]), share


def _passage(shown: ContextItem, start: int, end: int) -> Passage:
    """Return the passage between two offsets in the chunk of a result. It ends with a unit."""
    base = shown.result.chunk.span.start_char
    within = [unit for unit in shown.units if unit.span.start_char < base + end and unit.span.end_char > base + start]
    part = (base + start, within[-1].span.end_char) if base + start > within[0].span.start_char else None
    return Passage(shown, within[0], within[-1], part)


def steps_around(quote: Passage) -> Passage | None:
    """Return the numbered list that a quote is of, with what introduces it; None if its part that is short has not all.

    A long list is cut after an item.
    """
    chunk = quote.shown.result.chunk
    if not quote.shown.is_prose:
        return None
    base = chunk.span.start_char
    start, end = quote.start_char - base, quote.end_char - base
    for each in _lists(chunk):
        if each.is_numbered and each.start <= start < each.ends[-1]:
            ends = [at for at in each.ends if words_to_read(chunk.text[each.start : at]) <= _MAX_STEPS_WORDS]
            return _passage(quote.shown, each.start, ends[-1]) if ends and end <= ends[-1] else None
    return None


class _List(NamedTuple):
    """A list or table in a chunk. Positions are offsets."""

    start: int
    """The start of what introduces it."""
    ends: Sequence[int]
    """The ends of its first items, as many as may be quoted."""
    opening: str
    is_numbered: bool


def _lists(chunk: Chunk) -> Iterator[_List]:
    """Yield the lists and tables of several items in order."""
    said = chunk.text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in said)]
    titles = {bisect_right(starts, each.start) - 1: each.title for each in headings_in(chunk)}
    heading, first, place = chunk.context[-1] if chunk.context else "", 0, 0
    while place < len(said):
        if place in titles:
            heading, first = titles[place], place
        if not opens_list(said[place]):
            place += 1
            continue
        ends = ends_of_items(said, place, titles.__contains__)
        start, above = _introduction(chunk.text, starts[max(place - _LINES_ABOVE, first)], starts[place])
        if len(ends) >= _MIN_ITEMS:
            introduces = above.rstrip("*_ ").endswith((":", "：")) or bisect_right(starts, start) - 1 in titles
            shown = [end for end in ends if end - place < _MAX_LINES] or ends[:1]
            opening = "\n".join((heading, above, header_of(said, place)))
            yield _List(
                start if introduces else starts[place],
                [starts[end] + len(said[end]) for end in shown],
                opening,
                _NUMBERED.match(said[place]) is not None,
            )
        place = ends[-1] + 1


def _introduction(text: str, start: int, end: int) -> tuple[int, str]:
    """Return the start and the text of the last sentence in a range; an empty one at its end if there is none."""
    said = [each for paragraph in paragraphs(text, start, end) for each in sentences(text, *paragraph)]
    first, last = said[-1] if said else (end, end)
    return first, text[first:last]


def _list_around(quote: Passage, others: Sequence[Passage]) -> Passage:
    """Return the list that a quote has several items of, cut if it is long; else, or if another has some, the quote."""
    chunk = quote.shown.result.chunk
    base = chunk.span.start_char
    start, end = quote.start_char - base, quote.end_char - base
    for each in _lists(chunk):
        if each.start < start and sum(start < at <= end for at in each.ends) >= _MIN_ITEMS and end <= each.ends[-1]:
            whole = _passage(quote.shown, each.start, each.ends[-1])
            return quote if any(overlap(whole, other) for other in others) else whole
    return quote


class LeftOut(NamedTuple):
    """What a quote leaves out of a list or table, for readers."""

    columns: str = ""
    """The columns of its table rows, if it lacks the header."""
    note: str = ""
    """Says that the list or table goes on, to which line, and with which items; empty if it does not."""


NOTHING = LeftOut()


def completed_list(
    quote: Passage, quotes: Sequence[Passage], text_of: TextOf, *, is_asked: bool = False
) -> tuple[Passage, LeftOut]:
    """Return a quote with the rest of its list or table if that is short, and what it leaves out.

    It is not extended over what another quote has. If a list is asked for, it has the items before it as well.
    """
    others = [each for each in quotes if each is not quote]
    quote = _list_around(quote, others) if is_asked else quote
    if goes_on := quote.goes_on or _left_of_example(quote, quotes):
        return quote, LeftOut(note=goes_on)
    chunk, text = quote.shown.result.chunk, _document_of(quote, text_of)
    if not text:
        return quote, NOTHING
    lines, first, last = _prose_lines(quote, text), quote.first.span.start_line - 1, quote.last.span.end_line - 1
    left = LeftOut(columns_over(lines, first))
    items = items_around(lines, first, last)
    end = items[-1].stop if items else 0
    rest = [unit for unit in quote.shown.units[quote.last.number :] if unit.span.end_line <= end]
    if rest and rest[-1].span.end_line == end:
        added = Passage(quote.shown, rest[0], rest[-1])
        whole = join_passages(quote, added)
        if words_to_read(added.text) <= _MAX_REST_WORDS and not any(overlap(whole, each) for each in others):
            return whole, left
    if not end:
        return quote, left
    names = names_of(lines, [each for each in items if each.start > last])
    place = f"goes on to line {end}" if has_lines(chunk.language) else "goes on"
    listed = ", ".join([*names[:_MAX_NAMES], "..."] if len(names) > _MAX_NAMES else names)
    return quote, left._replace(note=f"({place}: {listed})" if listed else f"({place})")


def _left_of_example(quote: Passage, quotes: Sequence[Passage]) -> str:
    """Return what says that an example goes on up to the next quote of it; empty if nothing is between."""
    shown, example = quote.shown, quote.example
    later = [
        each.first.number
        for each in quotes
        if example and each.shown is shown and each.example == example and each.first.number > quote.last.number
    ]
    between = shown.units[quote.last.number : min(later, default=0) - 1] if later else ()
    has_line = has_lines(shown.result.chunk.language)
    return (f"(goes on to line {between[-1].span.end_line})" if has_line else "(goes on)") if between else ""


def _document_of(quote: Passage, text_of: TextOf) -> str:
    """Return the text of the document of a quote.

    It is empty if that has been indexed again since the search, and for code without a list in it or directly below.
    """
    chunk, units = quote.shown.result.chunk, quote.shown.units[quote.first.number - 1 : quote.last.number + 1]
    if quote.is_code and not any(opens_list(_COMMENT.sub(r"\1", unit.text)) for unit in units):
        return ""
    text = text_of(chunk.source, chunk.span.path) or ""
    is_same = text[chunk.span.start_char : chunk.span.end_char] == chunk.text
    return text if is_same and chunk.kind != "course" else ""


def asked_item(
    quote: Passage, quotes: Sequence[Passage], text_of: TextOf, rarity: Mapping[str, float]
) -> Passage | None:
    """Return the item of a list or table that a quote leaves out, if it has more of the question than those quoted.

    `quotes` are all quotes; it overlaps none of them.
    """
    text = _document_of(quote, text_of)
    if not text:
        return None
    lines, last = _prose_lines(quote, text), quote.last.span.end_line - 1
    items = items_around(lines, quote.first.span.start_line - 1, last)
    shares = [coverage(frozenset(tokenize("\n".join(lines[each.start : each.stop]))), rarity) for each in items]
    if not items:
        return None
    item = items[shares.index(max(shares))]
    within = [unit for unit in quote.shown.units if item.start < unit.span.start_line <= item.stop]
    if not within or within[-1].span.end_line < item.stop:
        return None
    found = Passage(quote.shown, within[0], within[-1])
    is_free = not any(overlap(found, each) for each in quotes)
    return found if is_free and words_to_read(found.text) <= _MAX_ITEM_WORDS else None


def _prose_lines(quote: Passage, text: str) -> list[str]:
    """Return the lines of a document without those of code; for a quote of code, the lines of comments in its result.

    The marks of comments are removed.
    """
    shown, lines = quote.shown, text.split("\n")
    code = lines_of_code(shown)
    if not quote.is_code:
        return ["" if number in code else line for number, line in enumerate(lines, start=1)]
    said = [""] * len(lines)
    for unit, layout in zip(shown.units, layout_of(shown), strict=True):
        number, text = unit.span.start_line, unit.text
        if shown.is_prose and number not in code:
            continue
        if layout.inside and not layout.leads:
            said[number - 1] = text if in_comment(shown, unit.number - 1) else ""
        elif _COMMENT.match(text):
            said[number - 1] = _COMMENT.sub(r"\1", text)
    return said
