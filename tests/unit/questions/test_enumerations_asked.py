"""Questions for an enumeration, or for one of its values."""

from __future__ import annotations

import pytest

from openbook.questions.question import read_question


@pytest.mark.parametrize(
    "question",
    [
        "what is the MooringKind enum",
        "What does the `MooringKind` enum mean?",
        "explain enum MooringKind",
        "What is MooringKind?",
        "what does MooringKind represent",
        "what are the variants of MooringKind",
        "list all possible values of the MooringKind enum",
        "Which values can MooringKind have?",
        "which mooring kinds are there?",
        "what mooring kinds exist in the harbour",
        "Which supported mooring-kind values are there?",
        "what kinds of moorings are there?",
        "members of harbour.MooringKind",
    ],
)
def test_an_enumeration_is_asked_for_by_its_name_or_the_words_of_it(question: str) -> None:
    asked = read_question(question).enumeration

    assert asked is not None
    assert asked.is_name("MooringKind")
    assert not asked.is_name("Mooring") or "kinds of" in question
    assert not asked.member


@pytest.mark.parametrize("name", ["MooringKind::Swing", "MooringKind.Swing", "harbour::MooringKind::Swing"])
def test_a_value_is_asked_for_by_its_qualified_name(name: str) -> None:
    asked = read_question(f"What does {name} do?").enumeration

    assert asked is not None
    assert asked.is_name("MooringKind")
    assert asked.member == "Swing"


@pytest.mark.parametrize(
    "question",
    [
        "What is a mooring?",  # a term, which prose defines
        "What does the crane do?",
        "Who uses MooringKind.Swing?",
        "Which arguments does MooringKind.parse take?",
        "What is the difference between MooringKind.Swing and a pile?",
        "Why do I get MooringKind.Swing thrown?",
        "what are the values of it",
    ],
)
def test_other_questions_ask_for_none(question: str) -> None:
    assert read_question(question).enumeration is None
