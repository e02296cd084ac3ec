"""Courses of a library: what is one, what it is known by, and that it follows its files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openbook.errors import CourseFileError, SourceError
from openbook.library import Library
from openbook.sources.course_edits import edit_of
from openbook.types import Course, Filter
from tests.support import write_tree

BREAD = "Course Title: Bread\nCourse Instructor: Ada\n\nLesson 0: Flour\nBuy rye flour.\n\nLesson 1: Dough\nKnead it.\n"

SCHOOL = {
    "README.md": "# The school\n\nWe teach rye and ropes.\n",
    "knots/README.md": "# Knots for Sailors\n\nCourse Link: https://knots.example\n\nRopes are needed.\n",
    "knots/01-bowline.md": "# The Bowline\n\nThe bowline never slips.\n",
    "knots/lesson_2/talk.txt": "A hitch ties a rope to a post.\n",
    "knots/lesson_2/hitch.py": "def hitch(turns: int) -> int:\n    return turns\n",
    "knots/baking.txt": BREAD,
    "sea/week1/03 wind.txt": "Wind comes from the sea.\n",
}


@pytest.fixture
def assistant() -> Iterator[Library]:
    with Library.open() as opened:
        yield opened


def told(courses: list[Course]) -> list[str]:
    """Write each course as its path, title and the numbers of its lessons."""
    return [f"{one.path}: {one.title} {[lesson.number for lesson in one.lessons]}" for one in courses]


def test_two_files_of_one_title_are_two_courses(assistant: Library, tmp_path: Path) -> None:
    assistant.add(write_tree(tmp_path / "a", {"b.txt": BREAD, "c.txt": BREAD}))

    assert told(assistant.courses()) == ["b.txt: Bread [0, 1]", "c.txt: Bread [0, 1]"]
    assert assistant.course("a/c.txt").path == "c.txt"


def test_an_edited_course_is_read_again_a_moved_one_is_another_and_a_deleted_one_goes(
    assistant: Library, tmp_path: Path
) -> None:
    folder = write_tree(tmp_path / "a", {"b.txt": BREAD, "c.txt": BREAD, "d.txt": BREAD})
    assistant.add(folder)

    (folder / "b.txt").write_text(
        BREAD.replace("Title: Bread", "Title: Cake") + "\nLesson 7: Oven\nHeat it.\n", "utf-8"
    )
    (folder / "c.txt").rename(folder / "e.txt")
    (folder / "d.txt").unlink()
    assistant.sync()

    assert told(assistant.courses()) == ["b.txt: Cake [0, 1, 7]", "e.txt: Bread [0, 1]"]
    oven = assistant.search("oven", where=Filter(courses=frozenset({("a", "b.txt")}), lesson=7))
    assert [result.chunk.text for result in oven] == ["Lesson 7: Oven\nHeat it."]


def test_a_course_that_is_no_course_any_more_goes(assistant: Library, tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "a", {"b.txt": BREAD})
    assistant.add(folder)

    (folder / "b.txt").write_text("Just words.\n", "utf-8")
    assistant.sync()

    assert assistant.courses() == []
    assert assistant.stats().documents == 1


def test_a_folder_of_folders_holds_a_course_in_each(assistant: Library, tmp_path: Path) -> None:
    assistant.add(write_tree(tmp_path / "school", SCHOOL), course=True)

    assert told(assistant.courses()) == [
        "knots: Knots for Sailors [1, 2]",
        "knots/baking.txt: Bread [0, 1]",
        "sea: Sea [3]",
    ]
    knots = assistant.course("knots")
    assert (knots.link, [lesson.title for lesson in knots.lessons]) == (
        "https://knots.example",
        ["The Bowline", "Talk"],
    )
    by_kind = {result.chunk.span.path: result.chunk.kind for result in assistant.search("hitch rope school", limit=50)}
    assert by_kind["knots/lesson_2/hitch.py"] == "code"
    assert by_kind["README.md"] == "docs"


def test_lessons_are_numbered_anew_when_others_come_or_a_course_file_says_so(
    assistant: Library, tmp_path: Path
) -> None:
    folder = write_tree(tmp_path / "a", {"knots.md": "# Knots\n\nTie.\n", "splices.md": "# Splices\n\nWeave.\n"})
    assistant.add(folder, course=True)
    assert [str(lesson) for lesson in assistant.courses()[0].lessons] == ["Lesson 1: Knots", "Lesson 2: Splices"]

    write_tree(folder, {"bends.md": "# Bends\n\nJoin.\n"})
    assistant.sync()
    assert told(assistant.courses()) == [".: A [1, 2, 3]"]

    written = "[[lessons]]\nfile = 'splices.md'\nnumber = '4.1'\ntitle = 'Weaving'\n"
    write_tree(folder, {"course.toml": written})
    assistant.sync()
    assert [str(lesson) for lesson in assistant.courses()[0].lessons] == ["Lesson 4.1: Weaving"]
    found = assistant.search("weave", where=Filter(lesson=4, part=1))
    assert [result.chunk.span.path for result in found] == ["splices.md"]


def test_a_title_that_a_course_file_gives_ends_with_it(assistant: Library, tmp_path: Path) -> None:
    listed = "[[lessons]]\nfile = 'knots.md'\nnumber = 1\n"
    texts = {"knots.md": "# Knots\n\nTie.\n", "course.toml": f"{listed}title = 'Tying'\n"}
    assistant.add(write_tree(tmp_path / "a", texts), course=True)
    titles = [assistant.courses()[0].lessons[0].title]

    for written in (listed, f"{listed}title = 'Ropes'\n", ""):
        write_tree(tmp_path / "a", {"course.toml": written})
        assistant.sync()
        titles.append(assistant.courses()[0].lessons[0].title)

    assert titles == ["Tying", "Knots", "Ropes", "Knots"]


def test_a_course_whose_file_was_invalid_at_first_is_read_once_that_is_corrected(
    assistant: Library, tmp_path: Path
) -> None:
    folder = write_tree(tmp_path / "a", {"1-knots.md": "# Knots\n\nTie.\n", "course.toml": "title = Sailing\n"})
    with pytest.raises(CourseFileError, match="line 1"):
        assistant.add(folder, course=True)

    write_tree(folder, {"course.toml": "title = 'Sailing'\n"})
    assistant.sync()

    assert told(assistant.courses()) == [".: Sailing [1]"]


@pytest.mark.parametrize("before", ['title = "Mine"\n', None])
def test_a_course_file_that_leads_elsewhere_is_not_written(
    assistant: Library, tmp_path: Path, before: str | None
) -> None:
    folder, elsewhere = (
        write_tree(tmp_path / "a", {"knots/1 bowline.md": "# Bowline\n\nIt holds.\n"}),
        tmp_path / "b.toml",
    )
    if before is not None:
        elsewhere.write_text(before, "utf-8")
    (folder / "knots/course.toml").symlink_to(elsewhere)
    assistant.add(folder, course=True)

    with pytest.raises(SourceError, match="it is a link"):
        assistant.edit_course(assistant.courses()[0], [edit_of("rename", "1", "Knot")])

    assert (elsewhere.read_text("utf-8") if elsewhere.exists() else None) == before


def test_a_course_in_one_file_beside_folders_leaves_each_of_them_a_course(assistant: Library, tmp_path: Path) -> None:
    files = {"bread.txt": BREAD, "knots/1-bowline.txt": "A loop.\n", "sea/1-wind.txt": "Wind.\n"}

    assistant.add(write_tree(tmp_path / "school", files), course=True)

    assert told(assistant.courses()) == ["bread.txt: Bread [0, 1]", "knots: Knots [1]", "sea: Sea [1]"]


def test_a_folder_with_files_is_one_course_of_what_does_not_introduce_itself(
    assistant: Library, tmp_path: Path
) -> None:
    files = {"1-wind.txt": "Wind.\n", "week2/sails.txt": "Sails.\n", "bread.txt": BREAD}

    assistant.add(write_tree(tmp_path / "sailing_at_sea", files), course=True)

    assert told(assistant.courses()) == [".: Sailing at sea [1, 2]", "bread.txt: Bread [0, 1]"]
    assert assistant.course("sailing_at_sea").path == "."


def test_a_folder_stays_one_of_courses_whoever_brings_it_up_to_date(assistant: Library, tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "sea", {"1-wind.txt": "Wind.\n"})
    assistant.add(folder, course=True)

    write_tree(folder, {"2-sails.txt": "Sails.\n"})
    assistant.add(folder)

    assert told(assistant.courses()) == [".: Sea [1, 2]"]


def test_a_known_folder_becomes_one_of_courses(assistant: Library, tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "sea", {"1-wind.txt": "Wind.\n"})
    assistant.add(folder)
    before = assistant.courses()

    assistant.add(folder, course=True)

    assert (before, told(assistant.courses())) == ([], [".: Sea [1]"])
    assert [(root.name, root.kind) for root in assistant.sources()] == [("sea", "course")]
    assert assistant.stats().documents == 1


def test_a_single_file_is_no_folder_of_courses(assistant: Library, tmp_path: Path) -> None:
    folder = write_tree(tmp_path, {"1-wind.txt": "Wind.\n"})

    with pytest.raises(SourceError, match="it is not a folder"):
        assistant.add(folder / "1-wind.txt", course=True)


def test_a_course_and_a_lesson_narrow_what_answers(assistant: Library, tmp_path: Path) -> None:
    assistant.add(write_tree(tmp_path / "school", SCHOOL), course=True)

    hitch = Filter(courses=frozenset({assistant.course("knots").key}), lesson=2)
    answer = assistant.query("What ties a rope to a post?", where=hitch)
    elsewhere = assistant.query("What ties a rope to a post?", where=Filter(lesson=0))

    assert [citation.span.path for citation in answer.citations] == ["knots/lesson_2/talk.txt"]
    assert {result.chunk.span.path for result in elsewhere.results} <= {"knots/baking.txt"}
