from __future__ import annotations

import pytest

from openbook.retrieval.intents import intents_of


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
        ("How does the scheduler work?", set()),
        ("How do they differ?", set()),
        ("retry policy", set()),
        ("Why is it slow?", set()),
    ],
)
def test_what_a_question_wants(question: str, intents: set[str]) -> None:
    assert intents_of(question) == intents
