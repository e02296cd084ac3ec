"""Routes for sources, uploads, courses, study guides, documents and background jobs."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import Annotated, Literal
from urllib.parse import quote

from anyio import to_thread
from fastapi import APIRouter, Depends, File, Form, Path, Query, Request, Response, UploadFile
from fastapi.responses import JSONResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent

from openbook.answers import has_lines
from openbook.errors import QueryError
from openbook.server.auth import Editor, Identified
from openbook.server.document_html import document_html
from openbook.server.failures import REFUSALS, RequestRefusedError, error_body
from openbook.server.jobs import Job, RemoteJob
from openbook.server.originals import page_of
from openbook.server.parts import Id, Parts, note
from openbook.server.rendering import coloured_lines, render_block
from openbook.server.schemas import (
    AcceptedResponse,
    CourseEditRequest,
    CoursesResponse,
    DocumentResponse,
    JobResponse,
    LessonLabel,
    SourceRequest,
    SourcesResponse,
    StudyGuideResponse,
    SuggestionsResponse,
    UnitResponse,
    UploadResponse,
)
from openbook.sources.course_edits import edit_of, place_of
from openbook.text import LONG_LINE_CHARS, LineIndex, sentences
from openbook.types import Document, Filter, Span

# Units per page of the viewer. More are fetched with another range.
_MAX_UNITS = 400

_MAX_TITLE_CHARS = 200


def view(
    document: Document,
    document_id: str,
    start_char: int,
    end_char: int,
    *,
    context: int,
    link: Callable[[Span, str | None], str] = lambda *_: "",
) -> DocumentResponse:
    """Return the units of a document around a half-open range of characters.

    If the range is empty, nothing is marked. `context` is the number of units (lines, or sentences of a long line)
    before and after it.
    """
    if not 0 <= start_char <= end_char <= len(document.text):
        raise QueryError(
            f"the document has {len(document.text)} characters, and no {start_char} to {end_char}",
            hint="it may have changed; ask again",
        )
    lines = LineIndex(document.text)
    first = max(1, lines.line_at(start_char) - context)
    last = min(len(lines), lines.line_at(max(start_char, end_char - 1)) + context, first + _MAX_UNITS - 1)
    pieces = [(line, *piece) for line in range(first, last + 1) for piece in _pieces_of_line(document, lines, line)]
    starts = [start for _, start, _ in pieces]
    begin = max(0, bisect_right(starts, start_char) - 1 - context)
    end = min(bisect_right(starts, max(start_char, end_char - 1)) + context, begin + _MAX_UNITS)
    label = _label(document, start_char)
    span = lines.span(document.path, start_char, end_char)
    return DocumentResponse(
        document_id=document_id,
        source=document.source,
        path=document.path,
        kind=document.kind,
        language=document.language,
        title=document.path.rpartition("/")[2][:_MAX_TITLE_CHARS],
        url=link(span, None if has_lines(document.language) else label),
        label=label,
        units=_units(document, pieces[begin:end], (start_char, end_char)),
        more_before=first > 1 or begin > 0,
        more_after=last < len(lines) or end < len(pieces),
        remarks=list(document.remarks),
    )


def _pieces_of_line(document: Document, lines: LineIndex, line: int) -> list[tuple[int, int]]:
    begin = lines.start_of(line)
    end = begin + len(document.text[begin : lines.end_of(line)].rstrip("\r\n"))
    if end - begin <= LONG_LINE_CHARS:
        return [(begin, end)]
    return list(sentences(document.text, begin, end)) or [(begin, begin)]


def _units(document: Document, pieces: Sequence[tuple[int, int, int]], cited: tuple[int, int]) -> list[UnitResponse]:
    colours = coloured_lines(document.text, document.language) if document.kind == "code" else []
    return [_unit(document, *piece, cited, colours) for piece in pieces]


def _unit(
    document: Document, line: int, start_char: int, end_char: int, cited: tuple[int, int], colours: Sequence[str]
) -> UnitResponse:
    is_line = end_char - start_char <= LONG_LINE_CHARS and document.text[start_char - 1 : start_char] in ("", "\n")
    return UnitResponse(
        number=line,
        text=document.text[start_char:end_char],
        start_char=start_char,
        end_char=end_char,
        cited=start_char < cited[1] and cited[0] < end_char,
        label=_label(document, start_char),
        html=colours[line - 1] if colours and is_line else "",
    )


def _label(document: Document, offset: int) -> str:
    """Return the label of a unit in the original, such as `cell 3`; empty if it has none."""
    at = bisect_right([anchor.start_char for anchor in document.anchors], offset)
    return document.anchors[at - 1].label if at else ""


router: APIRouter = APIRouter(responses=REFUSALS)

# Above the length of any document.
_MAX_CHARS = 2**31


@router.get("/api/courses")
def courses(parts: Parts, _: Identified) -> CoursesResponse:
    """List the courses and their lessons."""
    return parts.contents.courses()


@router.get("/api/suggestions")
def suggestions(parts: Parts, _: Identified) -> SuggestionsResponse:
    """Return questions that the sources answer."""
    return SuggestionsResponse(questions=parts.contents.suggestions())


@router.get("/api/sources")
def sources(parts: Parts, caller: Identified) -> SourcesResponse:
    """List the sources, and whether the caller may change them."""
    listed = parts.contents.sources()
    listed.writable = listed.writable and caller.may("editor")
    return listed


@router.post("/api/sources", status_code=202)
async def add_source(request: Request, parts: Parts, caller: Editor, new: SourceRequest) -> AcceptedResponse:
    """Add or update a folder or a repository."""
    await asyncio.to_thread(parts.limits.take, caller)
    job = await asyncio.to_thread(parts.contents.add, caller.owner, new)
    await parts.report_work()
    await asyncio.to_thread(note, request, caller, "added source", job.source or "a repository")
    return AcceptedResponse(job_id=job.id, source=job.source)


@router.delete("/api/sources/{name}", status_code=204)
def remove_source(request: Request, parts: Parts, caller: Editor, name: str) -> None:
    """Remove a source from the library."""
    parts.contents.remove(name)
    note(request, caller, "removed source", name)


@router.post("/api/uploads", status_code=202)
async def upload(
    request: Request,
    parts: Parts,
    caller: Editor,
    files: Annotated[list[UploadFile], File()],
    course: Annotated[bool, Form(description="Whether they are material of one course.")] = False,
) -> UploadResponse:
    """Add files. They are indexed in the background."""
    await asyncio.to_thread(parts.limits.take, caller)
    taken = await asyncio.to_thread(parts.contents.upload, caller.owner, files, course=course)
    await parts.report_work()
    await asyncio.to_thread(note, request, caller, "uploaded", ", ".join(taken.accepted))
    return taken


def _own_job(parts: Parts, caller: Identified, job_id: Id) -> Job | RemoteJob:
    found = parts.jobs.find(caller.owner, job_id)
    if found is None:
        raise RequestRefusedError(404, "you have no such job", hint="GET /api/sources lists the state of the sources")
    return found


OwnJob = Annotated[Job | RemoteJob, Depends(_own_job)]


@router.get("/api/jobs/{job_id}")
def job(found: OwnJob) -> JobResponse:
    """Return the progress of a background job."""
    return found.response()


@router.delete("/api/jobs/{job_id}", status_code=204)
def cancel_job(parts: Parts, found: OwnJob) -> None:
    """Cancel a background job, unless it has ended. Indexed and uploaded files are kept."""
    parts.jobs.cancel(found)


@router.get("/api/jobs/{job_id}/events", response_class=EventSourceResponse)
async def job_events(parts: Parts, found: OwnJob) -> AsyncIterator[ServerSentEvent]:
    """Follow a background job: `progress` events, and finally `done` or `error`."""
    async for each in parts.jobs.follow(found):
        if each.state == "error":
            yield ServerSentEvent(event="error", data=error_body(each.message)["error"])
        else:
            yield ServerSentEvent(event="done" if each.state == "done" else "progress", data=each)


def _of_library(parts: Parts, _: Identified, document_id: Id) -> Document:
    found = parts.library.document(document_id)
    if found is None:
        raise RequestRefusedError(404, "the library has no such document", hint="it may have been removed; ask again")
    return found


OfLibrary = Annotated[Document, Depends(_of_library)]


@router.get("/api/documents/{document_id}")
def document(
    parts: Parts,
    found: OfLibrary,
    start_char: Annotated[int, Query(ge=0, le=_MAX_CHARS, description="Of the range.")] = 0,
    end_char: Annotated[int, Query(ge=0, le=_MAX_CHARS, description="End of the range, exclusive.")] = 0,
    context: Annotated[int, Query(ge=0, le=200, description="Units before and after the range.")] = 20,
    rendered: Annotated[bool, Query(description="Whether all of it is rendered too, if its format is.")] = False,
) -> DocumentResponse:
    """Return the lines of a document around a range of characters, long ones by sentence: at most 400 such units."""
    id_, link = parts.library.document_id(found.source, found.path), partial(parts.library.link, found.source)
    shown = view(found, id_, start_char, end_char, context=context, link=link)
    shown.page, shown.pages = page_of(found, start_char), page_of(found, len(found.text))
    shown.html = document_html(found, start_char, end_char) if rendered else ""
    shown.original = not has_lines(found.language) and parts.originals.has(found)
    return shown


@router.get(
    "/api/documents/{document_id}/text", response_class=Response, responses={200: {"content": {"text/plain": {}}}}
)
def document_text(found: OfLibrary) -> Response:
    """Return the whole text of a document, as indexed, as a file."""
    name = found.path.rpartition("/")[2]
    # Lone surrogates cannot be encoded as UTF-8.
    text = found.text.encode("utf-8", "replace")
    return _saved(text, name if has_lines(found.language) else f"{name}.txt", "text/plain; charset=utf-8")


def _saved(content: bytes, name: str, media_type: str) -> Response:
    """Build a response that browsers save as a file."""
    saved_as = quote(name, safe="", errors="replace")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{saved_as}"}
    return Response(content, media_type=media_type, headers=headers)


@router.get(
    "/api/documents/{document_id}/original",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}}},
)
def original(parts: Parts, found: OfLibrary) -> Response:
    """Return the original file of a document. 404 if it has changed or is gone, or if secrets were masked in it."""
    return _saved(parts.originals.read(found), found.path.rpartition("/")[2], "application/octet-stream")


@router.get(
    "/api/documents/{document_id}/pages/{page}",
    response_class=Response,
    responses={200: {"content": {"image/png": {}}}},
)
async def document_page(
    parts: Parts,
    found: OfLibrary,
    page: Annotated[int, Path(ge=1, le=100_000)],
    start_char: Annotated[int, Query(ge=0, le=_MAX_CHARS, description="Of the range.")] = 0,
    end_char: Annotated[int, Query(ge=0, le=_MAX_CHARS, description="End of the range, exclusive.")] = 0,
) -> Response:
    """Return a page of a PDF as an image, with the words of a range of characters highlighted."""
    originals = parts.originals
    drawn = await to_thread.run_sync(originals.page, found, page, start_char, end_char, limiter=originals.threads)
    return Response(drawn, media_type="image/png", headers={"Cache-Control": "private, max-age=600"})


@router.delete("/api/documents/{document_id}", status_code=202)
async def remove_document(request: Request, parts: Parts, caller: Editor, document_id: Id) -> AcceptedResponse:
    """Delete an uploaded file. It leaves the index in the background."""
    place = await asyncio.to_thread(parts.library.place, document_id)
    job = await asyncio.to_thread(parts.contents.remove_file, caller.owner, document_id)
    await parts.report_work()
    await asyncio.to_thread(note, request, caller, "deleted file", f"{job.source}: {place[1] if place else 'not read'}")
    return AcceptedResponse(job_id=job.id, source=job.source)


# Maximum number of terms and of questions in a guide.
_ITEMS = 8


@router.patch("/api/courses")
def edit_course(request: Request, parts: Parts, caller: Editor, edit: CourseEditRequest) -> CoursesResponse:
    """Rename, hide, move or split a lesson: writes `course.toml` in the folder of the course. Returns all courses."""
    parts.contents.edit_course(edit.source, edit.path, edit_of(edit.action, edit.lesson, edit.value))
    note(request, caller, "changed course", f"{edit.source}/{edit.path}")
    return parts.contents.courses()


def _lesson(
    parts: Parts,
    caller: Identified,
    course: Annotated[str, Query(max_length=4096, description="Source and path of a course: `school/knots`.")],
    lesson: Annotated[LessonLabel, Query(description="Number of a lesson.")],
) -> Filter:
    parts.limits.take(caller)
    place = place_of(lesson)
    with parts.library.in_use() as assistant:
        found = assistant.course(course)
    return Filter(courses=frozenset({found.key}), lesson=place.number, part=place.part)


@router.get(
    "/api/study",
    response_model=StudyGuideResponse,
    responses={200: {"content": {"application/json": {}, "text/markdown": {}}}},
)
async def study(
    parts: Parts,
    where: Annotated[Filter, Depends(_lesson)],
    written_as: Annotated[Literal["markdown", "json"], Query(alias="format")] = "markdown",
) -> Response:
    """Return a study guide to a lesson: summary, terms and questions, quoted and cited. No model.

    It is Markdown; with `format=json`, the same with its rendered HTML.
    """
    guide = await to_thread.run_sync(parts.guides.make, where, _ITEMS, limiter=parts.guides.threads)
    if written_as == "json":
        html = await to_thread.run_sync(render_block, guide)
        return JSONResponse(StudyGuideResponse(markdown=guide, html=html).model_dump())
    return Response(guide, media_type="text/markdown; charset=utf-8")
