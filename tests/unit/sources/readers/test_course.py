"""Courses: which files are some, and which words belong to which lesson."""

from __future__ import annotations

import pytest

from openbook.sources.readers import read_text
from openbook.sources.readers.course import is_course, read_course
from openbook.types import Lesson

BREAD = """\
Course Title: Baking Bread
Course Link: https://example.org/bread
Course Instructor: Ada Miller

Welcome, all.

Lesson 0: Introduction
Lesson Link: https://example.org/bread/0
Flour is ground grain. In lesson 5: we bake.

More flour.
Lesson 1: Dough: wet and dry
Knead it.
"""


def pieces(text: str, path: str = "a.txt") -> list[tuple[str, str, str]]:
    found = read_course(text, path).blocks
    return [(block.kind, str(block.lesson), text[block.start_char : block.end_char]) for block in found]


def lessons(text: str, path: str = "a.txt") -> list[Lesson | None]:
    return [block.lesson for block in read_course(text, path).blocks if block.kind == "heading" and block.level == 1]


def test_every_block_belongs_to_its_lesson() -> None:
    assert pieces(BREAD) == [
        ("text", "", BREAD[: BREAD.index("\n\nWelcome")]),
        ("text", "", "Welcome, all."),
        ("heading", "Lesson 0: Introduction", "Lesson 0: Introduction\nLesson Link: https://example.org/bread/0"),
        ("text", "Lesson 0: Introduction", "Flour is ground grain. In lesson 5: we bake."),
        ("text", "Lesson 0: Introduction", "More flour."),
        ("heading", "Lesson 1: Dough: wet and dry", "Lesson 1: Dough: wet and dry"),
        ("text", "Lesson 1: Dough: wet and dry", "Knead it."),
    ]


def test_a_lesson_knows_its_course() -> None:
    first, second = lessons(BREAD)

    course = ("https://example.org/bread", "Ada Miller")
    assert first == Lesson("Baking Bread", 0, "Introduction", "https://example.org/bread/0", *course)
    assert second == Lesson("Baking Bread", 1, "Dough: wet and dry", "", *course)


@pytest.mark.parametrize(
    ("line", "number", "title"),
    [
        ("Lesson 3: Flour", 3, "Flour"),
        ("lesson 3:Flour", 3, "Flour"),
        ("LESSON 12 : Flour", 12, "Flour"),
        ("### Lesson 3: Flour", 3, "Flour"),
        ("## Lesson 3: Flour ##", 3, "Flour"),
        ("**Lesson 3: Flour**", 3, "Flour"),
        ("**Lesson 3:** Flour", 3, "Flour"),
        ("### **Lesson 3**: Flour", 3, "Flour"),
        ("Lesson 3 - Flour", 3, "Flour"),
        ("Lesson 3: C#", 3, "C#"),
        ("Lesson 3:", 3, ""),
        ("Lesson 3", 3, ""),
        ("  Lesson 003: Flour \r", 3, "Flour"),
    ],
)
def test_a_lesson_heading_may_be_written_in_many_ways(line: str, number: int, title: str) -> None:
    text = f"Course Title: Bread\n\n{line}\nBuy some.\n"

    assert lessons(text) == [Lesson("Bread", number, title)]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("In lesson 5: we bake.", id="inside-a-sentence"),
        pytest.param("Lesson 5 covers baking.", id="a-sentence-about-it"),
        pytest.param("Lessons 5: x", id="plural"),
        pytest.param("Lesson five: x", id="spelled-out"),
        pytest.param("Lesson 5: " + "we bake and we talk about it " * 20, id="a-whole-paragraph"),
        pytest.param("Lesson 5-7", id="range"),
        pytest.param("```\nLesson 5: x\n```", id="in-a-fence"),
    ],
)
def test_what_only_begins_like_a_lesson_is_text(line: str) -> None:
    assert lessons(f"Course Title: Bread\n\n{line}\n") == []


