"""How far what was found speaks of a question."""

from __future__ import annotations

import pytest

from openbook.answering.answerable import SUPPORT_FLOOR, support
from openbook.retrieval.tokens import tokenize
from openbook.testing import HashEmbedder
from tests.unit.retrieval.material import chunk_of, result_of

EMBEDDER = HashEmbedder()
ANSWER = "The retry policy waits one minute."


def support_of(text: str, *found: str, words: str = "") -> float:
    rarity = dict.fromkeys(tokenize(words or text), 1.0)
    results = [result_of(chunk_of(chunk, f"{number}.md")) for number, chunk in enumerate(found)]
    return support(text, results, EMBEDDER, rarity)


def test_without_results_nothing_is_supported() -> None:
    assert support_of("retry policy") == 0.0


def test_a_sentence_that_says_it_is_more_than_its_words_here_and_there() -> None:
    scattered = "The policy is old. A retry is dear. Whoever waits pays. It takes one day. A minute has seconds."

    assert support_of("retry policy waits one minute", ANSWER) > support_of("retry policy waits one minute", scattered)


def test_what_is_said_elsewhere_in_the_chunk_counts_too() -> None:
    alone = support_of("retry policy of the harbour", ANSWER)
    together = support_of("retry policy of the harbour", f"This is the harbour. {ANSWER}")

    assert together > alone


def test_the_best_of_the_first_three_results_decides() -> None:
    others = ["Ferries sail at noon.", "Dogs stay at home."]

    third = support_of("retry policy", *others, ANSWER)
    fourth = support_of("retry policy", *others, "Cats, too.", ANSWER)

    assert fourth < SUPPORT_FLOOR < third


def test_earlier_turns_lend_nearness_and_no_words() -> None:
    last = "who painted it"

    stands_alone = support_of(last, ANSWER)
    follows = support_of(f"the retry policy waits one minute {last}", ANSWER, words=last)
    as_one = support_of(f"the retry policy waits one minute {last}", ANSWER)

    assert stands_alone < follows < as_one


@pytest.mark.parametrize("text", [ANSWER, "retry"])
def test_support_lies_between_zero_and_one(text: str) -> None:
    assert 0.0 <= support_of(text, ANSWER) <= 1.0 + 1e-6
