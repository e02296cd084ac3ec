"""What the page reads first."""

from __future__ import annotations

from openbook.server.people_schemas import CallerResponse
from openbook.server.schemas import (
    CoursesResponse,
    ModelsResponse,
    RunningAnswersResponse,
    SessionsResponse,
    Shape,
    SourcesResponse,
)


class StartResponse(Shape):
    """The replies of several routes."""

    me: CallerResponse
    models: ModelsResponse
    answers: RunningAnswersResponse
    sources: SourcesResponse
    sessions: SessionsResponse
    courses: CoursesResponse