@pytest.mark.parametrize("link", ["", "<>", "[]()", "[here]()"])
def test_a_link_that_is_empty_is_none(link: str) -> None:
    text = f"Course Title: Bread\nCourse Link: {link}\n\nLesson 1: x\nLesson Link: {link}\ny\n"

    assert lessons(text) == [Lesson("Bread", 1, "x")]


def test_the_header_may_have_any_order_and_missing_parts() -> None:
    text = "course instructor: Ada\n**Course Title:** Bread\n\nLesson 1: x\ny\n"

    assert lessons(text) == [Lesson("Bread", 1, "x", instructor="Ada")]


def test_a_link_may_be_markdown() -> None:
    text = "# Course Title: Bread\nCourse Link: <https://example.org>\n\n## Lesson 1: x\n\n"
    text += "**Lesson Link:** [watch](https://example.org/1)\n\ny\n"

    assert lessons(text, "a.md") == [Lesson("Bread", 1, "x", "https://example.org/1", "https://example.org")]


def test_a_course_without_title_takes_the_heading_of_the_page() -> None:
    text = "# Course: Bread\nCourse Instructor: Ada\n\n## Lesson 1: x\n\ny\n\n## Lesson 2: z\n"

    assert [lesson.course for lesson in lessons(text, "a.md") if lesson] == ["Bread", "Bread"]


def test_a_course_in_markdown_keeps_code_and_deeper_headings() -> None:
    text = "Course Title: Bread\n\n# Lesson 1: x\n\n# Deeper\n\n```\n# no\n```\n"

    found = read_course(text, "a.md")

    assert (found.kind, found.language) == ("course", "markdown")
    assert [(block.kind, block.level, block.title) for block in found.blocks[1:]] == [
        ("heading", 1, "Lesson 1: x"),
        ("heading", 2, "Deeper"),
        ("code", 0, ""),
    ]


def test_a_course_without_lessons_is_all_before_the_first() -> None:
    assert pieces("Course Title: Bread\n\nSoon.") == [("text", "", "Course Title: Bread"), ("text", "", "Soon.")]


def test_a_fence_that_stays_open_hides_no_lessons() -> None:
    assert len(lessons("Course Title: Bread\n\nLesson 1: x\n```\n\nLesson 2: y\n")) == 2


def test_windows_line_ends_are_kept_and_belong_to_no_title() -> None:
    text = BREAD.replace("\n", "\r\n")

    assert [str(lesson) for lesson in lessons(text)] == ["Lesson 0: Introduction", "Lesson 1: Dough: wet and dry"]
    assert read_course(text, "a.txt").text == text


@pytest.mark.parametrize(
    ("text", "course"),
    [
        pytest.param(BREAD, True, id="seed-format"),
        pytest.param("Lesson 1: a\nx\nLesson 2: b\ny\n", True, id="opens-with-its-first-lesson"),
        pytest.param("Intro\n\nLesson 1: a\nLesson Link: x\n\nLesson 2: b\n", True, id="lessons-with-links"),
        pytest.param("# Guide\n\nLesson 1: be brief.\n", False, id="one-mention"),
        pytest.param("# Guide\n\n## Lesson 1: a\n\n## Lesson 2: b\n", False, id="lessons-learned"),
        pytest.param("# Format\n\n```\nCourse Title: x\nLesson 1: y\n```\n", False, id="a-page-about-the-format"),
        pytest.param("# Format\n\n    Course Title: x\n\n    Lesson 1: y\n", False, id="an-indented-example"),
        pytest.param("x\n" * 30 + "Course Title: Bread\n", False, id="title-deep-in-the-text"),
        pytest.param("We read Course Title: Bread.\n", False, id="title-inside-a-sentence"),
        pytest.param("", False, id="empty"),
    ],
)
def test_a_course_is_told_from_other_prose(text: str, course: bool) -> None:
    assert is_course(text) is course


def test_a_text_file_in_the_format_is_read_as_a_course() -> None:
    assert read_text(BREAD, "a.txt", "docs", "text").kind == "course"
    assert read_text(BREAD, "a.py", "code", "python").kind == "code"
