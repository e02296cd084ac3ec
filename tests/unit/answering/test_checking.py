"""The way that an answer takes before it is shown: verdicts, a verifier, repair, and what happens to conflicts."""

from __future__ import annotations

import pytest

from openbook.answers import Policy, Stage
from openbook.grounding.protocol import Entailment
from tests.unit.answering.checks import KnowingVerifier, check, checker, watched

GOOD = "Sessions end after one hour [1:3]."
BAD = "The retry policy waits 90 seconds [1:1]."
OPEN = "A session is over sooner than a day [1:3]."


def test_conflicts_stay_and_say_so_by_default() -> None:
    checked = check(f"{GOOD} {BAD}")

    assert checked.answer == f"{GOOD} {BAD}"
    assert [claim.verdict for claim in checked.claims] == ["exact", "conflict"]
    assert checked.repairs == ()


@pytest.mark.parametrize(("policy", "second"), [("flag", None), ("drop", None), ("retry", "")])
def test_marks_are_repaired_under_every_policy(policy: Policy, second: str | None) -> None:
    checked = check("The retry policy waits 30 seconds [1:3].", policy, second)

    assert checked.answer == "The retry policy waits 30 seconds [1:1]."
    assert [repair.what for repair in checked.repairs] == ["anchored"]


def test_conflicts_can_be_dropped() -> None:
    checked = check(f"{GOOD} {BAD}", "drop")

    assert checked.answer == GOOD + " "
    assert [repair.what for repair in checked.repairs] == ["dropped"]


@pytest.mark.parametrize("policy", ["drop", "retry"])
@pytest.mark.parametrize("answer", [OPEN, "Sessions end after one hour [9].", "Sessions end after one hour."])
def test_only_conflicts_are_dropped_or_asked_again(policy: Policy, answer: str) -> None:
    checked, _, asked = watched(answer, policy, GOOD)

    assert checked.answer == answer
    assert checked.claims[0].verdict in ("unverified", "unknown", "uncited")
    assert asked == []


def test_the_model_can_be_asked_again_about_its_conflicts() -> None:
    checked, _, asked = watched(f"{BAD} {OPEN}", "retry", GOOD)

    assert checked.answer == GOOD
    assert [[claim.text for claim in conflicts] for conflicts in asked] == [["The retry policy waits 90 seconds."]]
    assert [repair.to_dict() for repair in checked.repairs] == [
        {
            "what": "retried",
            "claim": "",
            "from": f"{BAD} {OPEN}",
            "to": GOOD,
            "why": "1 claim in conflict, and 0 of the second answer",
        }
    ]


def test_a_second_answer_is_checked_and_repaired_like_the_first() -> None:
    checked = check(BAD, "retry", "The retry policy waits 30 seconds [1:3].")

    assert checked.answer == "The retry policy waits 30 seconds [1:1]."
    assert [repair.what for repair in checked.repairs] == ["retried", "anchored"]


@pytest.mark.parametrize("second", [f"{BAD} {BAD}", BAD, f"{BAD} {GOOD}"])
def test_a_second_answer_with_as_many_conflicts_is_recorded_and_not_taken(second: str) -> None:
    checked = check(f"{GOOD} {BAD}", "retry", second)

    assert checked.answer == f"{GOOD} {BAD}"
    assert [(repair.what, repair.before == repair.after) for repair in checked.repairs] == [("retried", True)]


def test_a_second_answer_without_words_is_recorded_as_none() -> None:
    checked = check(f"{GOOD} {BAD}", "retry", "")

    (retried,) = checked.repairs
    assert (retried.before, retried.after) == (checked.answer, f"{GOOD} {BAD}")
    assert retried.why == "1 claim in conflict; there is no second answer"


@pytest.mark.parametrize("second", ["Okay.", "What do you mean?", "I do not know."])
def test_a_second_answer_that_claims_nothing_is_not_taken(second: str) -> None:
    checked = check(f"{GOOD} {BAD}", "retry", second)

    (retried,) = checked.repairs
    assert checked.answer == f"{GOOD} {BAD}"
    assert retried.why == "1 claim in conflict, and 0 of the second answer, which claimed nothing"


def test_nobody_is_asked_again_without_a_conflict() -> None:
    checked, _, asked = watched(GOOD, "retry", "Something else.")

    assert (checked.answer, checked.repairs, asked) == (GOOD, (), [])


def test_a_policy_that_cannot_be_followed_is_refused() -> None:
    with pytest.raises(ValueError, match="needs something to call"):
        check(GOOD, "retry")
    with pytest.raises(ValueError, match="must be one of flag, drop, retry"):
        check(GOOD, "ignore")  # type: ignore[arg-type]


def test_a_verifier_is_asked_only_for_what_its_own_words_do_not_settle() -> None:
    verifier = KnowingVerifier(sooner=Entailment("entailed", "end after one hour"))

    checked = check(f"{GOOD} {BAD} {OPEN} Sessions end [9]. Sessions end after one hour.", verifier=verifier)

    assert verifier.asked == [["The retry policy waits 90 seconds.", "A session is over sooner than a day."]]
    assert [claim.verdict for claim in checked.claims] == ["exact", "conflict", "confirmed", "unknown", "uncited"]


def test_a_verifier_is_not_asked_where_all_is_exact() -> None:
    verifier = KnowingVerifier()

    _, events, _ = watched(GOOD, verifier=verifier)

    assert verifier.asked == []
    assert events == [Stage("checking")]


def test_the_stages_of_a_check_are_told() -> None:
    _, events, _ = watched(OPEN, verifier=KnowingVerifier())

    assert events == [Stage("checking"), Stage("verifying"), Stage("checking")]


def test_a_second_answer_is_verified_only_where_it_says_something_new() -> None:
    verifier = KnowingVerifier(day=Entailment("entailed", "after one hour"))

    checked, events, _ = watched(f"{OPEN} {BAD}", "retry", f"{OPEN} It never lasts a day [1:3].", verifier=verifier)

    assert verifier.asked[1:] == [["It never lasts a day."]]
    assert [claim.verdict for claim in checked.claims] == ["confirmed", "confirmed"]
    assert [event.name for event in events if isinstance(event, Stage)] == [
        *("checking", "verifying", "checking", "writing", "checking", "verifying", "checking"),
    ]


def test_a_contradiction_that_a_verifier_found_is_a_conflict_to_drop() -> None:
    verifier = KnowingVerifier(lasts=Entailment("contradicted", "Sessions end after one hour"))

    checked = check(f"{GOOD} A session lasts for ever [1:3].", "drop", verifier=verifier)

    assert checked.answer == GOOD + " "
    assert [repair.why for repair in checked.repairs] == ['the cited lines say "Sessions end after one hour"']


def test_a_claim_that_is_said_twice_is_judged_once() -> None:
    verifier, by = KnowingVerifier(), checker()

    checked = check(f"{OPEN} {OPEN}", verifier=verifier, by=by)

    assert verifier.asked == [["A session is over sooner than a day."]]
    assert [claim.verdict for claim in checked.claims] == ["unverified", "unverified"]
