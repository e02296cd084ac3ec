"""Answers questions: retrieves, quotes or lets a model write, checks; and keeps statistics."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal

from openbook.answering.checking import Retry, answer_of, signed
from openbook.answering.evidence import EvidenceFinder, Relevance
from openbook.answering.expansion import is_expandable
from openbook.answering.followups import StandaloneQuestion, standalone
from openbook.answering.options import AnswerOptions
from openbook.answering.refusals import (
    Unread,
    asks_for_content_alone,
    like_unread,
    named_unread,
    note_on_rows,
    noted,
    refusal,
    refusal_of_unread,
    reply_to_small_talk,
    with_note,
    with_unread,
    with_words,
)
from openbook.answering.steps import ModelReply, Steps, run
from openbook.answering.verification import check_quotes
from openbook.answering.verifiers import verifier_for
from openbook.answers import Answered, Claim, GenerationResult, Policy, RefusalReason, Stage, answered
from openbook.costs import Budget, Price, Spent, price_of
from openbook.embedding.protocol import Embedder
from openbook.extractive.answerer import ScoredPassage, pick
from openbook.extractive.citations import TextNow
from openbook.extractive.composing import compose, quotes_of
from openbook.extractive.constants import with_constants
from openbook.extractive.context import Context, build_context
from openbook.extractive.includes import IncludedCode, unfolded, with_included
from openbook.extractive.more_places import more_places
from openbook.extractive.overview import unknown_file_note
from openbook.extractive.sibling_sections import with_sections
from openbook.grounding.protocol import Judge
from openbook.index.protocol import Index
from openbook.llm.messages import DEADLINE_S, Request
from openbook.llm.protocol import Model
from openbook.questions.kinds import kind_of
from openbook.questions.question import Question, check_text, read_question
from openbook.retrieval.search import EVERYTHING, Retriever
from openbook.types import Filter, RetrievalResult

# Results to quote from: beyond ten, less than one right passage in a hundred is found.
_QUOTED_TOP_K = 10

# Results for a model: of 248 questions on 16 repositories, 20 results in 8,000 tokens suffice for 78.6 %, ten in 6,000
# for 72.2 % (`benchmarks/context_use.py`).
_MODEL_TOP_K = 20

# Reasons of a refusal for which a search in another language may help.
_OTHER_WORDS = (RefusalReason.NOTHING_FOUND, RefusalReason.NOTHING_RELEVANT)

QUOTING = AnswerOptions()
"""Answers without a model."""


@dataclass(frozen=True, slots=True)
class GenerationStats:
    """Counters since the generator was made or reset."""

    total_generations: int = 0
    refused: int = 0
    with_citations: int = 0
    total_tokens: int = 0
    total_ms: float = 0.0
    total_usd: float = 0.0
    """Of the answers whose price is known."""
    unknown_costs: int = 0
    """Answers whose price is not known."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, and how to answer it."""

    query: str
    options: AnswerOptions
    results: Sequence[RetrievalResult] | None
    """Given results, in place of a search."""
    top_k: int | None
    min_score: float
    where: Filter
    max_tokens: int

    def __post_init__(self) -> None:
        check_text(self.query)


