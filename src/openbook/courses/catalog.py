"""What a course holds, lesson by lesson, with the places where each one stands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from openbook.generation import anchor_of
from openbook.index.protocol import Index
from openbook.types import Chunk, Course, Filter, Lesson, Span


@dataclass(frozen=True, slots=True)
class LessonPlace:
    """Where a lesson stands in one document."""

    span: Span
    """From its first chunk to its last, with all that lies between."""
    anchor: str | None
    """What the original calls the place where it begins, if it has no lines; else None."""

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON values."""
        return {**self.span.to_dict(), "anchor": self.anchor or ""}


@dataclass(frozen=True, slots=True)
class PlacedLesson:
    """A lesson, and where it stands."""

    lesson: Lesson
    places: tuple[LessonPlace, ...]
    """One for each document that holds it, in the order of paths."""

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON values."""
        return {**self.lesson.to_dict(), "places": [place.to_dict() for place in self.places]}


def outline(index: Index, course: Course) -> list[PlacedLesson]:
    """List the lessons of a course in the order that `Course.lessons` has, each with its places."""
    placed: dict[tuple[object, ...], PlacedLesson] = {}
    for listed in index.documents(Filter(courses=frozenset({course.key}))):
        of_folder = listed.path != course.path
        for lesson, place in _places(index.chunks(listed.source, listed.path)).items():
            # As the index has it: files beside each other that say one number hold one lesson.
            key = (lesson.number, listed.path.rpartition("/")[0]) if of_folder else (lesson,)
            known = placed.get(key, PlacedLesson(lesson, ()))
            placed[key] = replace(known, places=(*known.places, place))
    order = {lesson: number for number, lesson in reversed(list(enumerate(course.lessons)))}
    return sorted(placed.values(), key=lambda one: order.get(one.lesson, len(order)))


def _places(chunks: Iterable[Chunk]) -> dict[Lesson, LessonPlace]:
    found: dict[Lesson, LessonPlace] = {}
    for chunk in chunks:
        if chunk.lesson is not None and chunk.lesson.number is not None:
            first = found.setdefault(chunk.lesson, LessonPlace(chunk.span, anchor_of(chunk)))
            end = max((first.span, chunk.span), key=lambda span: span.end_char)
            span = replace(first.span, end_char=end.end_char, end_line=end.end_line)
            found[chunk.lesson] = replace(first, span=span)
    return found
