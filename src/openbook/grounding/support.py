"""How far cited sentences carry a claim, measured by words, clauses and meaning, as one number from 0 to 1."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import mul, or_
from typing import NamedTuple

from openbook.grounding.facts import content_words, telling_words
from openbook.retrieval.tokens import tokenize

# So many sentences together may carry one claim; so many are read for its facts.
BEST_SENTENCES = 3
READ_SENTENCES = 6

# Of a citation of whole pages, so many units are read: those that share most word beginnings with the claim.
_MOST_UNITS = 30
_BEGINNING_CHARS = 5

# A clause is what could be true or false alone.
_CLAUSE = re.compile(
    r"[,;:()—–]|\b(?:and|or|but|which|who|where|while|when|after|before|because|if|that|whose|whom)\b",
    re.IGNORECASE,
)


class Measures(NamedTuple):
    """What is measured of one claim."""

    cover: float
    """Share of the claim's weight that the best three sentences have together."""
    clause: float
    """The same of the clause that is covered least, by one sentence."""
    meaning: float
    """Cosine of the claim and the best three sentences."""
    missing_numbers: float
    """Share of the claim's numbers and dates that the best sentences do not hold."""
    missing_names: float
    """Share of its names that they do not hold."""


# Learned on half of WiCE dev: `python -m benchmarks.claim_support --fit` makes them again, and
# docs/benchmarks.md has what they are worth on the other half.
WEIGHTS = Measures(cover=4.09, clause=1.68, meaning=1.10, missing_numbers=-0.94, missing_names=-1.33)
BIAS = -4.60


class Weighed:
    """A claim's distinct telling tokens and their weights. Sets of them are bits of one number."""

    def __init__(self, text: str, rarity: Callable[[str], float]) -> None:
        tokens = content_words(text) or tuple(dict.fromkeys(tokenize(text)))
        self._bits = {token: 1 << place for place, token in enumerate(tokens)}
        self._tokens = frozenset(tokens)
        self._weights = [(1 << place, max(0.0, rarity(token))) for place, token in enumerate(tokens)]
        self._total = sum(weight for _, weight in self._weights)
        self._sums: dict[int, float] = {}

    def bits(self, tokens: Iterable[str]) -> int:
        """Say which of the claim's tokens are among `tokens`."""
        return sum(self._bits[token] for token in self._tokens.intersection(tokens))

    def share(self, bits: int, of: int = -1) -> float:
        """Say which share of the weight some tokens have: of all, or of those in `of`. 1 where there is none."""
        total = self._total if of == -1 else self._weight(of)
        return self._weight(bits & of) / total if total else 1.0

    def _weight(self, bits: int) -> float:
        if bits not in self._sums:
            self._sums[bits] = sum(weight for bit, weight in self._weights if bits & bit)
        return self._sums[bits]


def best_first(claim: Weighed, sentences: Sequence[int]) -> list[int]:
    """Order sentences, as bits of the claim: by what the first ones add to its cover, then by cover, then by place."""
    order: list[int] = []
    covered = 0
    for _ in range(min(BEST_SENTENCES, len(sentences))):
        best = max(
            (place for place in range(len(sentences)) if place not in order),
            key=lambda place: (claim.share(covered | sentences[place]), claim.share(sentences[place]), -place),
        )
        order.append(best)
        covered |= sentences[best]
    rest = sorted(set(range(len(sentences))) - set(order), key=lambda place: (-claim.share(sentences[place]), place))
    return [*order, *rest]


def cover_of(claim: Weighed, sentences: Sequence[int]) -> float:
    """Say which share of a claim some sentences have together; 0 without any sentence."""
    return claim.share(reduce(or_, sentences)) if sentences else 0.0


def clause_of(text: str, claim: Weighed, sentences: Sequence[int]) -> float:
    """Give the cover of the worst clause of a claim by its own best sentence."""
    clauses = [claim.bits(content_words(part)) for part in _CLAUSE.split(text)]
    kinds = set(sentences)
    shares = (max((claim.share(bits, of=clause) for bits in kinds), default=0.0) for clause in clauses if clause)
    return min(shares, default=0.0)


def score_of(measures: Measures) -> float:
    """Give the probability that a claim is supported in full, as far as these measures tell."""
    return 1 / (1 + math.exp(-BIAS - sum(map(mul, WEIGHTS, measures))))


def likely_units(claim: str, cited: Sequence[str]) -> Sequence[str]:
    """Leave out the units of a long citation that share least with a claim, the order kept."""
    if len(cited) <= _MOST_UNITS:
        return cited
    words = {word[:_BEGINNING_CHARS].lower() for word in telling_words(claim)}
    shared = [sum(map(unit.__contains__, words)) for unit in map(str.lower, cited)]
    best = sorted(range(len(cited)), key=lambda place: (-shared[place], place))[:_MOST_UNITS]
    return [cited[place] for place in sorted(best)]
