"""Quotes picked from results, for tests."""

from __future__ import annotations

from collections.abc import Sequence

from openbook.extractive.answerer import ScoredPassage, pick
from openbook.extractive.context import build_context
from openbook.extractive.setting_passages import TextOf
from openbook.questions.question import read_question
from openbook.testing import HashEmbedder
from openbook.types import Chunk
from tests.unit.retrieval.material import result_of


def picked(
    question: str, *chunks: Chunk, scores: Sequence[float] = (), text_of: TextOf | None = None
) -> list[ScoredPassage]:
    results = [
        result_of(chunk, score=score) for chunk, score in zip(chunks, scores or [1.0] * len(chunks), strict=True)
    ]
    query = read_question(question)
    return pick(query, build_context(results, 10_000), HashEmbedder(), dict.fromkeys(query.tokens, 1.0), text_of)


def quotes(found: Sequence[ScoredPassage]) -> list[str]:
    return [item.passage.text for item in found]
