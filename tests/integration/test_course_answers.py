"""The sample course, asked on the command line: sentences are cited out of lines of thousands of characters."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.integration.support_cli import run
from tests.support import write_tree

Captured = pytest.CaptureFixture[str]

EXAMPLES = Path(__file__).parents[2] / "examples"
QUESTION = "How far can the sea rise in the Bay of Fundy?"


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the sample course, and go there."""
    folder = tmp_path / "course"
    shutil.copytree(EXAMPLES / "course", folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.slow
def test_a_citation_shows_and_stores_the_sentence_and_not_the_line(course: Path, capsys: Captured) -> None:
    text = (course / "tides.txt").read_text(encoding="utf-8")

    printed = run(capsys, "ask", QUESTION, ".")
    told = run(capsys, "ask", "--json", QUESTION, ".").json

    first = told["citations"][0]
    assert "16 metres" in first["quote"]
    assert first["quote"].count(".") == 1
    assert text[first["start_char"] : first["end_char"]] == first["quote"]
    assert len(text.split("\n")[first["start_line"] - 1]) > 2_000
    assert f"> {first['quote']} [1]\n" in printed.out
    assert max(map(len, printed.out.splitlines())) < 400
    assert all(len(citation["quote"]) < 400 for citation in told["citations"])


@pytest.mark.slow
def test_the_sentences_of_an_answer_can_be_verified_later(course: Path, capsys: Captured) -> None:
    answer = run(capsys, "ask", "--json", QUESTION, ".")
    (course / "answer.json").write_text(answer.out, encoding="utf-8")

    before = run(capsys, "verify", "answer.json")
    text = (course / "tides.txt").read_text(encoding="utf-8")
    (course / "tides.txt").write_text(text.replace("by 16 metres", "by 61 metres"), encoding="utf-8")
    after = run(capsys, "verify", "answer.json")

    assert (before.code, after.code) == (0, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("What is the outline of the tides course?", "> Lesson 1: Springs, Neaps and Places ["),
        ("What was covered in lesson 2 of the tides course?", "> This last lesson is the practical one"),
        ("Which courses explain spring tides?", "Reading the Tides · Lesson 1: Springs, Neaps and Places"),
        ("Where is chart datum explained?", "Reading the Tides · Lesson 2: Using a Tide Table"),
        ("Was wurde in Lektion 0 des Tides-Kurses behandelt?", "Reading the Tides · Lesson 0: Why the Sea Rises"),
    ],
)
def test_questions_on_the_course_itself_are_answered_offline(
    course: Path, capsys: Captured, question: str, quoted: str
) -> None:
    outcome = run(capsys, "ask", question, str(course))

    assert outcome.code == 0
    assert quoted in outcome.out


def test_a_lesson_that_is_not_there_is_refused(course: Path, capsys: Captured) -> None:
    assert run(capsys, "ask", "What was covered in lesson 7 of the tides course?", str(course)).code == 1


@pytest.mark.slow
def test_a_lesson_with_front_matter_is_named_by_the_title_in_it(tmp_path: Path, capsys: Captured) -> None:
    folder = write_tree(
        tmp_path / "bread",
        {
            "01-flour.md": '---\nlayout: lecture\ntitle: "Flour"\n---\n\nStrong flour has more protein.\n',
            "02-dough.md": "---\nlayout: lecture\n---\n\n# Dough\n\nKnead the dough for ten minutes.\n",
        },
    )
    run(capsys, "add", "--course", str(folder), "--library", "bread")

    for question in ("Which lessons are in the bread course?", "What is the outline of the bread course?"):
        told = run(capsys, "ask", "--json", question, "--library", "bread").json
        assert [citation["quote"] for citation in told["citations"]] == ['title: "Flour"', "# Dough"]
    told = run(capsys, "ask", "--json", "Where can I find lesson 2 of the bread course?", "--library", "bread").json
    assert [citation["quote"] for citation in told["citations"]] == ["# Dough"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pages", "outline"),
    [
        (
            {"lesson1.md": "# One\n", "lesson10.md": "# Ten\n", "lesson2.md": "# Two\n", "README.md": "# Bread\n"},
            ["# Bread", "# One", "# Two", "# Ten"],
        ),
        (
            {"apple.md": "---\ntitle: Second\norder: 2\n---\n", "zebra.md": "---\ntitle: First\norder: 1\n---\n"},
            ["title: First", "title: Second"],
        ),
    ],
)
def test_an_outline_is_in_the_order_of_the_lessons(
    tmp_path: Path, capsys: Captured, pages: dict[str, str], outline: list[str]
) -> None:
    folder = write_tree(tmp_path / "bread", {name: f"{text}\nKnead the dough.\n" for name, text in pages.items()})
    run(capsys, "add", "--course", str(folder), "--library", "bread")

    told = run(capsys, "ask", "--json", "What is the outline of the bread course?", "--library", "bread").json

    assert [citation["quote"] for citation in told["citations"]] == outline


def test_a_course_that_does_not_name_its_teacher_is_not_said_to(tmp_path: Path, capsys: Captured) -> None:
    lessons = {
        "01-flour.md": "# Flour\n\nFlour is milled from wheat, and each grain is cleaned first.\n",
        "02-rest.md": "# Rest\n\nThe dough rests for an hour before it is baked.\n",
    }
    write_tree(tmp_path / "bread", lessons)
    run(capsys, "add", "--course", str(tmp_path / "bread"), "--library", "bread")

    answer = run(capsys, "ask", "--library", "bread", "Who teaches the course?")

    assert answer.code == 1
    assert "# Flour" not in answer.out
