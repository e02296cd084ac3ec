"""Which course and which lesson a file of a folder is."""

from __future__ import annotations

import pytest

from openbook.sources.courses import are_courses, as_lesson, describe, describing_files, readable
from openbook.sources.documents import read_document
from openbook.types import Document, Lesson

KNOTS = Lesson("Knots", course_link="https://knots", instructor="Ben", course_path=".")


def read(path: str, text: str = "Some words.\n") -> Document:
    return read_document(text.encode(), source="s", path=path)


@pytest.mark.parametrize(
    ("path", "number", "title"),
    [
        ("01-intro.md", 1, "Intro"),
        ("lesson_3.txt", 3, ""),
        ("Lecture 4 - Knots at Sea.txt", 4, "Knots at Sea"),
        ("week2/03 splicing.txt", 3, "Splicing"),
        ("week2/splicing.txt", 2, "Splicing"),
        ("part 1/Week 05/day-6/a.txt", 6, "A"),
        ("00_start.txt", 0, "Start"),
        ("07.txt", 7, ""),
        ("Lektion 8 Spleißen.txt", 8, "Spleißen"),
        ("CS101 lecture 5.txt", 5, "CS101"),
        ("Module 2 - Lesson 1.txt", 1, "Module 2"),
        ("Lektion 3, Teil 1.txt", 3, "Teil 1"),
        ("1.1 Setup.txt", 1, "1.1 Setup"),
        ("week2/Lesson 1.12 - Install.txt", 1, "1.12 Install"),
        ("3. Ropes.txt", 3, "Ropes"),
        ("05.10.2023 talk.txt", None, ""),
        ("10-05-2023 talk.txt", None, ""),
        ("10-05-23.txt", None, ""),
        ("talk 2023-10-05.txt", None, ""),
        ("Day 05_10_2023.txt", None, ""),
        ("week 3/05.10.2023 splicing.txt", 3, "05.10.2023 splicing"),
        ("2023-10-05 Lecture 7.txt", 7, "2023 10 05"),
        ("2024.txt", None, ""),
        ("2024-11-02 notes.txt", None, ""),
        ("covid-19.txt", None, ""),
        ("html5.txt", None, ""),
        ("notes.txt", None, ""),
    ],
)
def test_the_name_of_a_file_says_number_and_title(path: str, number: int | None, title: str) -> None:
    made = as_lesson(read(path), KNOTS)

    assert made.kind == "course"
    assert {block.lesson for block in made.blocks} == {
        Lesson("Knots", number, title, "", "https://knots", "Ben", course_path=".")
    }


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# The Bowline\n\nIt holds.\n\n# More\n", "The Bowline"),
        ("Text first.\n\n## Lesson 1: The Bowline\n", "The Bowline"),
        ("# Lesson 1\n\nIt holds.\n", "Tying"),
        ("# Module 2 - Lesson 1: The Bowline\n", "The Bowline"),
        ("# Lesson 1. The Bowline\n", "The Bowline"),
        ("It holds.\n", "Tying"),
    ],
)
def test_the_first_heading_is_a_better_title_than_the_name(text: str, title: str) -> None:
    made = as_lesson(read("01-tying.md", text), KNOTS)

    assert {block.lesson.title for block in made.blocks if block.lesson} == {title}


@pytest.mark.parametrize(
    ("heading", "title"),
    [("# The Bowline", "1.2 The Bowline"), ("# 1.2 The Bowline", "1.2 The Bowline"), ("# Lesson 1.2: Tie", "1.2 Tie")],
)
def test_a_part_of_a_lesson_keeps_its_number_in_its_title(heading: str, title: str) -> None:
    made = as_lesson(read("1.2 tying.md", f"{heading}\n\nIt holds.\n"), KNOTS)

    assert {str(block.lesson) for block in made.blocks} == {f"Lesson 1: {title}"}


def test_the_folder_of_a_course_is_no_part_of_it() -> None:
    made = as_lesson(read("week 9/notes.txt"), Lesson("Nine", course_path="week 9"))

    assert [block.lesson for block in made.blocks] == [Lesson("Nine", course_path="week 9")]


def test_what_introduces_itself_stays_a_course_of_its_own() -> None:
    own = read("01-bread.txt", "Course Title: Bread\n\nLesson 0: Flour\nBuy some.\n")

    assert as_lesson(own, KNOTS) == own


def test_a_file_that_only_speaks_of_the_folder_is_no_course_of_its_own() -> None:
    made = as_lesson(read("course.txt", "Course Title: Knots\nCourse Instructor: Ben\n"), KNOTS)

    assert {block.lesson for block in made.blocks} == {KNOTS}


def test_code_stays_code_and_knows_its_lesson() -> None:
    made = as_lesson(read("lesson_2/knots.py", "def tie():\n    return 1\n"), KNOTS)

    assert (made.kind, made.language) == ("code", "python")
    assert [block.lesson.number for block in made.blocks if block.lesson] == [2]


def test_files_that_speak_of_a_folder_add_up() -> None:
    texts = ["Course Instructor: Ben\n", "# Knots at Sea\n\nCourse Link: https://k\n", "# Another Title\n"]

    course = describe("knots", "knots", texts)

    assert course == Lesson("Knots at Sea", course_link="https://k", instructor="Ben", course_path="knots")


def test_a_folder_that_nothing_speaks_of_is_called_by_its_name() -> None:
    assert describe(".", "tying_knots", ["Just words.\n"]) == Lesson("Tying knots", course_path=".")


def test_the_most_telling_file_comes_first() -> None:
    names = ["README.md", "a.md", "Course.TXT", "readme.pdf", "syllabus"]

    assert describing_files(names) == ["Course.TXT", "syllabus", "README.md"]


@pytest.mark.parametrize(
    ("folders", "files", "are"),
    [
        pytest.param(["bread", "knots"], [], True, id="only-folders"),
        pytest.param(["bread"], ["README.md", "LICENSE"], True, id="with-a-readme"),
        pytest.param(["week2", "pictures"], [], False, id="one-is-a-part"),
        pytest.param(["bread", "knots"], ["01.txt"], False, id="with-material"),
        pytest.param(["week1", "02-more"], [], False, id="parts"),
        pytest.param([], [], False, id="nothing"),
    ],
)
def test_folders_are_courses_where_there_is_nothing_else(folders: list[str], files: list[str], are: bool) -> None:
    assert are_courses(folders, files) is are


@pytest.mark.parametrize(("name", "words"), [("a-b_c", "A b c"), ("", ""), ("- x -", "X"), ("über uns", "Über uns")])
def test_a_name_becomes_words(name: str, words: str) -> None:
    assert readable(name) == words
