"""Passages for what says in which release something was changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from openbook.extractive.context import ContextItem
from openbook.extractive.headings import headings_over
from openbook.extractive.passages import Passage
from openbook.extractive.setting_passages import TextOf
from openbook.questions.changes_asked import AskedChange
from openbook.questions.question import Question
from openbook.retrieval.changes import change_entries
from openbook.retrieval.roles import role_of

# Without zeros at its end: 2.1.0 is 2.1.
_NUMBER = re.compile(r"\d+\.\d+(?:\.(?!0+\b)\d+)*")
# "2024.10.11, Version 1.49.1", "CHANGES FROM 3.4 TO 3.5": a short line below a blank one, not "Changes since 3.4:"; or
# the field of a directive.
_RELEASE = re.compile(
    r"(?:\A|(?<=\n\n))(?![-*+•\s]|[^\n]*\bsince\b)[^\n]{0,60}\d\.\d[^\n]{0,60}(?<![.,;])$"
    r"|^[ \t]*:version:[ \t]*\d\S*$",
    re.MULTILINE,
)
# As shares of the best: what is quoted before all else, and what says the same.
_NEAR_BEST, _SAME = 0.85, 0.97
# Bonus of the first release of several.
_FIRST_BONUS = 0.4


def with_changes(
    query: Question,
    passages: Sequence[Passage],
    context: Sequence[ContextItem],
    rarity: Mapping[str, float],
    text_of: TextOf | None,
) -> list[Passage]:
    """Return passages with what says the change of a question.

    Of several that say the same of a thing with a name, those of the first release count more.
    """
    if query.change is None:
        return list(passages)
    every = [each for shown in context for each in _changes_in(query.change, shown, rarity)]
    found = {each.key: each for each in sorted(every, key=lambda each: each.change)}
    best = max((each.change for each in every), default=0.0)
    said = [_with_release(each, text_of) for each in found.values() if each.change >= _NEAR_BEST * best]
    numbers = [number for each in said if each.change >= _SAME * best and (number := _number_of(each))]
    if numbers and query.terms:
        gained = (_FIRST_BONUS * (_number_of(each) == min(numbers)) for each in said)
        said = [replace(each, change=each.change + more) for each, more in zip(said, gained, strict=True)]
    return [*passages, *said]


def _changes_in(asked: AskedChange, shown: ContextItem, rarity: Mapping[str, float]) -> Iterator[Passage]:
    base = shown.result.chunk.span.start_char
    for entry in change_entries(asked, shown.result.chunk, rarity):
        units = [
            unit
            for unit in shown.units
            if unit.span.start_char < base + entry.end and base + entry.start < unit.span.end_char
        ]
        if units:
            yield Passage(shown, units[0], units[-1], is_whole=True, change=entry.strength)


def _with_release(passage: Passage, text_of: TextOf | None) -> Passage:
    """Return a passage with the line above that names its release, unless its text, its headings or its path do."""
    chunk = passage.shown.result.chunk
    if _number_of(passage) or text_of is None:
        return passage
    text = text_of(chunk.source, chunk.span.path) or ""
    above = [found[0].strip("#=: \t") for found in _RELEASE.finditer(text, 0, passage.start_char)]
    return replace(passage, release=above[-1]) if above else passage


def _number_of(passage: Passage) -> tuple[int, ...]:
    """Return the number of the release that is shown with a passage: by a note itself, or above an entry; or none."""
    chunk = passage.shown.result.chunk
    places: Sequence[str] = (passage.text,)
    if role_of(chunk.span.path, chunk.kind) == "changelog":
        headings = headings_over(chunk, passage.start_char - chunk.span.start_char)
        places = (passage.release, *reversed(headings), chunk.span.path)
    found = next(filter(None, map(_NUMBER.search, places)), None)
    return tuple(map(int, found[0].split("."))) if found else ()
