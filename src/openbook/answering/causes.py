"""Passages for what raises the error that a question asks the cause of: the statement and its condition."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from openbook.answering.context import ContextItem
from openbook.answering.passages import Passage, overlap
from openbook.answering.statements import enclosing, layout_of, statements
from openbook.questions.question import Question
from openbook.retrieval.raising import raising_places, tells_cause
from openbook.retrieval.roles import ASIDE, asks_for, role_of_part

# Limit of a statement with its condition, and of a definition.
_MAX_LINES = 10

# A definition that says something: a comment, a docstring, or a message of several words.
_SAYS = re.compile(r"""#\s|//|/\*|\"{3}|'{3}|["'`][^"'`\n]*\w\s[^"'`\n]*|#\[error""")


def with_causes(query: Question, passages: Sequence[Passage], context: Sequence[ContextItem]) -> list[Passage]:
    """Return passages with what raises the error of a question, in the place of passages of code that these overlap.

    If there is any, passages of code with nothing but other names or an empty definition are dropped.
    """
    causes = [cause for shown in context for cause in _causes_in(query, shown)] if query.error else []
    if not causes:
        return list(passages)
    defined = [each for shown in context for each in _definitions_in(query, shown)]
    told = [each for each in passages if each.shown.is_prose or _is_told(query.error, each)]
    kept = [each for each in told if not any(overlap(each, other) for other in (*causes, *defined))]
    return [*kept, *defined, *causes]


def _is_told(name: str, passage: Passage) -> bool:
    """Return whether a comment or a docstring of code says when the error is raised."""
    lines = layout_of(passage.shown)
    said = [unit.text for unit in passage.units if lines[unit.number - 1].inside or lines[unit.number - 1].leads]
    return tells_cause("\n".join(said), name)


def _causes_in(query: Question, shown: ContextItem) -> Iterator[Passage]:
    """Yield the statements of a result that raise the error, each with its condition, without overlaps."""
    chunk = shown.result.chunk
    role = role_of_part(chunk.span.path, chunk.kind, chunk.symbol)
    if shown.is_prose or (role in ASIDE and not asks_for(role, query.text)):
        return
    end = -1
    for start, at in raising_places(chunk.text, query.error):
        first, last = (_unit_at(shown, chunk.span.start_char + each) for each in (start, at))
        if first is None or last is None or first <= end:
            continue
        first, last = _with_condition(shown, first, last)
        end = last
        yield Passage(shown, shown.units[first], shown.units[last], is_whole=True, is_cause=True)


def _unit_at(shown: ContextItem, char: int) -> int | None:
    """Return the index of the unit with a character of the document; None if it is cut off."""
    return next((at for at, unit in enumerate(shown.units) if unit.span.start_char <= char < unit.span.end_char), None)


def _with_condition(shown: ContextItem, first: int, last: int) -> tuple[int, int]:
    """Extend a statement to the one around it, if that is short; else to its condition, or to the statement before."""
    lines = layout_of(shown)
    own = next(statements(lines, first, len(lines) - 1))
    last = min(max(last, own.last), first + _MAX_LINES - 1)
    around = next(iter(enclosing(lines, first, last)), None)
    if around is not None and around.last - around.first < _MAX_LINES:
        return _opening_of(shown, around.first, around.last), around.last
    indent = lines[first].indent
    above = [at for at in range(first - 1, max(last - _MAX_LINES, -1), -1) if not (lines[at].inside or lines[at].leads)]
    conditions = (at for at in above if lines[at].indent < indent and not (lines[at].closes or lines[at].is_else))
    siblings = (at for at in above if lines[at].indent <= indent and not lines[at].goes_on)
    first = next(conditions, next(siblings, first))
    if last + 1 < len(lines) and lines[last + 1].closes and lines[last + 1].indent == lines[first].indent:
        last += 1
    return _opening_of(shown, first, last), last


def _opening_of(shown: ContextItem, first: int, last: int) -> int:
    """Return where the quote of a condition opens: at the `try` of an `except`, at the line that sets what it tests."""
    lines = layout_of(shown)
    opens = first
    if lines[first].goes_on:
        above = range(first - 1, max(last - _MAX_LINES, -1), -1)
        opens = next((at for at in above if lines[at].indent == lines[first].indent and not lines[at].goes_on), first)
    elif first and not lines[first].is_apart and lines[first - 1].indent == lines[first].indent:
        before = lines[first - 1]
        opens = first if before.leads or before.inside or before.closes or last - first >= _MAX_LINES - 1 else first - 1
    return opens


_MODIFIERS = (
    r"(?:(?:export|default|pub(?:\([\w ]+\))?|public|private|protected|internal|static|final|abstract|sealed|open|data"
    r"|readonly|const|let|var|val|type|class|struct|enum|interface|object|exception|defmodule|case|indirect|#\s*define"
    r")\s+)*"
)


@lru_cache(maxsize=64)
def _definition(name: str) -> re.Pattern[str]:
    return re.compile(rf"\s*{_MODIFIERS}{re.escape(name)}(?=\s*(?:[({{<=:;,]|extends\b|implements\b|struct\b|do\b|$))")


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
        below = range(at + 1, last + 1)  # the attribute of the next variant opens with the same indentation
        last = next((end - 1 for end in below if lines[end].leads and lines[end].indent <= lines[at].indent), last)
        found = Passage(shown, shown.units[first], shown.units[last], None, query.error, is_head=True)
        if _SAYS.search(found.text):
            yield found
