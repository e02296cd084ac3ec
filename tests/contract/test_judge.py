"""The contract of judges. A new one joins by adding a line to `JUDGES`.

Each is built from the findings that it should return, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from openbook.answering.verifiers import ModelJudge
from openbook.errors import OpenbookError, OverloadedError
from openbook.grounding.entailment import judge_claims
from openbook.grounding.protocol import CitedClaim, Entailment, Judge
from openbook.testing import ScriptedModel
from tests.unit.answering.checks import verdict_lines

CLAIMS = [
    CitedClaim("A session is over after an hour.", "Sessions end after one hour."),
    CitedClaim("A session lasts for ever.", "Sessions end after one hour."),
    CitedClaim("A session is like a rose.", "Sessions end after one hour."),
]
SAID = [
    Entailment("entailed", "Sessions end after one hour"),
    Entailment("contradicted", "end after one hour"),
    Entailment("not said"),
]


class Recorded:
    """A minimal judge with recorded findings."""

    name = "recorded"

    def __init__(self, said: Sequence[Entailment | None], *, fails: bool = False) -> None:
        self._said = list(said)
        self._fails = fails

    def judge(self, claims: Sequence[CitedClaim]) -> list[Entailment | None]:
        """Return the recorded findings."""
        if self._fails:
            raise OverloadedError("busy")
        said, self._said = self._said[: len(claims)], self._said[len(claims) :]
        return said


def of_a_model(said: Sequence[Entailment | None], *, fails: bool = False) -> Judge:
    lines = verdict_lines(*[(each.label, each.quote) for each in said if each])
    return ModelJudge(ScriptedModel(OverloadedError("busy") if fails else lines, name="scripted:judge"))


Make = Callable[..., Judge]
JUDGES: dict[str, Make] = {"recorded": Recorded, "model": of_a_model}


@pytest.fixture(params=list(JUDGES.values()), ids=list(JUDGES))
def make(request: pytest.FixtureRequest) -> Make:
    made: Make = request.param
    return made


def test_a_judge_is_one_by_its_shape_and_has_a_name(make: Make) -> None:
    judge = make([])

    assert isinstance(judge, Judge)
    assert judge.name


def test_a_judge_says_something_of_each_claim_in_their_order(make: Make) -> None:
    assert list(make(SAID).judge(CLAIMS)) == SAID


def test_a_judge_of_no_claims_says_nothing(make: Make) -> None:
    assert list(make([]).judge([])) == []


def test_a_batch_that_cannot_be_judged_is_an_error_of_ours(make: Make) -> None:
    with pytest.raises(OpenbookError, match="busy"):
        make(SAID, fails=True).judge(CLAIMS)


def test_verdicts_follow_from_what_a_judge_says(make: Make) -> None:
    judged = judge_claims(CLAIMS, make(SAID))

    assert [each.verdict for each in judged] == ["confirmed", "conflict", "unverified"]
    assert [each.quote for each in judged[:2]] == ["Sessions end after one hour", "end after one hour"]


def test_a_judge_that_fails_leaves_claims_unverified(make: Make) -> None:
    judged = judge_claims(CLAIMS, make(SAID, fails=True))

    assert {(each.verdict, each.reason) for each in judged} == {("unverified", "the verifier failed: busy")}
