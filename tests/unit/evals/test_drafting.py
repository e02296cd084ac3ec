"""Questions that a library proposes of itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from openbook.assistant import Assistant
from openbook.evals.drafting import draft
from openbook.evals.questions import EvalQuestion, read_questions
from openbook.settings import Settings
from tests.support import write_tree

SAMPLE = Path(__file__).parents[2] / "sample"
LONG = (
    "It says much about this and that, and it goes on for more than a line or two, so that there is something to ask."
)


def drafted(tmp_path: Path, *folders: Path, count: int = 100) -> list[EvalQuestion]:
    with Assistant.of(*folders, settings=Settings(home=tmp_path / "home")) as assistant:
        return draft(assistant, count)


def test_headings_symbols_and_lessons_become_questions_with_their_lines(tmp_path: Path) -> None:
    questions = {question.text: str(question.lines[0]) for question in drafted(tmp_path, SAMPLE)}

    assert questions['What is "Operations" about?'] == "docs/operations.md:1-18"
    assert questions["What does `postage_cents` do?"] == "harbour/tariffs.py:1-18"
    assert questions["What is `Parcel` for?"] == "harbour/parcels.py:18-42"
    assert "What is lesson 1, Lifting, of Working at the Quay about?" in questions


@pytest.mark.parametrize("count", [1, 5, 12])
def test_there_are_as_many_as_wanted_and_no_two_of_one_file_while_others_wait(tmp_path: Path, count: int) -> None:
    questions = drafted(tmp_path, SAMPLE, count=count)

    assert len({question.lines[0].path for question in questions}) == len(questions) == count


def test_files_are_taken_from_the_whole_library(tmp_path: Path) -> None:
    write_tree(tmp_path / "guide", {f"page-{n:02}.md": f"# Page {n}\n\n{LONG}\n" for n in range(40)})

    questions = drafted(tmp_path, tmp_path / "guide", count=4)

    assert [question.lines[0].path for question in questions] == [f"page-{n}.md" for n in ("00", "10", "20", "30")]


def test_tests_and_licences_come_last(tmp_path: Path) -> None:
    names = ("LICENSE.md", "tests/guide.md", "zebra.md")
    write_tree(tmp_path / "guide", {name: f"# About {name}\n\n{LONG}\n" for name in names})

    questions = drafted(tmp_path, tmp_path / "guide")

    assert [question.lines[0].path for question in questions] == ["zebra.md", "LICENSE.md", "tests/guide.md"]


def test_a_heading_that_asks_is_the_question_and_one_below_another_names_both(tmp_path: Path) -> None:
    many = "\n\n".join([LONG] * 8)
    write_tree(tmp_path / "guide", {"a.md": f"# Guide\n\n{many}\n\n## Ports\n\n{many}\n\n## Which host?\n\n{many}\n"})

    texts = {question.text for question in drafted(tmp_path, tmp_path / "guide")}

    assert texts == {'What is "Guide" about?', 'What is "Ports" in "Guide" about?', "Which host?"}


def test_private_names_constants_and_parts_without_a_name_are_not_asked_for(tmp_path: Path) -> None:
    body = f'    """{LONG}"""\n    return 1\n'
    write_tree(
        tmp_path / "code",
        {
            "a.py": f"def _hidden():\n{body}",
            "b.py": f"LIMIT = (\n    '{LONG}'\n)\n",
            "c.txt": f"{LONG}\n",
            "d.py": f"def shown():\n{body}",
        },
    )

    assert [question.text for question in drafted(tmp_path, tmp_path / "code")] == ["What does `shown` do?"]


def test_a_section_of_less_than_120_characters_says_too_little_to_be_asked_for(tmp_path: Path) -> None:
    for name, size in (("short", 119), ("long", 120)):
        heading = f"# {name.title()}\n\n"
        write_tree(tmp_path / "guide", {f"{name}.md": heading + "word " * 20 + "x" * (size - len(heading) - 100)})

    assert [question.text for question in drafted(tmp_path, tmp_path / "guide")] == ['What is "Long" about?']


def test_no_question_is_proposed_twice(tmp_path: Path) -> None:
    write_tree(tmp_path / "guide", {f"{name}/index.md": f"# Setup\n\n{LONG} {name}\n" for name in ("a", "b")})

    assert len(drafted(tmp_path, tmp_path / "guide")) == 1


def test_of_several_sources_the_name_stands_before_the_path(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_tree(tmp_path / name, {"a.md": f"# Topic {name}\n\n{LONG}\n"})

    questions = drafted(tmp_path, tmp_path / "one", tmp_path / "two")

    assert [question.lines[0].path for question in questions] == ["one/a.md", "two/a.md"]


def test_a_file_that_went_meanwhile_is_left_out(tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "guide", {f"{name}.md": f"# Topic {name}\n\n{LONG}\n" for name in "ab"})

    with Assistant.of(folder, settings=Settings(home=tmp_path / "home")) as assistant:
        (folder / "a.md").unlink()
        questions = draft(assistant, 5)

    assert [question.lines[0].path for question in questions] == ["b.md"]


def test_a_draft_is_the_same_each_time_and_can_be_read(tmp_path: Path) -> None:

    questions = drafted(tmp_path, SAMPLE)

    assert questions == drafted(tmp_path, SAMPLE)
    assert read_questions("\n".join(json.dumps(question.to_dict()) for question in questions)) == questions
