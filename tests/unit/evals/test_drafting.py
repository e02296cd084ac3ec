"""Questions that a library proposes of itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from openbook.evals.drafting import draft
from openbook.evals.questions import EvalQuestion, read_questions
from openbook.library import Library
from openbook.settings import Settings
from tests.support import write_tree

SAMPLE = Path(__file__).parents[2] / "sample"
LONG = (
    "It says much about this and that, and it goes on for more than a line or two, so that there is something to ask."
)


def drafted(tmp_path: Path, *folders: Path, count: int = 100) -> list[EvalQuestion]:
    with Library.of(*folders, settings=Settings(home=tmp_path / "home")) as assistant:
        return draft(assistant, count)


def test_values_headings_and_lessons_become_questions_with_their_lines(tmp_path: Path) -> None:
    questions = {question.text: str(question.lines[0]) for question in drafted(tmp_path, SAMPLE) if question.lines}

    assert questions["What is `LOST_AFTER_DAYS` set to?"] == "harbour/parcels.py:11-11"
    assert questions["Where is my parcel?"] == "web/index.html:8-9"
    assert "What is lesson 1, Lifting, of Working at the Quay about?" in questions


@pytest.mark.parametrize("count", [1, 5, 9])
def test_there_are_as_many_as_wanted_and_no_two_of_one_file_while_others_wait(tmp_path: Path, count: int) -> None:
    questions = [question for question in drafted(tmp_path, SAMPLE, count=count) if question.lines]

    assert len({question.lines[0].path for question in questions}) == len(questions)
    assert len(questions) == count - count // 5


def test_questions_have_facts_where_they_can_and_different_forms(tmp_path: Path) -> None:
    """Each file here allows three forms, and one of them without a fact."""
    body = '    """Return the {0} of the quay."""\n    return 1\n\n\nclass Quay{0}:\n    """Moors: in words."""\n'
    code = "MAX_{1} = 250\n\n\ndef quay_{0}(depth=12.5):\n" + body
    names = ("depth", "width", "height", "reach")
    folder = write_tree(tmp_path / "quay", {f"{name}.py": code.format(name, name.upper()) for name in names})

    questions = drafted(tmp_path, folder, count=4)

    assert all(question.facts for question in questions if not question.unanswerable)
    assert len({question.text.partition("`")[0] for question in questions if not question.unanswerable}) == 3


def test_files_are_taken_from_the_whole_library(tmp_path: Path) -> None:
    write_tree(tmp_path / "guide", {f"page-{n:02}.md": f"# Using page {n}\n\n{LONG}\n" for n in range(40)})

    questions = drafted(tmp_path, tmp_path / "guide", count=4)

    assert [question.lines[0].path for question in questions] == [f"page-{n}.md" for n in ("00", "10", "20", "30")]


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("Configuring the `forward_auth` directive", "How do I configure the forward_auth directive?"),
        ("Configuring the forward_auth directive", "How do I configure the forward_auth directive?"),
        (r"Configuring auth\_request and **nginx**", "How do I configure auth_request and nginx?"),
        ("Using _the_ [log](log.md) __in all cases__", "How do I use the log in all cases?"),
        ("Test / Debugging", None),
    ],
)
def test_the_heading_of_a_guide_becomes_a_question_with_its_names(
    tmp_path: Path, heading: str, question: str | None
) -> None:
    write_tree(tmp_path / "guide", {"page.md": f"# {heading}\n\n{LONG}\n"})

    questions = [each.text for each in drafted(tmp_path, tmp_path / "guide") if each.lines]

    assert questions == ([question] if question else [])


def test_tests_and_licences_come_last(tmp_path: Path) -> None:
    names = ("LICENSE.md", "tests/guide.md", "zebra.md")
    write_tree(tmp_path / "guide", {name: f"# Using {name}\n\n{LONG}\n" for name in names})

    questions = drafted(tmp_path, tmp_path / "guide")

    assert [question.lines[0].path for question in questions] == ["zebra.md", "LICENSE.md", "tests/guide.md"]


def test_one_in_five_is_about_something_that_the_library_has_nowhere(tmp_path: Path) -> None:
    guide = {f"page-{n}.md": f"# Using page {n}\n\n{LONG} We use Kafka.\n" for n in range(14)}
    folder = write_tree(tmp_path / "guide", {**guide, "ages.py": "MAX_AGE = 250\n", "tokens.py": "TOKEN_SIZE = 512\n"})

    questions = drafted(tmp_path, folder, count=20)

    unanswerable = [question.text for question in questions if question.unanswerable]
    assert (len(questions), len(unanswerable)) == (20, 4)
    assert unanswerable[0] == "What is `MAX_SIZE` set to?"
    assert not any("Kafka" in text for text in unanswerable)


def test_no_question_is_proposed_twice(tmp_path: Path) -> None:
    write_tree(tmp_path / "guide", {f"{name}/index.md": f"# Using it\n\n{LONG} {name}\n" for name in ("a", "b")})

    assert len(drafted(tmp_path, tmp_path / "guide")) == 1


def test_of_several_sources_the_name_stands_before_the_path(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_tree(tmp_path / name, {"a.md": f"# Using {name}\n\n{LONG}\n"})

    questions = drafted(tmp_path, tmp_path / "one", tmp_path / "two")

    assert [question.lines[0].path for question in questions] == ["one/a.md", "two/a.md"]


def test_a_file_that_went_meanwhile_is_left_out(tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "guide", {f"{name}.md": f"# Using {name}\n\n{LONG}\n" for name in "ab"})

    with Library.of(folder, settings=Settings(home=tmp_path / "home")) as assistant:
        (folder / "a.md").unlink()
        questions = draft(assistant, 5)

    assert [question.lines[0].path for question in questions] == ["b.md"]


def test_a_draft_is_the_same_each_time_and_can_be_read(tmp_path: Path) -> None:

    questions = drafted(tmp_path, SAMPLE)

    assert questions == drafted(tmp_path, SAMPLE)
    assert read_questions("\n".join(json.dumps(question.to_dict()) for question in questions)) == questions
