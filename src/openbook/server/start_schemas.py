"""What the page reads first."""

from __future__ import annotations

from openbook.server.people_schemas import CallerResponse
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
