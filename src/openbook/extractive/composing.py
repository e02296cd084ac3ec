"""Writes an answer of quotes: each below its place, with its citation mark, and the places that are not quoted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from openbook.answers import Claim
from openbook.containers import is_title_of
from openbook.extractive.answerer import ScoredPassage
from openbook.extractive.course_results import LESSONS
from openbook.extractive.echoes import NOTE
from openbook.extractive.passages import Passage
from openbook.extractive.quoting import in_code, itemized, mark_of, place_of, pointed, quoted
from openbook.extractive.setting_passages import parents_shown
from openbook.types import ResultRole

_FURTHER, _BETWEEN = "See also:", "\n\n"


def compose(picked: Sequence[ScoredPassage], further: str = "") -> str:
    """Write the answer: a note, each quote with its citation mark, and what is said about places that are not shown."""
    written = "".join(between + part for between, part, _ in _parts(picked))
    return f"{written}{_BETWEEN}{further}" if further else written


def quotes_of(picked: Sequence[ScoredPassage]) -> tuple[Claim, ...]:
    """Return the quotes as claims with their offsets in the answer that `compose` writes.

    Marks are not parsed from the answer, as quotes may contain brackets that look like marks.
    """
    quotes, offset = [], 0
    for between, part, passage in _parts(picked):
        offset += len(between)
        if passage is not None:
            quotes.append(Claim(offset, offset + len(part), passage.text, (mark_of(passage),)))
        offset += len(part)
    return tuple(quotes)


def _parts(picked: Sequence[ScoredPassage]) -> Iterator[tuple[str, str, Passage | None]]:
    """Yield the parts of an answer: the separator before each, its text, and the passage that it quotes."""
    yield "", NOTE, None
    heading, is_listed = "", False
    for item in picked:
        if item.is_pointer:
            continue
        before, (heading, is_apart) = heading, _heading(item)
        if is_apart and heading != before:
            yield _BETWEEN, heading, None
        between = "\n" if item.is_item and is_listed else _BETWEEN
        is_listed = item.is_item
        yield between, itemized(item.passage) if is_listed else quoted(item.passage), item.passage
        if item.left_out.note:
            yield " ", item.left_out.note, None
    between = _BETWEEN
    for item in picked:
        if item.is_pointer:
            if between == _BETWEEN:
                yield between, _FURTHER, None
            yield between, pointed(item.passage), item.passage
            between = "\n"


def _heading(item: ScoredPassage) -> tuple[str, bool]:
    """Return the heading of a quote: columns, list entry, parents, course or place; and whether the quote lacks it."""
    passage, lesson = item.passage, item.passage.shown.result.chunk.lesson
    if passage.release:
        return in_code(passage.release), True
    if item.left_out.columns:
        return in_code(item.left_out.columns), True
    if passage.setting is not None and (parents := parents_shown(passage.setting)):
        return in_code(".".join(parents)), True
    if lesson is None:
        entry = passage.entry
        if entry is not None and passage.first.number - 1 > entry.head:
            return in_code(entry.name), True
        return place_of(passage), not item.is_item
    result = passage.shown.result
    if (count := result.signals.get(LESSONS)) is not None:
        return f"{lesson.course} · {count:.0f} lessons", True
    if ResultRole.HEADING in result.roles or is_title_of(passage.first.text.strip("#*_ \t"), lesson):
        return lesson.course, True
    return place_of(passage) if passage.shown.is_prose else passage.shown.label, True
