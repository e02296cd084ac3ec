"""The contract of engines: courses and their lessons."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate, pairwise

import pytest

from openbook.index.protocol import DocumentSummary, Index
from openbook.types import Course, Filter, Lesson
from tests.support import Hit, dense, document, entry, lexical, paths, put, stamp, vector

BREAD = Lesson("Bread", None, course_link="https://b", instructor="Ann")
MIXING = Lesson("Bread", 0, "Mixing", "https://b/0", "https://b", "Ann")
BAKING = Lesson("Bread", 1, "Baking", "", "https://b", "Ann")


def put_lessons(index: Index, path: str, *lessons: Lesson | None, source: str = "s") -> None:
    """Store course material with one chunk for each lesson; the chunk of the n-th holds `word` and its place."""
    texts = [f"word {place} " for place in range(len(lessons))]
    whole = document(path, "".join(texts), source=source, kind="course")
    places = pairwise(accumulate((len(text) for text in texts), initial=0))
    entries = [
        entry(whole, start, end - 1, lesson=lesson, vector=vector(1, start))
        for lesson, (start, end) in zip(lessons, places, strict=True)
    ]
    index.put(whole, entries, stamp())


def in_folder(number: int | None, title: str, folder: str = ".") -> Lesson:
    return Lesson("Knots", number, title, course_path=folder)


def test_a_library_without_course_material_has_no_courses(index: Index) -> None:
    put(index, "a.md")
    index.put(document("empty.txt", "", kind="course"), [], stamp())

    assert index.courses() == []


def test_a_document_is_a_course_with_its_lessons_in_order_of_appearance(index: Index) -> None:
    put_lessons(index, "bread.txt", BREAD, BAKING, BAKING, MIXING, BAKING)

    assert index.courses() == [Course("s", "bread.txt", "Bread", "https://b", "Ann", (BAKING, MIXING))]
    assert index.documents(Filter()) == [DocumentSummary("s", "bread.txt", "course", "bread.txt")]


@pytest.mark.slow
def test_courses_of_one_title_are_two_and_are_listed_by_source_and_path(index: Index) -> None:
    for source, path in (("t", "a.txt"), ("s", "b.txt"), ("s", "a.txt")):
        put_lessons(index, path, BREAD, source=source)

    assert [course.key for course in index.courses()] == [("s", "a.txt"), ("s", "b.txt"), ("t", "a.txt")]
    assert {course.title for course in index.courses()} == {"Bread"}


@pytest.mark.parametrize(("path", "title"), [("week/knots.txt", "knots"), ("knots", "knots")])
def test_a_course_without_a_title_is_called_by_its_file(index: Index, path: str, title: str) -> None:
    put_lessons(index, path, Lesson("", 1))

    assert [course.title for course in index.courses()] == [title]


@pytest.mark.slow
def test_a_folder_has_the_lessons_of_its_documents_by_number_and_part(index: Index) -> None:
    put_lessons(index, "k/b/02.txt", replace(in_folder(2, "Bowline", "k"), part=10))
    put_lessons(index, "k/b/01.txt", in_folder(1, "Ropes", "k"))
    put_lessons(index, "k/a/02.txt", replace(in_folder(2, "Hitch", "k"), part=9))
    put_lessons(index, "k/b/code.py", replace(in_folder(2, "", "k"), part=9))
    put_lessons(index, "k/notes.txt", in_folder(None, "", "k"))
    put_lessons(index, "k/own.txt", MIXING)

    folder, own = index.courses()

    assert (folder.path, folder.title, own.path) == ("k", "Knots", "k/own.txt")
    assert [str(lesson) for lesson in folder.lessons] == [
        "Lesson 1: Ropes",
        "Lesson 2.9: Hitch",
        "Lesson 2.10: Bowline",
    ]


def test_files_with_one_number_hold_one_lesson(index: Index) -> None:
    put_lessons(index, "spoken/01.vtt", in_folder(1, "Spoken"))
    put_lessons(index, "shown/01.pdf", in_folder(1, "Shown"))

    assert [[str(lesson) for lesson in course.lessons] for course in index.courses()] == [["Lesson 1: Shown"]]


@pytest.mark.slow
def test_a_course_follows_its_document(index: Index) -> None:
    put_lessons(index, "a.txt", MIXING)
    put_lessons(index, "b.txt", MIXING)

    put_lessons(index, "a.txt", Lesson("Cake", 1))
    index.delete("s", "b.txt")

    assert index.courses() == [Course("s", "a.txt", "Cake", lessons=(Lesson("Cake", 1),))]


def test_courses_are_listed_through_a_filter(index: Index) -> None:
    filters = {
        "source": Filter(sources=frozenset({"t"})),
        "glob": Filter(globs=("b.*",)),
        "course of another source": Filter(courses=frozenset({("s", "c.txt")})),
        "lesson 0": Filter(lesson=0),
        "part that does not exist": Filter(lesson=2, part=1),
        "lesson that does not exist": Filter(lesson=9),
    }
    put_lessons(index, "b.txt", MIXING, BAKING)
    put_lessons(index, "c.txt", BREAD, BAKING, source="t")

    listed = {
        name: [(*course.key, len(course.lessons)) for course in index.courses(where)] for name, where in filters.items()
    }

    assert listed == {
        "source": [("t", "c.txt", 1)],
        "glob": [("s", "b.txt", 2)],
        "course of another source": [],
        "lesson 0": [("s", "b.txt", 1)],
        "part that does not exist": [],
        "lesson that does not exist": [],
    }


@pytest.mark.slow
def test_a_filter_by_course_or_lesson_applies_before_the_cut(index: Index) -> None:
    titles = {
        Filter(lesson=0): ["late"],
        Filter(courses=frozenset({("s", "z")}), lesson=7): ["seven"],
        Filter(courses=frozenset({("s", "z")})): ["seven"],
        Filter(courses=frozenset({("s", "late.txt")}), lesson=7): [],
        Filter(lesson=8, part=3): ["three"],
        Filter(lesson=9999): [],
        Filter(lesson=10**12): [],
    }
    with index.batch():
        put(index, "0.md", "word", vector=vector(1))
        put_lessons(index, "a.txt", *[None, Lesson("A"), Lesson("A", 1)] * 20)
        put_lessons(index, "late.txt", *[Lesson("L", 2)] * 20, Lesson("L", 0, "late"))
    with index.batch():  # candidates are in more than one segment
        put_lessons(index, "z/7.txt", Lesson("Z", 7, "seven", course_path="z"))
        put_lessons(index, "m.txt", *[Lesson("M", 8, "two", part=2)] * 20, Lesson("M", 8, "three", part=3))

    by_words = {where: titles_of(index, lexical(index, ["word"], 1, where)) for where in titles}
    by_nearness = {where: titles_of(index, dense(index, vector(1), 1, where)) for where in titles}

    assert by_words == titles
    assert by_nearness == titles


def titles_of(index: Index, hits: Iterable[Hit]) -> list[str]:
    """Return the titles of the lessons of some results."""
    return [chunk.lesson.title for chunk in index.fetch([hit.id for hit in hits]) if chunk.lesson]


@pytest.mark.slow
def test_a_filter_by_lesson_lists_the_documents_that_have_it(index: Index) -> None:
    put(index, "a.md")
    put_lessons(index, "b.txt", MIXING, BAKING)
    put_lessons(index, "c.txt", BAKING)

    assert [listed.path for listed in index.documents(Filter(lesson=0))] == ["b.txt"]
    assert [listed.path for listed in index.documents(Filter(lesson=1))] == ["b.txt", "c.txt"]


def test_words_of_other_lessons_make_no_candidate(index: Index) -> None:
    put_lessons(index, "a.txt", MIXING, BAKING, Lesson("Bread", 2))

    matches = index.match(["0"], None, 5, Filter(lesson=1))

    assert paths(index, matches.evidence) == []
