from __future__ import annotations

import pytest

from openbook.questions.lists_asked import list_of, words_of
from openbook.questions.question import read_question


@pytest.mark.parametrize(
    ("question", "things"),
    [
        ("Which rope types are supported?", "rope types"),
        ("which moorings can I use", "moorings"),
        ("What kinds of ropes are there?", "ropes"),
        ("On what piers does it run?", "piers"),
        ("crane: what modes are there for lifting", "modes"),
        ("What are the possible states of a ship?", "states"),
        ("list all the piers that have a crane", "piers"),
        ("kinds of ropes I can use", "ropes"),
        ("supported rope types", "rope types"),
        ("mooring strategies available", "mooring strategies"),
    ],
)
def test_the_list_of_things_is_asked_for(question: str, things: str) -> None:
    asked = read_question(question)

    assert asked.listed is not None
    assert (asked.listed.things, asked.view) == (things, "passages")


@pytest.mark.parametrize(
    "question",
    [
        "What keeps two ships from colliding?",
        "Which pier is the longest?",
        "Which class takes the ropes?",
        "what happens if the ropes break",
        "Is every rope supported?",
        "What is the difference between ropes and chains?",
        "What are ropes?",
        "Which lessons talk about ropes?",
        "Which values can max_load take?",
        "Which ropes are there? " + "The harbour has many of them. " * 10,
    ],
)
def test_other_questions_ask_for_no_list(question: str) -> None:
    assert read_question(question).listed is None


def test_the_opening_of_a_list_has_the_last_of_the_words_at_least() -> None:
    asked = list_of("Which rope types are supported?")

    assert asked is not None
    said = ("Supported types of rope:", "All types:", "Ropes:")
    assert [asked.share_of(each) for each in said] == [1.0, 0.5, 0.0]


@pytest.mark.parametrize(
    ("title", "added"),
    [
        ("Rope types", set()),
        ("Supported types", set()),
        ("List of rope types", set()),
        ("Types in the harbour", set()),
        ("Rope types reference", set()),
        ("Built-in rope types", set()),
        ("Old tow rope types", {"old", "tow"}),
        ("Pier types", None),
        ("Type", None),
        ("Ropes", None),
        ("", None),
    ],
)
def test_a_title_adds_words_to_the_things_or_is_on_others(title: str, added: set[str] | None) -> None:
    asked = list_of("Which rope types are supported?")

    assert asked is not None
    assert asked.words_added_by(title) == added


def test_a_name_of_a_kind_ends_with_the_word_for_it() -> None:
    asked = list_of("Which boxes, ferries and classes are there?") or list_of("Which ferries are there?")

    assert asked is not None
    assert [asked.is_kind(each) for each in ("CarFerry", "Car ferries", "Ferry", "FerryPier")] == [
        True,
        True,
        False,
        False,
    ]


def test_words_are_read_in_the_singular() -> None:
    assert words_of("HTTPRopes, ferries and a class, as") == ["http", "rope", "ferry", "and", "a", "class", "as"]
