"""Routes that change the lessons of a course, and make a study guide of them."""

from __future__ import annotations

from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import PlainTextResponse

from openbook.server.auth import Editor, Identified
from openbook.server.parts import Parts, note
from openbook.server.schemas import CourseEditRequest, CoursesResponse
from openbook.sources.course_edits import edit_of, place_of
from openbook.types import Filter

router: APIRouter = APIRouter()

# Terms and questions of a guide, at most.
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
    lesson: Annotated[str, Query(pattern=r"^\d{1,7}(\.\d{1,7})?$", description="Number of a lesson.")],
) -> Filter:
    parts.limits.take(caller)
    place = place_of(lesson)
    with parts.library.in_use() as assistant:
        found = assistant.course(course)
    return Filter(courses=frozenset({found.key}), lesson=place.number, part=place.part)


@router.get("/api/study", response_class=PlainTextResponse)
async def study(parts: Parts, where: Annotated[Filter, Depends(_lesson)]) -> PlainTextResponse:
    """Return a study guide to a lesson as Markdown: summary, terms and questions, quoted and cited. No model."""
    guide = await to_thread.run_sync(parts.guides.make, where, _ITEMS, limiter=parts.guides.threads)
    return PlainTextResponse(guide, media_type="text/markdown; charset=utf-8")
