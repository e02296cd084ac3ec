"""Routes that answer questions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from contextlib import aclosing
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from openbook.server.auth import Identified
from openbook.server.failures import RequestRefusedError
from openbook.server.models import ModelRegistry
from openbook.server.question_service import PreparedQuestion, QuestionService
from openbook.server.schemas import AnswerResponse, ModelsResponse, QueryRequest
from openbook.server.shutdown import ShutdownSignal
from openbook.server.streaming import as_events

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


async def _admitted(request: Request, question: QueryRequest, caller: Identified) -> AsyncIterator[PreparedQuestion]:
    """Check a question while its status can still say that it is refused."""
    asker: QuestionService = request.app.state.asker
    async with asker.admitted(question, caller) as asked:
        yield asked


Admitted = Annotated[PreparedQuestion, Depends(_admitted)]


async def _happening(request: Request, asked: Admitted) -> AsyncIterator[AsyncGenerator[ServerSentEvent, None]]:
    """Begin to answer. What is begun here is closed whenever the client leaves, also between two events."""
    asker: QuestionService = request.app.state.asker
    stopping: ShutdownSignal = request.app.state.stopping
    async with aclosing(as_events(asker.events(asked), asked.session_id, stopping)) as events:
        yield events


Happening = Annotated[AsyncGenerator[ServerSentEvent, None], Depends(_happening)]


@router.post("/api/query")
async def query(request: Request, asked: Admitted) -> AnswerResponse:
    """Answer a question."""
    asker: QuestionService = request.app.state.asker
    stopping: ShutdownSignal = request.app.state.stopping

    async def answered() -> AnswerResponse:
        reply = None
        async with aclosing(asker.events(asked)) as events:
            async for event in events:
                if isinstance(event, AnswerResponse):
                    reply = event
        assert reply is not None
        return reply

    async with stopping.heeded():
        return await unless_gone(request, answered())


@router.post("/api/query/stream", response_class=EventSourceResponse)
async def query_stream(events: Happening) -> AsyncIterator[ServerSentEvent]:
    """Answer a question, and tell what happens meanwhile.

    The events are `status`, `delta`, `block`, `draft`, `tool` and `citation`. The last one is `done` with an
    `AnswerResponse`, or `error`.
    """
    async for event in events:
        yield event


@router.get("/api/models")
async def models(request: Request, _: Identified) -> ModelsResponse:
    """List what may write answers."""
    offered: ModelRegistry = request.app.state.models
    return offered.listed()
