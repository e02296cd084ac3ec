"""Tells whether the words of a claim stand in a cited text as a statement of their own."""

from __future__ import annotations

import re

from openbook.grounding.languages import language_of
from openbook.grounding.lookup import WORD_BORDER, squash, squash_apart
from openbook.grounding.numbers import UNIT
from openbook.grounding.polarity import is_limited_by, may_be_reversed
from openbook.grounding.sentences import is_code_line, sentence_ranges, without_comment_signs
from openbook.text import LONG_SENTENCE_CHARS

# Most occurrences to look at, so that text which repeats itself takes linear time.
_MAX_PLACES = 100

_BEFORE_CLAIM = re.compile(r"(?:[\s,;:!?•。，；：！？]|\.(?!\d)|[-*+](?= ))+")
_AFTER_CLAIM = " .,;:!?-•。，；：！？"

# A match that begins or ends here cuts a number off from its sign, digits, unit or range, or divides a compound.
_INSIDE_TOKEN = re.compile(
    rf"(?<=\d)[ -]?(?:%|(?:{UNIT})(?!\w))|(?<=\d) \d{{3}}(?!\d)|(?<=\d )\d{{3}}(?!\d)"
    r"|(?<=\w) ?(?:-|\.\.+|…|~| to | bis | through ) ?[-+]?\d|(?<=\d - )\d|(?<=\d to )\d|(?<=\d[…~])\d|(?<=\.\.)\d"
    r"|(?<=\w) (?:per|pro|/) |(?<=\w)(?:[-/@^*=+]+|[.:]+(?=\w))\w|(?<=\w[-/.:@^*=+])\w"
    r"|(?<=[-+±.~<>$€£])(?=\d)|(?<=--)(?=\w)|(?<=-)(?=-\w)|(?<=[\s(]-)(?=\w)|(?<=^-)(?=\w)|(?<=[@.])(?=\w)"
    r"|(?<=\w)(?:\+\+|#)"
)
# The contraction must still read as a negation when the apostrophe is gone.
_CONTRACTION = re.compile(r"n['’]t\b")
_ENDS_CLAUSE = re.compile(r"[^\w\s]\s*$")
_ENDS_SENTENCE = re.compile(r"[.!?:;。！？]\W*$|\n\s*\n\s*$")
_TAIL_CHARS = 40
_ITEM = re.compile(r"\s*(?:[-+•]\s|\d{1,3}[.)]\s|\|)")


def words_of(claim: str) -> str:
    """Return the words of a claim in the form that `stands_in` looks for, without bullets and final punctuation.

    Example:
        >>> words_of("- **It** waits."), words_of("-5 is the limit.")
        ('it waits', '-5 is the limit')
    """
    words = squash(_CONTRACTION.sub("n not", claim)).rstrip(_AFTER_CLAIM)
    opening = _BEFORE_CLAIM.match(words)
    return words[opening.end() :] if opening else words


def stands_in(words: str, cited_text: str) -> bool:
    """Return whether a text states the words of `words_of`: whole tokens, from the beginning of a clause on.

    Words from the middle of a clause may say the opposite of it, in any language. Before "unless" and the
    like, they leave out a condition.

    Example:
        >>> stands_in("use the lock", "Use the lock, then wait."), stands_in("use the lock", "Do not use the lock.")
        (True, False)
    """
    cited_text = _CONTRACTION.sub("n not", cited_text)
    if words not in squash(cited_text):
        return False
    apart = squash_apart(_statements(cited_text))
    text = apart.replace("\n", " ")
    at = -1
    for _ in range(_MAX_PLACES):
        at = text.find(words, at + 1)
        if at < 0:
            return False
        is_whole = all(
            WORD_BORDER.match(text, place) and not _INSIDE_TOKEN.match(text, place) for place in (at, at + len(words))
        )
        if not is_whole or is_limited_by(apart[at + len(words) : at + len(words) + _TAIL_CHARS]):
            continue
        if _is_harmless(apart[apart.rfind("\n", 0, at) + 1 : at], cited_text):
            return True
    return False


def _is_harmless(before: str, cited_text: str) -> bool:
    """Return whether the words before a match, in its sentence, end a clause and do not reverse or limit the rest."""
    if not re.search(r"\w", before):
        return True
    if len(before) > LONG_SENTENCE_CHARS or not _ENDS_CLAUSE.search(before):
        return False
    return language_of(cited_text) in ("", "en") and not may_be_reversed(before)


def _statements(text: str) -> list[str]:
    """Divide a text into sentences, lines of code, list items and table cells; nothing is left out."""
    ranges = sentence_ranges(text)
    starts = [start for start, end in ranges if _opens(text[max(0, start - _TAIL_CHARS) : start], text[start:end])]
    found: list[str] = []
    for start, end in zip([0, *starts], [*starts, len(text)], strict=True):
        part = text[start:end]
        found += part.split("|") if part.lstrip().startswith("|") else [part]
    return found


def _opens(before: str, part: str) -> bool:
    """Return whether a part begins a sentence. A short line or a long sentence may have been cut anywhere."""
    first = without_comment_signs(part).lstrip(" \t\n*_`\"'(“‘")[:1]
    if not (first.islower() or first.isdigit()) or _ENDS_SENTENCE.search(before):
        return True
    return _ITEM.match(part) is not None or is_code_line(part.split("\n", 1)[0])
