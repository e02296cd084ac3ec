"""What the words of a text tell: whether it is a question, and what answers it."""

from __future__ import annotations

import pytest

from openbook.questions.forms import documentation_odds, is_question
from openbook.questions.linear_model import MAX_CHARS, load_model
from openbook.questions.question import read_question


@pytest.mark.parametrize(
    "text",
    [
        "which code drops a line that is too old",
        "what decides when my session is renewed",
        "import my bookmarks from another browser",
        "send everything to my own server instead of the default one",
    ],
)
def test_a_question_is_told_by_its_words_alone(text: str) -> None:
    assert is_question(text)
    assert read_question(text).view == "passages"


@pytest.mark.parametrize(
    "text",
    ["session renewal", "retry policy of the client", "error handling middleware", "how sessions are renewed", "JWT"],
)
def test_a_topic_is_none(text: str) -> None:
    assert not is_question(text)
    assert read_question(text).view == "files"


def test_a_single_name_is_a_symbol_whatever_its_words() -> None:
    assert read_question("which").view == read_question("myServer").view == "files"


@pytest.mark.parametrize(
    "text", ["Wie werden Sitzungen verlängert", "谁发送饼干", "my server " * (MAX_CHARS // 10 + 1)]
)
def test_nothing_is_told_of_other_languages_and_of_long_texts(text: str) -> None:
    assert load_model("forms").scores(text) is None
    assert not is_question(text)
    assert documentation_odds(text) == 0.0


def test_documentation_answers_how_to_and_code_answers_where() -> None:
    odds = [documentation_odds(text) for text in ("How do I renew my session?", "Where is the session renewed?")]

    assert odds[0] > 1.0 > -1.0 > odds[1]


def test_a_setting_may_be_described_anywhere() -> None:
    question = read_question("What does max_load do?")

    assert question.settings
    assert documentation_odds(question.text) != question.documentation_odds == 0.0
    assert read_question("How do I renew my session?").documentation_odds > 1.0


def test_a_name_with_a_sign_is_rather_described_in_documentation() -> None:
    question = read_question("what does :moor do")

    assert question.settings
    assert question.documentation_odds == documentation_odds(question.text) > 0.0
