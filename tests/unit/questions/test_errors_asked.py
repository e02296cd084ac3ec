from __future__ import annotations

import pytest

from openbook.questions.question import read_question


@pytest.mark.parametrize(
    ("question", "error"),
    [
        ("why do I get QuayFullError?", "QuayFullError"),
        ("Why am I getting a `QuayFullError` when mooring", "QuayFullError"),
        ("when is dock.QuayFullError raised?", "QuayFullError"),
        ("where is ErrFull returned", "ErrFull"),
        ("what causes ErrFull", "ErrFull"),
        ("who throws QuayFullError", "QuayFullError"),
        ("When does `moor` raise QuayFullError?", "QuayFullError"),
        ("what is the reason for QuayFullError", "QuayFullError"),
        ("when is err_full returned", "err_full"),
        ("why do I get a Timeout error", "Timeout"),
        ("what raises the exception Timeout", "Timeout"),
        ("why do I get MOORED", "MOORED"),
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
        'why do I get "the Dock.moor is full"?',
        "why do I get 'the Dock.moor is full'",
        "why do I get “the Dock.moor is full”",
        "what causes QuayFullError vs. DockError",
    ],
)
def test_other_questions_ask_for_no_cause(question: str) -> None:
    assert read_question(question).error == ""
