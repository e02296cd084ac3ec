"""Passages for the parameters that a question asks for: the signature with what its docstring or comment says of each.

Languages differ in where they describe parameters: Python below the signature, most others in the comment above. The
page on a thing describes them in a section of their own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from openbook.extractive.context import ContextItem
from openbook.extractive.headings import headings_in
from openbook.extractive.passages import Passage, overlap
from openbook.extractive.scoring import heads_of_names
from openbook.extractive.statements import layout_of
from openbook.questions.question import Question
from openbook.types import Chunk

# Opens the descriptions of parameters: a section of Google, NumPy or Rust style, or the first of several tags.
_DESCRIBES = re.compile(r"\W*(?:(?:keyword\s+)?(?:args|arguments|param(?:eter)?s)\b\W*$|[@\\:]param\b)", re.IGNORECASE)
# Opens what follows them.
_FOLLOWS = re.compile(
    r"\W*(?:(?:returns?|yields?|raises|throws|examples?|notes?|warnings?|see also|todo)\b\W*$"
    r"|[@\\:](?!param|type)\w|```)",
    re.IGNORECASE,
)
# Longer descriptions are cut: 20 parameters with three lines each.
_MAX_LINES = 60
# Heads the section on parameters in the page on a thing.
_HEADING = re.compile(
    r"(?:(?:available|command(?:-line)?|keyword|supported)\s+)?"
    r"(?:arg(?:ument)?s?|inputs?|options|param(?:eter)?s?|props|required|optional|schema)(?:\s+reference)?\W*",
    re.IGNORECASE,
)
# The title of a page on a thing may say what it is: "harbour_crane (Resource)", "The `crane` command".
_MAX_TITLE_WORDS = 4


def with_parameters(query: Question, passages: Sequence[Passage]) -> list[Passage]:
    """Return passages with the heads that a question for parameters asks for, extended by what describes these."""
    if not query.asks_for_parameters:
        return list(passages)
    asked_for, _ = heads_of_names(query, passages)
    wholes = {each.key: _described(each) for each in passages if each.key in asked_for}
    shown = {each.shown.number: each.shown for each in passages if each.shown.is_prose}
    sections = (_of_section(query.identifiers[0], each) for each in shown.values() if query.identifiers)
    wholes |= {each.key: each for each in sections if each is not None}
    rest = [each for each in passages if not any(overlap(each, whole) for whole in wholes.values())]
    return [*rest, *wholes.values()]


def is_on(name: str, chunk: Chunk) -> bool:
    """Return whether a chunk of prose is in a section or page on a thing, by its title or the name of its file."""
    titles = (title for title in chunk.context if len(title.split()) <= _MAX_TITLE_WORDS)
    is_named = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])").search
    return PurePosixPath(chunk.span.path).stem == name or any(map(is_named, titles))


def opens_parameters(chunk: Chunk) -> bool:
    """Return whether a chunk of prose has the heading of a section on parameters."""
    return any(_HEADING.fullmatch(heading.title) for heading in headings_in(chunk))


def _of_section(name: str, shown: ContextItem) -> Passage | None:
    """Return the section on parameters that a result of the page on a thing opens, as far as it has that."""
    chunk = shown.result.chunk
    headings = headings_in(chunk)
    first = next((at for at, heading in enumerate(headings) if _HEADING.fullmatch(heading.title)), None)
    if first is None or not is_on(name, chunk):
        return None
    behind = (heading.start for heading in headings[first:] if not _HEADING.fullmatch(heading.title))
    start, end = headings[first].start, len(chunk.text[: next(behind, None)].rstrip())
    base = chunk.span.start_char
    within = [each for each in shown.units if start < each.span.end_char - base and each.span.start_char - base < end]
    return Passage(shown, within[0], within[-1], defines=name, is_whole=True) if within else None


def _described(head: Passage) -> Passage:
    """Return the head of a definition with the descriptions of its parameters, as far as its result has them."""
    shown, first, last = head.shown, head.first.number - 1, head.last.number - 1
    last = max(last, _end_below(shown, last))
    first = min(first, _start_above(shown, first))
    return replace(head, first=shown.units[first], last=shown.units[last])


def _end_below(shown: ContextItem, last: int) -> int:
    """Return the position of the last line on parameters in the docstring that a head begins; that of the head if none.

    The docstring ends with a line in quotation marks, or with the result.
    """
    units, end = shown.units, last
    said = "\n".join(unit.text for unit in units[: last + 1])
    sign = next((each for each in ('"""', "'''") if said.count(each) % 2), "")
    is_inside = False
    for place in range(last + 1, min(last + _MAX_LINES, len(units)) if sign else 0):
        text = units[place].text
        is_inside = _DESCRIBES.match(text) is not None or (is_inside and _FOLLOWS.match(text) is None)
        if sign in text:
            break
        end = place if is_inside else end
    return end


def _start_above(shown: ContextItem, first: int) -> int:
    """Return the position of the first line on parameters in the comment above a head; that of the head if none."""
    lines, start = layout_of(shown), first
    for place in range(first - 1, max(first - _MAX_LINES, 0) - 1, -1):
        if not lines[place].leads:
            break
        start = place if _DESCRIBES.match(shown.units[place].text) else start
    return start
