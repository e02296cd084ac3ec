"""The one way that an answer in the words of a model takes before it is shown: verdicts, then repair."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import TypeVar

from openbook.answering.citations import TextNow
from openbook.answering.context import Context
from openbook.answering.repair import anchored, dropped
from openbook.answering.verdicts import Checked, Checker
from openbook.generation import POLICIES, Claim, Policy, Repair
from openbook.grounding.judge import Judge

T = TypeVar("T")

Retry = Callable[[Sequence[Claim]], str]
"""Asks the model once more: takes the claims that fail, with their reasons, and gives a new answer."""


Checking = Generator[Sequence[Claim], str, T]
"""Gives the claims that fail, takes another answer; at most once. Ends with a value."""


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
    return retried(checking(answer, context, judge, text_now, policy), policy, retry)


def retried(steps: Checking[T], policy: Policy, retry: Retry | None) -> T:
    """Take the steps of a check, calling `retry` for another answer.

    Raises:
        ValueError: The policy is `retry`, and there is nothing to call.
    """
    if policy == "retry" and retry is None:
        raise ValueError("policy 'retry' needs something to call")
    try:
        failing = next(steps)
        while retry is not None:
            failing = steps.send(retry(failing))
    except StopIteration as done:
        result: T = done.value
        return result
    raise AssertionError("only the policy `retry` asks again")


def checking(answer: str, context: Context, judge: Judge, text_now: TextNow, policy: Policy) -> Checking[Checked]:
    """Do what `check_answer` does, and leave it to the caller to ask the model once more.

    Raises:
        ValueError: The policy is none.
    """
    if policy not in POLICIES:
        raise ValueError(f"policy is {policy!r}, and must be one of {', '.join(POLICIES)}")
    checker = Checker(context, judge, text_now)
    checked = anchored(checker.check(answer), checker)
    if policy == "drop":
        return dropped(checked, checker)
    if policy != "retry" or not checked.failing:
        return checked
    second = anchored(checker.check((yield checked.failing)), checker)
    better = not second.refusal and len(second.failing) < len(checked.failing)
    failed = f"{len(checked.failing)} claim{'' if len(checked.failing) == 1 else 's'} failed"
    claimed = any(claim.verdict for claim in second.claims)
    why = f"{failed}, and {len(second.failing)} of the second answer"
    why = why if claimed else f"{failed}, and the second answer claimed nothing"
    repair = Repair("retried", "", checked.answer, second.answer if better else checked.answer, why)
    kept = second if better else checked
    return replace(kept, repairs=(*checked.repairs, repair, *(second.repairs if better else ())))
