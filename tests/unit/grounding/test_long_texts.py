"""Texts that models repeat without end: what is found in them is the same, and the work grows with their length.

Without that, each of these takes minutes, or compares each number of a claim with each of the cited text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import pytest

from openbook.grounding.claims import split_claims
from openbook.grounding.entailment import judge_claims
from openbook.grounding.facts import facts_of
from openbook.grounding.lookup import equal_values, has_words, results_in
from openbook.grounding.numbers import numbers_of
from openbook.grounding.protocol import CitedClaim

LENGTH = 250_000


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        pytest.param("a" * LENGTH, "", id="a word"),
        pytest.param("A" * LENGTH, "", id="capitals"),
        pytest.param("a b" + "\n" * LENGTH + "c", "", id="blank lines"),
        pytest.param("1" * LENGTH, "uncited", id="a number"),
    ],
)
def test_a_claim_without_end_is_judged(claim: str, verdict: str) -> None:
    assert [judged.verdict for judged in judge_claims([CitedClaim(claim, "")])] == [verdict]


@pytest.mark.slow
@pytest.mark.parametrize(
    "repeated",
    [
        pytest.param(" ", id="blanks"),
        pytest.param("(", id="signs"),
        pytest.param("1 `get` ", id="names and numbers"),
    ],
)
def test_a_claim_is_compared_with_text_that_repeats_itself(repeated: str) -> None:
    cited = f"It waits{repeated * (40_000 // len(repeated))}x for `put`."

    judged = judge_claims([CitedClaim(f"It may wait: {repeated * 200}and ends.", cited)])

    assert [each.verdict for each in judged] == ["unverified"]


def test_names_and_numbers_of_any_length_are_read_once() -> None:
    long = 50_000

    assert facts_of("a" * long + "B").identifiers == ("a" * long + "B",)
    assert facts_of("A" * long + "1").identifiers == ("A" * long + "1",)
    assert list(results_in("1" * long + ", 1_" * long + " 6 * 7")) == [42.0]
    assert numbers_of("十" * long) == ()


def test_a_number_in_the_middle_of_another_can_begin_a_product() -> None:
    assert list(results_in("2.5_0 * 3 and 1.5 * 2")) == [150.0, 3.0]


@pytest.mark.slow
@pytest.mark.parametrize("period", ["ab", "ab ", "1.5, "])
def test_words_are_found_in_text_that_repeats_itself(period: str) -> None:
    text = period * (LENGTH // len(period))
    words = text[: LENGTH // 2 // len(period) * len(period) + 1]

    assert not has_words(text, words)
    assert has_words(f"{text} {words}", words)


def test_the_blanks_of_a_claim_are_read_once() -> None:
    (statement,), _ = split_claims("- a" + " " * LENGTH + "b  \n  c [1]")

    assert statement.claim.text == "a" + " " * LENGTH + "b c"


class Looked(Sequence[float]):
    """Numbers from 0 on, which count how often one is looked at."""

    def __init__(self) -> None:
        self.looks = 0

    def __len__(self) -> int:
        return LENGTH

    @overload
    def __getitem__(self, place: int) -> float: ...
    @overload
    def __getitem__(self, place: slice) -> list[float]: ...
    def __getitem__(self, place: int | slice) -> float | list[float]:
        if isinstance(place, slice):
            found = [float(each) for each in range(*place.indices(LENGTH))]
            self.looks += len(found)
            return found
        self.looks += 1
        return float(place)


def test_few_numbers_of_a_long_text_are_compared_with_one_of_a_claim() -> None:
    numbers = Looked()

    assert equal_values(150.0, numbers) == [150.0]
    assert numbers.looks < 30
