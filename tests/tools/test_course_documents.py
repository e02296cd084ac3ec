"""The sample course, and its copies in other formats."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from openbook.sources.documents import read_document
from tools.make_course_documents import COURSE, FORMATS, docx_of, pdf_of

TEXT = COURSE.read_text(encoding="utf-8")


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def test_the_sample_course_has_a_header_three_lessons_and_long_lines() -> None:
    assert TEXT.startswith("Course Title: Reading the Tides\nCourse Link: ")
    assert re.findall(r"^Lesson (\d+):", TEXT, re.MULTILINE) == ["0", "1", "2"]
    assert sum(len(line) > 1_000 for line in TEXT.splitlines()) == 2
    assert 1_200 <= len(TEXT.split()) <= 1_800


@pytest.mark.slow
@pytest.mark.parametrize("make", [pdf_of, docx_of])
def test_making_a_document_again_changes_nothing(make: object) -> None:
    assert callable(make)
    assert make(TEXT) == make(TEXT)


@pytest.mark.parametrize("name", ["tides.pdf", "tides.docx"])
def test_the_documents_that_are_there_say_what_the_text_says(name: str) -> None:
    document = read_document((FORMATS / name).read_bytes(), source="formats", path=name)

    assert words(document.text) == words(TEXT)
    assert document.kind == "course"
    titles = {block.lesson.course for block in document.blocks if block.lesson}
    assert titles == {"Reading the Tides"}


def test_the_folder_of_the_course_holds_nothing_else() -> None:
    assert [file.name for file in Path(COURSE.parent).iterdir()] == ["tides.txt"]
