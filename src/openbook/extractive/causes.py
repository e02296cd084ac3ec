"""Passages for what raises the error that a question asks the cause of: the statement and its condition."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from openbook.extractive.context import ContextItem
from openbook.extractive.passages import Passage, join_passages, joins, overlap
from openbook.extractive.scoring import is_of_test
from openbook.extractive.statements import Line, enclosing, layout_of, statements
from openbook.questions.question import Question
from openbook.retrieval.messages import message_places
from openbook.retrieval.raising import raising_places, tells_cause
from openbook.retrieval.roles import asks_for, is_aside, is_unasked
from openbook.retrieval.signals import coverage
from openbook.tokens import tokenize

# Limit of a statement with its condition, and of a definition.
_MAX_LINES = 10

# The least share of a message's words, weighted by rarity, in what explains it; and what else it says.
_MOST = 0.5
_NAMES_IT = re.compile(r"\b(?:error|warn|message|exception|fail|reject|complain)", re.IGNORECASE)

# A definition that says something: a comment, a docstring, or a message of several words.
_SAYS = re.compile(r"""(?:#|//|\*)\s|["'`][^"'`\n]*\s""")
_DOCSTRING = re.compile(r"\s*[rRuU]?(?:\"\"\"|''')")


def with_causes(query: Question, passages: Sequence[Passage], context: Sequence[ContextItem]) -> list[Passage]:
    """Return passages with what raises the error of a question, in the place of passages of code that these overlap.

    If there is any, passages of code with nothing but other names are dropped. Definitions of the error that say
    nothing are, if there is anything else. Tests only repeat a message that something prints.
    """
    if printed := [each for shown in context for each in _printing(query, shown)]:
        asked = [each for each in passages if asks_for("test", query.text) or not is_of_test(each)]
        return [*(each for each in asked if not any(overlap(each, other) for other in printed)), *printed]
    if not query.error:
        return list(passages)
    causes = [cause for shown in context for cause in _causes_in(query, shown)]
    if not causes:
        return [each for each in passages if not _is_empty(query.error, each)] or list(passages)
    defined = [each for shown in context for each in _definitions_in(query, shown)]
    told = [each for each in passages if each.shown.is_prose or _is_told(query.error, each)]
    kept = [each for each in told if not any(overlap(each, other) for other in (*causes, *defined))]
    return [*kept, *defined, *causes]


def explanation(ranked: Sequence[Passage], passages: Sequence[Passage], rarity: Mapping[str, float]) -> Passage | None:
    """Return the best passage of prose that has most of a message and names it an error or the like.

    The sentence behind, which may have the remedy, is part of it.
    """
    found = next(
        (
            each
            for each in ranked
            if each.shown.is_prose
            and not (each.has_example or is_aside(each.first.span.path))
            and _NAMES_IT.search(each.text)
            and coverage(frozenset(tokenize(each.text)), rarity) >= _MOST
        ),
        None,
    )
    if found is None:
        return None
    return join_passages(found, next((each for each in passages if joins(found, each)), found))


def _is_empty(name: str, passage: Passage) -> bool:
    """Return whether a passage of code defines the error and says nothing, as `class QuayFull(Exception): pass`."""
    is_definition = not passage.shown.is_prose and _definition(name).match(passage.first.text) is not None
    return is_definition and _SAYS.search(passage.text) is None


def _is_told(name: str, passage: Passage) -> bool:
    """Return whether a comment or a docstring of code says when the error is raised."""
    lines = layout_of(passage.shown)
    said = [unit.text for unit in passage.units if lines[unit.number - 1].inside or lines[unit.number - 1].leads]
    return tells_cause("\n".join(said), name)


def _causes_in(query: Question, shown: ContextItem) -> Iterator[Passage]:
    """Yield the statements of a result that raise the error, each with its condition, without overlaps."""
    chunk = shown.result.chunk
    if shown.is_prose or is_unasked(chunk, query.text):
        return
    end = -1
    for start in raising_places(chunk.text, query.error):
        at = _unit_at(shown, chunk.span.start_char + start)
        if at is None or at <= end:
            continue
        first, end = _with_condition(shown, at)
        yield Passage(shown, shown.units[first], shown.units[end], is_whole=True, is_cause=True)


def _printing(query: Question, shown: ContextItem) -> Iterator[Passage]:
    """Yield the statements of a result that print a message of the question, each with its condition."""
    if not shown.result.signals.get("message"):
        return
    chunk, lines, end = shown.result.chunk, layout_of(shown), -1
    for start in message_places(query.messages, chunk.text)[1]:
        at = _unit_at(shown, chunk.span.start_char + start)
        if at is None or at <= end:
            continue
        around = next((each for each in enclosing(lines, at, at) if each.last - each.first < _MAX_LINES), None)
        first, end = (at, at) if around is None else (around.first, around.last)
        if lines[at].leads:  # the attribute of a variant, which has no condition
            end = _end_of_variant(lines, first, end)
        else:
            first, end = _with_condition(shown, first)
        yield Passage(shown, shown.units[first], shown.units[end], is_whole=True, is_cause=True)


def _unit_at(shown: ContextItem, char: int) -> int | None:
    """Return the index of the unit with a character of the document; None if it is cut off."""
    return next((at for at, unit in enumerate(shown.units) if unit.span.start_char <= char < unit.span.end_char), None)


def _with_condition(shown: ContextItem, first: int) -> tuple[int, int]:
    """Extend a statement to the one around it, if that is short; else to its condition, and the line before.

    An argument on a line of its own is extended to its call first.
    """
    lines = layout_of(shown)
    last = min(next(statements(lines, first, len(lines) - 1)).last, first + _MAX_LINES - 1)
    around = next((each for each in enclosing(lines, first, last) if each.opens < first), None)
    if around is not None and around.last - around.first < _MAX_LINES:
        return _opening_of(shown, around.first, around.last), around.last
    indent = lines[first].indent
    above = range(first - 1, max(last - _MAX_LINES, -1), -1)
    opens = next((at for at in above if lines[at].indent < indent and not lines[at].leads), first)
    if opens < first and lines[opens].depth > (lines[opens - 1].depth if opens else 0):
        return _with_condition(shown, opens)
    return _opening_of(shown, opens, last), last


def _opening_of(shown: ContextItem, first: int, last: int) -> int:
    """Return where the quote of a condition opens: at the `try` of an `except`, at the line that sets what it tests."""
    lines = layout_of(shown)
    opens = first
    if lines[first].goes_on:
        above = range(first - 1, max(last - _MAX_LINES, -1), -1)
        opens = next((at for at in above if lines[at].indent == lines[first].indent and not lines[at].goes_on), first)
    elif first and not lines[first].is_apart and lines[first - 1].indent == lines[first].indent:
        before = lines[first - 1]
        opens = first if before.leads or before.inside or before.closes else first - 1
    return opens


@lru_cache(maxsize=64)
def _definition(name: str) -> re.Pattern[str]:
    """Return a pattern of the line that defines a name by a keyword, or as a variant, a variable or a key."""
    named = re.escape(name)
    keyword = r"\b(?:class|struct|enum|object|exception|type|const|var|define|defmodule)\s+"
    return re.compile(rf".*{keyword}{named}\b|\s*{named}\s*[({{=:,]")


def _end_of_variant(lines: Sequence[Line], first: int, last: int) -> int:
    """Return where a statement ends before the attribute of the next variant, which has the same indentation."""
    opens = next((at for at in range(first, last) if not lines[at].leads), last)
    below = range(opens + 1, last + 1)
    return next((at - 1 for at in below if lines[at].leads and lines[at].indent <= lines[first].indent), last)


def _end_of_docstring(shown: ContextItem, at: int) -> int:
    """Return the last line of the docstring below a line; the last of the result if there is none."""
    lines, end = layout_of(shown), len(shown.units) - 1
    if at < end and _DOCSTRING.match(shown.units[at + 1].text):
        end = next((below for below in range(at + 1, end) if not lines[below + 1].inside), end)
    return end


def _definitions_in(query: Question, shown: ContextItem) -> Iterator[Passage]:
    """Yield the definitions of the error in a result that say something, as by a message or a docstring."""
    lines = layout_of(shown)
    if shown.is_prose:
        return
    for at, unit in enumerate(shown.units):
        if lines[at].leads or lines[at].inside or not _definition(query.error).match(unit.text):
            continue
        around = next((each for each in enclosing(lines, at, at) if each.opens == at), None)
        first, last = (at, at) if around is None else (around.first, min(around.last, around.first + _MAX_LINES - 1))
        last = min(_end_of_variant(lines, at, last), _end_of_docstring(shown, at))
        found = Passage(shown, shown.units[first], shown.units[last], None, query.error, is_head=True)
        if _SAYS.search(found.text):
            yield found
