"""Questions that the sources answer: to begin with, and to go on with after an answer. No model makes them.

Each is made from what is indexed, and asked once before it is shown.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest
from typing import NamedTuple

from openbook.answering.options import AnswerOptions
from openbook.answers import Exchange
from openbook.errors import QueryError
from openbook.index.protocol import DocumentSummary
from openbook.library import Library
from openbook.retrieval.roles import is_aside, role_of
from openbook.retrieval.search import EVERYTHING
from openbook.server.schemas import CitationResponse
from openbook.server.served_library import ServedLibrary
from openbook.types import Chunk, Lesson

# As many as one looks over before one types.
_MOST_SUGGESTED = 6

# Documents of each kind that are tried: a page must not wait for a whole library. Of those of our own documents and
# of four courses, half are answered by themselves.
_LOOKED_AT = 8

# A heading of one letter says nothing, one of a paragraph fits on no button.
_SUBJECT_CHARS = range(4, 61)

# Names that nobody asks for: private ones, and those that the runners of tests call, beside their code.
_PRIVATE = re.compile(r"_|(?:Test|Fuzz|Benchmark|Example)[A-Z_]|(?:test|fuzz|bench)_")

# What can be called, or is a type. Constants, and rules of a style sheet, have names of another kind or do nothing.
_NAME = re.compile(r"(?:[^\W\d]\w*(?:\.|::|#))*(?![A-Z\d_]+$)[^\W\d]\w*[?!]?")
_STYLES = frozenset(("css", "scss", "sass", "less"))

# As many as an answer is made from.
_RESULTS = 10


class SuggestionCache:
    """Suggested questions of a library, made anew when one of its sources has changed. Threads may use it."""

    def __init__(self, library: ServedLibrary) -> None:
        """Take the library. Nothing is made before it is asked for."""
        self._library = library
        self._lock = threading.Lock()
        self._made: tuple[object, list[str]] = (None, [])

    def get(self) -> list[str]:
        """Return some questions, of each kind of source by turns; [] for an empty library."""
        with self._lock, self._library.in_use() as assistant:
            state = (assistant, tuple(assistant.sources()))
            if self._made[0] != state:
                self._made = (state, suggest(assistant))
            return self._made[1]


def suggest(assistant: Library) -> list[str]:
    """Return some questions, of each kind of source by turns; [] for an empty library.

    Each is answered, without a model, by the document that it was made from.
    """
    listed = assistant.index.documents(EVERYTHING)
    kinds = (_of(assistant, listed, kind) for kind in ("course", "docs", "code"))
    by_turns = (question for group in zip_longest(*kinds) for question in group if question)
    return list(islice(dict.fromkeys(by_turns), _MOST_SUGGESTED))


def _of(assistant: Library, listed: list[DocumentSummary], kind: str) -> Iterator[str]:
    # The shallowest first: a README says more of what there is than a page five folders down.
    # The history of a course is a lesson, and that of a project a changelog.
    of_kind = (each for each in listed if each.kind == kind and (kind == "course" or _is_subject(each)))
    found = _sources_by_turns(sorted(of_kind, key=lambda each: (each.path.count("/"), each)))
    # One lesson tells that a course is there; the next one would only say it again.
    asked: set[tuple[str, str]] = set()
    looked_at = 0
    for document in found:
        course = (document.source, document.course)
        if looked_at == _LOOKED_AT or (document.course and course in asked):
            continue
        looked_at += 1
        chunks = assistant.index.chunks(document.source, document.path)
        question = next(filter(None, map(question_on, chunks)), "")
        if question and _is_answered(assistant, question, (document.source, document.path)):
            asked.add(course)
            yield question


def _is_subject(document: DocumentSummary) -> bool:
    """Check whether a document is about what the project does: not how it is tested, built, discussed or licensed."""
    if document.path.startswith(".") or is_aside(document.path):
        return False
    return document.kind != "code" or role_of(document.path, "code") == "source"


def _sources_by_turns(found: Sequence[DocumentSummary]) -> list[DocumentSummary]:
    """Take the first document of each source, then the second: else the source that is first by name has them all."""
    by_source: dict[str, list[DocumentSummary]] = {}
    for each in found:
        by_source.setdefault(each.source, []).append(each)
    return [each for group in zip_longest(*by_source.values()) for each in group if each is not None]


def _is_answered(
    assistant: Library, question: str, document: tuple[str, str], history: Sequence[Exchange] = ()
) -> bool:
    """Check whether a document, by source and path, is cited by the answer to a question."""
    try:
        answer = assistant.query(question, limit=_RESULTS, options=AnswerOptions(history=tuple(history)))
    except QueryError:  # such as that a name is no telling word
        return False
    return not answer.refused and document in {(each.source, each.span.path) for each in answer.citations}


def question_on(chunk: Chunk) -> str:
    """Return a question that a chunk may answer; empty if none comes to mind."""
    if chunk.lesson is not None:
        return _lesson_question(chunk.lesson)
    if chunk.kind == "code":
        is_name = _NAME.fullmatch(chunk.symbol) and chunk.language not in _STYLES
        is_public = is_name and not _PRIVATE.match(chunk.symbol.rpartition(".")[2])
        return f"What does {chunk.symbol} do?" if is_public and len(chunk.symbol) in _SUBJECT_CHARS else ""
    subject = chunk.context[-1] if chunk.context else ""
    return f"What is said about “{subject}”?" if len(subject) in _SUBJECT_CHARS else ""


def _lesson_question(lesson: Lesson) -> str:
    if lesson.number is None or len(lesson.course) not in _SUBJECT_CHARS:
        return ""
    return f"What does lesson {lesson.label} of the course “{lesson.course}” teach?"


# More are not looked at below an answer.
_MOST_FOLLOW_UPS = 3

# Each is asked once before it is shown, which takes as long as an answer without a model.
_FOLLOW_UPS_TRIED = 8

# What a heading is called that is about the project and not about its subject.
_ASIDE_HEADING = re.compile(
    r"\b(?:licen[cs](?:e|ing)|copyright|change ?log|release notes|tests?|testing|contribut(?:ing|ors))\b",
    re.IGNORECASE,
)


class _Candidate(NamedTuple):
    """A question, the document that it is about, and the course if it asks for a lesson."""

    question: str
    document: tuple[str, str]
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
    new = (each for each in candidates if _folded(each[0]) not in known and not _ASIDE_HEADING.search(each[0]))
    answered = (
        each
        for each in islice(new, _FOLLOW_UPS_TRIED)
        if _is_answered(assistant, each.question, each.document, history)
    )
    return [question for question, *_ in islice(_each_course_once(answered), _MOST_FOLLOW_UPS)]


def _each_course_once(candidates: Iterator[_Candidate]) -> Iterator[_Candidate]:
    """Leave out what asks for one more lesson of a course: it would be the same question with another number."""
    courses = set[tuple[str, str]]()
    for each in candidates:
        course = (each.document[0], each.course)
        if not each.course or course not in courses:
            courses.add(course)
            yield each


def _around(assistant: Library, citation: CitationResponse) -> Iterator[_Candidate]:
    """Yield a question for each chunk of a document, from the cited place outwards."""
    chunks = list(assistant.index.chunks(citation.source, citation.path))
    here = next((at for at, chunk in enumerate(chunks) if chunk.span.end_char > citation.start_char), 0)
    # What comes next is of more use than what came before.
    for _, chunk in sorted(enumerate(chunks), key=lambda each: (abs(each[0] - here), each[0] < here)):
        if question := question_on(chunk) if chunk.kind in ("code", "docs", "course") else "":
            course = chunk.lesson.course if chunk.lesson is not None else ""
            yield _Candidate(question, (citation.source, citation.path), course)


def _folded(question: str) -> str:
    return " ".join(re.findall(r"\w+", question.casefold()))
