"""The one way that an answer in the words of a model takes before it is shown: verdicts, verifier, repair, policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from openbook.answering.model_calls import ModelReply
from openbook.answering.repair import anchored, dropped
from openbook.answering.steps import Steps
from openbook.answering.verification import CitationChecker, Verification
from openbook.answering.verifiers import ClaimVerifier
from openbook.answers import POLICIES, Claim, Policy, Repair, Stage

Retry = Callable[[Sequence[Claim]], str]
"""Asks the model once more: takes the claims in conflict, with their reasons, and returns a new answer."""

AskAgain = Callable[[Sequence[Claim]], Steps[ModelReply]]
"""The same as steps."""


def check_answer(
    answer: str,
    checker: CitationChecker,
    policy: Policy,
    *,
    verifier: ClaimVerifier | None = None,
    ask_again: AskAgain | None = None,
) -> Steps[Verification]:
    """Check an answer in the words of a model, and repair it where there is evidence.

    Args:
        answer: Any text; marks such as `[2:14-18]` count results and units of what was shown.
        checker: Knows what was shown.
        policy: What happens to claims in conflict.
        verifier: Says whether cited lines entail claims; None leaves that open.
        ask_again: For the policy `retry`. It is asked at most once; its answer is kept if it has fewer conflicts.

    Raises:
        ValueError: The policy is none, or `retry` without anything to ask.
    """
    if policy not in POLICIES:
        raise ValueError(f"policy is {policy!r}, and must be one of {', '.join(POLICIES)}")
    if policy == "retry" and ask_again is None:
        raise ValueError("policy 'retry' needs something to call")
    checked = yield from _judged(answer, checker, verifier)
    if policy == "drop":
        return dropped(checked, checker)
    if policy != "retry" or ask_again is None or not checked.conflicts:
        return checked
    yield Stage("writing")
    again = yield from ask_again(checked.conflicts)
    count = len(checked.conflicts)
    why = f"{count} claim{'' if count == 1 else 's'} in conflict"
    if not again.text.strip():
        why += f"; there is no second answer{f': {again.reason}' if again.reason else ''}"
        return replace(checked, repairs=(*checked.repairs, Repair("retried", "", checked.answer, checked.answer, why)))
    second = yield from _judged(again.text, checker, verifier)
    claims_something = any(claim.verdict for claim in second.claims)
    is_better = claims_something and len(second.conflicts) < len(checked.conflicts)
    why += f", and {len(second.conflicts)} of the second answer"
    why = why if claims_something else f"{why}, which claimed nothing"
    kept = second if is_better else checked
    repair = Repair("retried", "", checked.answer, kept.answer, why)
    return replace(kept, repairs=(*checked.repairs, repair, *(second.repairs if is_better else ())))


def _judged(answer: str, checker: CitationChecker, verifier: ClaimVerifier | None) -> Steps[Verification]:
    yield Stage("checking")
    checked = checker.check(answer)
    if verifier is not None and checker.open:
        keys = list(checker.open)
        yield Stage("verifying")
        found = yield from verifier.verify([checker.open[key] for key in keys])
        yield Stage("checking")
        checker.settle(dict(zip(keys, found.entailments, strict=False)), found.failure)
        checked = checker.check(answer)
    return anchored(checked, checker)
