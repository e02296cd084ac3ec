"""Makes study guides: selects the chunks that pass a filter, and extracts a guide or lets a model write it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from openbook.answering.checking import signed
from openbook.answering.context_answerer import ContextAnswerer
from openbook.answering.evidence import EvidenceFinder
from openbook.answering.options import AnswerOptions
from openbook.answering.steps import Steps, run
from openbook.answers import Answered, GenerationResult, answered
from openbook.errors import QueryError
from openbook.extractive.citations import at_own_anchors
from openbook.extractive.context import build_context
from openbook.index.protocol import Index
from openbook.llm.prompts import prompts_of
from openbook.llm.protocol import Model
from openbook.questions.languages import language_and_page
from openbook.retrieval.roles import ASIDE, role_of
from openbook.study.extracting import extract
from openbook.study.guide import StudyGuide, StudyItem
from openbook.types import Chunk, Filter, RetrievalResult

# Most chunks to read of a long document, spread over it: about 100 pages.
_MAX_CHUNKS = 200

# Extraction has no context window to fit into.
_EVERYTHING = 10_000_000

# A model sees as many chunks as fit into its context, also spread over the document. A chunk has about 300 tokens.
_TOKENS_OF_CHUNK = 300

# Files that readers take for text: those of build tools and shells, and in hidden folders.
_UNTAUGHT = re.compile(
    r"(?:^|/)(?:\.[^/]+(?:$|/)|(?:meson\.build|meson[._]options(?:\.txt)?|CMakeLists\.txt|(?:GNU)?[Mm]akefile(?:\.\w+)?"
    r"|(?:requirements|constraints)[\w.-]*\.txt|configure\.ac|SConstruct|BUILD(?:\.bazel)?|_[\w-]+|[^/]+\.in)$)"
)

# `README.dk.md` beside `README.md`: projects use codes of countries, too.
_TRANSLATED = re.compile(r"\.[a-z]{2}(?:[-_][A-Za-z]{2,4})?(?=\.\w+$)")


def make_guide(
    finder: EvidenceFinder, where: Filter, options: AnswerOptions, *, context_tokens: int, count: int
) -> StudyGuide:
    """Make a guide to the documents that pass a filter.

    Raises:
        QueryError: No document passes the filter, or none with prose and there is no model.
        ModelError: The model failed.
    """
    guide = _made(finder, where, options, context_tokens, count)

    def placed(items: Iterable[StudyItem]) -> tuple[StudyItem, ...]:
        return tuple(replace(each, citations=at_own_anchors(each.citations, finder.index)) for each in items)

    return replace(guide, summary=placed(guide.summary), terms=placed(guide.terms), questions=placed(guide.questions))


def _made(finder: EvidenceFinder, where: Filter, options: AnswerOptions, context_tokens: int, count: int) -> StudyGuide:
    chunks = list(_chunks(finder.index, where))
    if not chunks:
        raise QueryError("there is nothing to study here", hint="name a lesson, a course or a document with text")
    title = _title(chunks)
    if options.writer is None:
        if not _is_prose(chunks[0]):
            hint = "name a lesson, a course or a document with prose; or a model, which can explain code"
            raise QueryError("there is no prose to study here, only code or data", hint=hint)
        results = _results(chunks, _MAX_CHUNKS)
        context = build_context(results, _EVERYTHING, for_model=False)
        found = extract(context, finder.embedder, finder.text_now, count)
        return StudyGuide(title, found.summary, found.terms, found.questions, found.left_out)
    results = _results(chunks, max(1, context_tokens // _TOKENS_OF_CHUNK))
    writer = ContextAnswerer(options.writer, options, finder)
    writing = writer.write(request_text(count), results, context_tokens)
    result = answered(run(_signed(writing, options.writer, writer), options))
    items, left_out = items_of(result)
    summary, terms, questions = items.values()
    note = result.answer if result.refused else ""
    return StudyGuide(title, summary, terms, questions, left_out, result.model, result.cost_usd, note)


def _signed(writing: Steps[GenerationResult], model: Model, writer: ContextAnswerer) -> Steps[None]:
    result = yield from writing
    yield Answered(signed(result, model, writer.spent))


def _chunks(index: Index, where: Filter) -> Iterator[Chunk]:
    """Yield the prose that passes a filter, in order; its code if there is no prose."""
    found = [
        chunk
        for document in index.documents(where)
        for chunk in index.chunks(document.source, document.path)
        if where.allows_lesson(chunk.lesson)
    ]
    prose = [chunk for chunk in found if _is_prose(chunk)]
    pages = {(chunk.source, chunk.span.path) for chunk in prose}
    telling = [chunk for chunk in prose if not _is_beside(chunk, pages)]
    return iter(telling or prose or found)


def _is_prose(chunk: Chunk) -> bool:
    return chunk.kind in ("docs", "course")


def _is_beside(chunk: Chunk, pages: Container[tuple[str, str]]) -> bool:
    """Return whether a document teaches nothing: a licence, changelog, template, build file, or a page translated."""
    path = chunk.span.path
    if chunk.kind == "docs" and (role_of(path, chunk.kind) in ASIDE or _UNTAUGHT.search(path)):
        return True
    originals = (language_and_page(path)[1], _TRANSLATED.sub("", path))
    return any(page != path and (chunk.source, page) in pages for page in originals)


def _results(chunks: Sequence[Chunk], most: int) -> list[RetrievalResult]:
    step = max(1.0, len(chunks) / most)
    return [RetrievalResult(chunks[int(place * step)], 0.0) for place in range(min(most, len(chunks)))]


def _title(chunks: Sequence[Chunk]) -> str:
    """Return the lesson or course of all chunks, the first heading above all, or the name of document or source."""
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


SENTENCES = 8
"""Maximum number of sentences of a summary."""

PARTS = ("summary", "key terms", "questions")
"""The headings of an answer, in lower case."""

_HEADING = re.compile(r"\s*#{1,6}\s*(.*?)\s*#*$")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?:(?P<mark>\*\*|__)(?P<prompt>.+?)(?P=mark)\s*:?\s*)?(?P<text>.+)$")
_MARK = re.compile(r"\s*\[\d+(?:[:,\s\d-]*\d)?\]")
_SUPPORTED = frozenset({"exact", "confirmed"})


def request_text(count: int) -> str:
    """Return the prompt for a model."""
    return prompts_of("openbook.study.prompts").fill("guide", sentences=str(SENTENCES), count=str(count))


def items_of(result: GenerationResult) -> tuple[dict[str, tuple[StudyItem, ...]], int]:
    """Return the items of a checked answer by heading, and the number of dropped items.

    An item is kept if it has a citation and all of its claims are `exact` or `confirmed`, or `unverified` without a
    verifier.
    """
    good = _SUPPORTED if result.verifier else _SUPPORTED | {"unverified"}
    found: dict[str, list[StudyItem]] = {part: [] for part in PARTS}
    left_out = 0
    for part, start, line in _lines(result):
        item = _ITEM.match(line)
        if item is None:
            continue
        read = _item(item, start, result, good) if bool(item["prompt"]) == (part != "summary") else None
        if read is None:
            left_out += 1
        else:
            found[part].append(read)
    return {part: tuple(items) for part, items in found.items()}, left_out


def _lines(result: GenerationResult) -> Iterator[tuple[str, int, str]]:
    """Yield the lines under known headings, with heading and offset. Quotes that follow an answer are skipped."""
    part, offset = "", 0
    for line in result.answer[: result.own_chars].split("\n"):
        heading = _HEADING.fullmatch(line)
        if heading:
            part = heading[1].strip("*: ").casefold()
        elif part in PARTS:
            yield part, offset, line
        offset += len(line) + 1


def _item(item: re.Match[str], start: int, result: GenerationResult, good: frozenset[str]) -> StudyItem | None:
    end = start + len(item.string)
    # A question is not a claim, whatever it presupposes.
    said = start + item.start("text")
    claims = [
        number for number, one in enumerate(result.claims) if start <= one.start_char < end and one.end_char > said
    ]
    citations = tuple(one for one in result.citations if one.claim in claims and one.verdict in good)
    if not citations or any(result.claims[number].verdict not in {"", *good} for number in claims):
        return None
    each_once = {(one.source, one.span): one for one in citations}
    prompt = (item["prompt"] or "").strip(" :")
    return StudyItem(_MARK.sub("", item["text"]).strip(), tuple(each_once.values()), prompt)
