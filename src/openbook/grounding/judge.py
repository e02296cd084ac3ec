"""Whether cited text supports a claim, said in one word and one reason, without a model.

Two layers: the literal one finds facts that the cited text lacks or contradicts, the support layer
measures how much of the claim it carries at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from openbook.embedding.protocol import Embedder
from openbook.generation import Verdict
from openbook.grounding.literal import Agreement, agreement
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

# From these scores on a claim is carried in part, and in full: they divide half of WiCE dev best
# (`python -m benchmarks.claim_support --fit`).
LEAST_PARTIAL, LEAST_SUPPORTED = 0.17, 0.37

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

    def measure(self, claim: str, cited: Sequence[str], around: Sequence[str] = ()) -> tuple[Measures, Agreement]:
        """Give what a judgement is made from: the measures of support, and how far the facts agree."""
        sentences = sentences_of(unit[:_MAX_UNIT_CHARS] for unit in likely_units(claim, cited))
        weighed = Weighed(claim, self._rarity)
        place = weighed.bits(tokenize(" ".join(around)))
        shared = [weighed.bits(tokenize(f"{sentence} {words_of_signs(sentence)}")) for sentence in sentences]
        # The place completes what a sentence says. It is no support of its own.
        bits = [own | place if own else 0 for own in shared]
        order = best_first(weighed, bits)
        best = [sentences[number] for number in order[:READ_SENTENCES]]
        literal = agreement(claim, best, around)
        asked, found = self._embedder.embed([claim, " ".join(best[:BEST_SENTENCES])])
        measures = Measures(
            cover_of(weighed, [bits[number] for number in order[:BEST_SENTENCES]]),
            clause_of(claim, weighed, bits),
            float(asked @ found),
            literal.missing_numbers,
            literal.missing_names,
        )
        return measures, literal
