from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.retrieval.proximity import _SAME_LETTERS, _WINDOW_TOKENS, exactness, expand_inflections, proximity

RARITY = {"retri": 3.0, "polici": 2.0, "wait": 1.0}
WORDS = st.lists(st.sampled_from([*RARITY, "the", "and"]), max_size=90)


@pytest.mark.parametrize("words", [[], ["a", "the"]], ids=["empty", "other-words"])
def test_a_text_without_a_word_of_the_question_is_not_close(words: list[str]) -> None:
    assert proximity(words, RARITY) == 0


def test_a_question_without_a_word_is_close_to_nothing() -> None:
    assert proximity(["retri"], {}) == 0


def test_all_words_side_by_side_and_in_order_are_as_close_as_can_be() -> None:
    assert proximity(list(RARITY), RARITY) == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("closer", "farther"),
    [
        pytest.param("retri polici wait", "retri polici", id="more-words"),
        pytest.param("retri", "wait", id="rarer-word"),
        pytest.param("retri polici", "polici retri", id="in-order"),
        pytest.param("retri the polici", "retri the old polici", id="next-to-each-other"),
        pytest.param("retri polici", "retri wait", id="heavier-pair"),
        pytest.param("retri" + " the" * 20 + " polici", "retri" + " the" * 50 + " polici", id="within-the-window"),
    ],
)
def test_a_text_is_closer(closer: str, farther: str) -> None:
    assert proximity(closer.split(), RARITY) > proximity(farther.split(), RARITY)


def test_words_count_together_up_to_the_width_of_the_window() -> None:
    def apart(distance: int) -> float:
        return proximity(["retri", *["the"] * (distance - 1), "wait"], RARITY)

    assert apart(_WINDOW_TOKENS - 1) > apart(_WINDOW_TOKENS) == proximity(["retri"], RARITY)


def test_a_word_that_repeats_counts_once_and_stays_until_its_last_place_leaves_the_window() -> None:
    once = proximity(["retri"], RARITY)
    gap = ["the"] * (_WINDOW_TOKENS - 2)

    assert proximity(["retri"] * 5, RARITY) == once
    assert proximity(["retri", "retri", *gap, "wait"], RARITY) == proximity(["retri", *gap, "wait"], RARITY) > once


def test_the_best_window_counts_wherever_it_stands() -> None:
    gap = ["the"] * _WINDOW_TOKENS

    assert proximity([*gap, "retri", "polici", *gap, "wait"], RARITY) == proximity(["retri", "polici"], RARITY)


def test_a_single_word_has_no_pairs() -> None:
    assert proximity(["retri"], {"retri": 2.0}) == pytest.approx(0.6)


@given(WORDS)
def test_closeness_lies_between_0_and_nine_tenths(words: list[str]) -> None:
    assert 0 <= proximity(words, RARITY) <= 0.9 + 1e-9


@given(WORDS, WORDS)
def test_more_text_never_lowers_closeness(words: list[str], more: list[str]) -> None:
    assert proximity([*words, *more], RARITY) >= proximity(words, RARITY) - 1e-9


@pytest.mark.slow
@given(WORDS, st.floats(0.1, 100))
def test_closeness_does_not_depend_on_the_unit_of_rarity(words: list[str], factor: float) -> None:
    scaled = {word: factor * weight for word, weight in RARITY.items()}

    assert proximity(words, scaled) == pytest.approx(proximity(words, RARITY))


def test_no_order_of_the_words_beats_the_one_of_the_question() -> None:
    best = proximity(list(RARITY), RARITY)

    assert all(proximity(order, RARITY) <= best for order in permutations(RARITY))


@pytest.mark.parametrize(
    ("word", "token"),
    [
        pytest.param("normannischen", "normannisch", id="german-ending"),
        pytest.param("settlement", "settler", id="another-noun"),
        pytest.param("retri", "retri", id="the-word-itself"),
    ],
)
def test_a_word_that_begins_as_one_of_the_question_stands_for_it(word: str, token: str) -> None:
    assert expand_inflections(["the", word], [token]) == ["the", token]


@pytest.mark.parametrize("word", ["sett", "set", "unsettled"], ids=["short", "shorter", "in-the-middle"])
def test_other_words_stay_what_they_are(word: str) -> None:
    assert expand_inflections([word], ["settler"]) == [word]


def test_of_two_words_of_a_question_that_begin_alike_the_first_stands_for_others_and_each_for_itself() -> None:
    assert expand_inflections(["complete", "complex", "compliance"], ["complex", "compliance"]) == [
        "complex",
        "complex",
        "compliance",
    ]


@pytest.mark.slow
@given(st.lists(st.text(max_size=8)), st.lists(st.text(max_size=8)))
def test_a_text_keeps_its_length_and_every_word_that_was_asked_for(words: list[str], tokens: list[str]) -> None:
    changed = expand_inflections(words, tokens)

    assert len(changed) == len(words)
    assert all(
        after == before or (after in tokens and after[:_SAME_LETTERS] == before[:_SAME_LETTERS])
        for before, after in zip(words, changed, strict=True)
    )
    assert all(after == before for before, after in zip(words, changed, strict=True) if before in tokens)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Set MaxClients to 8", 1.0),
        ("(maxclients, INT)", 0.5),
        ("MaxClientsTotal", 0.0),
        ("max clients", 0.0),
    ],
)
def test_a_name_counts_as_it_is_written_and_half_in_another_case(text: str, expected: float) -> None:
    assert exactness(text, "MaxClients") == expected
