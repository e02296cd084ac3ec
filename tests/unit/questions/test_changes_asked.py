"""Questions for the release of a change."""

from __future__ import annotations

import pytest

from openbook.questions.question import read_question


@pytest.mark.parametrize(
    ("question", "done", "topic"),
    [
        ("Which version added the --tide flag?", "added", "the --tide flag"),
        ("what release of harbour introduced night mooring", "added", "night mooring"),
        ("which version introduced --rope-limit", "added", "--rope-limit"),
        ("in which version was `Quay.close` deprecated?", "deprecated", "`Quay.close`"),
        ("In what release was the pier command removed", "removed", "the pier command"),
        ("which harbour version renamed pier to quay?", "renamed", "pier to quay"),
        ("since when can I moor by night", "added", "can I moor by night"),
        ("from which release on can ships moor by night?", "added", "can ships moor by night"),
        ("since what version is the tide table available?", "added", "the tide table"),
        ("when was drop-rope added to quay.remove", "added", "drop-rope to quay.remove"),
        ("When did harbour drop support for old ropes?", "removed", "harbour support for old ropes"),
    ],
)
def test_the_release_of_a_change_is_asked_for(question: str, done: str, topic: str) -> None:
    asked = read_question(question)

    assert asked.change is not None
    assert (asked.change.done, asked.change.topic) == (done, topic)
    assert (asked.view, asked.settings, asked.intents, asked.documentation_odds) == ("passages", (), frozenset(), 0.0)


def test_the_frame_of_the_question_is_not_searched_for() -> None:
    assert read_question("Since which version was the tide chart added?").tokens == ("tide", "chart")


@pytest.mark.parametrize(
    "question",
    [
        "When is the rope removed?",
        "When does a ship return?",
        "When was the tide table read?",
        "Which version of Python does it need?",
        "From which version of Python on does it run?",
        "Which version is the tide table?",
        "Which lessons added in version 2 explain ropes?",
        "Which version added this?",
        'When was "the quay is full" added?',
        "Which version added ropes vs piers",
    ],
)
def test_other_questions_ask_for_no_change(question: str) -> None:
    assert read_question(question).change is None


def test_the_sides_of_a_comparison_are_searched_for() -> None:
    assert read_question("Which version added ropes vs piers").tokens == ("version", "add", "rope", "pier")


def test_a_question_without_another_word_is_searched_for_as_it_is() -> None:
    assert read_question("Which version added this?").tokens == ("version", "add")
