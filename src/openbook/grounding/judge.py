"""Whether cited text supports a claim, said in one word and one reason, without a model.

Two layers: the literal one finds facts that the cited text lacks or contradicts, the support layer
measures how much of the claim it carries at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import or_
from typing import TYPE_CHECKING

from openbook.embedding.protocol import Embedder
from openbook.generation import Verdict
from openbook.grounding.facts import KEPT_TEXTS, facts_of
from openbook.grounding.literal import Agreement, agreement
from openbook.grounding.numbers import Number, numbers_of
from openbook.grounding.sentences import sentences_of, words_of_signs
from openbook.grounding.support import (
    BEST_SENTENCES,
    READ_SENTENCES,
    Measures,
    Weighed,
    best_first,
    clause_of,
    cover_of,
    likely_units,
    score_of,
)
from openbook.retrieval.tokens import tokenize

if TYPE_CHECKING:
    from openbook.embedding.protocol import Vectors

# From these scores on a claim is carried in part, and in full: they divide half of WiCE dev best
# (`python -m benchmarks.claim_support --fit`).
LEAST_PARTIAL, LEAST_SUPPORTED = 0.17, 0.37

_COUNTS = re.compile(r"\d|\b(?:twice|both|half|dozen)\b")

# More than the cosine of any two vectors, whatever is lost by rounding.
_MOST_MEANING = 1.01

_NOT_SAID, _PARTLY_SAID = "the cited lines do not say it", "the cited lines say only a part of it"

# A claim is one sentence, and a unit a line or a sentence. What is longer is cut, so that none costs seconds.
_MAX_CLAIM_CHARS = 2_000
_MAX_UNIT_CHARS = 10_000


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the judge says of one claim."""

    verdict: Verdict
    """`supported`, `partial` or `unsupported`."""
    reason: str = ""
    """For people; empty when supported."""
    score: float = 0.0
    """Support from 0 to 1."""


class Judge:
    """Judges claims by their facts, their words and their meaning."""

    def __init__(self, embedder: Embedder, rarity: Mapping[str, float] | Callable[[str], float]) -> None:
        """Weigh words by `rarity`: a weight per token, or a function that gives one. Unknown tokens weigh 1."""
        self._embedder = embedder
        self._rarity = rarity if callable(rarity) else lambda token: rarity.get(token, 1.0)
        self._read: tuple[str, Weighed, Vectors] | None = None

    def judge(self, claim: str, cited: Sequence[str], around: Sequence[str] = ()) -> Judgement:
        """Say how much of a claim the cited units carry, and why not all of it.

        Args:
            claim: One claim, without its marks.
            cited: Text of each cited unit, in order.
            around: Names that hold of the cited place though they do not stand in its lines.
        """
        claim = claim[:_MAX_CLAIM_CHARS]
        if not claim.strip():
            return Judgement("unsupported", "there is no claim")
        measures, literal = self.measure(claim, cited, around)
        score = score_of(measures)
        if literal.contradicted:
            return Judgement("unsupported", literal.contradicted[0], score)
        if score < LEAST_PARTIAL or not measures.cover:
            return Judgement("unsupported", _NOT_SAID, score)
        if literal.missing:
            return Judgement("partial", literal.missing[0], score)
        if score < LEAST_SUPPORTED:
            return Judgement("partial", _PARTLY_SAID, score)
        return Judgement("supported", "", score)

    def may_support(self, claim: str, cited: Sequence[str], around: Sequence[str] = ()) -> bool:
        """Say whether the words of cited units leave open that they support a claim: without, `judge` need not read."""
        _, cover, clause = self._covered(claim[:_MAX_CLAIM_CHARS], cited, around)
        return score_of(Measures(cover, clause, _MOST_MEANING, 0.0, 0.0)) >= LEAST_SUPPORTED

    def measure(self, claim: str, cited: Sequence[str], around: Sequence[str] = ()) -> tuple[Measures, Agreement]:
        """Give what a judgement is made from: the measures of support, and how far the facts agree."""
        best, cover, clause = self._covered(claim, cited, around)
        literal = agreement(claim, best, around)
        (found,) = self._embedder.embed([" ".join(best[:BEST_SENTENCES])])
        meaning = float(self._weighed(claim)[1] @ found)
        return Measures(cover, clause, meaning, literal.missing_numbers, literal.missing_names), literal

    def _covered(self, claim: str, cited: Sequence[str], around: Sequence[str]) -> tuple[list[str], float, float]:
        """Give the sentences that carry a claim best, its cover by them, and that of its worst clause."""
        sentences = sentences_of(unit[:_MAX_UNIT_CHARS] for unit in likely_units(claim, cited))
        weighed, _ = self._weighed(claim)
        place = weighed.bits(tokenize(" ".join(around)))
        numbers = [(number, weighed.bits(tokenize(number.text))) for number in facts_of(claim).numbers]
        shared = [weighed.bits(_said(sentence)) for sentence in sentences]
        if numbers:
            shared = [
                own and own | _bits_of(numbers, own, sentence) for own, sentence in zip(shared, sentences, strict=True)
            ]
        # The place completes what a sentence says. It is no support of its own.
        bits = [own | place if own else 0 for own in shared]
        order = best_first(weighed, bits)
        cover = cover_of(weighed, [bits[number] for number in order[:BEST_SENTENCES]])
        return [sentences[number] for number in order[:READ_SENTENCES]], cover, clause_of(claim, weighed, bits)

    def _weighed(self, claim: str) -> tuple[Weighed, Vectors]:
        """Read a claim, for all the places that it is held against in a row."""
        if self._read is None or self._read[0] != claim:
            self._read = (claim, Weighed(claim, self._rarity), self._embedder.embed([claim])[0])
        return self._read[1:]


def _bits_of(numbers: Sequence[tuple[Number, int]], own: int, sentence: str) -> int:
    """Say which words of a claim's numbers a sentence says by the same values, as "1.5 seconds" by `_ms = 1500`."""
    if not _COUNTS.search(sentence) or all(bits & own == bits for _, bits in numbers):
        return 0  # reading numbers costs more than all else that is read of a sentence
    said = {(number.kind, abs(number.value)) for number in _numbers_of(sentence) if number.kind != "version"}
    return reduce(or_, (bits for number, bits in numbers if (number.kind, abs(number.value)) in said), 0)


@lru_cache(maxsize=KEPT_TEXTS)
def _numbers_of(sentence: str) -> tuple[Number, ...]:
    return numbers_of(sentence, implied=True)


@lru_cache(maxsize=KEPT_TEXTS)
def _said(sentence: str) -> tuple[str, ...]:
    """Give the tokens of a sentence, signs of code among them as words."""
    return tuple(tokenize(f"{sentence} {words_of_signs(sentence)}"))
