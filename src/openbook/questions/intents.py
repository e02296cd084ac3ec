"""What kind of answer a question wants: steps from a guide, a place in the code, or who uses a name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

Intent = Literal["how-to", "where", "personal", "uses", "definition"]
"""`how-to` wants steps, `where` a place in code, `personal` is of one's own project, `uses` wants who calls it."""

_VERBS = (
    r"(?:call|use|invok|reference|import|throw|rais|cover|test|exercis|instantiat|inherit|extend|implement)(?:e?s)?\b"
)
_DONE = (
    r"(?:called|used|invoked|referenced|imported|thrown|raised|covered|tested|exercised|instantiated|inherited|extended"
    r"|implemented|passed|needed)\b"
)

# English, German, French, Spanish. The ranking learns what each is worth (`benchmarks/fit.py`); "why", "how many"
# and "what happens" were tried as well, and change nothing on projects left out.
_SIGNS: Mapping[Intent, re.Pattern[str]] = {
    "how-to": re.compile(
        r"\bhow (?:do|can|could|should|would|to)\b(?! (?:it|this|that|they|the)\b)|\b(?:can|could|may) (?:i|we)\b"
        r"|\bi (?:want|need)\b|\bis there (?:a|any) way\b|\b(?:am i|are we) supposed\b|\bwhat do (?:i|we)\b"
        r"|\bwie (?:kann|muss|soll|richte|mache|installiere|benutze|verwende) (?:ich|man|wir)\b"
        r"|\bcomment (?:puis-je|peut-on|faire|dois-je|je)\b|\bc[oó]mo (?:puedo|se puede|hago|debo)\b",
        re.IGNORECASE,
    ),
    "where": re.compile(
        r"\bwhere\b|\bwho calls\b|\bwh(?:ich|at) (?:\w+ )?(?:function|file|class|module|method|code|struct|type|line"
        r"|component|query|trait|interface|constant)\b|\bwo (?:wird|werden|ist|sind|steht)\b|\bo[uù] est\b"
        r"|\bd[oó]nde\b|\bwelche (?:funktion|klasse|datei|methode)\b",
        re.IGNORECASE,
    ),
    "personal": re.compile(
        r"\b(?:i|my|me|we|our|us|ich|mein\w*|mir|wir|unser\w*|je|mon|ma|mes|nous|notre|mi|mis|nuestr\w+)\b",
        re.IGNORECASE,
    ),
    # "What does X call?" asks for what X does, "What calls X?" for uses of X. English and German.
    "uses": re.compile(
        rf"\b(?:who|what|that|which(?:\s+\w+)?)\s+(?:else\s+)?(?:{_VERBS}|use\b)"
        rf"|\b(?:where|how|when)(?:\s+else)?\s+(?:is|are|was|gets?)\b[^?\n]{{0,200}}\b{_DONE}"
        r"|\b(?:callers?|us(?:ag)?es?|references|calls)\s+(?:of|to)\b|\btests?\s+(?:of|for)\b"
        r"|\bwer\s+(?:ruft|benutzt|verwendet|nutzt|wirft|testet)\b"
        r"|\bwo\s+(?:wird|werden)\b[^?\n]{0,200}\b(?:aufgerufen|benutzt|verwendet|genutzt|geworfen|getestet)\b",
        re.IGNORECASE,
    ),
}


def intents_of(text: str) -> frozenset[Intent]:
    """Return what a question wants; empty for most topics.

    Example:
        >>> sorted(intents_of("How do I retry a failed job?")), sorted(intents_of("Where are jobs retried?"))
        (['how-to', 'personal'], ['where'])
    """
    return frozenset(intent for intent, signs in _SIGNS.items() if signs.search(text))
