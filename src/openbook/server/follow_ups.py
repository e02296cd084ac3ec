"""Questions to go on with after an answer: from what it cites and from what stands next to that, without a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest
from typing import NamedTuple

from openbook.answering.options import AnswerOptions
from openbook.answers import Exchange
from openbook.errors import QueryError
from openbook.library import Library
from openbook.retrieval.roles import is_aside
from openbook.server.schemas import CitationResponse
from openbook.server.suggestions import RESULTS, question_on
from openbook.types import Chunk

# More are not looked at below an answer.
_MOST = 3

# Each is asked once before it is shown, which takes as long as an answer without a model.
_TRIED = 8

# What a heading is called that is about the project and not about its subject.
_ASIDE = re.compile(
    r"\b(?:licen[cs](?:e|ing)|copyright|change ?log|release notes|tests?|testing|contribut(?:ing|ors))\b",
    re.IGNORECASE,
)


class _Candidate(NamedTuple):
    """A question, the document that it is about, and the course if it asks for a lesson."""

    question: str
    source: str
    path: str
    course: str


def follow_ups(
    assistant: Library, citations: Sequence[CitationResponse], asked: Sequence[str], history: Sequence[Exchange]
) -> list[str]:
    """Return questions to go on with, nearest to the cited places first; [] if there are none.

    Each is answered, without a model and in the light of what was said, by a document that the answer cites. None is
    about tests, changelogs or licences, and none has been asked before.

    Args:
        assistant: The library.
        citations: Of the answer.
        asked: Questions of the conversation.
        history: What a next question is read in the light of.
    """
    known = {_folded(each) for each in asked}
    places: dict[tuple[str, str], CitationResponse] = {}
    for citation in citations:
        if citation.path and not is_aside(citation.path):
            places.setdefault((citation.source, citation.path), citation)
    by_turns = zip_longest(*(_around(assistant, citation) for citation in places.values()))
    candidates = dict.fromkeys(each for group in by_turns for each in group if each)
    new = (each for each in candidates if _folded(each[0]) not in known and not _ASIDE.search(each[0]))
    answered = (each for each in islice(new, _TRIED) if _is_answered(assistant, each, history))
    return [question for question, *_ in islice(_each_course_once(answered), _MOST)]


def _each_course_once(candidates: Iterator[_Candidate]) -> Iterator[_Candidate]:
    """Leave out what asks for one more lesson of a course: it would be the same question with another number."""
    courses = set[tuple[str, str]]()
    for each in candidates:
        course = (each.source, each.course)
        if not each.course or course not in courses:
            courses.add(course)
            yield each


def _around(assistant: Library, citation: CitationResponse) -> Iterator[_Candidate]:
    """Yield a question for each chunk of a document, from the cited place outwards."""
    chunks = list(assistant.index.chunks(citation.source, citation.path))
    here = next((at for at, chunk in enumerate(chunks) if chunk.span.end_char > citation.start_char), 0)
    # What comes next is of more use than what came before.
    for _, chunk in sorted(enumerate(chunks), key=lambda each: (abs(each[0] - here), each[0] < here)):
        if question := _question(chunk):
            course = chunk.lesson.course if chunk.lesson is not None else ""
            yield _Candidate(question, citation.source, citation.path, course)


def _question(chunk: Chunk) -> str:
    return question_on(chunk) if chunk.kind in ("code", "docs", "course") else ""


def _is_answered(assistant: Library, candidate: _Candidate, history: Sequence[Exchange]) -> bool:
    question, source, path, _ = candidate
    try:
        answer = assistant.query(question, limit=RESULTS, options=AnswerOptions(history=tuple(history)))
    except QueryError:  # such as that a name is no telling word
        return False
    return not answer.refused and (source, path) in {(each.source, each.span.path) for each in answer.citations}


def _folded(question: str) -> str:
    return " ".join(re.findall(r"\w+", question.casefold()))
