"""How a document becomes the lesson, or the lessons, that it was placed as."""

from __future__ import annotations

from dataclasses import replace

import pytest

from openbook.sources.course_plan import Placement, Section
from openbook.sources.courses import as_lesson, is_placed_as, title_of
from openbook.sources.documents import read_document
from openbook.types import Document, Lesson

KNOTS = Lesson("Knots", course_link="https://knots", instructor="Ben", course_path=".")
FIRST = Lesson("Knots", 1, course_path=".")
READ = Lesson("Knots", 1, "Read", course_path=".")
SECOND = Lesson("Knots", 2, "Hitches", course_path=".")


def read(path: str, text: str = "Some words.\n") -> Document:
    return read_document(text.encode(), source="s", path=path)


def lessons_of(document: Document) -> list[str]:
    return [str(block.lesson) for block in document.blocks]


@pytest.mark.parametrize(
    ("path", "text", "title"),
    [
        ("01-tying.md", "# The Bowline\n\nIt holds.\n\n# More\n", "The Bowline"),
        ("01-tying.md", "Text first.\n\n## Lesson 1: The Bowline\n", "The Bowline"),
        ("01-tying.md", "---\ntitle: 'The Bowline'\n---\n\n# What is it?\n", "The Bowline"),
        ("01-tying.md", '+++\ntitle = "The Bowline"\n+++\n\n# What is it?\n', "The Bowline"),
        ("1.md", "# The Bowline[[the-bowline]]\n", "The Bowline"),
        ("1.2 tying.md", "# 1.2 The Bowline\n", "The Bowline"),
        ("01-tying.md", "# Lesson 1\n\nIt holds.\n", "Tying"),
        ("01-tying.md", "# 3 ways to tie it\n", "3 ways to tie it"),
        ("01-tying.txt", "It holds.\n", "Tying"),
        ("01-tying.md", "## Introduction\n\nIt holds.\n\n## More\n", "Tying"),
        ("bends/index.md", "It holds.\n", "Bends"),
        ("L01/code/README.md", "It holds.\n", "L01"),
        ("07.txt", "It holds.\n", ""),
        ("Lecture 4 - Knots at Sea.txt", "It holds.\n", "Knots at Sea"),
        ("tying.md", "---\ntitle: [damaged\n---\n\n# The Bowline\n", "The Bowline"),
    ],
)
def test_a_lesson_is_called_what_its_page_says_or_else_its_name(path: str, text: str, title: str) -> None:
    assert title_of(read(path, text)) == title


def test_a_title_that_was_given_is_kept() -> None:
    made = as_lesson(read("01-tying.md", "# The Bowline\n\nIt holds.\n"), Placement(SECOND))

    assert made.kind == "course"
    assert {block.lesson for block in made.blocks} == {SECOND}


def test_a_file_that_is_no_lesson_belongs_to_the_course() -> None:
    made = as_lesson(read("notes.md", "# Notes\n"), Placement(KNOTS))

    assert {block.lesson for block in made.blocks} == {KNOTS}


def test_a_file_is_split_into_lessons_at_its_headings() -> None:
    text = "Opening.\n\n# Bowline\n\nIt holds.\n\n# Aside\n\nMore.\n\n# Hitch\n\nIt slips.\n"
    placement = Placement(KNOTS, (Section("Bowline", FIRST), Section("Hitch", SECOND)))

    made = as_lesson(read("all.md", text), placement)

    assert lessons_of(made) == ["", *["Lesson 1: Bowline"] * 4, *["Lesson 2: Hitches"] * 2]


def test_what_introduces_itself_stays_a_course_of_its_own() -> None:
    own = read("01-bread.txt", "Course Title: Bread\n\nLesson 0: Flour\nBuy some.\n")

    assert as_lesson(own, Placement(FIRST)) == own


def test_a_file_that_only_speaks_of_the_folder_is_no_course_of_its_own() -> None:
    made = as_lesson(read("course.txt", "Course Title: Knots\nCourse Instructor: Ben\n"), Placement(KNOTS))

    assert {block.lesson for block in made.blocks} == {KNOTS}


def test_code_stays_code_and_knows_its_lesson() -> None:
    made = as_lesson(read("lesson_2/knots.py", "def tie():\n    return 1\n"), Placement(SECOND))

    assert (made.kind, made.language, lessons_of(made)) == ("code", "python", ["Lesson 2: Hitches"])


@pytest.mark.parametrize(
    ("held", "placement", "is_same"),
    [
        pytest.param([SECOND], Placement(SECOND), True, id="same"),
        pytest.param([replace(READ, titles_itself=True)], Placement(FIRST), True, id="title-of-the-file"),
        pytest.param([READ], Placement(FIRST), False, id="title-that-was-given-before"),
        pytest.param([SECOND], Placement(FIRST), False, id="another-number"),
        pytest.param([SECOND], Placement(KNOTS), False, id="no-lesson-any-more"),
        pytest.param([SECOND], None, False, id="no-course-any-more"),
        pytest.param([None], None, True, id="never-a-course"),
        pytest.param([Lesson("Own", 1)], Placement(FIRST), True, id="a-course-of-its-own"),
        pytest.param([SECOND], Placement(KNOTS, (Section("", FIRST), Section("B", SECOND))), False, id="split-anew"),
    ],
)
def test_a_document_is_read_again_where_it_has_become_another_lesson(
    held: list[Lesson | None], placement: Placement | None, is_same: bool
) -> None:
    assert is_placed_as(held, placement) is is_same
