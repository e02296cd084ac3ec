from __future__ import annotations

import pytest

from openbook.questions.question import read_question
from openbook.tokens import tokenize


@pytest.mark.parametrize(
    ("question", "name", "owners"),
    [
        ("which arguments does Crane.lift take?", "lift", ("Crane",)),
        ("What parameters does the Crane constructor accept?", "Crane", ()),
        ("which arguments does the @hoist decorator take", "hoist", ()),
        ("How many args does lift_all() have?", "lift_all", ()),
        ("what keyword arguments does `hoist` support in version2", "hoist", ()),
        ("what parameters are required by crane::lift", "lift", ("crane",)),
        ("What arguments do I pass to the lift method?", "lift", ()),
        ("parameters of Crane.lift", "lift", ("Crane",)),
        ("show me the signature of the function hoist", "hoist", ()),
        ("the constructor parameters of CraneDriver", "CraneDriver", ()),
        ("Crane.lift signature", "lift", ("Crane",)),
        ("what does Crane.lift accept as arguments?", "lift", ("Crane",)),
    ],
)
def test_parameters_of_a_name_are_asked_for_in_words_that_are_not_searched_for(
    question: str, name: str, owners: tuple[str, ...]
) -> None:
    asked = read_question(question)

    assert (asked.asks_for_parameters, asked.identifiers, asked.owners) == (True, (name,), (owners,))
    assert asked.view == "passages"
    assert set(tokenize("arguments parameters signature constructor take accept")).isdisjoint(asked.tokens)


def test_a_word_that_may_be_a_program_is_searched_for_with_what_is_asked_of_it() -> None:
    asked = read_question("Which arguments does hoist take?")

    assert (asked.asks_for_parameters, asked.identifiers) == (True, ("hoist",))
    assert {"argument", "hoist"} <= set(asked.tokens)


@pytest.mark.parametrize(
    "question",
    [
        "What does the parameter load of hoist mean?",
        "Which arguments does the lift command take?",
        "What does hoist accept?",
        "What does --load accept?",
        "Where are the parameters of Crane.lift checked?",
        f"which arguments does {'Crane.' * 40}lift take?",
    ],
)
def test_other_questions_ask_for_no_parameters(question: str) -> None:
    assert not read_question(question).asks_for_parameters


def test_a_question_for_a_signature_asks_for_no_term() -> None:
    assert read_question("What is the signature of lift_all?").term is None
