"""Handles one question: checks and limits, the queue, the answer, and storing the exchange."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, TypeVar

from openbook.agent.toolsets import installed_tools
from openbook.answering.options import AnswerOptions
from openbook.answering.verifiers import open_verifier
from openbook.answers import (
    Answered,
    AnswerEvent,
    Exchange,
    GenerationResult,
    Stage,
)
from openbook.costs import Budget, price_of
from openbook.courses.catalog import check_lesson
from openbook.errors import CutOffError, OpenbookError, SessionError, SharedError, TimedOutError
from openbook.library import Library
from openbook.llm.protocol import Model
from openbook.questions.question import read_question
from openbook.server.answer_pool import AnswerPool
from openbook.server.answer_tracker import AnswerTracker
from openbook.server.auth import Caller
from openbook.server.failures import RequestRefusedError, without_places
from openbook.server.jobs import JobQueue
from openbook.server.limits import COUNTED_ALONE, Limits, SpendReservation, nearly_spent
from openbook.server.metrics import Metrics
from openbook.server.models import ModelRegistry
from openbook.server.presenting import Replacing, find_replaced, present
from openbook.server.question_images import ClientHistory, QuestionImages
from openbook.server.question_queue import Arrival, NoTurnError, QuestionQueue, Queued, Ticket
from openbook.server.schemas import (
    AnswerResponse,
    FilterRequest,
    QueryRequest,
)
from openbook.server.search_service import narrowing
from openbook.server.served_library import ServedLibrary
from openbook.server.shutdown import ServerStoppedError, ShutdownSignal
from openbook.sessions.protocol import MAX_EXCHANGES, Sessions, new_id, session_title
from openbook.settings import Settings
from openbook.types import Attachment, Filter
from openbook.usage import Usage

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

_logger = logging.getLogger(__name__)

# Searching and checking are CPU-bound, and an interpreter runs one thread at a time, so more threads would only wait. A
# few let a short search overtake a long check.
_THREADS = 4

T = TypeVar("T")


@dataclass(slots=True)
class PreparedQuestion:
    """A question that has passed all checks."""

    query: str
    caller: Caller
    ticket: Ticket
    session_id: str
    begins: bool
    """Whether it is the first of its conversation."""
    is_kept: bool
    """Whether it is stored in its conversation."""
    where: Filter
    limit: int | None
    """Maximum number of results to answer from; None: the default."""
    options: AnswerOptions
    replacing: Replacing | None = None
    """The answer that it replaces; None for a question at the end of its conversation."""
    short_usd: float | None = None
    """The reserved money, if it is less than an answer may cost."""
    cost_usd: Decimal | None = Decimal(0)
    """Cost so far; None if unknown, or if a call was cut short."""


@dataclass(frozen=True, slots=True)
class Replied:
    """The question has been answered."""

    answer: GenerationResult
    response: AnswerResponse
    """The response of the API."""


Progress = AsyncGenerator[AnswerEvent | Queued | Replied, None]
"""Progress events of an answer. `Replied` comes last."""


async def reply_of(progress: Progress) -> Replied:
    """Return the response of an answer, ignoring its progress."""
    async with aclosing(progress):
        (replied,) = [event async for event in progress if isinstance(event, Replied)]
    return replied


class QuestionService:
    """Answers questions of many callers concurrently."""

    def __init__(
        self,
        library: ServedLibrary,
        sessions: Sessions,
        models: ModelRegistry,
        limits: Limits,
        metrics: Metrics,
        settings: Settings,
        images: QuestionImages,
        jobs: JobQueue,
        stopping: ShutdownSignal,
        *,
        answer_pool: AnswerPool | None = None,
        tracer: Tracer | None = None,
    ) -> None:
        """Without `answer_pool`, threads answer. `tracer` creates spans, if given."""
        self.queue = QuestionQueue(settings, _THREADS if answer_pool is None else answer_pool.turns)
        metrics.follow(lambda: self.queue.waiting, lambda: self.queue.open)
        self._library = library
        self._sessions = sessions
        self._models = models
        self._limits = limits
        self._metrics = metrics
        self._settings = settings
        self._images = images
        self._jobs = jobs
        self._stopping = stopping
        self._answerers = answer_pool
        self._tracer = tracer
        self._verifier = open_verifier(settings.verifier, settings)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="openbook-answer")

    @asynccontextmanager
    async def admitted(
        self,
        question: QueryRequest,
        caller: Caller,
        arrival: Arrival,
        history: ClientHistory | None = None,
    ) -> AsyncGenerator[PreparedQuestion, None]:
        """Queue and check a question, and settle its actual cost at the end.

        `history` comes from a client that stores its own conversations, so nothing is stored here. None: the history of
        the session.

        Raises:
            SessionError: Conversations or limits cannot be read.
        """
        try:
            ticket = self.queue.enter(arrival)
        except NoTurnError:
            self._metrics.ended("overloaded")
            raise
        try:
            async with self._checked(question, caller, ticket, history) as asked:
                yield asked
        finally:
            self.queue.leave(ticket)

    @asynccontextmanager
    async def _checked(
        self, question: QueryRequest, caller: Caller, ticket: Ticket, history: ClientHistory | None
    ) -> AsyncGenerator[PreparedQuestion, None]:
        await asyncio.to_thread(self._limits.take, caller)
        is_kept = history is None
        replacing = None
        if question.replaces is not None and is_kept:
            where_to = (self._sessions, caller.owner, question.session_id, question.replaces)
            replacing = await asyncio.to_thread(find_replaced, *where_to)
        told = () if history is None else history.exchanges
        if replacing is not None:
            told = await asyncio.to_thread(self._earlier, question, caller, replacing)
        kept = self._kept_images(question, replacing)
        before, where, model, is_priced = await asyncio.to_thread(
            self._prepared, question, caller, told, has_images=bool(question.images or kept)
        )
        max_usd = self._settings.answer_usd if is_priced else 0.0
        grant = await asyncio.to_thread(self._limits.reserve, caller, max_usd) if max_usd else SpendReservation(0.0)
        asked = None
        try:
            # Only now, since decoding takes time: the caller may ask, and has questions and money left.
            images, before = await asyncio.to_thread(self._decoded, question, history, before)
            options = AnswerOptions(
                model=model,
                tools=(installed_tools() or True) if question.agent and model is not None else False,
                verifier=self._verifier,
                budget=Budget(max_usd=grant.usd) if grant.usd else Budget(),
                history=before,
                images=images or kept,
            )
            asked = PreparedQuestion(
                *(question.query, caller, ticket, question.session_id or new_id(), question.session_id is None),
                *(is_kept, where, question.limit or self._settings.server_results or None, options),
                replacing=replacing,
                short_usd=grant.usd if grant.usd < max_usd else None,
            )
            yield asked
        finally:
            # Shielded from cancellation, because it must be stored even if the client has disconnected.
            cost_usd = Decimal(0) if asked is None else asked.cost_usd
            settling = asyncio.get_running_loop().run_in_executor(None, self._settle, caller, grant, cost_usd)
            await asyncio.shield(settling)

    def _decoded(
        self, question: QueryRequest, history: ClientHistory | None, last: tuple[Exchange, ...]
    ) -> tuple[tuple[Attachment, ...], tuple[Exchange, ...]]:
        """Return the images of the question, and the last exchanges with theirs."""
        images = self._images.read(question.images)
        return images, last if history is None else self._images.read_history(history, last)

    def _settle(self, caller: Caller, grant: SpendReservation, cost_usd: Decimal | None) -> None:
        """Settle the cost of an answer. Its reply has been sent, so a failure is only logged."""
        try:
            self._limits.settle(caller, grant, cost_usd)
        except OpenbookError as exc:
            _logger.warning("not settled", extra={"caller": caller.owner, "reason": str(exc)})

    def _kept_images(self, question: QueryRequest, replacing: Replacing | None) -> tuple[Attachment, ...]:
        """Return the images of the replaced question, unless this one has its own."""
        if question.images or replacing is None:
            return ()
        return self._images.of_question(question.session_id or "", replacing.earlier[-1].query)

    def _earlier(self, question: QueryRequest, caller: Caller, replacing: Replacing) -> tuple[Exchange, ...]:
        """Return the history before the replaced answer."""
        last, kept = self._settings.session_history, replacing.cut.kept
        return self._sessions.history(caller.owner, question.session_id or "", last, before=kept)

    def _prepared(
        self, question: QueryRequest, caller: Caller, history: tuple[Exchange, ...], *, has_images: bool
    ) -> tuple[tuple[Exchange, ...], Filter, Model | None, bool]:
        """Return the history, the filter, the model (None for quotes), and whether that model has a price."""
        history = history[-self._settings.session_history :] if self._settings.session_history else ()
        if question.session_id is not None and question.replaces is None:
            session = self._sessions.find(caller.owner, question.session_id)
            if session is None:
                raise no_session(question.session_id)
            if session.exchanges >= MAX_EXCHANGES:
                hint = "leave session_id out to begin a new one"
                raise RequestRefusedError(
                    409, f"this conversation has {session.exchanges:,} answers already", hint=hint
                )
            history = self._sessions.history(caller.owner, question.session_id, self._settings.session_history)
        if question.session_id is not None:
            history = self._images.attached(question.session_id, history)
        if not (history or has_images):  # otherwise it may refer to earlier questions or to images
            read_question(question.query)
        where = self._where(question)
        model = self._models.get(question.model)
        if has_images and model is None:
            raise RequestRefusedError(400, "images need a model that reads them", hint="choose a model that does")
        is_priced = model is not None and price_of(model.name, Usage(1, 1)) is not None
        return history, where, model, is_priced

    def _where(self, question: QueryRequest) -> Filter:
        if question.lesson_part is not None and question.lesson_number is None:
            raise RequestRefusedError(
                400, "lesson_part is given without lesson_number", hint="send the number of its module too"
            )
        with self._library.in_use() as assistant:
            narrowed = narrowing(question.filters or FilterRequest(), assistant)
            course = assistant.course(question.course_name) if question.course_name else None
            where = replace(
                narrowed,
                courses=frozenset({course.key} if course else ()),
                lesson=question.lesson_number,
                part=question.lesson_part,
            )
            check_lesson(assistant.index, where)
        return where

    async def events(self, asked: PreparedQuestion, *, sees_place: bool = False) -> Progress:
        """Answer, and yield progress events. Closing the generator cancels the model call.

        A caller who sees the place in the queue is willing to wait longer.
        """
        tracker = AnswerTracker(
            *(self._metrics, self._tracer, asked.session_id, asked.ticket.arrival.arrived_s),
            waits=lambda: self.queue.resume(asked.ticket),
        )
        try:
            with tracker as stages:
                async with aclosing(self.queue.wait(asked.ticket, sees_place=sees_place)) as places:
                    while (queued := await self._stopping.next(places)) is not None:
                        yield queued
                asked.cost_usd = None
                reading = self._jobs.reading(asked.where.sources)  # it may end before the answer does
                with self._library.in_use() as assistant:
                    async with aclosing(self._stream(assistant, asked, stages.watched(asked.options))) as events:
                        while (event := await self._stopping.next(events)) is not None:
                            self._note(event, asked, stages)
                            if isinstance(event, Answered):
                                _check_paid(asked, event.answer)
                            yield event
                assert stages.answer is not None
                stages.enter("rendering")
                reply = await self._in_thread(present, stages.answer, self._library, asked.session_id)
                self.queue.end_turn(asked.ticket)
        except OpenbookError as exc:
            # Text of an answer that fails at its end must not be free, or callers would provoke that. Calls that are
            # refused cost nothing: no key may be locked out because a provider is down.
            if not (tracker.has_replied or isinstance(exc, CutOffError | TimedOutError | ServerStoppedError)):
                asked.cost_usd = Decimal(0)
            raise
        reply.took_ms = round(stages.total_s * 1000, 1)
        reply.stages_ms = {name: round(seconds * 1000, 1) for name, seconds in stages.took_s.items()}
        if asked.replacing is not None:
            reply.earlier = asked.replacing.earlier
        reply.warning = "; ".join(filter(None, (str(reading or ""), reply.warning)))
        if asked.is_kept:
            failure = await asyncio.to_thread(self._keep, asked, stages.answer, reply)
            reply.stored = not failure
            reply.warning = "; ".join(filter(None, (reply.warning, failure)))
        yield Replied(stages.answer, reply)

    def _note(self, event: AnswerEvent, asked: PreparedQuestion, stages: AnswerTracker) -> None:
        """Record an event, and start the next question while a model writes."""
        if isinstance(event, Stage):
            stages.enter(event.name)
        elif isinstance(event, Answered):
            stages.answer, asked.cost_usd = event.answer, event.answer.cost_usd
        if stages.is_of_model:
            self.queue.end_turn(asked.ticket)

    def _stream(
        self, assistant: Library, asked: PreparedQuestion, options: AnswerOptions
    ) -> AsyncGenerator[AnswerEvent, None]:
        if self._answerers is None:
            return assistant.aquery_stream(
                asked.query, limit=asked.limit, where=asked.where, options=options, executor=self._threads
            )
        return self._answerers.stream(asked.query, asked.limit, asked.where, options)

    async def _in_thread(self, work: Callable[..., T], *arguments: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)

    def close(self) -> None:
        self._threads.shutdown()

    def _keep(self, asked: PreparedQuestion, answer: GenerationResult, reply: AnswerResponse) -> str:
        """Store an exchange, and return a warning if that failed: the caller still gets the answer."""
        exchange = Exchange.of(asked.query, answer)
        self._images.remember(asked.session_id, asked.query, asked.options.attached)
        record = reply.model_dump(mode="json")
        owner, replacing = asked.caller.owner, asked.replacing
        cut = replacing.cut if replacing is not None else None
        try:
            self._sessions.add(owner, asked.session_id, exchange, record, begins=asked.begins, cut=cut)
            if replacing is not None and replacing.is_title:
                self._sessions.rename(owner, asked.session_id, session_title(exchange))
        except SharedError as exc:
            return f"{without_places(str(exc))}: this answer is not stored, and {COUNTED_ALONE}"
        except SessionError as exc:
            return without_places(str(exc))
        return ""


def _check_paid(asked: PreparedQuestion, answer: GenerationResult) -> None:
    """Raise an error if an answer was refused for lack of money, which would look like missing evidence."""
    if answer.refused and answer.stopped == "max_usd" and asked.short_usd is not None:
        raise nearly_spent(asked.short_usd, time.time())


def no_answer() -> RequestRefusedError:
    """Build the error for an answer that the caller's conversation does not have."""
    return RequestRefusedError(
        404, "this conversation has no such answer", hint="GET /api/sessions/{session_id} has the ids of its answers"
    )


def no_session(session_id: str) -> RequestRefusedError:
    """Build the error for a conversation that does not exist, or is not the caller's."""
    return RequestRefusedError(
        404, f"you have no conversation {session_id!r}", hint="leave session_id out to begin a new one"
    )
