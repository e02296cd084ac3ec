"""Finds contradictions by negation, or by an antonym that replaces a word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from openbook.grounding.facts import content_words
from openbook.tokens import tokenize

# Most sentences and clauses to compare, so that citing whole pages costs no more.
_MAX_CLAUSES = 200
_CACHED_TEXTS = 1024

# Two clauses make the same statement if they share these fractions of the words of the claim and of the source.
_MIN_CLAIM_SHARE, _MIN_SOURCE_SHARE = 0.6, 0.5
_MIN_SHARED = 2

# "Is not shared", "cannot be shared", "won't share": a negated auxiliary negates the statement itself.
# "Not only" negates nothing, and "no more than" is a bound.
_DENIAL = re.compile(
    r"\b(?:is|are|was|were|be|been|can|could|may|might|must|should|will|would|shall|does|do|did|has|have|had)"
    r"(?:\s+not\b|n[’']t\b)(?!\s+(?:only|just|merely|simply|more|less|fewer|exceed))|\bcannot\b|\bwon[’']t\b|\bnever\b"
    r"|\bha(?:s|ve|d) no effect\b|\bno longer\b",
    re.IGNORECASE,
)
# Any other negative word makes the polarity of a clause ambiguous.
_UNCLEAR = re.compile(
    r"\b(?:no|none|nothing|neither|nor|without|unless|except|only|instead|fail\w*|avoid\w*|prevent\w*|forbid\w*|refus\w*"
    r"|disabl\w*|ignor\w*|un\w{4,}|non-\w+|invalid|missing|rather|otherwise|hardly|rarely|expected)\b|\bnot\b|n[’']t\b",
    re.IGNORECASE,
)
# The words after these are not stated, or no longer.
_DOUBT = re.compile(
    r"\b(?:wrong|false|incorrect|mistak\w*|myth|deprecated|obsolete|formerly|previously|used to|suppos\w*"
    r"|assume\w*|assuming|assumption|claim\w*|may|might|could|would|maybe|perhaps|possibly|probably|sometimes)\b",
    re.IGNORECASE,
)
# A conditional statement holds for a different case.
_CONDITION = re.compile(r"\b(?:if|when|unless|until|while|whenever|before|after|where|in case|once)\b", re.IGNORECASE)
# Words that limit the statement before them to some cases: "Take the lock unless you only read."
_LIMIT = re.compile(
    r"[ ,;(—–-]*(?:but |and )?(?:only |even |just )?(?:unless|except|if|when|until|only|provided|as long as|in case"
    r"|without|other than|außer|sofern|falls|wenn|es sei denn|solange|nur|sauf|à moins|si|seulement|quand|salvo|excepto"
    r"|a menos|cuando|solo)\b"
)
# Signs are read from the first of them on, or again from a line end, so that a long run of them is read once.
_BORDER = re.compile(
    r"(?:(?<![,.;:!?()—–|])|(?=\n))[,.;:!?()—–|\n]+(?=\s|$)|\s-{1,2}\s"
    r"|\b(?:but|because|which|whereas|although|though|so that|since)\b",
    re.IGNORECASE,
)

# Pairs of which at most one is true of a statement. "First" and "last" can both be; these rarely are.
_OPPOSITES = (
    "before after, add subtract, increase decrease, enable disable, enabled disabled, allow deny, allow forbid,"
    " accept reject, include exclude, ascending descending, synchronous asynchronous, oldest newest, always unless,"
    " all only, minimum maximum, true false, required optional, append prepend, always sometimes"
)


# Words of these phrases are opposites of nothing: "only reads" against "no method at all".
_PHRASES = re.compile(r"\b(?:at|after|first of|above) all\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Clause:
    words: frozenset[str]
    """Tokens of its content words, without those of the negation."""
    is_denied: bool
    is_clear: bool
    """Whether no other word may reverse it and no condition limits it."""
    denial: str
    denied: str = ""
    """Token of the first content word after the negation."""


def polarity_disagrees(claim: str, sentences: Sequence[str]) -> str:
    """Return the reason if a cited clause makes the claim's statement with opposite polarity; else an empty string.

    Example:
        >>> polarity_disagrees("A lock may be shared by threads.", ["A lock may not be shared by threads."])
        'the cited lines say "may not", the claim does not'
    """
    theirs = [clause for sentence in sentences for clause in _clauses(sentence)][:_MAX_CLAUSES]
    for own in _clauses(claim):
        same = [clause for clause in theirs if _is_same_statement(own, clause)]
        if not same or not own.is_clear or any(clause.is_denied == own.is_denied for clause in same):
            continue
        if all(clause.is_clear for clause in same):
            denial = own.denial or same[0].denial
            return (
                f'the claim says "{denial}", the cited lines do not'
                if own.is_denied
                else f'the cited lines say "{denial}", the claim does not'
            )
    return ""


def may_be_reversed(before: str) -> bool:
    """Return whether words may negate, limit or doubt the statement that follows them.

    Example:
        >>> may_be_reversed("It is wrong that"), may_be_reversed("By default,")
        (True, False)
    """
    return any(pattern.search(before) for pattern in (_DENIAL, _UNCLEAR, _CONDITION, _DOUBT))


def is_limited_by(after: str) -> bool:
    """Return whether words limit the statement before them to some cases.

    Example:
        >>> is_limited_by(", but only at night"), is_limited_by(" and at night")
        (True, False)
    """
    return _LIMIT.match(after) is not None


def _is_same_statement(own: _Clause, other: _Clause) -> bool:
    shared = len(own.words & other.words)
    denied = {clause.denied for clause in (own, other) if clause.is_denied}
    return (
        denied <= own.words & other.words
        and shared >= _MIN_SHARED
        and shared >= _MIN_CLAIM_SHARE * len(own.words)
        and shared >= _MIN_SOURCE_SHARE * len(other.words)
    )


@lru_cache(maxsize=_CACHED_TEXTS)
def _clauses(text: str) -> tuple[_Clause, ...]:
    return tuple(_read(part) for part in _parts(text) if part.strip())


def _parts(text: str) -> Iterator[str]:
    start = 0
    for match in _BORDER.finditer(text):
        yield text[start : match.start()]
        start = match.end()
    yield text[start:]


def _read(clause: str) -> _Clause:
    denials = list(_DENIAL.finditer(clause))
    plain = _DENIAL.sub(" ", clause)
    behind = content_words(clause[denials[0].end() :]) if denials else ()
    return _Clause(
        frozenset(content_words(plain)),
        bool(denials),
        len(denials) < 2 and not _UNCLEAR.search(plain) and not _CONDITION.search(clause),
        denials[0].group().lower() if denials else "",
        behind[0] if behind else "",
    )


@cache
def _opposites() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for pair in _OPPOSITES.split(","):
        one, other = pair.split()
        found.setdefault(tokenize(one)[0], set()).add(other)
        found.setdefault(tokenize(other)[0], set()).add(one)
    return {word: frozenset(others) for word, others in found.items()}


def opposite_disagrees(claim: str, sentences: Sequence[str]) -> str:
    """Return the reason if a matching sentence has the opposite of a word of the claim; else an empty string.

    Example:
        >>> opposite_disagrees("the pause is added before each call", ["the pause is added after each call"])
        'the claim says "before" where the cited lines say "after"'
    """
    own = _by_token(claim)
    turned = {token: _opposites()[token] for token in own if token in _opposites()}
    if not turned:
        return ""
    telling = frozenset(content_words(claim))
    cited = [_by_token(sentence) for sentence in sentences]
    for sentence, theirs in zip(sentences, cited, strict=True):
        shared = telling & frozenset(content_words(sentence))
        for token, others in turned.items():
            rest = telling - {token}
            if len(shared - {token}) < max(_MIN_SHARED, _MIN_CLAIM_SHARE * len(rest)):
                continue
            for other in sorted(others):
                stem = tokenize(other)[0]
                if stem in theirs and stem not in own and not any(token in words for words in cited):
                    return f'the claim says "{own[token]}" where the cited lines say "{theirs[stem]}"'
    return ""


@lru_cache(maxsize=_CACHED_TEXTS)
def _by_token(text: str) -> Mapping[str, str]:
    """Map tokens to the words of a text, without words that consist of several tokens."""
    words = ((word.strip(".,;:!?()\"'`*"), tokenize(word)) for word in _PHRASES.sub(" ", text).split())
    return {tokens[0]: word for word, tokens in words if len(tokens) == 1}
