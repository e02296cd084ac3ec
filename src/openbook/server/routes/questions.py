"""Routes that answer questions."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from openbook.server.asking import Asked, Asker
from openbook.server.auth import Identified
from openbook.server.models import Models
from openbook.server.shapes import AnswerReply, ModelsReply, Question
from openbook.server.stopping import Stopping
from openbook.server.streaming import as_events
from openbook.server.waiting import unless_gone

router = APIRouter()


async def _admitted(request: Request, question: Question, caller: Identified) -> AsyncIterator[Asked]:
    """Check a question while its status can still say that it is refused."""
    asker: Asker = request.app.state.asker
    async with asker.admitted(question, caller) as asked:
        yield asked


Admitted = Annotated[Asked, Depends(_admitted)]


async def _happening(request: Request, asked: Admitted) -> AsyncIterator[AsyncGenerator[ServerSentEvent, None]]:
    """Begin to answer. What is begun here is closed whenever the client leaves, also between two events."""
    asker: Asker = request.app.state.asker
    stopping: Stopping = request.app.state.stopping
    async with aclosing(as_events(asker.events(asked), asked.session_id, stopping)) as events:
        yield events


Happening = Annotated[AsyncGenerator[ServerSentEvent, None], Depends(_happening)]


@router.post("/api/query")
async def query(request: Request, asked: Admitted) -> AnswerReply:
    """Answer a question."""
    asker: Asker = request.app.state.asker
    stopping: Stopping = request.app.state.stopping

    async def answered() -> AnswerReply:
        reply = None
        async with aclosing(asker.events(asked)) as events:
            async for event in events:
                if isinstance(event, AnswerReply):
                    reply = event
        assert reply is not None
        return reply

    async with stopping.heeded():
        return await unless_gone(request, answered())


@router.post("/api/query/stream", response_class=EventSourceResponse)
async def query_stream(events: Happening) -> AsyncIterator[ServerSentEvent]:
    """Answer a question, and tell what happens meanwhile.

    The events are `status`, `delta`, `block`, `tool`, `citation`, and at last `done` with an `AnswerReply`, or `error`.
    """
    async for event in events:
        yield event


@router.get("/api/models")
async def models(request: Request, _: Identified) -> ModelsReply:
    """List what may write answers."""
    offered: Models = request.app.state.models
    return offered.listed()
