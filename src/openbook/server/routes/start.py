"""Everything that the page needs at its start, in one request."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Request, Response

from openbook.server.auth import Identified
from openbook.server.failures import REFUSALS
from openbook.server.parts import Parts
from openbook.server.people_schemas import CallerResponse
from openbook.server.routes.contents import courses, sources
from openbook.server.routes.conversations import sessions
from openbook.server.routes.logins import me
from openbook.server.routes.questions import answers, models
from openbook.server.schemas import (
    CoursesResponse,
    ModelsResponse,
    RunningAnswersResponse,
    Shape,
    SourcesResponse,
)
from openbook.server.session_schemas import SessionsResponse


class StartResponse(Shape):
    """The replies of several routes."""

    me: CallerResponse
    models: ModelsResponse
    answers: RunningAnswersResponse
    sources: SourcesResponse
    sessions: SessionsResponse
    courses: CoursesResponse


router: APIRouter = APIRouter(responses=REFUSALS)


@router.get("/api/start")
async def start(request: Request, response: Response, parts: Parts, caller: Identified) -> StartResponse:
    """Return the replies of `me`, `models`, `answers`, `sources`, `sessions` and `courses`, for the page."""
    who, offered, running, held, kept, taught = await asyncio.gather(
        asyncio.to_thread(me, request, response, parts, caller),
        asyncio.to_thread(models, parts, caller),
        answers(parts, caller),
        asyncio.to_thread(sources, parts, caller),
        asyncio.to_thread(sessions, parts, caller),
        asyncio.to_thread(courses, parts, caller),
    )
    return StartResponse(me=who, models=offered, answers=running, sources=held, sessions=kept, courses=taught)
