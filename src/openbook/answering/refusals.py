"""Answers that are none: they say why, what the sources do hold, and how to ask better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from openbook.answering.prompting import build_clarification_prompt, build_missing_note, build_no_answer, fill_template
from openbook.answers import GenerationResult, RefusalReason
from openbook.courses.catalog import lesson_numbers
from openbook.types import ResultRole, RetrievalResult

# Places named when there is no answer.
_NEAREST = 3


def refusal(
    query: str,
    reason: RefusalReason,
    results: Sequence[RetrievalResult],
    missing: Sequence[str] = (),
    *,
    unread: Sequence[str] = (),
    is_foreign: bool = False,
) -> GenerationResult:
    """Refuse to answer, with the nearest results.

    Args:
        query: The question.
        reason: Why.
        results: What was found, best first.
        missing: Words of the question that stand nowhere in the library.
        unread: Files that could have them, and were not read.
        is_foreign: The question is in another language than the sources.
    """
    nearest = tuple(results[:_NEAREST])
    if reason is RefusalReason.EMPTY_LIBRARY:
        return GenerationResult(query, fill_template("empty_library"), refused=True, reason=reason)
    told = build_clarification_prompt(reason + _others(results), nearest, missing, unread)
    if is_foreign:
        told = f"{told}\n\n{fill_template('other_language')}"
    return GenerationResult(query, told, results=nearest, refused=True, reason=reason)


def noted(answer: GenerationResult, deciding: Sequence[str], unread: Sequence[str] = ()) -> GenerationResult:
    """Add a note above an answer that names the words of the question which are nowhere in the library."""
    if not deciding:
        return answer
    return with_note(answer, build_missing_note(deciding, unread))


def with_note(answer: GenerationResult, note: str) -> GenerationResult:
    """Add a note above an answer."""
    note = f"{note}\n\n"
    claims = tuple(
        replace(claim, start_char=claim.start_char + len(note), end_char=claim.end_char + len(note))
        for claim in answer.claims
    )
    return replace(answer, answer=note + answer.answer, claims=claims)


def _others(results: Sequence[RetrievalResult]) -> str:
    """Return which lessons there are, if one was asked for that is not. A reason is counted, so it has no numbers."""
    lessons = [result.chunk.lesson for result in results if ResultRole.OTHER_LESSON in result.roles]
    there = lesson_numbers(lesson for lesson in lessons if lesson is not None)
    return f", there are {there}" if there else ""


def no_answer(
    query: str, reason: RefusalReason, results: Sequence[RetrievalResult], *, detail: str = ""
) -> GenerationResult:
    """Return why a model wrote nothing. That says nothing of the sources, whose nearest results are listed.

    Args:
        query: The question.
        reason: Why there are no words.
        results: What the model was to be shown, best first.
        detail: What the budget or the provider said, for people.
    """
    text = build_no_answer(reason, detail)
    return GenerationResult(query, text, results=tuple(results[:_NEAREST]), refused=True, reason=reason)
