"""Recognizes the kinds of answers that questions ask for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

Intent = Literal["how-to", "mechanism", "where", "uses", "definition"]
"""`how-to` asks for steps, `mechanism` for how something works, `where` for a place in code, `uses` for callers."""

_VERBS = (
    r"(?:call|use|invok|reference|import|throw|rais|cover|test|exercis|instantiat|inherit|extend|implement)(?:e?s)?\b"
)
_DONE = (
    r"(?:called|used|invoked|referenced|imported|thrown|raised|covered|tested|exercised|instantiated|inherited|extended"
    r"|passed|needed|implemented(?=\s+by))\b"
)
# "Where do I set it?" asks for a step, "Where do we set it?" may be about the code of those who ask.
_STEP = r"(?:to|(?:do|can|could|should|shall|must|would|may) (?:i|one)|(?:can|could|should) we)\b"
# "A harbour where ships lie" and "a WHERE clause" ask for no place. "Show me the place where they moor" does.
_RELATIVE = re.compile(
    r"(?<=[a-z] )(?-i:WHERE)\b|\b(?:the|an?|any|each|every|some|my|our|your)\s+(?:[\w-]+\s+){0,2}"
    r"(?!(?:places?|lines?|code|functions?|methods?|class(?:es)?)\b)[\w-]+\s+where\b",
    re.IGNORECASE,
)

# English, German, French, Spanish. The ranking learns a weight for each (`benchmarks/fit.py`); "why", "how many" and
# "what happens" were tried, and change nothing on projects left out.
_SIGNS: Mapping[Intent, re.Pattern[str]] = {
    "how-to": re.compile(
        r"\bhow (?:do|can|could|should|would|to)\b(?! (?:it|this|that|they|the)\b)|\b(?:can|could|may) (?:i|we)\b"
        rf"|\bwhere {_STEP}"
        r"|\bi (?:want|need)\b|\bis there (?:a|any) way\b|\b(?:am i|are we) supposed\b|\bwhat do (?:i|we)\b"
        r"|\bwie (?:kann|muss|soll|richte|mache|installiere|benutze|verwende) (?:ich|man|wir)\b"
        r"|\bcomment (?:puis-je|peut-on|faire|dois-je|je)\b|\bc[oó]mo (?:puedo|se puede|hago|debo)\b",
        re.IGNORECASE,
    ),
    "mechanism": re.compile(
        r"\bhow (?:does|do|is|are)\b(?! (?:i|we|you)\b)|\bwie (?:funktioniert|funktionieren|wird|werden)\b"
        r"|\bcomment (?:fonctionne|marche)\w*|\bc[oó]mo funcionan?\b",
        re.IGNORECASE,
    ),
    "where": re.compile(
        rf"\bwhere\b(?! {_STEP})|\bwho calls\b"
        r"|\bwh(?:ich|at) (?:\w+ )?(?:function|file|class|module|method|code|struct|type|line|component"
        r"|query|trait|interface|constant)\b|\bwo (?:wird|werden|ist|sind|steht)\b|\bo[uù] est\b"
        r"|\bd[oó]nde\b|\bwelche (?:funktion|klasse|datei|methode)\b",
        re.IGNORECASE,
    ),
    # "What does X call?" asks what X does, "What calls X?" for uses of X. English and German.
    "uses": re.compile(
        rf"\b(?:who|what|that|which(?:\s+\w+)?)\s+(?:else\s+)?(?:{_VERBS}|use\b)"
        rf"|\b(?:where|how|when)(?:\s+else)?\s+(?:is|are|was|gets?)\b[^?\n]{{0,200}}\b{_DONE}"
        r"|\b(?:callers?|us(?:ag)?es?|references|calls)\s+(?:of|to)\b"
        r"|\bwer\s+(?:ruft|benutzt|verwendet|nutzt|wirft|testet)\b"
        r"|\bwo\s+(?:wird|werden)\b[^?\n]{0,200}\b(?:aufgerufen|benutzt|verwendet|genutzt|geworfen|getestet)\b",
        re.IGNORECASE,
    ),
}


# A question with the verb first. "Can you show ...?", "Is there a way to ...?" and "Does anyone know how to ...?" ask
# for more than a yes. English, German, French, Spanish.
_ASKS_WHETHER = re.compile(
    r"\W*(?:(?:can|could|may|must|should|does|do|did|is|are|was|were|will|has|have)\s+"
    r"(?!you\b|there\s+(?:a|any)\s+way\b|.*\bhow\b)"
    r"|(?:kann|können|muss|müssen|darf|gibt es|ist|sind|hat|wird|werden|lässt sich|unterstützt)\s+"
    r"(?!(?-i:Sie)\b|(?:eine\s+möglichkeit|einen\s+weg)\b|.*,\s*wie\b)"
    r"|(?:peut-on|puis-je|est-ce|est-il|y a-t-il|faut-il)\s+"
    r"(?!(?:un\s+moyen|une\s+(?:façon|manière))\b|.*\bcomment\b)"
    r"|(?:puedo|puede|se puede|hay|existe|tiene)\s+"
    r"(?!(?:alguna|una)\s+(?:manera|forma)\b|(?:algún|un)\s+modo\b|.*\bcómo\b))",
    re.IGNORECASE | re.DOTALL,
)


def intents_of(text: str) -> frozenset[Intent]:
    """Return the intents of a question; none for most topics.

    Example:
        >>> sorted(intents_of("How do I retry a failed job?")), sorted(intents_of("Where are jobs retried?"))
        (['how-to'], ['where'])
    """
    text = _RELATIVE.sub(" ", text)
    return frozenset(intent for intent, signs in _SIGNS.items() if signs.search(text))


def asks_whether(text: str) -> bool:
    """Return whether a text begins like a yes-or-no question.

    Example:
        >>> asks_whether("Can it moor ships?"), asks_whether("Can you tell me how it moors ships?")
        (True, False)
    """
    return _ASKS_WHETHER.match(text) is not None
