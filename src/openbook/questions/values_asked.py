"""Recognizes questions for a number, as "how often is it checked", and measures which texts state one."""

from __future__ import annotations

import re
from collections.abc import Mapping

from openbook.tokens import tokenize

_ASKS = re.compile(
    r"\bhow (?:often|frequently|long|old|big|large|high|wide|deep|much|many)\b"
    r"|\b(?:maximum|minimum|largest|longest|smallest|shortest)\b|\b(?:which|what) (?:\w+ )?port\b"
    r"|\bwie (?:viele?|lange?|oft|gro(?:ß|ss))\b|\bcombien\b|\bcu[aá]nt[oa]s?\b",
    re.IGNORECASE,
)
# A number, perhaps with a unit, but no part of a name or version.
_NUMBER = re.compile(
    r"(?<![\w.])\d[\d_,.]*[a-zA-Z]{0,2}\b|\b(?:two|three|four|five|six|seven|eight|nine|ten"
    r"|zwei|drei|vier|fünf|sechs|deux|trois|quatre|dos|tres|cuatro)\b",
    re.IGNORECASE,
)
# What is said beside a number that limits or repeats something, in prose and in names.
_BESIDE = frozenset(
    tokenize(
        "interval every each per period frequency schedule cron timeout duration ttl expire age lifetime delay wait"
        " seconds minutes hours days weeks max min limit size length width height depth bytes kb mb gb number count"
        " total attempts port"
    )
)
# What a line without such a word counts, and words of the question that stand in the line before.
_ALONE, _BEFORE = 0.5, 0.5
# Longer lines are data.
_MAX_LINE_CHARS = 400


def asks_for_number(text: str) -> bool:
    """Return whether a question asks for a number.

    Example:
        >>> asks_for_number("How long may a rope be?"), asks_for_number("How do I splice a rope?")
        (True, False)
    """
    return _ASKS.search(text) is not None


def states_number(text: str) -> bool:
    """Return whether a text has a number, in digits or as a word.

    Example:
        >>> states_number("Five ropes."), states_number("rope5 of v1.2")
        (True, False)
    """
    return _NUMBER.search(text) is not None


def number_strength(text: str, rarity: Mapping[str, float]) -> float:
    """Return how surely a line of a text has the number that a question asks for, from 0 to 1.

    `rarity` has the weights of the tokens of the question.

    Example:
        >>> rarity = {"rope": 1.0, "splice": 1.0}
        >>> [number_strength(line, rarity) for line in ("MAX_ROPE_LENGTH = 5", "rope 5", "the longest rope")]
        [0.5, 0.25, 0.0]
    """
    whole, best, above = sum(rarity.values()), 0.0, ""
    for line in text.split("\n"):
        if len(line) < _MAX_LINE_CHARS and states_number(line):
            said, before = frozenset(tokenize(line)), frozenset(tokenize(above))
            share = sum(rarity[token] for token in rarity.keys() & said)
            share += _BEFORE * sum(rarity[token] for token in rarity.keys() & (before - said))
            best = max(best, share * (_ALONE if _BESIDE.isdisjoint(said | before) else 1))
        if any(map(str.isalnum, line)):
            above = line
    return best / whole if whole else 0.0
