"""How much of a claim cited sentences carry, as numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.grounding.support import Measures, Weighed, best_first, clause_of, cover_of, likely_units, score_of
from openbook.retrieval.tokens import tokenize

NOTHING, EVERYTHING = Measures(0, 0, 0, 1, 1), Measures(1, 1, 1, 0, 0)


def _bits(claim: Weighed, *sentences: str) -> list[int]:
    return [claim.bits(tokenize(sentence)) for sentence in sentences]


def test_rare_words_weigh_more() -> None:
    claim = Weighed("retry zebra", {"retri": 1.0, "zebra": 3.0}.__getitem__)

    assert cover_of(claim, _bits(claim, "a zebra")) == 0.75


def test_sentences_together_cover_what_neither_covers_alone() -> None:
    claim = Weighed("red green blue", lambda _: 1.0)

    assert cover_of(claim, _bits(claim, "red", "blue green")) == 1.0


def test_the_first_sentences_are_those_that_add_most() -> None:
    claim = Weighed("red green blue", lambda _: 1.0)

    order = best_first(claim, _bits(claim, "nothing", "blue", "red green", "green red"))

    assert order == [2, 1, 3, 0]


def test_a_clause_that_no_sentence_says_pulls_the_worst_clause_down() -> None:
    text = "The cache is warm, and the disk is encrypted."
    claim = Weighed(text, lambda _: 1.0)

    assert clause_of(text, claim, _bits(claim, "a warm cache")) == 0.0
    assert clause_of(text, claim, _bits(claim, "a warm cache", "an encrypted disk")) == 1.0


def test_a_claim_without_sentences_is_not_covered() -> None:
    claim = Weighed("red", lambda _: 1.0)

    assert (cover_of(claim, []), clause_of("red", claim, []), best_first(claim, [])) == (0.0, 0.0, [])


def test_words_without_weight_ask_for_nothing() -> None:
    claim = Weighed("red", lambda _: 0.0)

    assert cover_of(claim, _bits(claim, "blue")) == 1.0


@pytest.mark.parametrize("name", Measures._fields)
def test_every_measure_moves_the_score_its_own_way(name: str) -> None:
    better = NOTHING._replace(**{name: getattr(EVERYTHING, name)})

    assert score_of(NOTHING) < score_of(better) < score_of(EVERYTHING)


def test_of_a_long_citation_the_units_that_share_words_are_kept_in_order() -> None:
    cited = ["filler"] * 60 + ["The cache is warm."] + ["filler"] * 60 + ["It is cached."]

    kept = likely_units("The cache is warm.", cited)

    assert len(kept) < len(cited)
    assert [unit for unit in kept if unit != "filler"] == ["The cache is warm.", "It is cached."]


@given(st.text(), st.lists(st.text(), max_size=6))
def test_cover_is_a_share(text: str, sentences: list[str]) -> None:
    claim = Weighed(text, lambda token: float(len(token)))

    bits = _bits(claim, *sentences)

    assert 0 <= cover_of(claim, bits) <= 1
    assert 0 <= clause_of(text, claim, bits) <= 1
    assert sorted(best_first(claim, bits)) == list(range(len(bits)))
