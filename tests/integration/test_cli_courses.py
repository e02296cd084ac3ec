"""The commands for courses, and the filters `--course` and `--lesson`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.support_cli import assert_fails_clearly, run
from tests.support import write_tree

Captured = pytest.CaptureFixture[str]

BREAD = """Course Title: Baking Bread
Course Link: https://bread.example
Course Instructor: Ada Miller

Lesson 0: Flour
Lesson Link: https://bread.example/0
Buy rye flour for the dough.

Lesson 1: Kneading
Knead the dough for ten minutes.
"""
CAKES = "Course Title: Baking Cakes\n\nLesson 0: Sugar\nSugar makes the dough sweet.\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write_tree(tmp_path / "school", {"bread.txt": BREAD, "cakes.txt": CAKES, "notes.md": "The dough rests.\n"})
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def indexed(here: Path, capsys: Captured) -> Path:
    run(capsys, "search", "dough")
    return here


def test_a_list_of_courses_indexes_nothing(here: Path, capsys: Captured) -> None:
    outcome = run(capsys, "courses")

    assert_fails_clearly(
        outcome, 2, "'.' is not indexed yet", "hint: run `openbook ask` or `openbook search` on it to index it"
    )
    assert run(capsys, "sources").out == ""


@pytest.mark.slow
def test_courses_are_listed(indexed: Path, capsys: Captured) -> None:
    assert run(capsys, "courses").out == (
        "Baking Bread\n  2 lessons  Ada Miller  https://bread.example\n  school/bread.txt\n"
        "Baking Cakes\n  1 lesson\n  school/cakes.txt\n"
    )


@pytest.mark.slow
def test_one_course_is_outlined(indexed: Path, capsys: Captured) -> None:
    assert run(capsys, "courses", "bred").out == (
        "Baking Bread\n  2 lessons  Ada Miller  https://bread.example\n  school/bread.txt\n"
        "   0  Flour\n      bread.txt:5-7\n      https://bread.example/0\n"
        "   1  Kneading\n      bread.txt:9-10\n"
    )


def test_the_list_and_an_outline_go_into_json(indexed: Path, capsys: Captured) -> None:
    listed = run(capsys, "courses", "--json").json["courses"]
    outlined = run(capsys, "courses", "cakes", "--json").json

    assert [(one["path"], one["lesson_count"]) for one in listed] == [("bread.txt", 2), ("cakes.txt", 1)]
    assert listed[0]["lessons"][0] == {
        "number": 0,
        "part": None,
        "label": "0",
        "title": "Flour",
        "link": "https://bread.example/0",
    }
    places = outlined.pop("lessons")[0]["places"]
    assert outlined == {
        "source": "school",
        "path": "cakes.txt",
        "title": "Baking Cakes",
        "link": "",
        "instructor": "",
        "lesson_count": 1,
    }
    assert [(place["path"], place["start_line"], place["end_line"]) for place in places] == [("cakes.txt", 3, 4)]


def test_the_list_follows_changes_of_files_and_tells_why_it_cannot(tmp_path: Path, capsys: Captured) -> None:
    files = {"01-a.md": "# Ropes\n", "02-b.md": "# Hitch\n"}
    folder = write_tree(tmp_path / "knots", {**files, "course.toml": '[[lessons]]\nfile = "02-b.md"\n'})
    run(capsys, "add", "--course", folder, "--library", "sea")
    (folder / "course.toml").unlink()

    listed = run(capsys, "courses", "--library", "sea", "--json").json["courses"]
    write_tree(folder, {"course.toml": "name = 'x'\n"})
    warned = run(capsys, "courses", "--library", "sea")

    assert [[lesson["title"] for lesson in one["lessons"]] for one in listed] == [["Ropes", "Hitch"]]
    assert "warning: the library was not updated: cannot read 'course.toml': line 1: there is no 'name'" in warned.err


def test_without_courses_the_list_says_how_to_add_one(tmp_path: Path, capsys: Captured) -> None:
    folder = write_tree(tmp_path, {"notes.md": "The dough rests.\n"})
    run(capsys, "search", "dough", folder)

    outcome = run(capsys, "courses", "--in", folder)

    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.endswith("the library has no courses\nhint: add one with: openbook add --course FOLDER\n")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["ask", "search"])
def test_questions_are_narrowed_to_a_course_and_a_lesson(here: Path, capsys: Captured, command: str) -> None:
    def files(*options: str) -> set[str]:
        found = run(capsys, command, "What is done with the dough?", "--json", *options).json
        return {place["path"] for place in found["citations" if command == "ask" else "results"]}

    assert files("--course", "bread", "--lesson", "1") == {"bread.txt"}
    assert files("--course", "Cakes") == {"cakes.txt"}
    assert files("--lesson", "0") <= {"bread.txt", "cakes.txt"}
    assert files("--course", "bread", "--course", "cakes") == {"bread.txt", "cakes.txt"}


def test_lesson_zero_is_a_lesson(here: Path, capsys: Captured) -> None:
    results = run(capsys, "search", "dough", "--course", "bread", "--lesson", "0", "--json").json["results"]

    assert [result["start_line"] for result in results] == [5]


def test_a_name_that_means_nothing_or_too_much_is_refused_with_what_there_is(here: Path, capsys: Captured) -> None:
    unknown = run(capsys, "ask", "What is dough?", "--course", "sailing")
    ambiguous = run(capsys, "courses", "baking")
    lesson = run(capsys, "search", "dough", "--course", "cakes", "--lesson", "7")

    assert_fails_clearly(unknown, 2, "no course is called 'sailing'")
    assert "there are: Baking Bread (school/bread.txt); Baking Cakes (school/cakes.txt)" in unknown.err
    assert_fails_clearly(ambiguous, 2, "'baking' can mean 2 courses")
    assert_fails_clearly(lesson, 2, "there is no lesson 7 in 'Baking Cakes'")
    assert "there are: 0" in lesson.err


@pytest.mark.parametrize("option", [("--course", "bread"), ("--lesson", "0")])
def test_a_library_without_courses_cannot_be_narrowed_to_one(
    tmp_path: Path, capsys: Captured, option: tuple[str, str]
) -> None:
    folder = write_tree(tmp_path, {"notes.md": "The dough rests.\n"})

    outcome = run(capsys, "search", "dough", folder, *option)

    assert_fails_clearly(outcome, 2, "the library has no courses")


@pytest.mark.slow
def test_a_rebuilt_library_knows_again_which_folders_hold_courses(tmp_path: Path, capsys: Captured) -> None:
    folder = write_tree(tmp_path / "knots", {"1-ropes.txt": "Ropes.\n"})
    run(capsys, "add", "--course", folder)

    rebuilt = [run(capsys, "add", "--rebuild", *paths) for paths in ((), (folder,))]

    assert [outcome.code for outcome in rebuilt] == [0, 0]
    listed = run(capsys, "courses", "--library", "default", "--json").json["courses"]
    assert [(one["title"], one["lesson_count"]) for one in listed] == [("Knots", 1)]


def test_a_title_cannot_drive_the_terminal(tmp_path: Path, capsys: Captured) -> None:
    folder = write_tree(tmp_path, {"a.txt": "Course Title: Bre\x1b[31mad\n\nLesson 0: Fl\x1b[31mour\nBuy some.\n"})

    printed = run(capsys, "courses", "bread", "--in", folder).out + run(capsys, "courses", "--in", folder).out

    assert "\x1b[31m" not in printed


@pytest.mark.slow
def test_lessons_are_changed_in_a_file_beside_them(tmp_path: Path, capsys: Captured) -> None:
    files = {"01-a.md": "# Ropes\n\nText.\n\n# Bends\n\nMore.\n", "02-b.md": "# Hitch\n", "03-c.md": "# End\n"}
    folder = write_tree(tmp_path / "knots", files)
    run(capsys, "add", "--course", folder)

    edited = ("--rename", "3=The End", "--hide", "2", "--split", "1=Bends")
    told = run(capsys, "courses", "knots", "--in", folder, *edited, "--json").json
    again = run(capsys, "courses", "knots", "--in", folder, "--move", "2=1", "--json").json

    assert [(one["label"], one["title"]) for one in told["lessons"]] == [
        ("1", "Ropes"),
        ("2", "Bends"),
        ("4", "The End"),
    ]
    assert [one["title"] for one in again["lessons"]] == ["Bends", "Ropes", "The End"]
    assert 'heading = "Bends"' in (folder / "course.toml").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--move", "1=x"), "Invalid value for '--move': 'x' is no lesson"),
        (("--rename", "abc=T"), "Invalid value for '--rename': 'abc' is no lesson"),
        (("--rename", "1"), "'1' names only a lesson"),
        (("--hide", "9"), "there is no lesson 9"),
        (
            ("--split", "1=Equipment"),
            "lesson 1 has no heading 'Equipment' below its beginning\nhint: its headings are: Bends",
        ),
        (("--split", "1=bends"), "did you mean 'Bends'?"),
        (("--split", "1=Ropes"), "lesson 1 has no heading 'Ropes' below its beginning"),
        (("--split", "1=Bends", "--split", "1=Bends"), "a lesson begins at 'Bends' already"),
        (("--split", "1=Bends", "--split", "2=Ends"), "lesson 2 has no heading 'Ends' below its beginning"),
    ],
)
def test_a_change_that_cannot_be_made_is_an_error(
    tmp_path: Path, capsys: Captured, options: tuple[str, ...], message: str
) -> None:
    folder = write_tree(tmp_path / "knots", {"01-a.md": "# Ropes\n\nText.\n\n## Bends\n\nMore.\n"})
    run(capsys, "add", "--course", folder)

    outcome = run(capsys, "courses", "knots", "--in", folder, *options)

    assert outcome.code == 2
    assert message in outcome.err
    assert not (folder / "course.toml").exists()
