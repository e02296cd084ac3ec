"""Tells deprecated definitions: by an attribute, an annotation, a tag of a comment, or a warning in the body."""

from __future__ import annotations

import re
from collections.abc import Sequence

from openbook.extractive.passages import Passage, PassageKey, overlap
from openbook.extractive.statements import layout_of, statements
from openbook.types import Unit

_SAYS_DEPRECATED = re.compile(
    r"#\[.*\bdeprecated\b|@[\w.]*deprecated\b|@available\(.*deprecated|\[[\w.:]*(?:Obsolete|deprecated)\b"
    r"|^\s*deprecated\s*\(|__attribute__.*deprecated|DeprecationWarning|^\W*Deprecated:",
    re.IGNORECASE | re.MULTILINE,
)
# The body of a Python function may say it. A warning further below is for one use of the function.
_IN_BODY = re.compile(r"\bdef\b")
_MAX_LINES = 40


def is_deprecated(head: Passage) -> bool:
    """Return whether the definition of a head is deprecated, as far as its result has what says so."""
    return _says_so(_whole(head))


def saying_deprecated(heads: Sequence[Passage], passages: Sequence[Passage]) -> set[PassageKey]:
    """Return the keys of the passages that say that definitions are deprecated."""
    wholes = [(head.shown, _whole(head)) for head in heads]
    extents = [Passage(shown, units[0], units[-1]) for shown, units in wholes]
    inside = (each for each in passages if any(overlap(each, extent) for extent in extents))
    return {each.key for each in inside if _says_so(each.units)}


def _says_so(units: Sequence[Unit]) -> bool:
    return _SAYS_DEPRECATED.search("\n".join(unit.text for unit in units)) is not None


def _whole(head: Passage) -> Sequence[Unit]:
    """Return a head with the comment and the attributes above, and with the body where that may say so."""
    shown, lines = head.shown, layout_of(head.shown)
    first, last = head.first.number - 1, head.last.number - 1
    while first and lines[first - 1].leads and not lines[first].is_apart:
        first -= 1
    last = next((at for at in range(last, len(lines)) if not lines[at].leads), last)
    if _IN_BODY.search(head.signature):
        last = min(next(statements(lines, first, len(lines) - 1)).last, last + _MAX_LINES)
    return shown.units[first : last + 1]
