"""Routes for answers that go on when their page is left: begun, followed by anyone who may, and stopped."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from openbook.server.auth import Identified
from openbook.server.failures import RequestRefusedError
from openbook.server.parts import Id, Parts
from openbook.server.routes.questions import arrival_of
from openbook.server.running_answers import RunningAnswer
from openbook.server.schemas import QueryRequest, RunningAnswerResponse, RunningAnswersResponse
from openbook.server.shared_answers import RemoteAnswer

router: APIRouter = APIRouter()

# No answer has as many events.
_MOST_EVENTS = 2**31


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
    """Begin to answer a question in the background. Only `DELETE` stops it."""
    begun = await parts.answers.start(question, caller, arrival_of(request, caller))
    return begun.response()


@router.get("/api/answers")
async def answers(parts: Parts, caller: Identified) -> RunningAnswersResponse:
    """List the caller's answers that run, or ended in the last minutes, in the order of their questions."""
    return RunningAnswersResponse(answers=await parts.answers.of(caller.owner))


@router.get("/api/answers/{answer_id}/events", response_class=EventSourceResponse)
async def answer_events(
    found: Own,
    after: Annotated[int, Query(ge=0, le=_MOST_EVENTS, description="Id of the last event that is known.")] = 0,
    last_event_id: Annotated[int, Header(ge=0, le=_MOST_EVENTS)] = 0,
) -> AsyncIterator[ServerSentEvent]:
    """Follow an answer from any of its events on, as `POST /api/query/stream` tells them.

    The last event is `done`, `error`, or `stopped`.
    """
    async for event in found.follow(max(after, last_event_id)):
        yield event


@router.delete("/api/answers/{answer_id}", status_code=204)
async def stop(found: Own) -> None:
    """Stop an answer, and the call of its model. One that has ended stays as it is."""
    await found.stop()
