"""Finds the lists and tables of prose that a question asks for, and what a quote of a list or table leaves out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from openbook.answers import has_lines
from openbook.extractive.context import ContextItem
from openbook.extractive.headings import headings_in
from openbook.extractive.list_bounds import columns_over, ends_of_items, header_of, opens_list, rest_of_list
from openbook.extractive.passages import Passage, join_passages, lines_of_code, overlap
from openbook.extractive.setting_passages import TextOf
from openbook.questions.lists_asked import AskedList
from openbook.retrieval.roles import ASIDE, role_of
from openbook.text import paragraphs, sentences
from openbook.tokens import words_to_read
from openbook.types import Chunk

# CONTRIBUTING.md lists what is needed to build a project.
_ASIDE = ASIDE - {"legal"}
_MIN_ITEMS = 2
# Longer lists are cut after an item.
_MAX_LINES = 24
# A rest of so many words is an item or two. It is quoted, so that the list is whole.
_MAX_REST_WORDS = 25
# The paragraph above a list is searched for in this many lines.
_LINES_ABOVE = 6


def lists_asked_for(asked: AskedList, shown: ContextItem) -> Iterator[tuple[Passage, float]]:
    """Yield the lists in a result whose openings have words of what is asked for, with the share of these words.

    The opening of a list is the sentence that introduces it, the header of a table, and the heading above.
    """
    chunk = shown.result.chunk
    if not shown.is_prose or role_of(chunk.span.path, chunk.kind) in _ASIDE:
        return
    for start, end, opening in _lists(chunk):
        if share := asked.share_of(opening):
            start, end = chunk.span.start_char + start, chunk.span.start_char + end
            within = [unit for unit in shown.units if unit.span.start_char < end and unit.span.end_char > start]
            part = (start, within[-1].span.end_char) if start > within[0].span.start_char else None
            yield Passage(shown, within[0], within[-1], part), share


def _lists(chunk: Chunk) -> Iterator[tuple[int, int, str]]:
    """Yield the start and the end of each list with what introduces it, and its opening."""
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
            shown = max((end for end in ends if end - place < _MAX_LINES), default=ends[0])
            opening = "\n".join((heading, above, header_of(said, place)))
            yield start if introduces else starts[place], starts[shown] + len(said[shown]), opening
        place = ends[-1] + 1


def _introduction(text: str, start: int, end: int) -> tuple[int, str]:
    """Return the start and the text of the last sentence in a range; an empty one at its end if there is none."""
    said = [each for paragraph in paragraphs(text, start, end) for each in sentences(text, *paragraph)]
    first, last = said[-1] if said else (end, end)
    return first, text[first:last]


class LeftOut(NamedTuple):
    """What a quote leaves out of a list or table, for readers."""

    columns: str = ""
    """The columns of its table rows, if it lacks the header."""
    note: str = ""
    """Says that the list or table goes on, and to which line; empty if it does not."""


NOTHING = LeftOut()


def completed_list(quote: Passage, quotes: Sequence[Passage], text_of: TextOf) -> tuple[Passage, LeftOut]:
    """Return a quote with the rest of its list or table if that is short, and what it leaves out.

    It is not extended over what another quote has.
    """
    if quote.goes_on:
        return quote, LeftOut(note=quote.goes_on)
    chunk = quote.shown.result.chunk
    text = text_of(chunk.source, chunk.span.path) or ""
    # A document may have been indexed again since the search.
    if chunk.kind != "docs" or text[chunk.span.start_char : chunk.span.end_char] != chunk.text:
        return quote, NOTHING
    lines, first, last = text.split("\n"), quote.first.span.start_line - 1, quote.last.span.end_line - 1
    for line in lines_of_code(quote.shown):
        lines[line - 1] = ""
    left = LeftOut(columns_over(lines, first))
    end = rest_of_list(lines, first, last) + 1
    rest = [unit for unit in quote.shown.units[quote.last.number :] if unit.span.end_line <= end]
    if rest and rest[-1].span.end_line == end:
        added = Passage(quote.shown, rest[0], rest[-1])
        whole = join_passages(quote, added)
        others = (each for each in quotes if each is not quote)
        if words_to_read(added.text) <= _MAX_REST_WORDS and not any(overlap(whole, each) for each in others):
            return whole, left
    note = f"(goes on to line {end})" if has_lines(chunk.language) else "(goes on)"
    return quote, left._replace(note=note) if end else left
