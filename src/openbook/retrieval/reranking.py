"""The optional second stage: a reranker reorders the best results."""

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
"""Number of reranked results. Later ones are seldom right (docs/benchmarks-retrieval.md), and each costs time."""

ADDED = 10
"""Number of results that a reranker with a weight scores. With 20, MRR gains .01 more, in twice the time."""

# A first result that leads by more is right twice as often, and half of the questions have one. Without this limit,
# real questions lose first results and first citations (docs/benchmarks-retrieval.md, "A second stage").
_SURE_LEAD = 0.6

SIGNAL = "rerank"
"""Name of the signal: the change of a score in this stage."""


@runtime_checkable
class Reranker(Protocol):
    """Scores texts by how well they answer a question."""

    @property
    def name(self) -> str:
        """The name for messages, without keys or passwords."""

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one finite number for each text, in their order: the higher, the better it answers the question.

        Scores are compared within one call only, so their range is free. Without texts, nothing is computed or sent.
        A text that exceeds the input of the model is truncated.

        Raises:
            ModelError: There are no scores. Any other error counts as a bug.
        """


def rerank(question: str, results: Sequence[RetrievalResult], reranker: Reranker) -> list[RetrievalResult]:
    """Reorder the first results by a reranker; the others stay behind them. If it fails, nothing changes.

    The scores of the first stage are reassigned in the new order, so they stay comparable with those of the other
    results; the change of each score is its signal `rerank`. Ties keep the order of the first stage. The result is
    strictly ordered by score.

    Args:
        question: The question as asked.
        results: Best first.
        reranker: Scores the first 20. If it fails, a warning is logged. If it has a `weight`, it scores the first 10,
            unless the first one is far ahead, and these scores are added with that weight to those of the first stage.
    """
    weight = getattr(reranker, "weight", 0.0)
    head = results[: ADDED if weight else RERANKED]
    if weight and is_sure([result.score for result in head]):
        return list(results)
    try:
        scores = list(reranker.scores(question, [embedding_text(result.chunk) for result in head]))
        if len(scores) != len(head) or not all(map(math.isfinite, scores)):
            raise BadResponseError(f"it gave {len(scores)} scores for {len(head)} texts, or some that are not numbers")
    except ModelError as exc:
        why = "; ".join(filter(None, (str(exc), exc.hint)))
        _logger.warning("the reranker %s failed, so results stay in their first order: %s", reranker.name, why)
        return list(results)
    if weight:
        scores = [result.score + weight * score for result, score in zip(head, scores, strict=True)]
    order = sorted(range(len(head)), key=lambda place: (-scores[place], place))
    moved = [*(head[place] for place in order), *results[len(head) :]]
    dealt: list[RetrievalResult] = []
    last = math.inf
    for result, first in zip(moved, results, strict=True):
        last = min(first.score, math.nextafter(last, -math.inf))
        dealt.append(_at(result, last))
    return dealt


def is_sure(scores: Sequence[float]) -> bool:
    """Return whether the first of some results is so far ahead that a reranker with a weight is not asked."""
    return len(scores) < 2 or scores[0] - scores[1] >= _SURE_LEAD


def _at(result: RetrievalResult, score: float) -> RetrievalResult:
    if score == result.score:
        return result
    return replace(result, score=score, signals={**result.signals, SIGNAL: score - result.score})
