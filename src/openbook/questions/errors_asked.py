"""Finds the error that a question asks the cause of, by its name in code."""

from __future__ import annotations

import re
from collections.abc import Sequence

# "Why do I get X?", "when is X raised?", "what causes X?", "who throws X?".
_ASKS_FOR_CAUSE = re.compile(
    r"\bwhy\s+(?:(?:do|did|does|am|is|are|would|might|could)\s+)?(?:i|we|you|it|there|this|that|my\s+\w+)\s+"
    r"(?:\w+\s+){0,2}?(?:get|gets|got|getting|see|seeing|saw|receive\w*|receiving|hit|hitting|fail\w*|rais\w+|throw\w*|return\w*)\b"
    r"|\b(?:what|which\s+\w+|who|that|how)\s+(?:can\s+|could\s+|may\s+)?(?:caus|rais|throw|return|trigger)\w*\b"
    r"|\b(?:when|where|why|how|by\s+what)\s+(?:else\s+)?(?:is|are|was|does|do|can|could|will|would|gets?)\b"
    r"[^?\n]{0,200}\b(?:raised?|thrown?|throws?|returned|triggered|happen|occur)\b"
    r"|\b(?:causes?|reasons?)\s+(?:of|for)\b",
    re.IGNORECASE,
)
# A message in quotation marks is found by its words, and may have names that are no errors.
_MESSAGE = re.compile(r"\"[^\"]*\s[^\"]*\"|“[^”]*\s[^”]*”|(?<!\w)'[^'\n]*\s[^'\n]*'(?!\w)")
# A name of one word: "a Timeout error", "why do I get ENOENT".
_ONE_WORD = re.compile(
    r"\b(?:(?P<kind>[A-Z]\w{2,})\s+(?:error|exception)|(?:error|exception)\s+(?P<behind>[A-Z]\w{2,})"
    r"|(?:get|getting|see|hit|causes|raises|throws|is|are)\s+(?:an?\s+|the\s+)?(?P<alone>[A-Z][A-Z\d_]{3,})\b)"
)


def error_of(text: str, names: Sequence[str]) -> str:
    """Return the name of the error that a question asks the cause of; empty for other questions.

    `names` are the unqualified code names of the question.

    Example:
        >>> error_of("Why do I get QuayFullError when mooring?", ["QuayFullError"]), error_of("why is it ENOENT", [])
        ('QuayFullError', '')
        >>> error_of("when is a Timeout error raised", []), error_of("What does QuayFullError do?", ["QuayFullError"])
        ('Timeout', '')
    """
    if _MESSAGE.search(text) or not _ASKS_FOR_CAUSE.search(text):
        return ""
    if names:
        # Errors mostly have capital letters, unlike the functions that raise them: "When does `moor` raise Full?"
        return next((name for name in names if any(map(str.isupper, name))), names[0])
    found = _ONE_WORD.search(text)
    return found[found.lastgroup or 0] if found else ""
