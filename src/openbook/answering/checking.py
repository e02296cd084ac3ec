"""The one way that an answer in the words of a model takes before it is shown: verdicts, then repair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from openbook.answering.citations import TextNow
from openbook.answering.context import Context
from openbook.answering.repair import anchored, dropped
from openbook.answering.verdicts import Checked, Checker
from openbook.generation import POLICIES, Claim, Policy, Repair
from openbook.grounding.judge import Judge

Retry = Callable[[Sequence[Claim]], str]
"""Asks the model once more: takes the claims that fail, with their reasons, and gives a new answer."""


def check_answer(
    answer: str,
    context: Context,
    judge: Judge,
    text_now: TextNow,
    *,
    policy: Policy = "flag",
    retry: Retry | None = None,
) -> Checked:
    """Check an answer in the words of a model, and repair what can be repaired.

    A claim that fails gets the marks of units that do support it, if there are some among those
    shown. What then still fails is left to the policy.

    Args:
        answer: Any text; marks such as `[2:14-18]` count results and units of the context.
        context: What the model was shown.
        judge: Says whether units support a claim.
        text_now: Gives the text of a document as it is now.
        policy: What happens to claims that fail.
        retry: For the policy `retry`. It is called at most once; its answer is kept if fewer claims fail in it.

    Raises:
        ValueError: The policy is none, or `retry` without anything to call.
    """
    if policy not in POLICIES:
        raise ValueError(f"policy is {policy!r}, and must be one of {', '.join(POLICIES)}")
    if policy == "retry" and retry is None:
        raise ValueError("policy 'retry' needs something to call")
    checker = Checker(context, judge, text_now)
    checked = anchored(checker.check(answer), checker)
    if policy == "drop":
        return dropped(checked, checker)
    if retry is None or policy != "retry" or not checked.failing:
        return checked
    second = anchored(checker.check(retry(checked.failing)), checker)
    better = not second.refusal and len(second.failing) < len(checked.failing)
    why = f"{len(checked.failing)} claims failed, and {len(second.failing)} of the second answer"
    repair = Repair("retried", "", answer, second.answer if better else checked.answer, why)
    kept = second if better else checked
    return replace(kept, repairs=(*checked.repairs, repair, *(second.repairs if better else ())))
