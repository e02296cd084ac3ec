"""Questions for the summary of one document."""

from __future__ import annotations

import pytest

from openbook.questions.question import read_question


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Summarise this document", set()),
        ("Can you sum up the minutes of 20 March 2024?", set()),
        ("Give me a summary of the tide report", {"tide"}),
        ("What are the key points of the note on ropes?", {"rope"}),
        ("What was decided on 13 March 2024?", set()),
        ("What did we discuss in the meeting on March 13th?", set()),
        ("Fasse das Protokoll vom 20. März zusammen", set()),
        ("Was wurde am 20.3. beschlossen?", set()),
        ("Résume ce document", set()),
        ("Resumen del acta del 20 de marzo", set()),
    ],
)
def test_a_summary_is_asked_for(question: str, words: set[str]) -> None:
    assert read_question(question).summarized == frozenset(words)


@pytest.mark.parametrize(
    "question",
    [
        "What was decided on ropes?",
        "What was decided on ropes on 13 March 2024?",
        "What happened in March?",
        "Who wrote the summary?",
        "Summarise section 6 of the charter",
    ],
)
def test_other_questions_ask_for_no_summary_of_a_document(question: str) -> None:
    assert read_question(question).summarized is None
