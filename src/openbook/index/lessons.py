"""Packs the lessons of a document for the index, and collects them into courses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import PurePosixPath
from typing import NamedTuple

from openbook.index.catalogue import pack_numbers
from openbook.types import Chunk, Course, Document, Filter, Lesson


class _DocumentLessons(NamedTuple):
    """The distinct lessons of one document, in order of appearance."""

    source: str
    path: str
    course: str
    lessons: tuple[Lesson, ...]


def course_of(document: Document, chunks: Sequence[Chunk]) -> str:
    """Return the path of the course that a document belongs to; empty if it belongs to none."""
    lesson = next((chunk.lesson for chunk in chunks if chunk.lesson), None)
    return "" if lesson is None else lesson.course_path or document.path


def pack_lessons(chunks: Sequence[Chunk]) -> tuple[str, bytes]:
    """Pack the distinct lessons, and the lesson index of each chunk."""
    lessons = [chunk.lesson for chunk in chunks]
    distinct = [asdict(lesson) for lesson in dict.fromkeys(lessons) if lesson]
    return json.dumps(distinct, ensure_ascii=False), pack_numbers(lessons)


def unpack_lessons(packed: str) -> tuple[Lesson, ...]:
    """Return the distinct lessons of a document, in order of appearance."""
    return tuple(Lesson(**fields) for fields in json.loads(packed))


def courses_of(rows: Iterable[tuple[str, str, str, str]], where: Filter) -> list[Course]:
    """Collect the courses of documents, in the order of source and path. See `Index.courses`.

    Each row has source, path, course and packed lessons of a document. `where` selects lessons.
    """
    documents = sorted(
        (_DocumentLessons(source, path, course, unpack_lessons(packed)) for source, path, course, packed in rows),
        key=_place,
    )
    courses = [
        _course(key, list(held)) for key, held in groupby(documents, key=lambda held: (held.source, held.course))
    ]
    if where.lesson is None:
        return courses
    chosen = [replace(one, lessons=tuple(filter(where.allows_lesson, one.lessons))) for one in courses]
    return [course for course in chosen if course.lessons]


def _place(held: _DocumentLessons) -> tuple[str, str, str]:
    return held.source, held.course, held.path


def _course(key: tuple[str, str], documents: Sequence[_DocumentLessons]) -> Course:
    # Lessons that describe the whole course come first: other files may have been read before it changed.
    all_of_it = sorted((lesson for held in documents for lesson in held.lessons), key=_has_number)
    return Course(
        *key,
        title=next((lesson.course for lesson in all_of_it if lesson.course), "") or _readable(*key),
        link=next((lesson.course_link for lesson in all_of_it if lesson.course_link), ""),
        instructor=next((lesson.instructor for lesson in all_of_it if lesson.instructor), ""),
        lessons=tuple(_in_folder(documents) if documents[0].path != key[1] else _numbered(documents[0].lessons)),
    )


def _has_number(lesson: Lesson) -> bool:
    return lesson.number is not None


def _readable(source: str, path: str) -> str:
    return source if path == "." else PurePosixPath(path).stem


def _numbered(lessons: Iterable[Lesson]) -> list[Lesson]:
    return list(filter(_has_number, lessons))


def _in_folder(documents: Sequence[_DocumentLessons]) -> list[Lesson]:
    """Merge slides and transcript into one lesson if they have the same number."""
    found: dict[tuple[int, int], Lesson] = {}
    for held in documents:
        for lesson in _numbered(held.lessons):
            place = (lesson.number or 0, -1 if lesson.part is None else lesson.part)
            if place not in found or (lesson.title and not found[place].title):
                found[place] = lesson
    return [found[place] for place in sorted(found)]
