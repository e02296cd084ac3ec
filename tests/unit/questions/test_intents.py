from __future__ import annotations

import pytest

from openbook.questions.question import intents_of


@pytest.mark.parametrize(
    ("question", "intents"),
    [
        ("How do I retry a failed job?", {"how-to", "personal"}),
        ("how to cancel a request", {"how-to"}),
        ("Can I cancel it?", {"how-to", "personal"}),
        ("Is there a way to stop the worker?", {"how-to"}),
        ("Wie kann ich das ausschalten?", {"how-to", "personal"}),
        ("Comment puis-je l'installer ?", {"how-to", "personal"}),
        ("¿Cómo puedo instalarlo?", {"how-to"}),
        ("Where are jobs retried?", {"where"}),
        ("Which internal function splits the list?", {"where"}),
        ("Wo wird das geprüft?", {"where"}),
        ("How does the scheduler work?", {"mechanism"}),
        ("how are retries scheduled", {"mechanism"}),
        ("Wie funktioniert der Scheduler?", {"mechanism"}),
        ("Comment fonctionne le cache ?", {"mechanism"}),
        ("How do they differ?", {"mechanism"}),
        ("retry policy", set()),
        ("Why is it slow?", set()),
    ],
)
def test_what_a_question_wants(question: str, intents: set[str]) -> None:
    assert intents_of(question) == intents


@pytest.mark.parametrize(
    "question",
    [
        "Who calls `moor`?",
        "What uses Harbour.moor?",
        "Which tests cover moor_ship?",
        "Where is MoorError thrown?",
        "How is moor_ship used?",
        "callers of moor_ship",
        "tests for moor_ship",
        "Wer ruft moor_ship auf?",
        "Wo wird moor_ship benutzt?",
    ],
)
def test_questions_for_uses_are_told(question: str) -> None:
    assert "uses" in intents_of(question)


@pytest.mark.parametrize(
    "question", ["What does moor_ship call?", "Where is moor_ship defined?", "What is moor_ship?", "How do I use it?"]
)
def test_questions_for_what_something_is_or_does_are_not(question: str) -> None:
    assert "uses" not in intents_of(question)
