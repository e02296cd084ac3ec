"""Defaults that a section labels: `**Default:** 5` below the heading of what it is the default of."""

from __future__ import annotations

import pytest

from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of

ABOUT = "The crane stops when a lift takes too long, which is not what its crew expects of it."
SAID = "Crews say that the default lift timeout is long enough for 9 of their lifts, even in a windy harbour."
TOLD = chunk_of(SAID, "guide.md")


@pytest.mark.parametrize(
    "label",
    [
        "- **Default:** `5_000`",
        "**Type: `number`**\\\n**Default: `5_000`**",
        "_Default value:_ `5_000`",
        "Default value: 5_000",
        "| Default | 5_000 |",
    ],
)
@pytest.mark.parametrize("question", ["default lift timeout", "What is the default number of the lift timeout?"])
def test_the_label_of_a_default_below_its_heading_answers_first(question: str, label: str) -> None:
    section = chunk_of(f"## liftTimeout\n\n{label}\n\n{ABOUT}\n\n{ABOUT.upper()}", "lift.md")

    assert "5_000" in quotes(picked(question, TOLD, section))[0]


@pytest.mark.parametrize(
    ("question", "section"),
    [
        ("default lift timeout", "## dropTimeout\n\n**Default:** `5_000`"),
        ("default lift timeout", "## liftTimeout\n\nThe default is not told here: 5_000 or more"),
        ("lift timeout", "## liftTimeout\n\n**Default:** `5_000`"),
    ],
    ids=["other heading", "sentence", "other question"],
)
def test_other_lines_and_other_questions_have_no_label_to_prefer(question: str, section: str) -> None:
    found = quotes(picked(question, TOLD, chunk_of(f"{section}\n\n{ABOUT}", "lift.md")))

    assert found[0] == SAID


def test_a_default_that_is_a_word_of_the_question_does_not_only_repeat_it() -> None:
    section = chunk_of(f"## harbourFolder\n\nDefault: `harbour`\n\n{ABOUT}", "folder.md")
    other = chunk_of("The default harbour folder has 9 files that the crew keeps in good order.", "guide.md")

    assert "`harbour`" in quotes(picked("default harbour folder", other, section))[0]


def test_a_branch_of_code_is_no_label() -> None:
    code = chunk_of("default: return 5_000", "lift.c", kind="code", language="c", context=("liftTimeout",))

    assert quotes(picked("default lift timeout", TOLD, code))[0] == SAID
