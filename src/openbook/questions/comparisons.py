"""Recognizes comparisons, and the things that they compare."""

from __future__ import annotations

import re

from openbook.questions.words import content_words_of_question
from openbook.tokens import tokenize

# "On Linux or Windows" and "or not" are no comparisons.
_THING = r"(?!(?:it|not|to|on|in|from|with|for|by|at)\b).+?"
# Each has one group per side, or per list of things with commas.
_COMPARES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r".*\b(?:diff[ée]rences?|unterschied(?:e|en)?|diferencias?)\s+(?:hay\s+)?(?:between\s+(?:using\s+)?(.+?)\s+and"
        r"|zwischen\s+(.+?)\s+und|entre\s+(.+?)\s+(?:et|y))\s+(.+)",
        r".*\bhow\s+(?:do|does|is|are)\s+(.+?)\s+(?:differ|different)\s+from\s+(.+)",
        r".*\bhow\s+(?:do|are)\s+(.+?)\s+and\s+(.+?)\s+(?:differ|different|compare)",
        r".*\bhow\s+(?:do|does)\s+(.+?)\s+compare\s+(?:to|with)\s+(.+)",
        r"(?:please\s+)?compare\s+(.+?)\s+(?:and|to|with)\s+(.+)",
        r"(?:.+,\s+)?(.+?)\s+(?:vs\.?|versus)\s+(.+)",
        r"(?:(?:when|why)\s+)?(?:should|would|do)\s+(?:i|we|you|one)\s+(?:rather\s+)?(?:use|choose|pick|prefer)"
        rf"\s+({_THING})\s+(?:or|over|instead of|rather than)\s+({_THING})",
        rf"which\s+(?:one\s+)?is\s+(?:better|preferable),?\s+({_THING})\s+or\s+({_THING})",
        r"(?:.*\b)?choo(?:se|sing)\s+between\s+(.+?)\s+(?:and|or)\s+(.+)",
    )
)
# Asked once more behind the things: "A vs B, which one", "A vs B what's the difference".
_ASKED_AGAIN = re.compile(
    r"(?<=\w)(?:\s+which(?:\s+one)?|\s*[,;:?–-]\s*(?:which|when)\b.*|\W+what['’]?(?:s|\s+is)\s+the\s+differences?)$",
    re.IGNORECASE,
)
_ARTICLE = re.compile(
    r"^(?:an?|the|ein\w{0,2}|der|die|das|dem|den|une?|l[ea]s?|una?|el|l[ao]s)\s+|^l['’]", re.IGNORECASE
)
# A code name: with a capital letter, in backticks, or joined by dots, colons or underscores.
_NAME = re.compile(r"`[^`]+`|\w*[A-Z][\w.:]*|\w+(?:[._:]+\w+)+(?:\(\))?")
_SIDE_ENDS = " \t?？!.,"
# Longer sides name no thing: "between what the page shows and what the log says".
_MAX_SIDE_WORDS = 4


def compared(question: str) -> tuple[str, ...]:
    """Return the things that a question compares, as written, without articles; empty if it is no comparison.

    Example:
        >>> compared("What is the difference between a chain and a chord?"), compared("How does a chord end?")
        (('chain', 'chord'), ())
    """
    asked = _ASKED_AGAIN.sub("", question.strip(_SIDE_ENDS))
    for compares in _COMPARES:
        if found := compares.fullmatch(asked):
            listed = ",".join(filter(None, found.groups())).split(",")
            things = (_ARTICLE.sub("", each.strip(_SIDE_ENDS), count=1) for each in listed)
            sides = tuple(dict.fromkeys(filter(_is_thing, things)))
            is_short = all(len(side.split()) <= _MAX_SIDE_WORDS for side in sides)
            return sides if is_short and len(sides) > 1 else ()
    return ()


def _is_thing(side: str) -> bool:
    """Return whether one side of a comparison can be searched for: a word, or several that are not all stop words."""
    return bool(tokenize(side) if " " not in side else content_words_of_question(side))


def asking_what_is(side: str) -> str:
    """Return the question to search for one side of a comparison.

    Example:
        >>> asking_what_is("request context"), asking_what_is("Bind"), asking_what_is("find")
        ('What is request context?', 'What does `Bind` do?', 'find')
    """
    # Stop words such as `find` are searched for only if they are the whole query.
    if not content_words_of_question(side):
        return side
    return f"What does `{side.strip('`')}` do?" if _NAME.fullmatch(side) else f"What is {side}?"
