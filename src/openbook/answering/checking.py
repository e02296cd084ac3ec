"""Checks the answer of a model: verdicts, verifier, repair and policy; adds quotes if it cites nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from openbook.answering.evidence import EvidenceFinder
from openbook.answering.prompting import build_uncited_note, prompts_version
from openbook.answering.refusals import no_answer
from openbook.answering.repair import anchored, dropped
from openbook.answering.steps import ModelReply, Steps
from openbook.answering.verification import CitationChecker, Verification, check_quotes
from openbook.answering.verifiers import ClaimVerifier
from openbook.answers import POLICIES, Claim, GenerationResult, Policy, RefusalReason, Repair, Stage
from openbook.costs import Spent
from openbook.errors import InvalidArgumentError, QueryError
from openbook.extractive.answerer import pick
from openbook.extractive.composing import compose, quotes_of
from openbook.extractive.context import Context
from openbook.llm.protocol import Model
from openbook.questions.question import read_question

Retry = Callable[[Sequence[Claim]], str]
"""Asks the model again: takes the claims in conflict, with their reasons, and returns a new answer."""

AskAgain = Callable[[Sequence[Claim]], Steps[ModelReply]]
"""The same, as steps."""


def check_answer(
    answer: str,
    checker: CitationChecker,
    policy: Policy,
    *,
    verifier: ClaimVerifier | None = None,
    ask_again: AskAgain | None = None,
) -> Steps[Verification]:
    """Check the answer of a model, and repair it where there is evidence.

    `ask_again`, for the policy `retry`, is called at most once; its answer is kept if it has fewer conflicts.

    Raises:
        InvalidArgumentError: The policy is none, or `retry` without anything to ask.
    """
    if policy not in POLICIES:
        raise InvalidArgumentError(f"policy is {policy!r}", hint=f"it must be one of {', '.join(POLICIES)}")
    if policy == "retry" and ask_again is None:
        raise InvalidArgumentError("policy 'retry' needs something to call", hint="give retry as well")
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


BUDGET_LIMITS = ("max_tokens", "max_usd", "max_seconds")
"""Limits that forbid a further call. A model that wants more rounds has had its last turn, without tools."""

# Why a reply is empty. A model that reasons first may have no tokens left.
_SILENT = {
    "refused": RefusalReason.WITHHELD,
    "filtered": RefusalReason.FILTERED,
    "length": RefusalReason.LENGTH,
}


def answer_of(
    query: str,
    reply: ModelReply,
    context: Context,
    finder: EvidenceFinder,
    policy: Policy,
    *,
    verifier: ClaimVerifier | None = None,
    ask_again: AskAgain | None = None,
) -> Steps[GenerationResult]:
    """Check the reply of a model. Its text is always shown; if it is empty, the answer says why.

    Raises:
        InvalidArgumentError: The policy is none, or `retry` without anything to ask.
    """
    shown = tuple(entry.result for entry in context.shown)
    stopped = reply.stopped or (reply.stop if reply.stop in _SILENT else "")
    if not reply.text.strip():
        silent = _SILENT.get(reply.stop, RefusalReason.NOTHING_WRITTEN)
        reason = RefusalReason.BUDGET if reply.stopped in BUDGET_LIMITS else silent
        return replace(no_answer(query, reason, shown, detail=reply.reason), stopped=stopped)
    checker = CitationChecker(context, finder.text_now)
    checked = yield from check_answer(reply.text, checker, policy, verifier=verifier, ask_again=ask_again)
    answer = GenerationResult(
        query,
        checked.answer,
        checked.citations,
        shown,
        model="",
        claims=checked.claims,
        repairs=checked.repairs,
        stopped=stopped,
        verifier=verifier.name if verifier else "",
        verifier_failures=frozenset(checker.failures),
    )
    if not any(claim.verdict for claim in checked.claims) and not checked.citations and not checked.repairs:
        return replace(answer, refused=True, reason=RefusalReason.NOTHING_CLAIMED)
    if not checked.citations:
        return _with_quotes(answer, checked, context, finder)
    return answer


def _with_quotes(
    answer: GenerationResult, checked: Verification, context: Context, finder: EvidenceFinder
) -> GenerationResult:
    """Add a note that an answer cites nothing, and quotes from the sources."""
    try:
        query = read_question(answer.query)
    except QueryError:  # questions to agents need no content words
        return answer
    picked = pick(query, context, finder.embedder, finder.weigh(query).rarity, finder.text_of) if context.shown else []
    quotes = compose(picked) if picked else ""
    told = checked.answer.rstrip()
    note = build_uncited_note(has_quotes=bool(picked), is_empty=not told)
    text = "\n\n".join(filter(None, (told, note, quotes)))
    found = check_quotes(quotes_of(picked), context, finder.text_now)
    behind = len(text) - len(quotes)
    moved: Callable[[Claim], Claim] = lambda claim: replace(  # noqa: E731
        claim, start_char=claim.start_char + behind, end_char=claim.end_char + behind
    )
    citations = (replace(each, claim=(each.claim or 0) + len(checked.claims)) for each in found.citations)
    claims = (*checked.claims, *map(moved, found.claims))
    return replace(answer, answer=text, claims=claims, citations=tuple(citations), own_chars=len(told))


def signed(answer: GenerationResult, model: Model, spent: Spent) -> GenerationResult:
    """Add model, prompt version and cost to an answer, including its check."""
    return replace(answer, model=model.name, usage=spent.usage, cost_usd=spent.cost_usd, prompts=prompts_version())
