"""Finds the error that a question asks the cause of, by its name in code."""

from __future__ import annotations

import re
from collections.abc import Sequence

_RAISES = r"(?:rais|throw|return|trigger|happen|occur)"
# "Why do I get X?", "when is X raised?", "what causes X?", "who throws X?". "How do I get X?" asks for no cause.
_ASKS_FOR_CAUSE = re.compile(
    rf"why\s+(?:\S+\s+){{1,4}}?(?:(?:g[eo]ts?|getting|see|seeing|hit|received?|receiving|fail\w*)\b|{_RAISES})"
    rf"|(?:when|where)\s+(?:is|do|can|will).{{0,200}}{_RAISES}"
    r"|(?:what|which|who)\s+(?:\w+\s+)?(?:caus|rais|throw|trigger)"
    r"|(?:cause|reason)s?\s+(?:of|for)|^\W*why\s+\S+\W*$",
    re.IGNORECASE,
)
# A message in quotation marks is found by its words, and may have names that are no errors.
_MESSAGE = re.compile(r"\"[^\"]*\s[^\"]*\"|“[^”]*\s[^”]*”|(?<!\w)'[^']*\s[^']*'")
# Errors have a capital letter, unlike the functions that raise them: "When does `moor` raise QuayFull?"
_ERROR = re.compile(r"[A-Z]|err")
# A name of one word: "a Timeout error", "why do I get ENOENT".
_ONE_WORD = re.compile(
    r"\b(?:(?P<kind>[A-Z]\w+)\s+(?:error|exception)|(?:error|exception)\s+(?P<behind>[A-Z]\w+)"
    r"|(?P<alone>E[A-Z\d]{3,}))"
)

# Longer texts are pasted, and time grows with their square.
_MAX_CHARS = 500


def error_of(text: str, names: Sequence[str]) -> str:
    """Return the name of the error that a question asks the cause of; empty for other questions.

    `names` are the unqualified code names of the question.

    Example:
        >>> error_of("Why do I get QuayFullError when mooring?", ["QuayFullError"]), error_of("why is it ENOENT", [])
        ('QuayFullError', '')
        >>> error_of("when is a Timeout error raised", []), error_of("What does QuayFullError do?", ["QuayFullError"])
        ('Timeout', '')
    """
    if len(text) > _MAX_CHARS or _MESSAGE.search(text) or not _ASKS_FOR_CAUSE.search(text):
        return ""
    name = next(filter(_ERROR.match, names), None)
    if name is not None:
        return name
    found = _ONE_WORD.search(text)
    return found[found.lastgroup or 0] if found else ""
