"""Edits of the lessons in a `course.toml`: rename, move, hide and split."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from openbook.errors import QueryError
from openbook.sources.course_file import ListedLesson
from openbook.sources.lesson_numbers import LessonNumber

Lessons = Sequence[ListedLesson]

Edit = Callable[[Lessons], list[ListedLesson]]
"""Returns the lessons with one change applied."""

Action = Literal["rename", "move", "split", "hide"]


def edit_of(action: Action, lesson: str, value: str = "") -> Edit:
    """Build an edit of a lesson. `value` is its new title or number, or the heading at which to split it.

    Raises:
        QueryError: A number is invalid, or a required value is missing.
    """
    place, value = place_of(lesson), value.strip()
    if action == "hide":
        return partial(hidden, place=place)
    if not value:
        raise QueryError(f"nothing to {action} lesson {place} to", hint="send it as `value`")
    if action == "move":
        return partial(moved, place=place, to=place_of(value))
    if action == "split":
        return partial(split, place=place, heading=value)
    return partial(renamed, place=place, title=value)


def place_of(label: str) -> LessonNumber:
    """Parse a lesson number such as `4` or `1.3`.

    Raises:
        QueryError: It is not a lesson number.
    """
    place = LessonNumber.parse(label)
    if place is None:
        raise QueryError(f"{label!r} is no lesson", hint="give a number such as 4 or 1.3")
    return place


def renamed(lessons: Lessons, place: LessonNumber, title: str) -> list[ListedLesson]:
    """Rename a lesson.

    Raises:
        QueryError: There is no such lesson.
    """
    _check(lessons, place)
    return [replace(one, title=title) if one.place == place and not one.hidden else one for one in lessons]


def hidden(lessons: Lessons, place: LessonNumber) -> list[ListedLesson]:
    """Hide a lesson. The others keep their numbers.

    Raises:
        QueryError: There is no such lesson.
    """
    _check(lessons, place)
    return [replace(one, hidden=True) if one.place == place else one for one in lessons]


def moved(lessons: Lessons, place: LessonNumber, to: LessonNumber) -> list[ListedLesson]:
    """Move a lesson, or a module with all its lessons, to another number. Those in between shift by one.

    Raises:
        QueryError: There is no such lesson or number, or they are in different modules.
    """
    if (place.part is None) != (to.part is None) or (to.part is not None and place.number != to.number):
        raise QueryError(f"lesson {place} cannot move to {to}", hint="move within a module, or edit course.toml")
    beside = _beside(lessons, place)
    for one in (place, to):
        if one not in beside:
            raise _unknown(lessons, one)
    order = [one for one in beside if one != place]
    order.insert(beside.index(to), place)
    return _in_order(lessons, dict(zip(order, beside, strict=True)))


def split(lessons: Lessons, place: LessonNumber, heading: str) -> list[ListedLesson]:
    """Split a lesson at a heading of its file; the following ones shift by one.

    Raises:
        QueryError: There is no such lesson, it has several files, or a lesson begins at this heading already.
    """
    found = [one for one in lessons if one.place == place and not one.hidden]
    _check(lessons, place)
    if len({one.file for one in found}) > 1:
        raise QueryError(f"lesson {place} is in several files", hint="add an entry with a heading to course.toml")
    if any((one.file, one.heading) == (found[0].file, heading) for one in lessons):
        raise QueryError(f"a lesson begins at {heading!r} already", hint="take another heading of the file")
    moved_on = {one: one.following for one in _beside(lessons, place) if one > place}
    begun = ListedLesson(found[0].file, place.following, heading=heading)
    return _sorted([*_in_order(lessons, moved_on), begun])


def _beside(lessons: Lessons, place: LessonNumber) -> list[LessonNumber]:
    """List the numbers at the same level: lessons of the same module, or all modules and lessons without a module."""
    shown = [one.place for one in lessons if not one.hidden]
    if place.part is None:
        return sorted({LessonNumber(one.number) for one in shown})
    return sorted({one for one in shown if one.number == place.number and one.part is not None}, key=_key)


def _in_order(lessons: Lessons, places: Mapping[LessonNumber, LessonNumber]) -> list[ListedLesson]:
    return _sorted([replace(one, place=_new_place(one.place, places)) for one in lessons])


def _new_place(place: LessonNumber, places: Mapping[LessonNumber, LessonNumber]) -> LessonNumber:
    if place in places:
        return places[place]
    module = places.get(LessonNumber(place.number))
    return replace(place, number=module.number) if module and place.part is not None else place


def _sorted(lessons: Lessons) -> list[ListedLesson]:
    return sorted(lessons, key=lambda one: _key(one.place))


def _key(place: LessonNumber) -> tuple[int, int]:
    return place.number, -1 if place.part is None else place.part


def _check(lessons: Lessons, place: LessonNumber) -> None:
    if not any(one.place == place and not one.hidden for one in lessons):
        raise _unknown(lessons, place)


def _unknown(lessons: Lessons, place: LessonNumber) -> QueryError:
    there = dict.fromkeys(str(one.place) for one in lessons if not one.hidden)
    return QueryError(f"there is no lesson {place}", hint=f"there are: {', '.join(there) or 'none'}")
