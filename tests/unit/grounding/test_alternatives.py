"""Of words that rule one another out, a claim must say the one that is cited."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.grounding.alternatives import alternative_disagrees
from tests.unit.grounding.odd_texts import ODD

POOL = "The pool holds at most 16 connections."
RATE = "The server accepts 100 requests per minute."


@pytest.mark.parametrize(
    ("claim", "cited"),
    [
        pytest.param("The pool holds at least 16 connections.", POOL, id="at-least"),
        pytest.param("The pool holds more than 16 connections.", POOL, id="more-than"),
        pytest.param("The pool holds exactly 16 connections.", POOL, id="exactly"),
        pytest.param("The pool holds 16 connections or more.", POOL, id="or-more"),
        pytest.param("Retry waits less than 30 seconds.", "Retry waits more than 30 seconds.", id="less-than"),
        pytest.param("It fails with less than 3 files.", "It fails with more than 3 files.", id="both-fail"),
        pytest.param("连接池最多有16个连接。", "连接池至少有16个连接。", id="chinese-bound"),
        pytest.param("The server accepts 100 requests per hour.", RATE, id="per-hour"),
        pytest.param("The server accepts 100 requests/s.", RATE, id="per-second-as-a-sign"),
        pytest.param("It costs $5 a year.", "It costs $5 a month.", id="a-year"),
        pytest.param("The report is sent daily.", "The report is sent every week.", id="daily"),
        pytest.param("It costs €5 there.", "It costs $5 there.", id="currency-sign"),
        pytest.param("It costs 5 euros.", "It costs 5 dollars.", id="currency"),
        pytest.param("The range is 40 to 85 °C.", "The range is -40 to 85 °C.", id="sign"),
        pytest.param("Sessions end at 10 pm.", "Sessions end at 10 am.", id="half-of-the-day"),
        pytest.param("Grace wrote the second version.", "Grace wrote the first version.", id="ordinal"),
        pytest.param("It ends in the 2nd century.", "It ends in the 3rd century.", id="ordinal-in-digits"),
        pytest.param("It is tried once.", "It is tried twice.", id="once"),
        pytest.param("It is tried twice.", "It is tried three times.", id="twice"),
        pytest.param("The value triples each time.", "The value doubles each time.", id="multiple"),
        pytest.param("A third of the requests are cached.", "Half of the requests are cached.", id="fraction"),
        pytest.param("The build runs on Tuesday.", "The build runs on Monday.", id="weekday"),
        pytest.param("The build runs in October.", "The build runs in March.", id="month"),
        pytest.param("The build runs in May.", "The build runs in March.", id="may"),
        pytest.param("The build ran in June.", "The build ran on 2 May 2021.", id="month-of-a-date"),
    ],
)
def test_another_answer_to_the_same_question_is_told(claim: str, cited: str) -> None:
    assert "where the cited lines say" in alternative_disagrees(claim, [cited])


@pytest.mark.parametrize(
    ("claim", "cited"),
    [
        pytest.param("The pool holds no more than 16 connections.", POOL, id="no-more-than"),
        pytest.param("The pool holds up to 16 connections.", POOL, id="up-to"),
        pytest.param("The pool holds 16 connections.", POOL, id="no-bound"),
        pytest.param("The pool holds at least 4 connections.", POOL, id="bound-of-another-number"),
        pytest.param(
            "It allows at most 3 files.", "It fails if there are more than 3 files.", id="from-the-other-side"
        ),
        pytest.param("The server accepts 100 requests a minute.", RATE, id="a-minute"),
        pytest.param("The report is sent daily.", "The report is sent every day.", id="every-day"),
        pytest.param("It costs 5 dollars.", "It costs $5.", id="sign-of-the-currency"),
        pytest.param("The offset is minus 5.", "The offset is -5.", id="sign-as-a-word"),
        pytest.param("It shows the first 5 lines of a page.", "head -5 file", id="option"),
        pytest.param("It waits a second.", "It is the first to wait.", id="second-of-time"),
        pytest.param("Once it is read, it is kept.", "It is read twice and kept.", id="once-as-a-conjunction"),
        pytest.param("It is tried 2 times.", "It is tried twice.", id="times"),
        pytest.param("The fir\u017ft of 9 runs per \u017fecond.", "The first of 9 runs per second.", id="long-s"),
        pytest.param("It may start in March.", "It starts in March.", id="may-is-a-verb"),
        pytest.param("The build ran in May.", "The build ran on 2 May 2021.", id="month-of-the-same-date"),
        pytest.param("Lions sleep on Monday.", "The tool copies old files each Friday.", id="of-something-else"),
    ],
)
def test_the_same_answer_in_other_words_or_to_another_question_is_none(claim: str, cited: str) -> None:
    assert alternative_disagrees(claim, [cited]) == ""


def test_what_any_of_the_sentences_says_agrees() -> None:
    cited = ["The build runs on Monday.", "The build runs on Tuesday."]

    assert alternative_disagrees("The build runs on Tuesday.", cited) == ""


def test_one_wrong_answer_among_right_ones_is_told() -> None:
    reason = alternative_disagrees(
        "The first and the third part are read.", ["The first and the second part are read."]
    )

    assert reason == 'the claim says "third" where the cited lines say "second"'


@given(st.text(max_size=80) | ODD, st.lists(st.text(max_size=80) | ODD, max_size=3))
def test_a_text_agrees_with_itself(claim: str, others: list[str]) -> None:
    assert alternative_disagrees(claim, [claim, *others]) == ""