class Generator:
    """Writes answers from one library. Threads may share it."""

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        text_now: TextNow,
        context_tokens: int,
        retriever: Retriever | None = None,
        clock: Callable[[], float] = time.perf_counter,
        price: Price = price_of,
        model_timeout_s: float = DEADLINE_S,
        unread: Unread = lambda _: {},
        expands_queries: bool = True,
    ) -> None:
        """Prepare.

        Args:
            index: The library.
            embedder: What support is measured with.
            text_now: Gives the text of a document as it is now, for checking citations.
            context_tokens: Budget of what an answer is written from.
            retriever: What searches the library, if another embedder made it.
            clock: Seconds, for `took_ms`.
            price: Gives prices of models.
            model_timeout_s: Seconds of one call of a model, where a `AnswerOptions` does not say.
            unread: Gives the files that could not be read.
            expands_queries: Whether a model writes other searches before it answers, where an `AnswerOptions` lets it.
        """
        self._finder = EvidenceFinder(index, embedder, text_now, retriever)
        self._context_tokens = context_tokens
        self._clock = clock
        self._price = price
        self._model_timeout_s = model_timeout_s
        self._unread = unread
        self._expands_queries = expands_queries
        self._stats = GenerationStats()
        self._lock = threading.Lock()

    def generate_with_retrieval(
        self,
        query: str,
        top_k: int | None = None,
        min_score: float = 0.0,
        *,
        where: Filter = EVERYTHING,
        options: AnswerOptions = QUOTING,
    ) -> GenerationResult:
        """Retrieve and answer.

        Args:
            query: The question.
            top_k: Most results to write from; 10 for quotes and 20 for a model unless said.
            min_score: Results with a lower score are not used. Scores compare within one query.
            where: Documents that may be found.
            options: How it is answered; by quotes unless said.

        Raises:
            QueryError: The question is empty, too long, or holds no word.
            ModelError: The model did not answer.
        """
        return answered(run(self.steps(query, top_k, min_score, where=where, options=options), options))

    def retrieve(self, query: str, top_k: int = _QUOTED_TOP_K, *, where: Filter = EVERYTHING) -> list[RetrievalResult]:
        """Rank what an answer is written from, best first. Small talk is looked for as anything else.

        Raises:
            QueryError: The question is empty, too long, or holds no word.
        """
        return self._finder.find(read_question(query), top_k, where)

    def generate_answer(
        self,
        query: str,
        results: Sequence[RetrievalResult],
        *,
        max_context_tokens: int | None = None,
        options: AnswerOptions = QUOTING,
    ) -> GenerationResult:
        """Answer from results at hand, in their order. None gives a refusal. A model gets no tools here.

        Raises:
            QueryError: The question is empty, too long, or holds no word.
            ModelError: The model did not answer.
        """
        asked = _Asked(
            query,
            replace(self._timed(options), tools=False),
            results,
            0,
            0.0,
            EVERYTHING,
            self._room(max_context_tokens, options),
        )
        return answered(run(self._steps(asked), asked.options))

    def steps(
        self,
        query: str,
        top_k: int | None = None,
        min_score: float = 0.0,
        *,
        where: Filter = EVERYTHING,
        options: AnswerOptions = QUOTING,
    ) -> Steps[None]:
        """Return the steps of `generate_with_retrieval`, which `run`, `arun` or a driver of one's own takes.

        They tell what happens, and what is to be done; `Answered` comes last. Nothing is called here but the name of
        the model. An answer that is left before its end is not counted.
        """
        return self._steps(
            _Asked(query, self._timed(options), None, top_k, min_score, where, self._room(None, options))
        )

    def _steps(self, asked: _Asked) -> Steps[None]:
        started = self._clock()
        model = asked.options.writer
        # With tools, the model words its own searches.
        is_in_conversation = bool(asked.options.history)
        is_read_by_model = asked.options.uses_tools or bool(asked.options.attached)
        unasked = None if is_read_by_model else reply_to_small_talk(asked.query, after_answer=is_in_conversation)
        named = named_unread(asked.query, asked.where, self._unread) if asked.results is None else {}
        if unasked is not None:
            answer = unasked
        elif named and asks_for_content_alone(asked.query, named, self._finder.index.documents(asked.where)):
            answer = refusal_of_unread(asked.query, named)
        elif model is None:
            answer = with_unread((yield from self._quoted(asked)), named)
            note = "" if named or asked.results else unknown_file_note(asked.query, self._finder.index, asked.where)
            answer = with_note(answer, note) if note else answer
        elif asked.options.uses_tools:
            from openbook.answering.agent_answerer import AgentAnswerer

            explorer = AgentAnswerer(model, asked.options, self._finder, where=asked.where, price=self._price)
            # With an image, a question such as "What is this?" suffices.
            question = asked.query.strip() if asked.options.attached else _question(asked.query)
            answer = yield from explorer.explore(question)
        else:
            answer = yield from self._written(asked, model)
        answer = replace(answer, took_ms=(self._clock() - started) * 1000)
        self._count(answer)
        yield Answered(answer)

    def _quoted(self, asked: _Asked) -> Steps[GenerationResult]:
        yield Stage("searching")
        alone = standalone(asked.query, asked.options.history)
        results = self._results(asked, alone)
        answer = self._judged(asked, alone, results)
        if isinstance(answer, Relevance):
            yield Stage("writing")
            relevance, query = answer, alone.question
            picked, context = self._picked(asked, query, results)
            checked = check_quotes(quotes_of(picked), context, self._finder.text_now)
            shown = tuple(entry.result for entry in context.shown)
            further = more_places(query, [item.passage for item in picked], self._finder.index, asked.where)
            answer = GenerationResult(
                asked.query.strip(), compose(picked, further), checked.citations, shown, claims=checked.claims
            )
            if picked:
                unread = with_words(self._unread(asked.where)) if relevance.deciding else ()
                is_unsure = bool(relevance.deciding) or relevance.is_doubtful
                is_foreign = is_unsure and alone.asked.is_foreign
                is_foreign = is_foreign and self._finder.speaks_another_language(alone.asked, results)
                rows = note_on_rows(query.text, (item.passage.shown.result.chunk for item in picked))
                answer = with_note(answer, rows) if rows else answer
                answer = noted(
                    answer, relevance.deciding, unread, is_doubtful=relevance.is_doubtful, is_foreign=is_foreign
                )
            else:
                answer = self._refusal(asked, alone, results, RefusalReason.NOTHING_QUOTABLE)
        return replace(_told(answer, asked, alone), cost_usd=Decimal(0))

    def _picked(
        self, asked: _Asked, query: Question, results: Sequence[RetrievalResult]
    ) -> tuple[list[ScoredPassage], Context]:
        """Return the quotes, and the context that their marks count. Nothing is added to results that are given."""
        context = build_context(results, asked.max_tokens, for_model=False)
        may_add = asked.results is None
        if may_add:
            context = with_included(context, IncludedCode(self._finder.index, asked.where))
        picked = pick(query, context, self._finder.embedder, self._finder.weigh(query).rarity, self._finder.text_of)
        picked, context = unfolded(picked, context)
        if may_add:
            picked, context = with_constants(query, picked, context, self._finder.index, asked.where)
            picked, context = with_sections(query, picked, context, self._finder.index, asked.where)
        return picked, context

    def _written(self, asked: _Asked, model: Model) -> Steps[GenerationResult]:
        from openbook.answering.context_answerer import ContextAnswerer  # quotes have no use for models

        writer = ContextAnswerer(model, asked.options, self._finder, price=self._price)
        alone = yield from writer.standalone(asked.query)
        yield Stage("searching")
        results = self._results(asked, alone)
        # The model is not called if the sources do not cover the question.
        answer = self._judged(asked, alone, results)
        searches: Sequence[Question] = ()
        if self._is_expanded(asked, alone, results, answer):
            searches = yield from writer.expand(alone.text, results, asked.max_tokens)
        if searches:
            yield Stage("searching")
            results = self._finder.expand(results, searches, self._top_k(asked), asked.where, asked.min_score)
            answer = Relevance() if results else answer
        if asked.options.attached and results:
            answer = Relevance()  # text from an image may have words that no source contains
        if isinstance(answer, Relevance):
            if asked.results is None:
                results = self._finder.fill_context(results, asked.max_tokens, asked.where)
            understood = alone.text if alone.rewritten else ""
            answer = yield from writer.write(asked.query.strip(), results, asked.max_tokens, understood)
        written = tuple(search.text for search in searches)
        answer = replace(answer, searches=written, search_failure=writer.search_failure)
        return signed(_told(answer, asked, alone), model, writer.spent)

    def _is_expanded(
        self,
        asked: _Asked,
        alone: StandaloneQuestion,
        results: Sequence[RetrievalResult],
        judged: GenerationResult | Relevance,
    ) -> bool:
        """Check whether the model writes further searches: to find more, or in the language of the sources."""
        if asked.results is not None or not (self._expands_queries and asked.options.expands_query):
            return False
        if isinstance(judged, Relevance):
            return is_expandable(alone.question, results, self._top_k(asked))
        return judged.reason in _OTHER_WORDS and self._finder.speaks_another_language(alone.asked, results)

    def _top_k(self, asked: _Asked) -> int:
        return asked.top_k or (_QUOTED_TOP_K if asked.options.writer is None else _MODEL_TOP_K)

    def _results(self, asked: _Asked, alone: StandaloneQuestion) -> Sequence[RetrievalResult]:
        if asked.results is not None:
            return asked.results
        return self._finder.find(alone.question, self._top_k(asked), asked.where, asked.min_score)

    def _judged(
        self, asked: _Asked, alone: StandaloneQuestion, results: Sequence[RetrievalResult]
    ) -> GenerationResult | Relevance:
        """Return a refusal, or the relevance of the results."""
        weighed = self._finder.weigh(alone.asked)
        judged = self._finder.judge(alone, results, weighed, asked.where)
        if not judged.fault:
            return judged
        if unasked := reply_to_small_talk(asked.query, nothing_found=True):
            return unasked
        return self._refusal(asked, alone, results, judged.fault)

    def _refusal(
        self, asked: _Asked, alone: StandaloneQuestion, results: Sequence[RetrievalResult], reason: RefusalReason
    ) -> GenerationResult:
        missing = self._finder.weigh(alone.asked).missing
        is_other_language = self._finder.speaks_another_language(alone.asked, results)
        unread = self._unread(asked.where)
        like = like_unread(alone.asked, unread)
        refused = refusal(
            asked.query.strip(),
            reason,
            results,
            missing,
            unread=with_words({path: reason for path, reason in unread.items() if path not in like}),
            # Words of another language are not misspelled.
            meant=() if is_other_language else self._finder.spelled_like(missing, asked.where),
            is_foreign=is_other_language and alone.asked.is_foreign,
            is_filtered=reason == RefusalReason.NOTHING_FOUND and not self._finder.index.documents(asked.where),
        )
        return with_unread(refused, like)

    def check(
        self,
        query: str,
        answer: str,
        results: Sequence[RetrievalResult],
        *,
        max_context_tokens: int | None = None,
        policy: Policy = "flag",
        retry: Retry | None = None,
        verifier: Model | Judge | None = None,
    ) -> GenerationResult:
        """Check an answer that a model wrote from results at hand, and repair it where there is evidence.

        Args:
            query: The question.
            answer: Of any model; its marks count what `build_context` makes of the same results.
            results: What the model was shown, in that order.
            max_context_tokens: Budget of what it was shown, if it is another than that of the settings.
            policy: What happens to claims in conflict: `flag`, `drop` or `retry`.
            retry: For `retry`: takes these claims, asks the model once more, returns its answer.
            verifier: Checks whether the cited lines say what the claims say. Without one, words alone decide.

        Raises:
            QueryError: The question is empty, too long, or holds no word.
            ValueError: The policy is none, or `retry` without anything to call.
        """
        options = self._timed(AnswerOptions(verifier=verifier or "off", policy=policy))
        context = build_context(results, self._room(max_context_tokens, QUOTING))
        steps = self._checked(read_question(query).text, answer, context, options, retry)
        result = answered(run(steps, options))
        self._count(result)
        return result

    def _checked(
        self, query: str, answer: str, context: Context, options: AnswerOptions, retry: Retry | None
    ) -> Steps[None]:
        started = self._clock()
        verifier = verifier_for(options, Budget, price=self._price)

        def ask_again(conflicts: Sequence[Claim]) -> Steps[ModelReply]:
            yield from ()
            assert retry is not None
            return ModelReply(retry(conflicts))

        result = yield from answer_of(
            query,
            ModelReply(answer),
            context,
            self._finder,
            options.policy,
            verifier=verifier,
            ask_again=ask_again if retry else None,
        )
        spent = verifier.spent if verifier else Spent()
        took_ms = (self._clock() - started) * 1000
        yield Answered(replace(result, usage=spent.usage, cost_usd=spent.cost_usd, took_ms=took_ms))

    def request(
        self,
        query: str,
        results: Sequence[RetrievalResult],
        options: AnswerOptions = QUOTING,
        *,
        max_context_tokens: int | None = None,
    ) -> Request:
        """Return the call that asks a model to answer from results, as `generate_answer` makes it. Nothing is sent.

        `format_prompt_for_display` prints it, and `estimate_cost` prices it.
        """
        from openbook.answering.context_answerer import request_for

        return request_for(
            query.strip(), build_context(results, self._room(max_context_tokens, options)), self._timed(options)
        )

    def estimate_cost(
        self,
        query: str,
        results: Sequence[RetrievalResult],
        options: AnswerOptions,
        *,
        max_context_tokens: int | None = None,
    ) -> Decimal | None:
        """Return the maximum cost of an answer from results in US dollars, without its check; None if it is unknown.

        Without a model it costs nothing.
        """
        if options.writer is None:
            return Decimal(0)
        from openbook.answering.context_answerer import cost_of

        request = self.request(query, results, options, max_context_tokens=max_context_tokens)
        return cost_of(request, options.writer, price=self._price)

    def get_generation_stats(self) -> dict[str, float]:
        """Return the statistics by name."""
        return asdict(self._stats)

    def reset_generation_stats(self) -> None:
        """Start counting anew."""
        with self._lock:
            self._stats = GenerationStats()

    def _room(self, max_context_tokens: int | None, options: AnswerOptions) -> int:
        given = (max_context_tokens, options.context_tokens, self._context_tokens)
        return next(tokens for tokens in given if tokens is not None)

    def _timed(self, options: AnswerOptions) -> AnswerOptions:
        return replace(options, deadline_s=self._model_timeout_s) if options.deadline_s is None else options

    def _count(self, answer: GenerationResult) -> None:
        with self._lock:
            self._stats = GenerationStats(
                total_generations=self._stats.total_generations + 1,
                refused=self._stats.refused + answer.refused,
                with_citations=self._stats.with_citations + answer.has_citations,
                total_tokens=self._stats.total_tokens + answer.total_tokens,
                total_ms=self._stats.total_ms + answer.took_ms,
                total_usd=self._stats.total_usd + float(answer.cost_usd or 0),
                unknown_costs=self._stats.unknown_costs + (answer.cost_usd is None),
            )


def _question(query: str) -> str:
    """Check a question for an agent, which needs no content words: "What can you do?"."""
    return query.strip() if kind_of(query) == "small talk" else read_question(query).text


def _told(answer: GenerationResult, asked: _Asked, alone: StandaloneQuestion) -> GenerationResult:
    """Add the standalone question to an answer, if it differs from the message."""
    return replace(answer, searched="" if alone.text == asked.query.strip() else alone.text)
