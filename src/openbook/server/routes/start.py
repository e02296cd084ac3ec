"""What the page reads first, in one request."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Request, Response

from openbook.server.auth import Identified
from openbook.server.people_schemas import CallerResponse
from openbook.server.routes.answers import answers
from openbook.server.routes.contents import courses, sources
from openbook.server.routes.conversations import sessions
from openbook.server.routes.logins import me
from openbook.server.routes.questions import models
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


router: APIRouter = APIRouter()


@router.get("/api/start")
async def start(request: Request, response: Response, caller: Identified) -> StartResponse:
    """Return the replies of `me`, `models`, `answers`, `sources`, `sessions` and `courses`: all that the page needs."""
    who, offered, running, held, kept, taught = await asyncio.gather(
        me(request, response, caller),
        models(request, caller),
        answers(request, caller),
        sources(request, caller),
        sessions(request, caller),
        courses(request, caller),
    )
    return StartResponse(me=who, models=offered, answers=running, sources=held, sessions=kept, courses=taught)
