from __future__ import annotations

import pytest

from openbook.questions.small_talk import is_arithmetic, is_small_talk


@pytest.mark.parametrize(
    "text",
    [
        *("thanks", "Thank you very much!", "Thanks, that helped a lot!", "Vielen Dank", "Danke schön."),
        *("hi there", "Good morning!", "hello openbook, how are you?", "Guten Tag", "bye"),
        *("What can you do?", "What can I ask you?", "Who are you?", "How can you help me?", "help", "Was kannst du?"),
    ],
)
def test_greetings_thanks_and_questions_about_the_answerer_need_no_source(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "?", "Hi, what is a parcel?", "hello world example", "Help me install it", "thank you notes"),
        *("What can you do with a parcel?", "Who are you calling from the crane?", "thanks " * 40),
    ],
)
def test_what_asks_something_of_the_sources_is_none(text: str) -> None:
    assert not is_small_talk(text)


@pytest.mark.parametrize(
    "text", ["42", "2024-11-23", "10-20", "HTTP 404/405", "3.11.2", "What is 42?", "1 + x", "Why is 2+2 in the test?"]
)
def test_numbers_that_sources_may_speak_of_are_no_arithmetic(text: str) -> None:
    assert not is_arithmetic(text)
