"""Reads comments and docstrings in results of code as prose: paragraphs, sentences and examples."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from openbook.extractive.comment_lines import begins_paragraph, examples_in_comment, is_heading_of_comment
from openbook.extractive.context import ContextItem
from openbook.extractive.displaying import without_tags
from openbook.extractive.passages import Passage
from openbook.extractive.statements import Line, comment_lines, layout_of
from openbook.grounding.sentences import is_code_line
from openbook.text import indentation, sentences
from openbook.types import Unit

# The inline tags of Javadoc and PHPDoc: `{@link Ship#moor()}`, `{@code moor()}`.
_INLINE = re.compile(r"\{@(?P<name>\w+)\s+(?P<said>[^{}]*)\}")


def examples_within(lines: Sequence[Line]) -> set[int]:
    """Return the positions of the lines of examples in comments, with those of their fences."""
    found = set[int]()
    for is_comment, members in groupby(range(len(lines)), key=lambda at: lines[at].said is not None):
        run = list(members)
        if is_comment:
            found.update(run[at] for at in examples_in_comment(comment_lines(lines, run[0], run[-1])))
    return found


def sentences_around(shown: ContextItem, unit: Unit) -> Sequence[Passage]:
    """Return the sentences of a comment that have a part in a line, in order; none if it is no prose in a comment."""
    lines, units, place = layout_of(shown), shown.units, unit.number - 1
    code = examples_within(lines)
    if not _is_prose(lines[place], is_example=place in code):
        return ()
    first = last = place
    while first and first - 1 not in code and _goes_on(lines, units, first - 1):
        first -= 1
    while last + 1 < len(lines) and last + 1 not in code and _goes_on(lines, units, last):
        last += 1
    base = units[first].span.start_char
    said = [(base + start, base + end) for start, end in sentences(told(Passage(shown, units[first], units[last])))]
    covering = [([each for each in units[first : last + 1] if _overlaps(each, *part)], part) for part in said]
    return [Passage(shown, inside[0], inside[-1], part) for inside, part in covering if unit in inside]


def _is_prose(line: Line, *, is_example: bool) -> bool:
    said = _INLINE.sub(_said_by, line.said or "")
    return bool(said.strip()) and not is_example and not is_code_line(said)


def _goes_on(lines: Sequence[Line], units: Sequence[Unit], place: int) -> bool:
    """Return whether the paragraph of a line in a comment goes on in the next one."""
    said, below = lines[place].said or "", lines[place + 1].said or ""
    if not (said.strip() and below.strip()) or units[place + 1].span.start_line > units[place].span.end_line + 1:
        return False
    signs = [units[at].text[: indentation(lines[at].said or "")].strip() for at in (place, place + 1)]
    is_other = signs[0] != signs[1] and all(sign.startswith("//") for sign in signs)
    return not (is_other or is_heading_of_comment(said) or begins_paragraph(below))


def _overlaps(unit: Unit, start: int, end: int) -> bool:
    return unit.span.start_char < end and start < unit.span.end_char


def told(passage: Passage) -> str:
    """Return the text of a passage, with blanks for the signs of comments in code."""
    if passage.shown.is_prose:
        return passage.text
    lines, text, base = layout_of(passage.shown), passage.text, passage.start_char
    for unit in passage.units:
        said, start, end = lines[unit.number - 1].said, unit.span.start_char - base, unit.span.end_char - base
        if said is not None:
            text = f"{text[: max(start, 0)]}{said[max(-start, 0) : len(said) - max(end - len(text), 0)]}{text[end:]}"
    return text


def is_comment_prose(passage: Passage) -> bool:
    """Return whether a passage is nothing but prose in a comment."""
    lines, places = layout_of(passage.shown), [unit.number - 1 for unit in passage.units]
    if passage.shown.is_prose or any(lines[at].said is None for at in places):
        return False
    code = examples_within(lines)
    return any(_is_prose(lines[at], is_example=False) for at in places) and code.isdisjoint(places)


def are_adjacent(first: Passage, last: Passage) -> bool:
    """Return whether nothing is between two passages of code in a result but lines of comments without words."""
    lines = layout_of(first.shown)[first.last.number : last.first.number - 1]
    is_before = first.last.number < last.first.number
    return is_before and all(line.said is not None and not line.said.strip() for line in lines)


def plain_comment(text: str) -> str:
    """Return the prose of a comment without the markup that its documentation does not show.

    Example:
        >>> plain_comment("See {@link Ship#moor the mooring}.<br> A &lt; B, {@code x}.")
        'See the mooring.  A < B, `x`.'
    """
    return without_tags(_INLINE.sub(_said_by, text))


def _said_by(found: re.Match[str]) -> str:
    name, said = found["name"], " ".join(found["said"].split())
    target, _, label = said.partition(" ")
    is_link = name.startswith("link")
    return label if is_link and label and "(" not in target else f"`{said}`" if said else ""
