"""Finds the error that a question asks the cause of, by its name in code, and what may be a message."""

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
_IN_SINGLE_QUOTES = re.compile(r"(?<!\w)'[^']*\s[^']*'(?!\w)")
_MESSAGE = re.compile(rf"\"[^\"]*\s[^\"]*\"|“[^”]*\s[^”]*”|{_IN_SINGLE_QUOTES.pattern}")
# Errors have a capital letter, unlike the functions that raise them: "When does `moor` raise QuayFull?"
_ERROR = re.compile(r"[A-Z]|err")
# A name of one word: "a Timeout error", "why do I get ENOENT".
_ONE_WORD = re.compile(
    r"\b(?:(?P<kind>[A-Z]\w+)\s+(?:error|exception)|(?:error|exception)\s+(?P<behind>[A-Z]\w+)"
    r"|(?P<alone>E[A-Z\d]{3,}))"
)

# What a program says, in words that topics seldom have: "berth B7 is not free", "unable to moor".
_SAYS = re.compile(
    r"\b(?:not|no|cannot|must|is|are|was|were|has|have|had|fail\w*|invalid|unknown|unexpected|expected|missing|already"
    r"|unable|unsupported|illegal|bad|denied|refused|rejected|require[sd]|too|only|\w*error|\w*exception|\w*warning|deprecated)\b"
    r"|n['’]t",
    re.IGNORECASE,
)
# Who asks, or tells of himself, has no message unless one is announced: "the log says ...", "why do I get ...",
# "Error: ...". "How do I get ..." announces none.
_ASKS = re.compile(
    r"\W*(?:what|which|how|why|where|when|is|does|do|i(?=[\s'’])|in\s+(?:what|which))\b"
    r"|.*\b(?:I|[Ww]e|my|our|me)\b",
    re.DOTALL,
)
_HAS_MESSAGE = re.compile(
    r"\b(?:says?|saying|prints|complain\w*|fail\w*\s+with)\b|\b\w*(?:error|exception|warning|failed|fatal)\]?:|\[error\]"
    r"|why.*\b(?:gets?|getting|got|sees?|seeing)\b",
    re.IGNORECASE,
)
_MIN_WORDS = 3
# Values in a message: what is in quotation marks, and words that are not plain.
_VALUE = re.compile(r"(?<!\w)([\"'`])(?:(?!\1).){1,80}\1(?!\w)|\S*(?:\w[A-Z.:]\w|[\d/\\_])\S*")

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


def messages_of(text: str, quoted: Sequence[str], *, is_question: bool) -> tuple[str, ...]:
    """Return the texts of a question that a program may have printed; none of most topics and questions.

    Example:
        >>> messages_of("berth B7 is not free", (), is_question=False)
        ('berth B7 is not free',)
        >>> messages_of("moor a ship", (), is_question=False)
        ()
    """
    if len(text) > _MAX_CHARS:
        return ()
    # Shorter ones are values.
    marked = (*quoted, *(each.strip("'") for each in _IN_SINGLE_QUOTES.findall(text) if len(each.split()) > _MIN_WORDS))
    signs = _HAS_MESSAGE if is_question or _ASKS.match(text[:1].lower() + text[1:]) else _SAYS
    return (*marked, text) if marked or (len(text.split()) >= _MIN_WORDS and signs.search(text)) else ()


def without_values(message: str) -> str:
    """Return a message without what may be values, which are rarer than its words.

    Example:
        >>> without_values("Berth 'B 7' of QuayFour is not free at 10:30").split()
        ['Berth', 'of', 'is', 'not', 'free', 'at']
    """
    return _VALUE.sub(" ", message)
