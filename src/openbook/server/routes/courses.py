"""Routes that change the lessons of a course, and make a study guide of them."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import PlainTextResponse

from openbook.errors import QueryError
from openbook.libraries.course_editing import Edit
from openbook.server.auth import Editor, Identified
from openbook.server.parts import Parts, note
from openbook.server.schemas import CourseEditRequest, CoursesResponse
from openbook.sources import course_edits
from openbook.sources.lesson_numbers import LessonNumber
from openbook.types import Filter

router: APIRouter = APIRouter()

# Terms and questions of a guide, at most.
_ITEMS = 8


@router.patch("/api/courses")
def edit_course(request: Request, parts: Parts, caller: Editor, edit: CourseEditRequest) -> CoursesResponse:
    """Rename, hide, move or split a lesson: writes `course.toml` in the folder of the course. Returns all courses."""
    parts.contents.edit_course(edit.source, edit.path, edit_of(edit))
    note(request, caller, "changed course", f"{edit.source}/{edit.path}")
    return parts.contents.courses()


def edit_of(asked: CourseEditRequest) -> Edit:
    """Return the change of a request."""
    place, value = _place(asked.lesson), asked.value.strip()
    if asked.action == "hide":
        return partial(course_edits.hidden, place=place)
    if not value:
        raise QueryError(f"nothing to {asked.action} lesson {place} to", hint="send it as `value`")
    if asked.action == "move":
        return partial(course_edits.moved, place=place, to=_place(value))
    if asked.action == "split":
        return partial(course_edits.split, place=place, heading=value)
    return partial(course_edits.renamed, place=place, title=value)


def _place(label: str) -> LessonNumber:
    number, _, part = label.partition(".")
    if not number.isdecimal() or (part and not part.isdecimal()):
        raise QueryError(f"{label!r} is no lesson", hint="give a number such as 4 or 1.3")
    return LessonNumber(int(number), int(part) if part else None)


@router.get("/api/study", response_class=PlainTextResponse)
def study(
    parts: Parts,
    caller: Identified,
    course: Annotated[str, Query(max_length=4096, description="Source and path of a course: `school/knots`.")],
    lesson: Annotated[str, Query(pattern=r"^\d{1,7}(\.\d{1,7})?$", description="Number of a lesson.")],
) -> PlainTextResponse:
    """Return a study guide to a lesson as Markdown: summary, terms and questions, quoted and cited. No model."""
    parts.limits.take(caller)
    place = _place(lesson)
    with parts.library.in_use() as assistant:
        found = assistant.course(course)
    where = Filter(courses=frozenset({found.key}), lesson=place.number, part=place.part)
    return PlainTextResponse(parts.guides.make(where, _ITEMS), media_type="text/markdown; charset=utf-8")
