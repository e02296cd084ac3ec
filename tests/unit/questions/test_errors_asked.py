from __future__ import annotations

import pytest

from openbook.questions.question import read_question


@pytest.mark.parametrize(
    ("question", "error"),
    [
        ("why do I get QuayFullError?", "QuayFullError"),
        ("Why QuayFullError?", "QuayFullError"),
        ("Why am I getting a `QuayFullError` when mooring", "QuayFullError"),
        ("why does my dock sometimes get QuayFullError", "QuayFullError"),
        ("why does `dock.moor` fail with QuayFullError", "QuayFullError"),
        ("why my dock gets QuayFullError", "QuayFullError"),
        ("why am I seeing QuayFullError", "QuayFullError"),
        ("why do we see QuayFullError", "QuayFullError"),
        ("why do we hit QuayFullError", "QuayFullError"),
        ("why does it receive QuayFullError", "QuayFullError"),
        ("Why did I got QuayFullError", "QuayFullError"),
        ("why does moor return QuayFullError", "QuayFullError"),
        ("why does QuayFullError occur", "QuayFullError"),
        ("when is dock.QuayFullError raised?", "QuayFullError"),
        ("where is ErrFull returned", "ErrFull"),
        ("when is errFull returned", "errFull"),
        ("where do we throw QuayFullError", "QuayFullError"),
        ("when can QuayFullError happen", "QuayFullError"),
        ("when will QuayFullError be triggered", "QuayFullError"),
        ("When does `moor` raise QuayFullError?", "QuayFullError"),
        ("what causes ErrFull", "ErrFull"),
        ("What could trigger QuayFullError", "QuayFullError"),
        ("which function raises QuayFullError", "QuayFullError"),
        ("who throws QuayFullError", "QuayFullError"),
        ("what is the reason for QuayFullError", "QuayFullError"),
        ("possible causes of QuayFullError", "QuayFullError"),
        ("why do I get a Timeout error", "Timeout"),
        ("when is the Timeout exception raised", "Timeout"),
        ("what raises the exception Timeout", "Timeout"),
        ("what raises the error Timeout", "Timeout"),
        ("why do I get ENOENT", "ENOENT"),
        ("why doesn't the dock raise QuayFullError if it's late", "QuayFullError"),
        ("what are the docks' reasons for QuayFullError on the docks' quays", "QuayFullError"),
    ],
)
def test_the_error_whose_cause_is_asked_for_is_found(question: str, error: str) -> None:
    assert read_question(question).error == error


@pytest.mark.parametrize(
    "question",
    [
        "What does QuayFullError do?",
        "Where is QuayFullError defined?",
        "QuayFullError",
        "why do I get wet",
        "why do I get JSON back",
        "why do I get EU docks",
        "when is Dock.moor returned",
        "who triggers on_full",
        "why is QuayFullError a class",
        "what returns QuayStatus",
        "why do we use QuayStatus",
        "why do we use QuayStatus to let docks get ships",
        "why do I get SEVERAL docks",
        f"when is QuayFullError told in {'long ' * 50}tales and raised",
        "why does it seem that QuayStatus is old",
        "why do widgets show QuayStatus",
        "how do I raise QuayFullError",
        "how do I get QuayFullError from the dock",
        "what happens when QuayFullError is raised",
        'why do I get "the Dock.QuayFull is full"?',
        "why do I get 'the Dock.QuayFull is full'",
        "why do I get “the Dock.QuayFull is full”",
        "what causes QuayFullError vs. DockError",
        "Why do I get QuayFullError? " + "The ships are many. " * 30,
    ],
)
def test_other_questions_ask_for_no_cause(question: str) -> None:
    assert read_question(question).error == ""
