"""Tells deprecated definitions: by an attribute, an annotation, or a tag of the comment above."""

from __future__ import annotations

import re

from openbook.extractive.passages import Passage
from openbook.extractive.statements import layout_of

_SAYS_DEPRECATED = re.compile(
    r"#\[.*\bdeprecated\b|@[\w.]*deprecated\b|@available\(.*deprecated|\[[\w.:]*(?:Obsolete|deprecated)\b"
    r"|^\s*deprecated\s*\(|__attribute__.*deprecated|^\W*Deprecated:",
    re.IGNORECASE | re.MULTILINE,
)


def is_deprecated(head: Passage) -> bool:
    """Return whether the definition of a head is deprecated, as far as its result has what says so."""
    shown, lines = head.shown, layout_of(head.shown)
    first, last = head.first.number - 1, head.last.number - 1
    while first and lines[first - 1].leads and not lines[first].is_apart:
        first -= 1
    last = next((at for at in range(last, len(lines)) if not lines[at].leads), last)
    return _SAYS_DEPRECATED.search("\n".join(unit.text for unit in shown.units[first : last + 1])) is not None
