"""Passages that open the section whose heading asks what a question asks, or has its error message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, zip_longest
from typing import NamedTuple

from openbook.extractive.context import ContextItem
from openbook.extractive.echoes import answers_nothing
from openbook.extractive.headings import headings_in
from openbook.extractive.passages import Passage, join_passages, passages_of
from openbook.extractive.surroundings import leads_in
from openbook.questions.question import Question
from openbook.questions.references_asked import AskedReference
from openbook.retrieval.asked_headings import heading_strength
from openbook.retrieval.roles import is_aside
from openbook.retrieval.signals import coverage
from openbook.tokens import tokenize, words_to_read

# A section of so many words is quoted whole, as a table that compares two things; of a longer one, its first sentences.
_MAX_WHOLE, _MAX_WORDS = 160, 100

# Parts of a page have nothing but line ends between them.
_MAX_GAP = 4

# An example with this share of the words of a message only repeats it.
_REPEATED = 0.7
# A passage with so many times the words of a message says more than that.
_MAX_OTHER = 1.5
# Words of a message in their order, as in a line that shows it with other values. A passage may have others by chance.
_SHOWN_WORDS = 4


class _Section(NamedTuple):
    """A section, as far as it is in one result."""

    shown: ContextItem
    title: str
    start: int
    """Offset in the chunk, below the heading."""
    end: int


def headed_passages(query: Question, context: Sequence[ContextItem], rarity: Mapping[str, float]) -> list[Passage]:
    """Return what opens the best section whose heading is near a question, in order; none if no heading is near.

    So is the heading of a numbered part, if the question asks for nothing but this part.
    Examples that repeat its message are left out, with what introduces them. Below a heading with a message, the
    sections inside are read as well: one of them has the remedy.
    """
    part = query.reference if query.reference and query.asks_for_part_alone else None
    shown = (each for each in context if each.is_prose and not is_aside(each.result.chunk.span.path))
    every = list(shown)
    near = (
        section
        for each in every
        for section in _sections(query, each)
        if heading_strength(query, section.title, rarity)
    )
    first = next(_of_part(part, query, every), None) if part else None
    first = first or next(near, None) or next(_behind_message(query, context, rarity), None)
    return [] if first is None else list(_opening(query, _continued(query, first, context), rarity))


def repeats_message(query: Question, passage: Passage, rarity: Mapping[str, float]) -> bool:
    """Return whether a passage is an example in prose that repeats the message of a question."""
    if not query.messages or not passage.has_example:
        return False
    return coverage(frozenset(tokenize(passage.text)), rarity) >= _REPEATED


def _reads_inside(query: Question) -> bool:
    """Return whether the sections inside of a section answer as well: one has the remedy, or is on one thing."""
    return bool(query.messages or query.compared)


def _behind_message(query: Question, context: Sequence[ContextItem], rarity: Mapping[str, float]) -> Iterator[_Section]:
    """Yield what stands behind the paragraphs that show the message of a question, and hardly say anything else."""
    messages = [tokenize(message) for message in query.messages]
    most = _MAX_OTHER * max((len(set(message)) for message in messages), default=0)
    for shown in context if query.messages else ():
        chunk = shown.result.chunk
        if not shown.is_prose or is_aside(chunk.span.path):
            continue
        for each in passages_of(shown):
            words = tokenize(each.text)
            said = frozenset(words)
            start = each.end_char - chunk.span.start_char
            ends_paragraph = not "".join(chunk.text[start:].split("\n", 2)[:2]).strip()
            is_shown = len(said) <= most and any(_share_a_run(words, message) for message in messages)
            if ends_paragraph and is_shown and coverage(said, rarity) >= _REPEATED:
                below = (heading.start for heading in headings_in(chunk) if heading.start >= start)
                yield _Section(shown, "".join(chunk.context[-1:]), start, next(below, len(chunk.text)))


def _share_a_run(words: Sequence[str], message: Sequence[str]) -> bool:
    """Return whether a text has so many words of a message in a row."""
    length = min(_SHOWN_WORDS, len(message))
    runs, shown = ({tuple(each[at : at + length]) for at in range(len(each) - length + 1)} for each in (message, words))
    return not runs.isdisjoint(shown)


def _sections(query: Question, shown: ContextItem) -> Iterator[_Section]:
    """Yield the sections that begin in a result."""
    chunk = shown.result.chunk
    headings = headings_in(chunk)
    if chunk.span.start_char == 0 and chunk.context:  # the title may be in front matter
        end = len(chunk.text) if _reads_inside(query) or not headings else headings[0].start
        yield _Section(shown, chunk.context[-1], 0, end)
    for at, heading in enumerate(headings):
        below = headings[at + 1 :]
        ends = (each.start for each in below if not (_reads_inside(query) and each.is_below(heading)))
        yield _Section(shown, heading.title, heading.end, next(ends, len(chunk.text)))


def _of_part(part: AskedReference, query: Question, every: Sequence[ContextItem]) -> Iterator[_Section]:
    """Yield the sections of a numbered part; in PDF, its heading is a line of the text."""
    for shown in every:
        yield from (section for section in _sections(query, shown) if part.is_title(section.title))
        chunk = shown.result.chunk
        if part.is_line_in(chunk.text) and any(map(part.is_title, chunk.context[-1:])):
            yield _Section(shown, chunk.context[-1], 0, len(chunk.text))


def _continued(query: Question, section: _Section, context: Sequence[ContextItem]) -> Iterator[_Section]:
    """Yield a section, and its parts in the results that follow in the page."""
    yield section
    chunk = section.shown.result.chunk
    for shown in context:
        below = shown.result.chunk
        is_next = (below.source, below.span.path) == (chunk.source, chunk.span.path)
        is_next = is_next and 0 <= below.span.start_char - chunk.span.end_char <= _MAX_GAP
        if is_next and section.title in (below.context if _reads_inside(query) else below.context[-1:]):
            inner = () if _reads_inside(query) else headings_in(below)
            end = next((each.start for each in inner), len(below.text))
            yield from _continued(query, _Section(shown, section.title, 0, end), context)


def _opening(query: Question, sections: Iterator[_Section], rarity: Mapping[str, float]) -> Iterator[Passage]:
    """Yield the text that a section begins with, in as many passages as there are examples that are left out."""
    every = (group for section in sections for group in _groups(query, section, rarity))
    groups = [group for group in every if not all(answers_nothing(each.text) for each in group)]
    total = sum(words_to_read(each.text) for group in groups for each in group)
    left = _MAX_WHOLE if total <= _MAX_WHOLE else _MAX_WORDS
    is_first = True
    for group in groups:
        lengths = accumulate(words_to_read(each.text) for each in group)
        kept = [each for each, words in zip(group, lengths, strict=True) if words <= left] or group[:is_first]
        left -= sum(words_to_read(each.text) for each in kept)
        is_cut = len(kept) < len(group)
        while kept and leads_in(kept[-1]) and (len(kept) > 1 or not is_first):
            kept.pop()  # it says nothing without what it introduces
        if kept:
            yield replace(join_passages(kept[0], max(kept, key=lambda each: each.end_char)), is_whole=True)
            is_first = False
        if is_cut:
            break


def _groups(query: Question, section: _Section, rarity: Mapping[str, float]) -> Iterator[list[Passage]]:
    """Yield the passages of a section between examples that repeat the message, with the heading above them inside."""
    shown, base = section.shown, section.shown.result.chunk.span.start_char
    start, end = base + section.start, base + section.end
    said = [each for each in passages_of(shown) if start <= each.start_char and each.end_char <= end]
    heads = [base + each.start for each in headings_in(shown.result.chunk)]
    group, behind = list[Passage](), start
    for each, below in zip_longest(said, said[1:]):
        is_led = below is not None and leads_in(each) and repeats_message(query, below, rarity)
        is_left_out = is_led or repeats_message(query, each, rarity)
        if is_left_out and group:
            yield group
            group, behind = [], each.end_char
        elif not is_left_out:
            inside = [] if group else [head for head in heads if behind <= head < each.start_char]
            group.append(_below_heading(each, inside[-1]) if inside else each)
    if group:
        yield group


def _below_heading(passage: Passage, head: int) -> Passage:
    unit = next(each for each in passage.shown.units if head < each.span.end_char)
    return join_passages(Passage(passage.shown, unit, unit), passage)
