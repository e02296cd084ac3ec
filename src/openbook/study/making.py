"""From a filter to a study guide: choose what is read, and let it be quoted or written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from openbook.answering.citations import TextNow
from openbook.answering.context import build_context
from openbook.answering.context_answerer import ContextAnswerer
from openbook.answering.evidence import EvidenceFinder
from openbook.answering.options import AnswerOptions
from openbook.answering.replies import signed
from openbook.answering.steps import Steps, run
from openbook.answers import Answered, GenerationResult, answered
from openbook.errors import QueryError
from openbook.index.protocol import Index
from openbook.llm.protocol import Model
from openbook.study.extracting import extract
from openbook.study.guide import StudyGuide
from openbook.study.writing import items_of, request_text
from openbook.types import Chunk, Filter, RetrievalResult

# Chunks that are read of a long document, spread over it: some 100 pages.
_MOST_CHUNKS = 200

# Of what is quoted, nothing has to fit anywhere.
_EVERYTHING = 10_000_000

# A model is shown as much as fits into its context, spread over the document too. A chunk takes some 300 tokens.
_TOKENS_OF_CHUNK = 300


def make_guide(
    index: Index,
    finder: EvidenceFinder,
    text_now: TextNow,
    where: Filter,
    options: AnswerOptions,
    *,
    context_tokens: int,
    count: int,
) -> StudyGuide:
    """Make a guide to the documents that a filter lets through.

    Args:
        index: The library.
        finder: Knows the embedder, and what an answer may be made of.
        text_now: Gives the text of a document as it is now.
        where: What to study: a lesson, a document, or several.
        options: The model that writes; without one, the guide is quoted.
        context_tokens: Of the sources that a model is shown.
        count: Most terms, and most questions.

    Raises:
        QueryError: The filter lets nothing through.
        ModelError: The model did not answer.
    """
    chunks = list(_chunks(index, where))
    if not chunks:
        raise QueryError("there is nothing to study here", hint="name a lesson, a course or a document with text")
    title = _title(chunks)
    if options.writer is None:
        results = _results(chunks, _MOST_CHUNKS)
        context = build_context(results, _EVERYTHING, for_model=False)
        found = extract(context, finder.embedder, text_now, count)
        return StudyGuide(title, found.summary, found.terms, found.questions, found.left_out)
    results = _results(chunks, max(1, context_tokens // _TOKENS_OF_CHUNK))
    writer = ContextAnswerer(options.writer, options, finder, text_now)
    writing = writer.write(request_text(count), results, context_tokens)
    result = answered(run(_signed(writing, options.writer, writer), options.writer, options.other_verifier))
    items, left_out = items_of(result)
    summary, terms, questions = items.values()
    note = result.answer if result.refused else ""
    return StudyGuide(title, summary, terms, questions, left_out, result.model, result.cost_usd, note)


def _signed(writing: Steps[GenerationResult], model: Model, writer: ContextAnswerer) -> Steps[None]:
    result = yield from writing
    yield Answered(signed(result, model, writer.spent))


def _chunks(index: Index, where: Filter) -> Iterator[Chunk]:
    """Yield the prose of a filter in order; its code where there is no prose."""
    found = [
        chunk
        for document in index.documents(where)
        for chunk in index.chunks(document.source, document.path)
        if where.allows_lesson(chunk.lesson)
    ]
    return iter([chunk for chunk in found if chunk.kind in ("docs", "course")] or found)


def _results(chunks: Sequence[Chunk], most: int) -> list[RetrievalResult]:
    step = max(1.0, len(chunks) / most)
    return [RetrievalResult(chunks[int(place * step)], 0.0) for place in range(min(most, len(chunks)))]


def _title(chunks: Sequence[Chunk]) -> str:
    """Return the lesson or course that all are of, the first heading above all, or the name of document or source."""
    lessons = {chunk.lesson for chunk in chunks}
    first = chunks[0].lesson
    if first is not None and len(lessons) == 1:
        return " · ".join(filter(None, (first.course, first.title or f"Lesson {first.label}")))
    courses = {lesson.course if lesson else "" for lesson in lessons}
    if len(courses) == 1 and (course := courses.pop()):
        return course
    headings = {chunk.context[:1] for chunk in chunks if chunk.context}
    paths = {chunk.span.path for chunk in chunks}
    if len(paths) == 1 and len(headings) == 1:
        return headings.pop()[0]
    return PurePosixPath(chunks[0].span.path).name if len(paths) == 1 else chunks[0].source
