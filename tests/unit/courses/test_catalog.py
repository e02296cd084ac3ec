"""The outline of a course: its lessons, and where they stand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from openbook.courses.catalog import check_lesson, lesson_numbers, outline
from openbook.errors import QueryError, UnknownCourseError
from openbook.index.sqlite import SqliteIndex
from openbook.types import Filter, Lesson
from tests.support import IDENTITY, document, entry, stamp

ROPES = Lesson("Knots", 0, "Ropes", "https://knots/0")
HITCH = Lesson("Knots", 1, "Hitch")


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteIndex]:
    with closing(SqliteIndex(tmp_path / "library.sqlite", IDENTITY)) as opened:
        yield opened


def put_lines(index: SqliteIndex, path: str, *lessons: Lesson) -> None:
    """Store course material of one line for each lesson."""
    whole = document(path, "line\n" * len(lessons), kind="course")
    entries = [entry(whole, place * 5, place * 5 + 4, lesson=lesson) for place, lesson in enumerate(lessons)]
    index.put(whole, entries, stamp())


def test_each_lesson_reaches_from_its_first_to_its_last_chunk(index: SqliteIndex) -> None:
    put_lines(index, "knots.txt", Lesson("Knots"), HITCH, HITCH, ROPES, HITCH)
    put_lines(index, "other.txt", ROPES)

    placed = outline(index, index.courses()[0])

    assert [(one.lesson, *(str(place.span) for place in one.places)) for one in placed] == [
        (HITCH, "knots.txt:2-5"),
        (ROPES, "knots.txt:4-4"),
    ]


def test_a_lesson_of_a_folder_stands_in_all_its_documents_in_the_order_of_the_catalog(index: SqliteIndex) -> None:
    for path, title, part in (("b/1.vtt", "Said", 2), ("b/1.pdf", "Shown", 2), ("a/1.txt", "First", 1), ("z", "", 0)):
        put_lines(index, path, Lesson("Knots", 1, title, course_path=".", part=part))
    (course,) = index.courses()

    placed = outline(index, course)

    assert [one.lesson for one in placed] == list(course.lessons)
    assert [[str(place.span) for place in one.places] for one in placed] == [
        ["z:1-1"],
        ["a/1.txt:1-1"],
        ["b/1.pdf:1-1", "b/1.vtt:1-1"],
    ]


def test_an_outline_goes_into_json(index: SqliteIndex) -> None:
    put_lines(index, "knots.txt", ROPES)

    (placed,) = outline(index, index.courses()[0])

    assert placed.to_dict() == {
        "number": 0,
        "part": None,
        "label": "0",
        "title": "Ropes",
        "link": "https://knots/0",
        "places": [{"path": "knots.txt", "start_line": 1, "end_line": 1, "start_char": 0, "end_char": 4, "anchor": ""}],
    }


def test_a_course_without_numbered_lessons_has_an_empty_outline(index: SqliteIndex) -> None:
    put_lines(index, "knots.txt", Lesson("Knots"))

    assert outline(index, index.courses()[0]) == []


def test_a_lesson_without_lines_begins_at_the_anchor_of_its_first_chunk(index: SqliteIndex) -> None:
    whole = replace(document("knots.pdf", "line\nline\n", kind="course"), language="pdf")
    entries = [
        entry(whole, start, start + 4, lesson=HITCH, anchor=anchor) for start, anchor in ((0, "p. 3"), (5, "p. 4"))
    ]
    index.put(whole, entries, stamp())

    (placed,) = outline(index, index.courses()[0])

    assert [(str(place.span), place.anchor) for place in placed.places] == [("knots.pdf:1-2", "p. 3")]


def test_a_lesson_that_no_course_has_is_refused_with_those_that_there_are(index: SqliteIndex) -> None:
    put_lines(index, "knots.txt", HITCH, ROPES)
    put_lines(index, "sails.txt", Lesson("Sails", 5), Lesson("Sails", 0))
    knots, _ = index.courses()

    with pytest.raises(QueryError) as of_one:
        check_lesson(index, Filter(courses=frozenset({knots.key}), lesson=5))
    with pytest.raises(QueryError) as of_all:
        check_lesson(index, Filter(lesson=7))

    assert (str(of_one.value), of_one.value.hint) == ("there is no lesson 5 in 'Knots'", "there are: 0 to 1")
    assert (str(of_all.value), of_all.value.hint) == ("there is no lesson 7", "there are: 0 to 1, 5")


def test_lessons_of_modules_are_listed_as_people_write_them(index: SqliteIndex) -> None:
    put_lines(index, "knots.txt", *(Lesson("Knots", 1, part=part) for part in (1, 2, 3, 5)), Lesson("Knots", 2))

    check_lesson(index, Filter(lesson=1))
    with pytest.raises(QueryError, match=r"there is no lesson 1\.4 in 'Knots'") as refused:
        check_lesson(index, Filter(lesson=1, part=4))

    assert refused.value.hint == "there are: 2, 1.1 to 1.3, 1.5"


def test_a_lesson_that_is_there_passes_and_so_does_a_filter_without_one(index: SqliteIndex) -> None:
    put_lines(index, "knots.txt", HITCH, ROPES)

    check_lesson(index, Filter(lesson=0))
    check_lesson(index, Filter(kinds=frozenset({"code"})))


def test_no_lesson_is_asked_for_where_there_is_no_course(index: SqliteIndex) -> None:
    with pytest.raises(UnknownCourseError, match="the library has no courses"):
        check_lesson(index, Filter(lesson=0))


def test_of_many_scattered_lessons_the_first_are_listed_alone() -> None:
    scattered = [Lesson("Sails", number) for number in reversed(range(1, 41, 2))]

    listed = lesson_numbers([*scattered, Lesson("Sails")])

    assert listed == "1, 3, 5, 7, 9, 11, 13, 15, 17, 19, ..."
    assert lesson_numbers([]) == ""
