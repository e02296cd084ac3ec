"""Questions for a number, and texts that state it."""

from __future__ import annotations

import pytest

from openbook.questions.question import read_question
from openbook.questions.values_asked import number_strength

RARITY = {"rope": 2.0, "pier": 1.0}


@pytest.mark.parametrize(
    "question",
    [
        "How long may a rope be?",
        "how often is it checked",
        "What is the maximum size of a ship?",
        "Wie oft legt sie an?",
        "Which port does it use?",
        "what metrics port is open",
    ],
)
def test_a_number_is_asked_for(question: str) -> None:
    assert read_question(question).asks_for_number


@pytest.mark.parametrize(
    "question", ["How do I splice a rope?", "What is a long rope?", "Where is the port?", "Which ports are open?"]
)
def test_other_questions_ask_for_no_number(question: str) -> None:
    assert not read_question(question).asks_for_number


@pytest.mark.parametrize(
    ("text", "strength"),
    [
        ("MAX_ROPE_LENGTH_OF_PIER = 5", 1.0),
        ("A rope of a pier has five minutes.", 1.0),
        ("rope_timeout: 5s", 2 / 3),
        ("rope: 5", 1 / 3),
        ("rope port 5", 2 / 3),
        ("# The longest rope, in seconds\nlimit = 5", 1 / 3),
        ("# The rope of the pier\n\nlimit = 5", 1 / 2),
        ("rope\nlimit\nnone = 5", 0.0),
        ("rope limit\nrope = 5", 2 / 3),
        ("the maximum of the rope", 0.0),
        ("rope5 limit v1.2", 0.0),
        (f"max rope 5 {'x ' * 200}", 0.0),
        ("rope limit 5\npier limit 5", 2 / 3),
    ],
    ids=[
        "all",
        "word",
        "unit",
        "no-limit",
        "port",
        "line-before",
        "blank-line-between",
        "two-lines-before",
        "line-before-and-line",
        "no-number",
        "name-and-version",
        "data",
        "best-line",
    ],
)
def test_a_text_has_the_number_if_a_line_has_it_beside_the_words_of_the_question(text: str, strength: float) -> None:
    assert number_strength(text, RARITY) == pytest.approx(strength)


def test_a_question_without_known_words_has_no_number() -> None:
    assert number_strength("max = 5", {}) == 0.0


@pytest.mark.parametrize("text", ["1" * 20_000, "1." * 10_000, "1 " * 10_000, "how long " * 2_500])
def test_long_texts_are_read_at_once(text: str) -> None:
    assert number_strength(text, RARITY) == 0.0
