"""From what a model wrote to an answer: checked or refused, and signed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from openbook.answering.checking import Checking, checking
from openbook.answering.citations import TextNow
from openbook.answering.context import Context
from openbook.answering.finding import Finder
from openbook.answering.prompting import prompts_version
from openbook.answering.refusals import refusal, withheld
from openbook.costs import Spent
from openbook.generation import GenerationResult, Policy
from openbook.llm.messages import StopReason
from openbook.llm.protocol import Model

# A model that thinks first may have no tokens left for words.
_SILENT = {"refused": "the model declined", "length": "the model used up its tokens before it wrote"}


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model wrote in one call."""

    text: str
    """With a mark for each of its citations."""
    stop: StopReason = "end"
    stopped: str = ""
    """Limit of the budget that forbade the call, such as `max_usd`; else empty."""
    reason: str = ""
    """Why it was forbidden, for people."""


def answer_of(
    query: str, reply: Reply, context: Context, finder: Finder, text_now: TextNow, policy: Policy
) -> Checking[GenerationResult]:
    """Check what a model wrote. An answer that nothing supports, and one that is none, become refusals.

    Raises:
        ValueError: The policy is none.
    """
    shown = tuple(entry.result for entry in context.shown)
    stopped = reply.stopped or ("length" if reply.stop == "length" else "")
    if not reply.text.strip():
        reason = reply.reason or _SILENT.get(reply.stop, "the model wrote nothing")
        return replace(refusal(query, reason, shown), stopped=stopped)
    judge = finder.judge(reply.text, context.__str__)
    checked = yield from checking(reply.text, context, judge, text_now, policy)
    answer = GenerationResult(
        query,
        checked.answer,
        checked.citations,
        shown,
        model="",
        claims=checked.claims,
        repairs=checked.repairs,
        stopped=stopped,
    )
    return withheld(answer, checked.refusal, shown) if checked.refusal else answer


def signed(answer: GenerationResult, model: Model, spent: Spent) -> GenerationResult:
    """Put on an answer who wrote it, after which prompts, and what it cost."""
    return replace(answer, model=model.name, usage=spent.usage, cost_usd=spent.cost_usd, prompts=prompts_version())
