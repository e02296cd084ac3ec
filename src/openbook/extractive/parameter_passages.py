"""Passages for the parameters that a question asks for: the signature with what its docstring or comment says of each.

Languages differ in where they describe parameters: Python below the signature, most others in the comment above.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from openbook.extractive.context import ContextItem
from openbook.extractive.passages import Passage, overlap
from openbook.extractive.scoring import heads_of_names
from openbook.extractive.statements import layout_of
from openbook.questions.question import Question

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


def with_parameters(query: Question, passages: Sequence[Passage]) -> list[Passage]:
    """Return passages with the heads that a question for parameters asks for, extended by what describes these."""
    if not query.asks_for_parameters:
        return list(passages)
    asked_for, _ = heads_of_names(query, passages)
    wholes = {each.key: _described(each) for each in passages if each.key in asked_for}
    rest = [each for each in passages if not any(overlap(each, whole) for whole in wholes.values())]
    return [*rest, *wholes.values()]


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
