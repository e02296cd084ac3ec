"""Classifies the lines of an answer for mark and claim parsing: line-based Markdown that never fails."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

LineKind = Literal["blank", "code", "heading", "item", "row", "rule", "text"]
"""`code`: a fence or a line inside one. `rule`: a horizontal rule, or the underline of a heading."""

# Answers put fences into lists and quotes, so the indent may exceed Markdown's three spaces.
_LEAD = r"[ \t>]*+"
ITEM = re.compile(_LEAD + r"(?:(?:[-*+•]|\d{1,9}[.)])(?:[ \t]++(?:\[[ xX]\](?=[ \t])[ \t]++)?|$)|\d{1,3}、)")
_OPENING = re.compile(rf"(?P<lead>{_LEAD}(?:(?:[-*+•]|\d{{1,9}}[.)])[ \t]++)?+)(?P<run>`{{3,}}+|~{{3,}}+)")
_CLOSING = re.compile(rf"(?P<lead>{_LEAD})(?P<run>`{{3,}}+|~{{3,}}+)[ \t]*+$")
_QUOTED = re.compile(r"[ \t]*+>")
_HEADING = re.compile(_LEAD + r"(?:#{1,6}(?:[ \t]|$)|\*\*[^*]*+(?<![.!?。！？])\*\*[:：]?$)")
_RULE = re.compile(_LEAD + r"(?:(?:-[ \t]*+){3,}|(?:\*[ \t]*+){3,}|(?:_[ \t]*+){3,}|-+|=+)$")
_ROW = re.compile(_LEAD + r"\|")

# A closing fence has less than four spaces of extra indent; a deeper one belongs to the code.
_FENCE_INDENT = 4


@dataclass(frozen=True, slots=True)
class Fence:
    """An open code fence."""

    run: str
    indent: int
    quoted: bool

    def holds(self, line: str) -> bool:
        """Return whether a line, or its beginning, can belong to the fence. A fence in a quote ends with the quote."""
        return not self.quoted or _QUOTED.match(line) is not None

    def is_closed_by(self, line: str) -> bool:
        """Return whether a line closes the fence."""
        match = _CLOSING.match(line)
        if match is None or not match["run"].startswith(self.run):
            return False
        return len(match["lead"].expandtabs(4)) < self.indent + _FENCE_INDENT


def may_open_fence(line: str) -> bool:
    """Return whether a line, or its beginning up to a mark, can still become a fence."""
    return _OPENING.match(line) is not None


def read_line(line: str, fence: Fence | None) -> tuple[LineKind, Fence | None]:
    """Classify a line, and return the fence of the next one.

    Example:
        >>> read_line("- one", None)[0], read_line("```python", None)[0]
        ('item', 'code')
    """
    line = line.rstrip()
    if fence is not None and fence.holds(line):
        return "code", None if fence.is_closed_by(line) else fence
    opening = _OPENING.match(line)
    if opening is not None and (opening["run"][0] == "~" or "`" not in line[opening.end() :]):
        lead = opening["lead"]
        return "code", Fence(opening["run"], len(lead.expandtabs(4)), ">" in lead)
    return _kind_of(line), None


def _kind_of(line: str) -> LineKind:
    if not line.strip(" \t>"):
        return "blank"
    kinds: tuple[tuple[LineKind, re.Pattern[str]], ...] = (
        *(("heading", _HEADING), ("rule", _RULE), ("item", ITEM), ("row", _ROW)),
    )
    return next((kind for kind, pattern in kinds if pattern.match(line)), "text")
