"""What the tests of checking share: two documents, what checks an answer from them, and what verifiers reply."""

from __future__ import annotations

import json
from collections.abc import Sequence

from openbook.answering.checking import check_answer
from openbook.answering.options import AnswerOptions
from openbook.answering.steps import ModelReply, Steps, run
from openbook.answering.verification import CitationChecker, Verification
from openbook.answering.verifiers import ClaimVerifier, VerifierReport
from openbook.answers import AnswerEvent, Claim, Policy
from openbook.costs import Budget, Spent
from openbook.extractive.citations import TextNow
from openbook.extractive.context import build_context
from openbook.grounding.protocol import CitedClaim, Entailment
from openbook.types import Chunk
from tests.unit.retrieval.material import chunk_of, result_of

PAGE = chunk_of(
    "The retry policy waits 30 seconds.\nAfter 5 attempts it gives up.\n\nSessions end after one hour.", "a.md"
)
CODE = chunk_of(
    "def wait(self, seconds):\n    time.sleep(seconds)\n    return True",
    "wait.py",
    kind="code",
    symbol="Retry.wait",
    signature="def wait(self, seconds):",
    defines=("wait",),
)
CONTEXT = build_context([result_of(PAGE), result_of(CODE)], 1_000)


def unchanged(chunk: Chunk) -> str:
    return chunk.text


def page_changed(chunk: Chunk) -> str:
    return chunk.text.replace("30", "90").replace("one hour", "two days")


def checker(text_now: TextNow = unchanged) -> CitationChecker:
    return CitationChecker(CONTEXT, text_now)


def verdict_lines(*said: tuple[str, str]) -> str:
    """Write what a verifier replies: a label and a quote for each claim, in order."""
    return "\n".join(
        json.dumps({"claim": number, "verdict": label, "quote": quote})
        for number, (label, quote) in enumerate(said, start=1)
    )


NOT_SAID = verdict_lines(*[("not said", "")] * 9)


class KnowingVerifier:
    """Says of each claim what it was told to say, and of others that they are not said."""

    name = "knowing"
    spent = Spent()
    left: Budget | None = None

    def __init__(self, **said: Entailment) -> None:
        """Take what is said of claims, by a word that stands in them."""
        self._said = said
        self.asked: list[list[str]] = []
        """The claims of each call."""

    def verify(self, claims: Sequence[CitedClaim]) -> Steps[VerifierReport]:
        """Look each claim up."""
        yield from ()
        self.asked.append([claim.claim for claim in claims])
        return VerifierReport([self._of(claim.claim) for claim in claims])

    def _of(self, claim: str) -> Entailment:
        return next((said for word, said in self._said.items() if word in claim), Entailment("not said"))


def check(
    answer: str,
    policy: Policy = "flag",
    second: str | None = None,
    *,
    verifier: ClaimVerifier | None = None,
    by: CitationChecker | None = None,
) -> Verification:
    """Check an answer; `second` is what the model writes if it is asked again."""
    checked, _, _ = watched(answer, policy, second, verifier=verifier, by=by)
    return checked


def watched(
    answer: str,
    policy: Policy = "flag",
    second: str | None = None,
    *,
    verifier: ClaimVerifier | None = None,
    by: CitationChecker | None = None,
) -> tuple[Verification, list[AnswerEvent], list[Sequence[Claim]]]:
    """Do what `check` does, and give what happened, and the claims that the model was asked about again."""
    found: list[Verification] = []
    asked: list[Sequence[Claim]] = []

    def ask_again(conflicts: Sequence[Claim]) -> Steps[ModelReply]:
        yield from ()
        asked.append(conflicts)
        assert second is not None
        return ModelReply(second)

    def steps() -> Steps[None]:
        again = None if second is None else ask_again
        found.append((yield from check_answer(answer, by or checker(), policy, verifier=verifier, ask_again=again)))

    events = list(run(steps(), AnswerOptions()))
    return found[0], events, asked
