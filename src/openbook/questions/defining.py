"""Questions for what something is, and sentences that say it."""

from __future__ import annotations

import re

# Each with a group for what is asked about, without its article. English, German, French, Spanish, Chinese.
_ASKS_WHAT = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?:and\s+)?(?:what|who)(?:\s+(?:is|are|was|were)|['’]s)\s+(?:(?:an?|the)\s+)?(.+)",
        r"(?:was|wer)\s+(?:ist|sind|war|waren)\s+(?:(?:ein|eine|der|die|das)\s+)?(.+)",
        r"qu['’]est[- ]ce\s+qu(?:e\s+(?:c['’]est\s+qu)?|['’])(?:e?\s*)(?:une?\s+|l[ea]s?\s+|l['’])?(.+)",
        r"¿?qu[ée]\s+(?:es|son)\s+(?:una?\s+|el\s+|l[ao]s?\s+)?(.+)",
        r"(?:什么是|何谓)(.+)",
        r"(.+)是什么",
    )
)
# "What is the default port?" asks for a value: only so many words are the name of a thing.
_MOST_WORDS = 3
_ENDS = " \t?？!.。`'\"“”‘’"

# What tells a definition from "A chunk is cut" and "Harbour is used by": what it is follows with an article.
_IS = (
    r"(?:,?\s(?:is|was|means)\s(?:(?:simply|basically|just|essentially)\s)?(?:an?|the|one|any|our|that|when|what)\b"
    r"|\s(?:are|were)\s(?!not\b)\w"
    r"|\s(?:ist|war)\s(?:eine?|der|die|das)\b|\ssind\s\w|\s(?:est|désigne)\s(?:une?\b|l[ea]\b|l['’])|\ssont\s(?:des|les)\b"
    r"|\ses\s(?:una?|el|la)\b|\sson\s\w|\s?是|\s(?:\\?-{1,2}|[–—])\s(?-i:an?\b|the\b|[AT]\w{0,2}\s|[a-z]))"
)
_SURNAME = r"(?:\s(?-i:[A-Z])[\w/+.-]*)?"  # "Debian GNU/Linux is"
_BESIDE = r"(?:[^\w\s-]|_|\s?\([^)\n]*\)|\s?<[^>\n]*>){0,6}"  # markup, links, other names
# As lessons say it: "So tool use, also known as function calling," and "This is called query expansion".
_LEADS = r"(?:(?:so|now|and|or|well|also|next),?\s)?"
_APART = r",\s(?:which|also known|or)\s"
_CALLED = r"\b(?:called|known as|referred to as)\s(?:(?:an?|the)\s)?[^\w\n]*"
_OPENS = r"[^\w\n]*(?:(?:an?|the|eine?|der|die|das|une?|l[ea]s?|l['’]|una?|el|l[ao]s)\s+|(?-i:\.B[RI]?)\s+)?[^\w\n]*"


def definition_of(question: str) -> re.Pattern[str] | None:
    """Return a pattern that finds where a text says what something is; None if a question asks for no such thing.

    Example:
        >>> definition_of("What is a tide table?").search("See below. A **tide table** is a list.") is not None
        True
        >>> definition_of("What happens at low tide?") is None
        True
    """
    for asks in _ASKS_WHAT:
        if found := asks.fullmatch(question.strip(_ENDS + "¿")):
            words = re.findall(r"[\w'’.+#/-]+", found[1])
            if not 0 < len(words) <= _MOST_WORDS:
                return None
            name = r"[\W_]+".join(map(re.escape, words))
            told = rf"(?:^|[.!?]\s|\s(?=or\s)){_LEADS}{_OPENS}{name}s?{_SURNAME}{_BESIDE}(?:{_IS}|{_APART})"
            return re.compile(rf"{told}|{_CALLED}{name}s?\b", re.IGNORECASE | re.MULTILINE)
    return None
