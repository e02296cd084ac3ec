"""Words that only make a sentence, in languages other than English."""

from __future__ import annotations

import pytest

from openbook.questions.words import foreign_words, telling_words


@pytest.mark.parametrize(
    ("question", "telling"),
    [
        ("Was macht die Option cycle?", {"option", "cycle"}),
        ("Comment désactiver le journal ?", {"désactiver", "journal"}),
        ("¿Cómo se registra un muelle?", {"registra", "muelle"}),
    ],
)
def test_what_is_left_of_a_question_in_another_language_is_what_it_asks_for(question: str, telling: set[str]) -> None:
    words = {word.strip("¿?") for word in question.lower().split()} - {""}

    assert words - foreign_words(question) == telling


@pytest.mark.parametrize("question", ["What does the comment on man pages say?", "comment syntax", "die casting"])
def test_english_words_that_look_like_them_stay(question: str) -> None:
    assert not foreign_words(question)


@pytest.mark.parametrize(
    ("question", "telling"),
    [
        ("自転車のタイヤはどうやって交換しますか？", ["自転車のタイヤ", "交換"]),
        ("どうすればよいですか", ["どうすればよいですか"]),
    ],
)
def test_endings_of_japanese_are_not_what_is_asked(question: str, telling: list[str]) -> None:
    assert telling_words(question) == telling
