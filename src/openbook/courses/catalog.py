"""The outline of a course: its lessons and their places."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from openbook.answers import anchor_of
from openbook.courses.names import no_course
from openbook.errors import QueryError
from openbook.index.protocol import Index
from openbook.types import Chunk, Course, Filter, Lesson, Span

# Lessons are usually numbered consecutively. If they are not, as in a course whose file names start with dates, an
# unlimited list would fill a page.
_MAX_RANGES = 10


@dataclass(frozen=True, slots=True)
class LessonPlace:
    """The place of a lesson in one document."""

    span: Span
    """From the first chunk of the lesson to the last."""
    anchor: str | None
    """Anchor of its beginning, if the original has no lines; else None."""

    def to_dict(self) -> dict[str, Any]:
        """Return the place as JSON values."""
        return {**self.span.to_dict(), "anchor": self.anchor or ""}


@dataclass(frozen=True, slots=True)
class PlacedLesson:
    """A lesson and its places."""

    lesson: Lesson
    places: tuple[LessonPlace, ...]
    """One per document, in the order of paths."""

    def to_dict(self) -> dict[str, Any]:
        """Return the lesson as JSON values."""
        return {**self.lesson.to_dict(), "places": [place.to_dict() for place in self.places]}


def outline(index: Index, course: Course) -> list[PlacedLesson]:
    """List the lessons of a course in the order of `Course.lessons`, with their places."""
    placed: dict[tuple[object, ...], PlacedLesson] = {}
    for listed in index.documents(Filter(courses=frozenset({course.key}))):
        of_folder = listed.path != course.path
        for lesson, place in _places(index.chunks(listed.source, listed.path)).items():
            # As in the index, files with the same number form one lesson.
            key = (lesson.number, lesson.part) if of_folder else (lesson,)
            known = placed.get(key, PlacedLesson(lesson, ()))
            title = known.lesson if known.lesson.title else lesson
            placed[key] = PlacedLesson(title, (*known.places, place))
    order = {lesson: number for number, lesson in reversed(list(enumerate(course.lessons)))}
    return sorted(placed.values(), key=lambda one: order.get(one.lesson, len(order)))


def check_lesson(index: Index, where: Filter) -> None:
    """Check that a course of the filter has its lesson. A filter without a lesson passes.

    Raises:
        UnknownCourseError: The filter matches no course.
        QueryError: No course has a lesson with this number; the hint lists the existing ones.
    """
    if where.lesson is None or index.courses(where):
        return
    courses = index.courses(replace(where, lesson=None, part=None))
    if not courses:
        raise no_course()
    title = f" in {courses[0].title!r}" if len(courses) == 1 else ""
    there = lesson_numbers(lesson for course in courses for lesson in course.lessons)
    wanted = Lesson("", where.lesson, part=where.part).label
    raise QueryError(f"there is no lesson {wanted}{title}", hint=f"there are: {there or 'none'}")


def lesson_numbers(lessons: Iterable[Lesson]) -> str:
    """Return the sorted lesson numbers, with ranges for consecutive ones; empty if there are none.

    Example:
        >>> lesson_numbers(Lesson("Knots", number) for number in (5, 0, 1, 2))
        '0 to 2, 5'
    """
    # Lazy: the import loads all readers, and only error messages need it.
    from openbook.sources.readers.composing import ranges

    listed = [lesson for lesson in lessons if lesson.number is not None]
    runs = ranges({lesson.number for lesson in listed if lesson.number is not None and lesson.part is None})
    modules: dict[int, set[int]] = {}
    for lesson in listed:
        if lesson.number is not None and lesson.part is not None:
            modules.setdefault(lesson.number, set()).add(lesson.part)
    for number, parts in sorted(modules.items()):
        runs += [" to ".join(f"{number}.{end}" for end in run.split(" to ")) for run in ranges(parts)]
    return ", ".join(runs if len(runs) <= _MAX_RANGES else [*runs[:_MAX_RANGES], "..."])


def _places(chunks: Iterable[Chunk]) -> dict[Lesson, LessonPlace]:
    found: dict[Lesson, LessonPlace] = {}
    for chunk in chunks:
        if chunk.lesson is not None and chunk.lesson.number is not None:
            first = found.setdefault(chunk.lesson, LessonPlace(chunk.span, anchor_of(chunk)))
            end = max((first.span, chunk.span), key=lambda span: span.end_char)
            span = replace(first.span, end_char=end.end_char, end_line=end.end_line)
            found[chunk.lesson] = replace(first, span=span)
    return found
