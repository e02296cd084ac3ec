"""The things that a question compares. English, German, French and Spanish."""

from __future__ import annotations

import re

from openbook.questions.words import content_words_of_question

# Each with a group for each side.
_COMPARES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r".*\bdifferences?\s+between\s+(?:using\s+)?(.+?)\s+and\s+(.+)",
        r".*\bhow\s+(?:do|does|is|are)\s+(.+?)\s+(?:differ|different)\s+from\s+(.+)",
        r".*\bhow\s+(?:do|are)\s+(.+?)\s+and\s+(.+?)\s+(?:differ|different|compare)",
        r".*\bhow\s+(?:do|does)\s+(.+?)\s+compare\s+(?:to|with)\s+(.+)",
        r"(?:please\s+)?compare\s+(.+?)\s+(?:and|to|with)\s+(.+)",
        r".*\bwhen\s+(?:should|would|do|to)\s+(?:(?:i|we|you|one)\s+)?use\s+(.+?)"
        r"\s+(?:instead of|rather than|over|or)\s+(.+)",
        r"(.+?)\s+(?:vs\.?|versus)\s+(.+)",
        r".*\bunterschied(?:e|en)?\s+zwischen\s+(.+?)\s+und\s+(.+)",
        r".*\bdiff[ée]rences?\s+entre\s+(.+?)\s+et\s+(.+)",
        r".*\bdiferencias?\s+(?:hay\s+)?entre\s+(.+?)\s+y\s+(.+)",
    )
)
_ARTICLE = re.compile(
    r"^(?:an?|the|ein\w{0,2}|der|die|das|dem|den|une?|l[ea]s?|una?|el|l[ao]s)\s+|^l['’]", re.IGNORECASE
)
# A name of code, and no word of a sentence: it has a capital letter, or is spelled as no word is.
_NAME = re.compile(r"`[^`]+`|\w*[A-Z][\w.:]*|\w+(?:[._:]+\w+)+(?:\(\))?")
_ENDS = " \t?？!.,"
# What has more words is no name of a thing: "between what the page shows and what the log says".
_MOST_WORDS = 4


def compared(question: str) -> tuple[str, ...]:
    """Return the two things that a question compares, as written, without their articles; empty if it compares none.

    Example:
        >>> compared("What is the difference between a chain and a chord?"), compared("How does a chord end?")
        (('chain', 'chord'), ())
    """
    for compares in _COMPARES:
        if found := compares.fullmatch(question.strip(_ENDS)):
            sides = tuple(_ARTICLE.sub("", side.strip(_ENDS), count=1) for side in found.groups())
            is_short = all(0 < len(side.split()) <= _MOST_WORDS for side in sides)
            return sides if is_short and sides[0] != sides[1] else ()
    return ()


def asking_what_is(side: str) -> str:
    """Return the question what one of the two things is, as the search and the choice of quotes read it.

    Example:
        >>> asking_what_is("request context"), asking_what_is("Bind"), asking_what_is("find")
        ('What is request context?', 'What does `Bind` do?', 'find')
    """
    # `find` is a word of asking as well: only alone is it searched for.
    if not content_words_of_question(side):
        return side
    return f"What does `{side.strip('`')}` do?" if _NAME.fullmatch(side) else f"What is {side}?"
