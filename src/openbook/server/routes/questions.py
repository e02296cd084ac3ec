"""Routes that answer questions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from contextlib import aclosing
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Request, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent

from openbook.server.auth import BROWSER_COOKIE, Caller, Identified
from openbook.server.failures import RequestRefusedError
from openbook.server.models import ModelRegistry
from openbook.server.question_queue import Arrival
from openbook.server.question_service import PreparedQuestion, QuestionService, reply_of
from openbook.server.schemas import (
    AnswerResponse,
    ModelsResponse,
    QueryRequest,
    QueueResponse,
    SearchRequest,
    SearchResponse,
)
from openbook.server.search_service import SearchService
from openbook.server.streaming import as_events
from openbook.settings import Settings

T = TypeVar("T")

# As proxies write it into their logs: the client closed the request. Nobody receives it.
_GONE = 499


async def unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Do work for a request, and stop it if the client goes away.

    Raises:
        RequestRefusedError: The client has gone.
    """
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


router: APIRouter = APIRouter()


def arrival_of(request: Request, caller: Caller) -> Arrival:
    """Return when a request arrived, and with whom it shares its turns.

    Each request of a program that keeps no cookie would be another caller, so all from one address count as one.
    """
    has_name = caller.key is not None or BROWSER_COOKIE in request.cookies
    host = request.client.host if request.client else ""
    return Arrival(caller.owner if has_name else f"address:{host}", request.state.arrived_s)


def server_timing(stages_ms: dict[str, float], total_ms: float) -> str:
    """Write the time of each stage as the header `Server-Timing`.

    Example:
        >>> server_timing({"queued": 12.0, "searching": 30.5}, 45.1)
        'queued;dur=12.0, searching;dur=30.5, total;dur=45.1'
    """
    return ", ".join(f"{name};dur={ms}" for name, ms in (*stages_ms.items(), ("total", total_ms)))


async def _admitted(request: Request, question: QueryRequest, caller: Identified) -> AsyncIterator[PreparedQuestion]:
    """Check a question while its status can still say that it is refused."""
    asker: QuestionService = request.app.state.asker
    async with asker.admitted(question, caller, arrival_of(request, caller)) as asked:
        yield asked


Admitted = Annotated[PreparedQuestion, Depends(_admitted)]


async def _happening(request: Request, asked: Admitted) -> AsyncIterator[AsyncGenerator[ServerSentEvent, None]]:
    """Begin to answer. What is begun here is closed whenever the client leaves, also between two events."""
    asker: QuestionService = request.app.state.asker
    async with aclosing(as_events(asker.events(asked, sees_place=True), asked.session_id)) as events:
        yield events


Happening = Annotated[AsyncGenerator[ServerSentEvent, None], Depends(_happening)]


@router.post("/api/query")
async def query(request: Request, response: Response, asked: Admitted) -> AnswerResponse:
    """Answer a question. `Server-Timing` tells how long each stage took, waiting in the queue included."""
    asker: QuestionService = request.app.state.asker
    reply = (await unless_gone(request, reply_of(asker.events(asked)))).response
    response.headers["Server-Timing"] = server_timing(reply.stages_ms, reply.took_ms)
    return reply


@router.post("/api/query/stream", response_class=EventSourceResponse)
async def query_stream(events: Happening) -> AsyncIterator[ServerSentEvent]:
    """Answer a question, and tell what happens meanwhile.

    The events are `status`, `delta`, `block`, `draft`, `tool` and `citation`. The last one is `done` with an
    `AnswerResponse`, or `error`. While the question waits for its turn, `status` has the stage `queued` and a `place`.
    """
    async for event in events:
        yield event


@router.post("/api/search")
async def search(request: Request, caller: Identified, asked: SearchRequest) -> SearchResponse:
    """Search without a model, as somebody types: each hit with the lines that match. Ends with its connection."""
    searcher: SearchService = request.app.state.searcher
    return await unless_gone(request, searcher.search(asked, arrival_of(request, caller).party))


@router.get("/api/queue")
async def queue(request: Request, caller: Identified) -> QueueResponse:
    """Return how many questions wait for their turn, and the places of the caller's own."""
    asker: QuestionService = request.app.state.asker
    settings: Settings = request.app.state.library.settings
    return QueueResponse(
        waiting=asker.queue.waiting,
        most=settings.server_queue,
        places=asker.queue.places(arrival_of(request, caller).party),
        retry_after_s=round(asker.queue.retry_after_s, 1),
    )


@router.get("/api/models")
async def models(request: Request, _: Identified) -> ModelsResponse:
    """List what may write answers."""
    offered: ModelRegistry = request.app.state.models
    settings: Settings = request.app.state.library.settings
    return offered.listed().model_copy(update={"images": settings.server_images})
