"""Answers that are none: they say why, what the sources do hold, and how to ask better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from openbook.answering.prompting import build_clarification_prompt
from openbook.generation import GenerationResult
from openbook.types import RetrievalResult

# Places named when there is no answer.
_NEAREST = 3


def refusal(
    query: str, reason: str, results: Sequence[RetrievalResult], missing: Sequence[str] = ()
) -> GenerationResult:
    """Refuse to answer, with the nearest results.

    Args:
        query: The question.
        reason: Such as `nothing relevant`.
        results: What was found, best first.
        missing: Words of the question that stand nowhere in the library.
    """
    nearest = tuple(results[:_NEAREST])
    told = build_clarification_prompt(reason, nearest, missing)
    return GenerationResult(query, told, results=nearest, refused=True, reason=reason)


def withheld(answer: GenerationResult, reason: str, results: Sequence[RetrievalResult]) -> GenerationResult:
    """Make a refusal of an answer. Where it claims nothing, the words of the model are the refusal."""
    told = answer.answer.strip() if reason == "nothing claimed" else ""
    refused = refusal(answer.query, reason, results)
    return replace(answer, answer=told or refused.answer, results=refused.results, refused=True, reason=reason)
