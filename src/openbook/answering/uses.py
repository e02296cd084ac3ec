"""Questions for where a name is used: called, thrown, tested, rather than what it is."""

from __future__ import annotations

import re

from openbook.retrieval.names import Query

_VERBS = (
    r"(?:call|use|invok|reference|import|throw|rais|cover|test|exercis|instantiat|inherit|extend|implement)(?:e?s)?\b"
)
_DONE = (
    r"(?:called|used|invoked|referenced|imported|thrown|raised|covered|tested|exercised|instantiated|inherited|extended"
    r"|implemented|passed|needed)\b"
)

# "What does X call?" asks for what X does, "What calls X?" for uses of X. English and German.
_ASKS_FOR_USES = re.compile(
    rf"\b(?:who|what|that|which(?:\s+\w+)?)\s+(?:else\s+)?(?:{_VERBS}|use\b)"
    rf"|\b(?:where|how|when)(?:\s+else)?\s+(?:is|are|was|gets?)\b[^?\n]{{0,200}}\b{_DONE}"
    r"|\b(?:callers?|us(?:ag)?es?|references|calls)\s+(?:of|to)\b|\btests?\s+(?:of|for)\b"
    r"|\bwer\s+(?:ruft|benutzt|verwendet|nutzt|wirft|testet)\b"
    r"|\bwo\s+(?:wird|werden)\b[^?\n]{0,200}\b(?:aufgerufen|benutzt|verwendet|genutzt|geworfen|getestet)\b",
    re.IGNORECASE,
)

_ASKS_FOR_IMPORTS = re.compile(r"\bimport", re.IGNORECASE)
# Statements that only make a name known: it is used below.
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+\S+[ \t]+import\b|import\b|export\b[^\n]{0,200}\bfrom\b|use[ \t]+[\w:\\]+"
    r"|using[ \t]+[\w.]+;|#[ \t]*include\b|require)(?:[ \t]*[({][^)}]{0,4000}[)}])?[^\n]*",
    re.MULTILINE,
)


def asks_for_uses(question: str) -> bool:
    """Tell whether a question that names something asks where that is used.

    Example:
        >>> asks_for_uses("Who calls `connect`?"), asks_for_uses("What does `connect` call?")
        (True, False)
    """
    return _ASKS_FOR_USES.search(question) is not None


def has_name(query: Query, text: str) -> bool:
    """Tell whether a name that a question spells stands in a text, but for imports that it does not ask for."""
    if not _ASKS_FOR_IMPORTS.search(query.text):
        text = _IMPORT.sub("", text)
    return any(re.search(rf"\b{re.escape(name)}\b", text) for name in query.identifiers)
