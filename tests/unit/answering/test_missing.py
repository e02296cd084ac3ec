"""Words of a question that a library lacks."""

from __future__ import annotations

import pytest

from openbook.answering.missing import missing_words
from openbook.questions.question import read_question


@pytest.mark.parametrize(
    ("question", "known", "missing"),
    [
        pytest.param("How do retries end?", {"retri": 3}, ("end",), id="one"),
        pytest.param("How do Retries End?", {}, ("Retries", "End"), id="as-written-and-in-order"),
        pytest.param("retry Retry retry", {}, ("retry", "Retry"), id="each-spelling-once"),
        pytest.param("upstream_fails fails", {"upstream": 1, "fail": 1}, ("upstream_fails",), id="a-name-is-a-whole"),
        pytest.param("getUser fails", {"getus": 1, "fail": 1}, (), id="however-it-is-spelled"),
        pytest.param("where is the retry", {"retri": 1}, (), id="words-of-asking-do-not-count"),
        pytest.param("where do I put a retry", {"retri": 1}, (), id="nor-do-everyday-words"),
        pytest.param("where do I PUT a retry", {"retri": 1}, ("PUT",), id="but-their-namesakes"),
        pytest.param("which lessons mention retry", {"retri": 1}, (), id="nor-does-the-phrase-for-places"),
    ],
)
def test_missing_words_stand_nowhere_in_the_library(
    question: str, known: dict[str, int], missing: tuple[str, ...]
) -> None:
    assert missing_words(read_question(question), known) == missing
