"""Questions that the sources answer, made from what is indexed, and asked once before they are shown."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from itertools import islice, zip_longest

from openbook.errors import QueryError
from openbook.index.protocol import DocumentSummary
from openbook.library import Library
from openbook.retrieval.roles import is_aside
from openbook.retrieval.search import EVERYTHING
from openbook.server.served_library import ServedLibrary
from openbook.types import Chunk, Lesson

# As many as one looks over before one types.
_MOST = 6

# Documents of each kind that are tried: a page must not wait for a whole library. Of those of our own documents and
# of four courses, half are answered by themselves.
_LOOKED_AT = 8

# A heading of one letter says nothing, one of a paragraph fits on no button.
_SUBJECT_CHARS = range(4, 61)

# Names that nobody asks for: private ones, and those that the runners of tests call, beside their code.
_PRIVATE = re.compile(r"_|(?:Test|Fuzz|Benchmark|Example)[A-Z_]|(?:test|fuzz|bench)_")

RESULTS = 10
"""As many as an answer is made from."""


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
    return list(islice(dict.fromkeys(by_turns), _MOST))


def _of(assistant: Library, listed: list[DocumentSummary], kind: str) -> Iterator[str]:
    # The shallowest first: a README says more of what there is than a page five folders down.
    # The history of a course is a lesson, and that of a project a changelog.
    of_kind = (each for each in listed if each.kind == kind and (kind == "course" or not is_aside(each.path)))
    found = sorted(of_kind, key=lambda each: (each.path.count("/"), each))
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
        if question and _is_answered(question, document, assistant):
            asked.add(course)
            yield question


def _is_answered(question: str, document: DocumentSummary, assistant: Library) -> bool:
    try:
        answer = assistant.query(question, limit=RESULTS)
    except QueryError:  # such as that a name is no telling word
        return False
    return (document.source, document.path) in {(each.source, each.span.path) for each in answer.citations}


def question_on(chunk: Chunk) -> str:
    """Return a question that a chunk may answer; empty if none comes to mind."""
    if chunk.lesson is not None:
        return _lesson_question(chunk.lesson)
    if chunk.kind == "code":
        is_public = chunk.symbol and not _PRIVATE.match(chunk.symbol.rpartition(".")[2])
        return f"What does {chunk.symbol} do?" if is_public and len(chunk.symbol) in _SUBJECT_CHARS else ""
    subject = chunk.context[-1] if chunk.context else ""
    return f"What is said about “{subject}”?" if len(subject) in _SUBJECT_CHARS else ""


def _lesson_question(lesson: Lesson) -> str:
    if lesson.number is None or len(lesson.course) not in _SUBJECT_CHARS:
        return ""
    return f"What does lesson {lesson.label} of the course “{lesson.course}” teach?"
