from __future__ import annotations

import pytest

from openbook.questions.intents import intents_of
from openbook.questions.question import read_question


@pytest.mark.parametrize(
    ("question", "intents"),
    [
        ("How do I retry a failed job?", {"how-to"}),
        ("how to cancel a request", {"how-to"}),
        ("Can I cancel it?", {"how-to"}),
        ("Is there a way to stop the worker?", {"how-to"}),
        ("Wie kann ich das ausschalten?", {"how-to"}),
        ("Comment puis-je l'installer ?", {"how-to"}),
        ("¿Cómo puedo instalarlo?", {"how-to"}),
        ("Where are jobs retried?", {"where"}),
        ("Where do I set the timeout?", {"how-to"}),
        ("where should one store secrets", {"how-to"}),
        ("where to put the rope", {"how-to"}),
        ("Where do I find the error log of the harbour?", {"how-to"}),
        ("Where could we moor?", {"how-to"}),
        ("Where do we count retries?", {"where"}),
        ("Where do you count retries?", {"where"}),
        ("the order of jobs, and where it is set", {"where"}),
        ("Can I moor in a harbour where no buoy floats?", {"how-to"}),
        ("the old harbour where ships lie", set()),
        ("How can I pass ropes to a WHERE clause?", {"how-to"}),
        ("Where is mooring implemented?", {"where"}),
        ("Find the place where jobs are retried", {"where"}),
        ("show me the function where it moors", {"where"}),
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
        "Where is Mooring implemented by ships?",
        "callers of moor_ship",
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


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Can I include a file?", True),
        ("does it run on ships", True),
        ("Kann ich Dateien einbinden?", True),
        ("Peut-on ouvrir le port ?", True),
        ("¿Se puede cerrar el puerto?", True),
        ("Can you show me how ships moor?", False),
        ("Is there a way to moor two ships?", False),
        ("How can I include a file?", False),
        ("Which ships can moor?", False),
        ("Can ships moor at night?", True),
        ("Können Schiffe nachts ankern?", True),
        ("is there a limit of ships", True),
        ("Does anyone know how to moor a ship?", False),
        ("Can someone explain how ships are moored?", False),
        ("Is it slow when mooring, and how do I mend that?", False),
        ("Gibt es eine Möglichkeit, ein Schiff zu vertäuen?", False),
        ("Können Sie mir ein Beispiel zeigen?", False),
        ("Kann mir jemand sagen, wie man ein Schiff vertäut?", False),
        ("Y a-t-il un moyen de l'amarrer ?", False),
        ("Est-ce que quelqu'un sait comment l'amarrer ?", False),
        ("¿Hay alguna manera de amarrar un barco?", False),
        ("has-many association", False),
        ("will-change property?", False),
    ],
)
def test_a_question_that_begins_with_its_verb_asks_whether(question: str, expected: bool) -> None:
    assert read_question(question).asks_whether is expected
