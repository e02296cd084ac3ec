"""Answers that are none: they say why, what the sources do hold, and how to ask better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from openbook.answering.course_results import OTHER_LESSON
from openbook.answering.prompting import build_clarification_prompt
from openbook.courses.catalog import lesson_numbers
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
    told = build_clarification_prompt(reason + _others(results), nearest, missing)
    return GenerationResult(query, told, results=nearest, refused=True, reason=reason)


def _others(results: Sequence[RetrievalResult]) -> str:
    """Say which lessons there are, if one was asked for that is not. A reason is counted, so it has no numbers."""
    lessons = [result.chunk.lesson for result in results if OTHER_LESSON in result.signals]
    there = lesson_numbers(lesson for lesson in lessons if lesson is not None)
    return f", there are {there}" if there else ""


def withheld(answer: GenerationResult, reason: str, results: Sequence[RetrievalResult]) -> GenerationResult:
    """Make a refusal of an answer. Where it claims nothing, the words of the model are the refusal."""
    told = answer.answer.strip() if reason == "nothing claimed" else ""
    refused = refusal(answer.query, reason, results)
    return replace(answer, answer=told or refused.answer, results=refused.results, refused=True, reason=reason)
