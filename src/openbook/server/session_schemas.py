"""Request and response models of conversations, links and ratings."""

from __future__ import annotations

from pydantic import Field

from openbook.answers import Verdict
from openbook.server.feedback import Rating, Reason
from openbook.server.schemas import AnswerResponse, Identifier, Shape, StrictShape


class SessionResponse(Shape):
    """A conversation without its exchanges."""

    id: str
    title: str
    created_at: float
    updated_at: float
    exchanges: int
    pinned: bool = False
    """Whether the page lists it before the others."""


class SessionsResponse(Shape):
    """Conversations of the caller, the latest first."""

    sessions: list[SessionResponse]


class SessionDetailResponse(Shape):
    """A conversation with all of its exchanges."""

    id: str
    title: str
    exchanges: list[AnswerResponse]


class SessionChangeRequest(StrictShape):
    """Changes of a conversation. Omitted fields are not changed."""

    title: str | None = Field(default=None, min_length=1, max_length=200, pattern=r"\S")
    pinned: bool | None = None


class SessionMatchesRequest(StrictShape):
    """Words to find in conversations."""

    text: str = Field(min_length=1, max_length=200)


class SessionMatchResponse(SessionResponse):
    """A conversation in which words were found."""

    snippet: str
    """Part of a matching line: of the title, a question or an answer."""
    matches: list[tuple[int, int]]
    """The words in `snippet`, as half-open ranges of characters."""


class SessionMatchesResponse(Shape):
    """Matching conversations of the caller, latest first."""

    sessions: list[SessionMatchResponse]


class ShareRequest(StrictShape):
    """The content of a new link."""

    session_id: Identifier
    answer_id: Identifier | None = None
    """A single answer. Default: all current answers of the conversation."""
    days: int = Field(default=7, ge=1, le=90)
    """Days until the link ends."""


class ShareResponse(Shape):
    """A link to answers."""

    id: str
    session_id: str
    title: str
    """Title of the conversation."""
    answers: int
    created_at: float
    expires_at: float


class NewShareResponse(ShareResponse):
    """A new link with its token, which is returned only once."""

    link: str
    """Address of the page, relative to that of the server. The token is in the fragment, so that no server logs it."""


class SharesResponse(Shape):
    """Active links of the caller, the latest first."""

    shares: list[ShareResponse]


class TokenRequest(StrictShape):
    """The token of a link."""

    token: str = Field(max_length=100)


class SharedCitationResponse(Shape):
    """A citation of a shared answer: its place and the cited lines."""

    number: int
    verdict: Verdict
    reason: str
    source: str
    place: str
    label: str
    quote: str


class SharedAnswerResponse(Shape):
    """A shared answer."""

    query: str
    html: str
    """Sanitized; empty if the answer is withheld or was refused."""
    citations: list[SharedCitationResponse]
    refused: bool
    reason: str
    model: str
    withheld: bool
    """Whether the answer is withheld because a cited document is no longer in the library."""


class SharedResponse(Shape):
    """The answers of a link."""

    title: str
    expires_at: float
    answers: list[SharedAnswerResponse]


class RatingRequest(StrictShape):
    """A rating of an answer."""

    rating: Rating
    reason: Reason = ""
    comment: str = Field(default="", max_length=1000)


class FeedbackResponse(Shape):
    """A rating of an answer, as owners read it."""

    at: float
    who: str
    """Name of the key; `browser` without one."""
    rating: Rating
    reason: Reason
    comment: str
    query: str
    """The question as searched for, which is understandable on its own."""
    model: str
    refused: bool
    places: list[str]
    """Cited spans, as `SOURCE/PATH:START-END`."""


class FeedbackListResponse(Shape):
    """Ratings of answers, the latest first."""

    feedback: list[FeedbackResponse]
