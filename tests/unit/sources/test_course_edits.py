"""Changes of the lessons in a `course.toml`, and the file that they are written into."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from openbook.errors import QueryError
from openbook.sources.course_edits import hidden, moved, renamed, split
from openbook.sources.course_file import (
    CourseFile,
    ListedLesson,
    has_own_comments,
    read_course_file,
    write_course_file,
)
from openbook.sources.lesson_numbers import LessonNumber


def at(label: str) -> LessonNumber:
    number, _, part = label.partition(".")
    return LessonNumber(int(number), int(part) if part else None)


def listed(*lessons: str) -> list[ListedLesson]:
    """Make lessons of lines of number and file."""
    return [ListedLesson(file, at(label)) for label, file in (lesson.split() for lesson in lessons)]


def told(lessons: Sequence[ListedLesson]) -> list[str]:
    return [f"{one.place} {one.file}{'#' + one.heading if one.heading else ''}" for one in lessons if not one.hidden]


COURSE = listed("1 a", "2.1 b", "2.1 b.vtt", "2.2 c", "2.3 d", "3 e")


def test_a_lesson_is_renamed_in_all_its_files() -> None:
    assert [one.title for one in renamed(COURSE, at("2.1"), "Ropes")] == ["", "Ropes", "Ropes", "", "", ""]


def test_the_others_keep_their_numbers_when_one_is_hidden() -> None:
    assert told(hidden(COURSE, at("2.2"))) == ["1 a", "2.1 b", "2.1 b.vtt", "2.3 d", "3 e"]


@pytest.mark.parametrize(
    ("place", "to", "order"),
    [
        ("2.3", "2.1", ["1 a", "2.1 d", "2.2 b", "2.2 b.vtt", "2.3 c", "3 e"]),
        ("2.1", "2.2", ["1 a", "2.1 c", "2.2 b", "2.2 b.vtt", "2.3 d", "3 e"]),
        ("2", "1", ["1.1 b", "1.1 b.vtt", "1.2 c", "1.3 d", "2 a", "3 e"]),
        ("3", "3", ["1 a", "2.1 b", "2.1 b.vtt", "2.2 c", "2.3 d", "3 e"]),
    ],
)
def test_a_lesson_or_module_takes_the_place_of_another(place: str, to: str, order: list[str]) -> None:
    assert told(moved(COURSE, at(place), at(to))) == order


@pytest.mark.parametrize(("place", "to"), [("2.1", "3"), ("3", "2.1"), ("2.1", "2.9"), ("9", "1")])
def test_a_place_that_is_not_there_is_refused(place: str, to: str) -> None:
    with pytest.raises(QueryError):
        moved(COURSE, at(place), at(to))


def test_those_behind_a_split_move_on() -> None:
    assert told(split(COURSE, at("2.2"), "More")) == [
        "1 a",
        "2.1 b",
        "2.1 b.vtt",
        "2.2 c",
        "2.3 c#More",
        "2.4 d",
        "3 e",
    ]
    assert told(split(COURSE, at("1"), "X")) == ["1 a", "2 a#X", "3.1 b", "3.1 b.vtt", "3.2 c", "3.3 d", "4 e"]


def test_a_lesson_in_several_files_is_not_split() -> None:
    with pytest.raises(QueryError, match="is in several files"):
        split(COURSE, at("2.1"), "More")


def test_a_lesson_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(QueryError) as refused:
        renamed(COURSE, at("2"), "X")

    assert refused.value.hint == "there are: 1, 2.1, 2.2, 2.3, 3"


def test_the_file_is_read_back_as_it_was_written() -> None:
    lessons = (
        ListedLesson('a "b" \\ c.md', at("1.10"), 'T "x"', "https://x", "Über #1"),
        ListedLesson("b.md", at("2"), hidden=True),
    )
    written = write_course_file(CourseFile("Knots", "https://k", "Ben", lessons))

    assert read_course_file(written, "course.toml", ['a "b" \\ c.md', "b.md"]) == CourseFile(
        "Knots", "https://k", "Ben", lessons
    )
    assert not has_own_comments(written)
    assert has_own_comments(f"{written}# mine\n")
