"""The second stage, if there is one: a model reads the question with each of the best results, and orders them anew."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

from openbook.errors import BadResponseError, ModelError
from openbook.retrieval.fields import embedding_text
from openbook.types import RetrievalResult

_logger = logging.getLogger(__name__)

RERANKED = 20
"""Results that are read. What stands further down is seldom right (docs/retrieval.md), and each costs time."""

SIGNAL = "rerank"
"""What a result gained or lost in this stage."""


@runtime_checkable
class Reranker(Protocol):
    """Scores texts by how well they answer a question."""

    @property
    def name(self) -> str:
        """What people call it, for messages. No key and no password stands in it."""

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one finite number for each text, in their order: the higher, the better it answers the question.

        Numbers are compared within one call only, so their range is free. No texts give no numbers, and nobody is
        asked. A text that is too long is read as far as the model can.

        Raises:
            ModelError: There are no scores. Any other error is taken for a fault of the program.
        """


def rerank(question: str, results: Sequence[RetrievalResult], reranker: Reranker) -> list[RetrievalResult]:
    """Order the first results by a reranker; the others stay behind them. A reranker that fails changes nothing.

    The scores of the first stage are dealt out again in the new order, so they stay comparable with those of results
    that were not read; what a result gained or lost by it is its signal `rerank`. Of equal scores of the reranker,
    the order of the first stage decides. The result is strictly ordered by score.

    Args:
        question: As it was asked.
        results: Best first.
        reranker: Reads the first 20. Where it fails, a warning is logged. If it has a `weight`, its scores are
            multiplied by that and added to those of the first stage instead.
    """
    head = results[:RERANKED]
    try:
        scores = list(reranker.scores(question, [embedding_text(result.chunk) for result in head]))
        if len(scores) != len(head) or not all(map(math.isfinite, scores)):
            raise BadResponseError(f"it gave {len(scores)} scores for {len(head)} texts, or some that are no numbers")
    except ModelError as exc:
        why = "; ".join(filter(None, (str(exc), exc.hint)))
        _logger.warning("the reranker %s failed, so results stay in their first order: %s", reranker.name, why)
        return list(results)
    # What tells too little to order by may still be added.
    if weight := getattr(reranker, "weight", 0.0):
        scores = [result.score + weight * score for result, score in zip(head, scores, strict=True)]
    order = sorted(range(len(head)), key=lambda place: (-scores[place], place))
    moved = [*(head[place] for place in order), *results[RERANKED:]]
    dealt: list[RetrievalResult] = []
    last = math.inf
    for result, first in zip(moved, results, strict=True):
        last = min(first.score, math.nextafter(last, -math.inf))
        dealt.append(_at(result, last))
    return dealt


def _at(result: RetrievalResult, score: float) -> RetrievalResult:
    if score == result.score:
        return result
    return replace(result, score=score, signals={**result.signals, SIGNAL: score - result.score})
