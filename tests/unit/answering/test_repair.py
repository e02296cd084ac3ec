"""Repair on evidence: marks go where the very words stand or a verifier found them, conflicts may go."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from openbook.answering.repair import anchored, dropped
from openbook.answering.verification import CitationChecker, Verification
from openbook.extractive.context import build_context
from openbook.grounding.protocol import Entailment
from tests.unit.answering.checks import PAGE, KnowingVerifier, check, checker, page_changed, unchanged
from tests.unit.answering.test_verification import WORDS
from tests.unit.retrieval.material import chunk_of, result_of

SAID = Entailment("entailed", "Sessions end after one hour")
OVER = "A session is over after an hour"


def repaired(answer: str) -> Verification:
    check = checker()
    return anchored(check.check(answer), check)


def without_conflicts(answer: str) -> Verification:
    check = checker()
    return dropped(check.check(answer), check)


@pytest.mark.parametrize(
    ("answer", "after"),
    [
        pytest.param("The retry policy waits 30 seconds [1:3].", "The retry policy waits 30 seconds [1:1].", id="unit"),
        pytest.param("The retry policy waits 30 seconds [2].", "The retry policy waits 30 seconds [1:1].", id="source"),
        pytest.param(
            "The retry policy [1:3] waits 30 seconds [2:1].", "The retry policy [1:1] waits 30 seconds.", id="two-marks"
        ),
        pytest.param(
            "- The retry policy waits 30 seconds [1:3]", "- The retry policy waits 30 seconds [1:1]", id="item"
        ),
        pytest.param(
            "| The retry policy waits 30 seconds [1:3] |", "| The retry policy waits 30 seconds [1:1] |", id="row"
        ),
        pytest.param(
            "The retry policy waits 30 seconds.\n[1:3]\n\nMore.",
            "The retry policy waits 30 seconds. [1:1]\n\nMore.",
            id="mark-below",
        ),
        pytest.param(
            "It waits 30 seconds.\nAfter 5 attempts it gives up [1:3].",
            "It waits 30 seconds.\nAfter 5 attempts it gives up [1:2].",
            id="the-other-claim-stays",
        ),
    ],
)
def test_a_conflict_that_stands_verbatim_elsewhere_gets_its_mark(answer: str, after: str) -> None:
    checked = repaired(answer)

    assert checked.answer == after
    assert "exact" in [claim.verdict for claim in checked.claims]
    assert [repair.what for repair in checked.repairs] == ["anchored"]


def test_what_was_changed_and_why_is_recorded() -> None:
    checked = repaired("The retry policy waits 30 seconds [1:3].")

    assert [repair.to_dict() for repair in checked.repairs] == [
        {
            "what": "anchored",
            "claim": "The retry policy waits 30 seconds.",
            "from": "[1:3]",
            "to": "[1:1]",
            "why": "the number 30 seconds is not in the cited lines",
        }
    ]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("Sessions end after one hour [1:3].", id="exact"),
        pytest.param("Sessions end after one hour [1:1].", id="no-conflict"),
        pytest.param("Sessions end after one hour [9].", id="never-shown"),
        pytest.param("Sessions end after one hour.", id="uncited"),
        pytest.param("The retry policy waits 60 seconds [1:1].", id="said-nowhere"),
        pytest.param("Then the retry policy waits 30 seconds [1:3].", id="not-in-these-words"),
        pytest.param("Hello!", id="nothing-claimed"),
        pytest.param("", id="empty"),
    ],
)
def test_without_evidence_an_answer_stays_as_it_is(answer: str) -> None:
    checked = repaired(answer)

    assert (checked.answer, checked.repairs) == (answer, ())


def test_words_that_stand_in_two_places_move_no_mark() -> None:
    again = chunk_of("As said, the retry policy waits 30 seconds. That is all.", "b.md")
    check = CitationChecker(build_context([result_of(PAGE), result_of(again)], 1_000), unchanged)

    checked = anchored(check.check("The retry policy waits 30 seconds [1:3]."), check)

    assert [claim.verdict for claim in checked.claims] == ["conflict"]
    assert checked.repairs == ()


def test_no_claim_is_moved_to_a_unit_that_has_changed() -> None:
    check = checker(page_changed)

    checked = anchored(check.check("The retry policy waits 30 seconds [2:1]."), check)

    assert [claim.verdict for claim in checked.claims] == ["conflict"]
    assert checked.repairs == ()


def test_a_claim_that_a_verifier_finds_elsewhere_is_moved_and_confirmed() -> None:
    checked = check(f"{OVER} [1:1].", verifier=KnowingVerifier(session=SAID))

    assert checked.answer == f"{OVER} [1:3]."
    assert [(claim.verdict, claim.reason) for claim in checked.claims] == [("confirmed", "")]
    assert [(each.mark, each.verdict) for each in checked.citations] == [("[1:3]", "confirmed")]
    assert [(repair.what, repair.why) for repair in checked.repairs] == [
        ("anchored", "the cited lines do not say it, but others of a.md do")
    ]


@pytest.mark.parametrize(
    ("answer", "quote"),
    [
        pytest.param(f"{OVER} [2:1].", "Sessions end after one hour", id="another-source"),
        pytest.param(f"{OVER} [1:1].", "Sessions end after two hours", id="words-that-stand-nowhere"),
        pytest.param("The session waits 30 seconds [1:1].", "Sessions end", id="lines-without-its-number"),
    ],
)
def test_a_verifier_moves_no_mark_without_good_words(answer: str, quote: str) -> None:
    checked = check(answer, verifier=KnowingVerifier(session=Entailment("entailed", quote)))

    assert checked.answer == answer
    assert [claim.verdict for claim in checked.claims] == ["unverified"]
    assert checked.repairs == ()


@pytest.mark.parametrize(
    "marks", ["[1:3][9]", "[1:3] [9]", "[9][1:3]", "[9] [1:3]", "[8][9][1:3]", "[1:3] [8][9]", "[8][1:3][1:9]"]
)
def test_a_mark_that_names_nothing_goes_where_another_is_exact(marks: str) -> None:
    checked = repaired(f"Sessions end after one hour {marks}.")

    assert checked.answer == "Sessions end after one hour [1:3]."
    assert {(repair.what, repair.after) for repair in checked.repairs} == {("removed", "")}
    assert [citation.verdict for citation in checked.citations] == ["exact"]


def test_a_mark_that_names_nothing_goes_where_another_is_confirmed() -> None:
    checked = check(f"{OVER} [1:3][9].", verifier=KnowingVerifier(session=SAID))

    assert checked.answer == f"{OVER} [1:3]."
    assert [(repair.what, repair.before) for repair in checked.repairs] == [("removed", "[9]")]


@pytest.mark.parametrize("answer", [f"{OVER} [1:3][9].", "The retry policy waits 60 seconds [1:1][9]."])
def test_a_mark_that_names_nothing_stays_where_no_other_is_good(answer: str) -> None:
    checked = repaired(answer)

    assert checked.answer == answer
    assert [citation.verdict for citation in checked.citations][1] == "unknown"


def test_a_mark_below_that_another_claim_needs_stays() -> None:
    checked = repaired("The retry policy waits 30 seconds. Sessions end after one hour.\n[1:3]")

    assert checked.answer == "The retry policy waits 30 seconds. [1:1] Sessions end after one hour.\n[1:3]"
    assert [claim.marks for claim in checked.claims] == [("[1:1]",), ("[1:3]",)]


BAD = "It waits 99 seconds [1:1]."


@pytest.mark.parametrize(
    ("answer", "after"),
    [
        pytest.param(f"It is. {BAD} So be it.", "It is. So be it.", id="sentence"),
        pytest.param(f"- {BAD}\n- So be it.", "- So be it.", id="item-with-its-bullet"),
        pytest.param(f"1. So it is. {BAD}\n\nSo.", "So.", id="item-of-two-sentences"),
        pytest.param("| It waits 99 seconds | [1:1] |\n| So |", "| So |", id="row"),
        pytest.param(
            "A | B\n--- | ---\nIt waits | 99 s [1:1]\nSo | be it", "A | B\n--- | ---\nSo | be it", id="bare-row"
        ),
        pytest.param(f"So.\n\n{BAD}\n\nBe it.", "So.\n\nBe it.", id="paragraph"),
        pytest.param("So.\n\nIt waits 99 seconds.\n[1:1]\n\nBe it.", "So.\n\nBe it.", id="mark-below"),
        pytest.param("> It waits\n> 99 seconds [1:1].\nSo.", "So.", id="wrapped"),
        pytest.param(BAD, "", id="everything"),
        pytest.param("So be it.", "So be it.", id="nothing"),
    ],
)
def test_conflicts_are_dropped_with_what_is_left_empty(answer: str, after: str) -> None:
    checked = without_conflicts(answer)

    assert checked.answer == after
    assert checked.conflicts == ()
    assert bool(checked.repairs) is (after != answer)
    assert all(repair.what == "dropped" and repair.why for repair in checked.repairs)


@pytest.mark.parametrize(
    ("answer", "after"),
    [
        pytest.param(f"- So be it.\n- {BAD}\nMore of it.", "- So be it.\n\nMore of it.", id="behind-an-item"),
        pytest.param(f"- So be it.\n{BAD}\nMore of it.", "- So be it.\n\nMore of it.", id="in-an-item"),
        pytest.param(f"- So be it.\n\n{BAD}\nMore of it.", "- So be it.\n\nMore of it.", id="behind-a-list"),
        pytest.param(f"- So be it.\n- {BAD}\n- More of it.", "- So be it.\n- More of it.", id="between-items"),
    ],
)
def test_a_sentence_behind_a_dropped_one_joins_no_item(answer: str, after: str) -> None:
    checked = without_conflicts(answer)

    assert checked.answer == after
    assert [claim.text for claim in checked.claims] == ["So be it.", "More of it."]


@pytest.mark.parametrize(
    ("answer", "after"),
    [
        pytest.param(
            f"- So be it.\n- {BAD}\n  - More of it.\n    And so on.\n- Last.",
            "- So be it.\n- More of it.\n  And so on.\n- Last.",
            id="items",
        ),
        pytest.param(f"- So.\n- {BAD}\n  - {BAD}\n    - More.\n\n    - Last.", "- So.\n- More.\n\n- Last.", id="twice"),
        pytest.param(
            f"1. So.\n2. {BAD}\n   More of it.\n3. Last.", "1. So.\n2. More of it.\n3. Last.", id="its-own-text"
        ),
        pytest.param(f"- So.\n- {BAD}\n\n  ```\n  x\n  ```", "- So.\n\n```\nx\n```", id="code"),
        pytest.param(f"- [ ] {BAD}\n- [x] So.", "- [x] So.", id="task"),
    ],
)
def test_what_is_below_a_dropped_item_joins_no_other(answer: str, after: str) -> None:
    assert without_conflicts(answer).answer == after


def test_what_was_dropped_is_recorded() -> None:
    checked = without_conflicts(BAD)

    assert [(repair.claim, repair.before, repair.after) for repair in checked.repairs] == [
        ("It waits 99 seconds.", BAD, "")
    ]


@pytest.mark.slow
@examples(max_examples=60)
@given(answer=st.lists(WORDS, max_size=25).map("".join))
def test_repair_adds_no_conflict_and_is_the_same_each_time(answer: str) -> None:
    before = checker().check(answer)

    checked, again = repaired(answer), repaired(answer)

    assert checked == again
    assert len(checked.conflicts) <= len(before.conflicts)
    assert (checked.answer == answer) == (not checked.repairs)
    assert not without_conflicts(answer).conflicts
