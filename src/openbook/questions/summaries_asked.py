"""Recognizes questions for the summary of one document: "summarise the minutes of 20 March"."""

from __future__ import annotations

from openbook.questions.dates_asked import dates_asked
from openbook.questions.phrases import Phrases
from openbook.questions.words import FOREIGN_WORDS, content_words_of_question
from openbook.tokens import tokenize

_ASKS = Phrases(
    r"(?:please\s+|(?:can|could)\s+you\s+)?(?:summari[sz]e|sum\s+up|outline)\s+(?P<what>.+)",
    r"(?:.*\b)?(?:summary|outline|(?:main|key)\s+points)\s+(?:of|in)\s+(?P<what>.+)",
    r"fasse?\s+(?P<what>.+?)\s+zusammen",
    r"(?:.*\b)?zusammenfassung\s+(?:von|vom|der|des)\s+(?P<what>.+)",
    r"r[ée]sume[rz]?\s+(?P<what>.+)",
    r"(?:.*\b)?(?:résumé|resumen)\s+(?:de|del|du|des)\s+(?P<what>.+)",
)
# Of a day, all of it is asked for.
_ASKS_OF_DAY = Phrases(
    r"what\s+(?:was|were|did\s+\w+)\s+(?:decide|discuss|agree|talk|sa[iy]|do)\w*(?:\s+(?:on|about|upon))??\s+(?P<what>.+)",
    r"what\s+happened\s+(?P<what>.+)",
    r"was\s+(?:wurde|haben\s+wir|war)\b(?P<what>.+?)(?:\s+(?:beschlossen|besprochen|entschieden|vereinbart|los))?",
    r"qu['’]?\s*a[- ]t[- ]on\s+(?:décidé|discuté)\s+(?P<what>.+)",
    r"qué\s+se\s+(?:decidió|discutió|acordó)\s+(?P<what>.+)",
)
# What a document may be called, whatever its name is.
_CALLED = frozenset(
    tokenize(
        "document file note notes paper minutes report page text memo letter mail email article meeting protocol"
        " transcript journal diary entry call session talk day decided discussed agreed happened"
        " dokument datei notiz protokoll bericht sitzung treffen besprechung text seite tag"
        " fichier compte rendu rapport réunion séance page documento archivo nota acta informe reunión sesión página"
    )
)


def summary_asked(text: str) -> frozenset[str] | None:
    """Return the words, as tokens, that choose the document whose summary a question asks for; None if it does not.

    There are none for "this document", and for one that is named by its date.

    Example:
        >>> summary_asked("Summarise the minutes of 20 March 2024"), summary_asked("Summarise the tide report")
        (frozenset(), frozenset({'tide'}))
        >>> summary_asked("What was decided on 13 March 2024?"), summary_asked("What was decided on ropes?")
        (frozenset(), None)
    """
    dates = dates_asked(text)
    of_day = _ASKS_OF_DAY.fullmatch(text) if dates and any(each.day for each in dates.dates) else None
    found = of_day or _ASKS.fullmatch(text)
    if found is None:
        return None
    said = (word for word in content_words_of_question(found["what"]) if word.lower() not in FOREIGN_WORDS)
    words = frozenset(tokenize(" ".join(said))) - _CALLED - (dates.tokens if dates else frozenset())
    return None if of_day and words else words
