from __future__ import annotations

from collections.abc import Sequence

import pytest

from openbook.answering.checking import Retry, check_answer
from openbook.answering.verdicts import Checked
from openbook.generation import Claim, Policy
from tests.unit.answering.checks import CONTEXT, JUDGE, unchanged

GOOD = "Sessions end after one hour [1:3]."
BAD = "Bananas are yellow and sweet [1:1]."


def check(answer: str, policy: Policy = "flag", retry: Retry | None = None) -> Checked:
    return check_answer(answer, CONTEXT, JUDGE, unchanged, policy=policy, retry=retry)


def test_by_default_what_fails_stays_and_says_so() -> None:
    checked = check(f"{GOOD} {BAD}")

    assert checked.answer == f"{GOOD} {BAD}"
    assert [claim.verdict for claim in checked.claims] == ["supported", "unsupported"]
    assert checked.repairs == ()


def test_what_can_be_repaired_is_repaired_under_every_policy() -> None:
    wrong = "Sessions end after one hour [1:1]."

    for policy, retry in (("flag", None), ("drop", None), ("retry", lambda _: "")):
        checked = check_answer(wrong, CONTEXT, JUDGE, unchanged, policy=policy, retry=retry)  # type: ignore[arg-type]
        assert checked.answer == GOOD
        assert [repair.what for repair in checked.repairs] == ["anchored"]


def test_what_fails_can_be_dropped() -> None:
    checked = check(f"{GOOD} {BAD}", "drop")

    assert checked.answer == GOOD + " "
    assert [repair.what for repair in checked.repairs] == ["dropped"]


def test_the_model_can_be_asked_once_more_with_the_claims_that_fail() -> None:
    asked: list[Sequence[Claim]] = []

    def retry(failing: Sequence[Claim]) -> str:
        asked.append(failing)
        return GOOD

    checked = check(BAD, "retry", retry)

    assert checked.answer == GOOD
    assert [[claim.text for claim in failing] for failing in asked] == [["Bananas are yellow and sweet."]]
    assert [repair.to_dict() for repair in checked.repairs] == [
        {
            "what": "retried",
            "claim": "",
            "from": BAD,
            "to": GOOD,
            "why": "1 claim failed, and 0 of the second answer",
        }
    ]


def test_a_second_answer_is_checked_and_repaired_like_the_first() -> None:
    checked = check(BAD, "retry", lambda _: "Sessions end after one hour [9].")

    assert checked.answer == GOOD
    assert [repair.what for repair in checked.repairs] == ["retried", "anchored"]


@pytest.mark.parametrize("second", [f"{BAD} {BAD}", BAD, f"{BAD} {GOOD}", "I do not know.", ""])
def test_a_second_answer_that_is_no_better_is_not_taken_but_recorded(second: str) -> None:
    checked = check(f"{GOOD} {BAD}", "retry", lambda _: second)

    assert checked.answer == f"{GOOD} {BAD}"
    assert [(repair.what, repair.before == repair.after) for repair in checked.repairs] == [("retried", True)]


@pytest.mark.parametrize("second", ["", "Okay.", "What do you mean?"])
def test_a_second_answer_that_claims_nothing_is_recorded_as_that(second: str) -> None:
    anchored = "Sessions end after one hour [1:1]."

    checked = check(f"{anchored} {BAD}", "retry", lambda _: second)

    (retried,) = (repair for repair in checked.repairs if repair.what == "retried")
    assert (retried.before, retried.after) == (checked.answer, checked.answer)
    assert retried.why == "1 claim failed, and the second answer claimed nothing"


def test_nobody_is_asked_again_when_nothing_fails() -> None:
    def retry(_: Sequence[Claim]) -> str:
        raise AssertionError("asked")

    assert check(GOOD, "retry", retry).repairs == ()


def test_a_policy_that_cannot_be_followed_is_refused() -> None:
    with pytest.raises(ValueError, match="needs something to call"):
        check(GOOD, "retry")
    with pytest.raises(ValueError, match="must be one of flag, drop, retry"):
        check(GOOD, "ignore")  # type: ignore[arg-type]
