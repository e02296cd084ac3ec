"""Answers by a model from search results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from openbook.answering.checking import answer_of
from openbook.answering.evidence import EvidenceFinder
from openbook.answering.expansion import build_expansion_prompt, read_searches
from openbook.answering.followups import StandaloneQuestion, is_rewritable, standalone
from openbook.answering.options import AnswerOptions
from openbook.answering.prompting import build_messages, build_retry, build_standalone_prompt, build_system_prompt
from openbook.answering.refusals import refusal
from openbook.answering.steps import ModelCaller, ModelReply, Steps
from openbook.answering.verifiers import verifier_for
from openbook.answers import Claim, GenerationResult, RefusalReason, Stage
from openbook.costs import Price, Spent, estimate_cost, price_of
from openbook.extractive.context import Context, build_context
from openbook.llm.messages import Message, Request
from openbook.llm.protocol import Model
from openbook.llm.request_tokens import TokenEstimator
from openbook.questions.question import Question
from openbook.types import RetrievalResult

# Token limits of a standalone question, and of three searches.
_QUESTION_TOKENS = 200
_SEARCHES_TOKENS = 200


class ContextAnswerer:
    """Have a model write one answer from given results."""

    def __init__(
        self,
        model: Model,
        options: AnswerOptions,
        finder: EvidenceFinder,
        *,
        price: Price = price_of,
    ) -> None:
        self._model = model
        self._writing = options
        self._finder = finder
        self._price = price
        self._calls = ModelCaller(model.name, options.budget, price=price)
        self._before = Spent()
        self._verifier = verifier_for(options, lambda: self._calls.ledger.left, price=price)
        self.search_failure = ""
        """Why the model wrote no standalone question, or no further searches, if a call failed; else empty."""

    @property
    def spent(self) -> Spent:
        """The cost of the calls so far, including those of the verifier."""
        checks = self._verifier.spent if self._verifier else Spent()
        return self._before + self._calls.ledger.spent + checks

    def standalone(self, query: str) -> Steps[StandaloneQuestion]:
        """Rewrite a message as a standalone question: by the model if there is a history or an image, else by rules.

        Rules are also used if the model writes no question, or fails without an image to describe.

        Raises:
            QueryError: See `openbook.answering.followups.standalone`.
        """
        history, images, rewritten = self._writing.history, self._writing.shown_images, ""
        if self._writing.attached or is_rewritable(query, history):
            yield Stage("rephrasing")
            prompt = build_standalone_prompt(query, history, has_images=bool(images))
            message = Message.user(*images, prompt)
            request = Request((message,), max_tokens=_QUESTION_TOKENS, deadline_s=self._writing.timeout_s)
            reply = yield from self._calls.ask(request, may_fail=not images, is_before_answer=True)
            rewritten = "" if reply.stop == "length" else reply.text
            self.search_failure = "" if reply.stopped else reply.reason
        return standalone(query, history, rewritten, has_images=bool(images))

    def expand(self, query: str, results: Sequence[RetrievalResult], max_tokens: int) -> Steps[Sequence[Question]]:
        """Ask the model for further searches; none if it fails, or the budget would not allow the answer after that."""
        prompt = build_expansion_prompt(query, results)
        request = Request((Message.user(prompt),), max_tokens=_SEARCHES_TOKENS, deadline_s=self._writing.timeout_s)
        if not self._calls.allows(request, max_tokens, self._writing.max_answer_tokens):
            return ()
        yield Stage("rephrasing")
        reply = yield from self._calls.ask(request, may_fail=True, is_before_answer=True)
        self.search_failure = self.search_failure or ("" if reply.stopped else reply.reason)
        return read_searches(reply.text)

    def write(
        self, query: str, results: Sequence[RetrievalResult], max_tokens: int, understood: str = ""
    ) -> Steps[GenerationResult]:
        """Call the model for an answer, and check it.

        `understood` is the standalone question if a model rewrote it; else empty.
        """
        context = build_context(results, max_tokens)
        if not context.shown:
            return refusal(query, RefusalReason.NOTHING_FITS, results)
        request = request_for(query, context, self._writing, understood)
        yield Stage("writing")
        reply = yield from self._calls.ask(request, is_answer=True)

        def retry(failing: Sequence[Claim]) -> Steps[ModelReply]:
            messages = build_retry(request, reply.text, failing)
            if self._verifier and self._verifier.left:  # the check was paid from the same budget
                self._before += self._calls.ledger.spent
                self._calls = ModelCaller(self._model.name, self._verifier.left, price=self._price)
            return (yield from self._calls.ask(replace(request, messages=messages), may_fail=True))

        return (
            yield from answer_of(
                query,
                reply,
                context,
                self._finder,
                self._writing.policy,
                verifier=self._verifier,
                ask_again=retry,
            )
        )


def request_for(query: str, context: Context, options: AnswerOptions, understood: str = "") -> Request:
    """Return the request for an answer from sources."""
    messages = build_messages(query, context, options.history, understood, options.attached)
    return Request(
        messages,
        build_system_prompt(),
        max_tokens=options.max_answer_tokens,
        sampling=options.sampling,
        deadline_s=options.timeout_s,
    )


def cost_of(request: Request, model: Model, *, price: Price = price_of) -> Decimal | None:
    """Return the maximum cost of a request in US dollars; None if the price is unknown."""
    return estimate_cost(model.name, TokenEstimator().max_input_tokens(request), request.max_tokens, price=price)
