"""Finds the lists and tables of prose that a question asks for, to quote them whole with what introduces them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate, pairwise

from openbook.answering.context import ContextItem
from openbook.answering.headings import headings_in
from openbook.answering.passages import Passage
from openbook.questions.lists_asked import AskedList
from openbook.retrieval.roles import ASIDE, role_of
from openbook.text import indentation, paragraphs, sentences
from openbook.types import Chunk

# CONTRIBUTING.md lists what is needed to build a project.
_ASIDE = ASIDE - {"legal"}
_MIN_ITEMS = 2
# Longer lists are cut after an item.
_MAX_LINES = 24
# The paragraph above a list is searched for in this many lines.
_LINES_ABOVE = 6

_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\(?\d{1,3}[.)]|:(?=\s{2,}))\s+\S")
_ROW = re.compile(r"[ \t]*(?:\||\+[-=+]{3,})")
# The first line of a simple table of reStructuredText, which ends with a blank line.
_RULE = re.compile(r"[ \t]*=+(?:[ \t]+=+)+[ \t]*$")


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
        line = said[place]
        if place in titles:
            heading, first = titles[place], place
        if not any(opens.match(line) for opens in (_ITEM, _ROW, _RULE)):
            place += 1
            continue
        ends = _ends(said, place, titles)
        start, above = _introduction(chunk.text, starts[max(place - _LINES_ABOVE, first)], starts[place])
        if len(ends) >= _MIN_ITEMS:
            introduces = above.rstrip("*_ ").endswith((":", "：")) or bisect_right(starts, start) - 1 in titles
            shown = max((end for end in ends if end - place < _MAX_LINES), default=ends[0])
            header = said[place + 1] if _RULE.match(line) else line
            opening = "\n".join((heading, above, header))
            yield start if introduces else starts[place], starts[shown] + len(said[shown]), opening
        place = ends[-1] + 1


def _ends(said: Sequence[str], first: int, headings: Collection[int]) -> list[int]:
    """Return the last line of each item of a list, or of each row of a table. `headings` are the lines of headings."""
    if _ROW.match(said[first]) or _RULE.match(said[first]):
        is_row = _ROW.match if _ROW.match(said[first]) else str.strip
        behind = next((at for at in range(first, len(said)) if not is_row(said[at])), len(said))
        return list(range(first, behind))
    last, items = first, [first]
    for at in range(first + 1, len(said)):
        line = said[at]
        is_next = at == last + 1 and at not in headings
        if line.strip() and not (_ITEM.match(line) or is_next or indentation(line) > indentation(said[first])):
            break
        items += [at] * (_ITEM.match(line) is not None)
        last = at if line.strip() else last
    return [end - 1 for _, end in pairwise((*items, last + 1))]


def _introduction(text: str, start: int, end: int) -> tuple[int, str]:
    """Return the start and the text of the last sentence in a range; an empty one at its end if there is none."""
    said = [each for paragraph in paragraphs(text, start, end) for each in sentences(text, *paragraph)]
    first, last = said[-1] if said else (end, end)
    return first, text[first:last]
