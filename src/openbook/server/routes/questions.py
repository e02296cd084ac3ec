"""Routes that answer questions, while the client waits or in the background."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from contextlib import aclosing
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent

from openbook.server.auth import BROWSER_COOKIE, Caller, Identified
from openbook.server.failures import REFUSALS, RequestRefusedError
from openbook.server.parts import Id, Parts
from openbook.server.question_queue import Arrival
from openbook.server.question_service import PreparedQuestion, reply_of
from openbook.server.running_answers import RemoteAnswer, RunningAnswer
from openbook.server.schemas import (
    AnswerResponse,
    ModelsResponse,
    QueryRequest,
    QueueResponse,
    RunningAnswerResponse,
    RunningAnswersResponse,
    SearchRequest,
    SearchResponse,
)
from openbook.server.streaming import as_events

T = TypeVar("T")

# Nginx's log status for a request that the client closed. Nobody receives it.
_GONE = 499


async def unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine for a request, and cancel it if the client disconnects."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)
    raise RequestRefusedError(_GONE, "the client has gone")


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


router: APIRouter = APIRouter(responses=REFUSALS)


def arrival_of(request: Request, caller: Caller) -> Arrival:
    """Return when a request arrived, and the party that it belongs to.

    A program without cookies would be a new caller with each request, so all from one address count as one.
    """
    has_name = caller.key is not None or BROWSER_COOKIE in request.cookies
    host = request.client.host if request.client else ""
    return Arrival(caller.owner if has_name else f"address:{host}", request.state.arrived_s)


def server_timing(stages_ms: dict[str, float], total_ms: float) -> str:
    """Return the times of all stages as a `Server-Timing` header.

    Example:
        >>> server_timing({"queued": 12.0, "searching": 30.5}, 45.1)
        'queued;dur=12.0, searching;dur=30.5, total;dur=45.1'
    """
    return ", ".join(f"{name};dur={ms}" for name, ms in (*stages_ms.items(), ("total", total_ms)))


async def _admitted(
    request: Request, parts: Parts, question: QueryRequest, caller: Identified
) -> AsyncIterator[PreparedQuestion]:
    """Check a question before the response starts, while it can still get an error status."""
    async with parts.asker.admitted(question, caller, arrival_of(request, caller)) as asked:
        yield asked


Admitted = Annotated[PreparedQuestion, Depends(_admitted)]


async def _happening(parts: Parts, asked: Admitted) -> AsyncIterator[AsyncGenerator[ServerSentEvent, None]]:
    """Start to answer. The answer is closed when the client disconnects, even between two events."""
    async with aclosing(as_events(parts.asker.events(asked, sees_place=True), asked.session_id)) as events:
        yield events


Happening = Annotated[AsyncGenerator[ServerSentEvent, None], Depends(_happening)]


@router.post("/api/query")
async def query(request: Request, response: Response, parts: Parts, asked: Admitted) -> AnswerResponse:
    """Answer a question. The header `Server-Timing` has the time of each stage, including the wait in the queue."""
    reply = (await unless_gone(request, reply_of(parts.asker.events(asked)))).response
    response.headers["Server-Timing"] = server_timing(reply.stages_ms, reply.took_ms)
    return reply


@router.post("/api/query/stream", response_class=EventSourceResponse)
async def query_stream(events: Happening) -> AsyncIterator[ServerSentEvent]:
    """Answer a question as a stream of server-sent events.

    The events are `status`, `delta`, `block`, `draft`, `tool` and `citation`. The last one is `done` with an
    `AnswerResponse`, or `error`. While the question waits for its turn, `status` has the stage `queued` and a `place`.
    """
    async for event in events:
        yield event


@router.post("/api/search")
async def search(request: Request, parts: Parts, caller: Identified, asked: SearchRequest) -> SearchResponse:
    """Search while a user types, without a model: hits with the matching lines. Closing the connection cancels it."""
    return await unless_gone(request, parts.searcher.search(asked, arrival_of(request, caller).party))


@router.get("/api/queue")
async def queue(request: Request, parts: Parts, caller: Identified) -> QueueResponse:
    """Return the length of the queue, and the places of the caller's questions."""
    queued = parts.asker.queue
    return QueueResponse(
        waiting=queued.waiting,
        most=parts.settings.server_queue,
        places=queued.places(arrival_of(request, caller).party),
        retry_after_s=round(queued.retry_after_s, 1),
    )


@router.get("/api/models")
def models(parts: Parts, _: Identified) -> ModelsResponse:
    """List the models that questions can choose, the default first."""
    return parts.models.listed().model_copy(update={"images": parts.settings.server_images})


# Above the number of events of any answer.
_MAX_EVENTS = 2**31


async def _own(parts: Parts, caller: Identified, answer_id: Id) -> RunningAnswer | RemoteAnswer:
    found = await parts.answers.find(caller.owner, answer_id)
    if found is None:
        raise RequestRefusedError(
            404, "you have no such answer, or it ended long ago", hint="its conversation has it, if it was finished"
        )
    return found


Own = Annotated[RunningAnswer | RemoteAnswer, Depends(_own)]


@router.post("/api/answers", status_code=202)
async def start(request: Request, parts: Parts, caller: Identified, question: QueryRequest) -> RunningAnswerResponse:
    """Start to answer a question in the background. Only `DELETE` stops it."""
    begun = await parts.answers.start(question, caller, arrival_of(request, caller))
    await parts.report_work()
    return begun.response()


@router.get("/api/answers")
async def answers(parts: Parts, caller: Identified) -> RunningAnswersResponse:
    """List the caller's answers that are running or ended in the last minutes.

    Those of other servers come first; within both groups, they are in the order of their questions.
    """
    return RunningAnswersResponse(answers=await parts.answers.of(caller.owner))


@router.get("/api/answers/{answer_id}/events", response_class=EventSourceResponse)
async def answer_events(
    found: Own,
    after: Annotated[int, Query(ge=0, le=_MAX_EVENTS, description="Id of the last event that is known.")] = 0,
    last_event_id: Annotated[int, Header(ge=0, le=_MAX_EVENTS)] = 0,
) -> AsyncIterator[ServerSentEvent]:
    """Stream the events of an answer, from any of them on, like `POST /api/query/stream`.

    The last event is `done`, `error`, or `stopped`.
    """
    async for event in found.follow(max(after, last_event_id)):
        yield event


@router.delete("/api/answers/{answer_id}", status_code=204)
async def stop(found: Own) -> None:
    """Stop an answer and its model call. A finished answer is not changed."""
    await found.stop()
