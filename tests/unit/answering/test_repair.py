from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from openbook.answering.repair import anchored, dropped
from openbook.answering.verdicts import Checked, Checker
from tests.unit.answering.checks import CONTEXT, JUDGE, checker, page_changed
from tests.unit.answering.test_verdicts import WORDS


def repaired(answer: str) -> Checked:
    check = checker()
    return anchored(check.check(answer), check)


def without_failing(answer: str) -> Checked:
    check = checker()
    return dropped(check.check(answer), check)


@pytest.mark.parametrize(
    ("answer", "after"),
    [
        pytest.param("Sessions end after one hour [1:1].", "Sessions end after one hour [1:3].", id="another-unit"),
        pytest.param("Sessions end after one hour [9].", "Sessions end after one hour [1:3].", id="never-shown"),
        pytest.param("Sessions [9] end after one hour [1:1].", "Sessions [1:3] end after one hour.", id="two-marks"),
        pytest.param("Sessions end after one hour.", "Sessions end after one hour. [1:3]", id="no-mark"),
        pytest.param("- Sessions end after one hour", "- Sessions end after one hour [1:3]", id="item"),
        pytest.param("| Sessions end after one hour |", "| Sessions end after one hour [1:3] |", id="row"),
        pytest.param(
            "Sessions end after one hour.\n[9]\n\nMore.", "Sessions end after one hour. [1:3]\n\nMore.", id="below"
        ),
        pytest.param(
            "The retry policy waits 30 seconds and gives up after 5 attempts [2:1].",
            "The retry policy waits 30 seconds and gives up after 5 attempts [1:1-2].",
            id="with-its-neighbours",
        ),
        pytest.param(
            "The retry policy waits 30 seconds, and sessions end after one hour [2:1].",
            "The retry policy waits 30 seconds, and sessions end after one hour [1:1][1:3].",
            id="the-best-two",
        ),
    ],
)
def test_a_claim_that_fails_gets_the_marks_of_the_units_that_support_it(answer: str, after: str) -> None:
    checked = repaired(answer)

    assert checked.answer == after
    assert [claim.verdict for claim in checked.claims if claim.verdict] == ["supported"]
    assert [repair.what for repair in checked.repairs] == ["anchored"]


def test_what_was_changed_and_why_is_recorded() -> None:
    checked = repaired("Sessions end after one hour [9].")

    assert [repair.to_dict() for repair in checked.repairs] == [
        {
            "what": "anchored",
            "claim": "Sessions end after one hour.",
            "from": "[9]",
            "to": "[1:3]",
            "why": "nothing of that number was shown",
        }
    ]


@pytest.mark.parametrize(
    "answer",
    [
        "Sessions end after one hour [1:3].",
        "Bananas are yellow and sweet [1:1].",
        "The retry policy waits 60 seconds [1:1].",
        "The retry policy does not wait 30 seconds [1:1].",
        "Hello!",
        "",
    ],
)
def test_what_holds_or_what_no_unit_supports_stays_as_it_is(answer: str) -> None:
    assert repaired(answer).answer == answer
    assert repaired(answer).repairs == ()


def test_a_mark_that_names_nothing_goes_where_others_support_the_claim() -> None:
    checked = repaired("Sessions end after one hour [1:3] [9].")

    assert checked.answer == "Sessions end after one hour [1:3]."
    assert [(repair.what, repair.before, repair.after) for repair in checked.repairs] == [("removed", "[9]", "")]
    assert [citation.verdict for citation in checked.citations] == ["supported"]


def test_an_answer_that_other_marks_would_make_worse_stays_as_it_is() -> None:
    # Where marks lead, one behind a sentence is read as the mark of the next.
    answer = "[9] Bananas are sweet and yellow. Sessions end after one hour. Roses need sun."

    assert repaired(answer).answer == answer


def test_a_mark_below_that_another_claim_needs_stays() -> None:
    checked = repaired("Sessions end after one hour. The retry policy waits 30 seconds.\n[1:1]")

    assert checked.answer == "Sessions end after one hour. [1:3] The retry policy waits 30 seconds.\n[1:1]"
    assert [claim.marks for claim in checked.claims] == [("[1:3]",), ("[1:1]",)]


def test_no_claim_is_moved_to_a_unit_that_has_changed() -> None:
    check = Checker(CONTEXT, JUDGE, page_changed)

    checked = anchored(check.check("Sessions end after one hour [2:1]."), check)

    assert checked.repairs == ()


@pytest.mark.parametrize(
    ("answer", "after"),
    [
        pytest.param("It is. Bananas are sweet and yellow. So be it.", "It is. So be it.", id="sentence"),
        pytest.param("- Bananas are sweet and yellow [9]\n- So be it.", "- So be it.", id="item-with-its-bullet"),
        pytest.param("1. Bananas are sweet. Apples are green fruit [9].\n\nSo.", "So.", id="item-of-two-sentences"),
        pytest.param("| Bananas are sweet fruit | [9] |\n| So |", "| So |", id="row"),
        pytest.param("So.\n\nBananas are sweet and yellow.\n\nBe it.", "So.\n\nBe it.", id="paragraph"),
        pytest.param("So.\n\nBananas are sweet and yellow.\n[9]\n\nBe it.", "So.\n\nBe it.", id="marks-below"),
        pytest.param("> Bananas are sweet\n> and yellow [9].\nSo.", "So.", id="wrapped"),
        pytest.param("Bananas are sweet and yellow [9].", "", id="everything"),
        pytest.param("So be it.", "So be it.", id="nothing"),
    ],
)
def test_claims_that_fail_are_dropped_with_what_is_left_empty(answer: str, after: str) -> None:
    checked = without_failing(answer)

    assert checked.answer == after
    assert checked.failing == ()
    assert bool(checked.repairs) is (after != answer)
    assert all(repair.what == "dropped" and repair.why for repair in checked.repairs)


def test_an_answer_of_which_everything_is_dropped_was_not_supported() -> None:
    checked = without_failing("Bananas are sweet and yellow [9].")

    assert checked.refusal == "nothing supported"
    assert [(repair.claim, repair.before, repair.after) for repair in checked.repairs] == [
        ("Bananas are sweet and yellow.", "Bananas are sweet and yellow [9].", "")
    ]


@examples(max_examples=60)
@given(answer=st.lists(WORDS, max_size=25).map("".join))
def test_repair_never_makes_an_answer_worse_and_is_the_same_each_time(answer: str) -> None:
    before = checker().check(answer)

    checked, again = repaired(answer), repaired(answer)

    assert checked == again
    assert len(checked.failing) <= len(before.failing)
    assert (checked.answer == answer) == (not checked.repairs)
    assert not without_failing(answer).failing


def test_of_an_answer_where_most_claims_fail_only_the_first_are_tried() -> None:
    checked = repaired("Sessions end after one hour [9]. " * 300)

    assert len(checked.repairs) == 100
    assert len(checked.failing) == 200
