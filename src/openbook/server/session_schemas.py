"""What requests and replies about conversations look like, and about links that show them to others."""

from __future__ import annotations

from pydantic import Field

from openbook.answers import Verdict
from openbook.server.feedback import Rating, Reason
from openbook.server.schemas import AnswerResponse, Identifier, Shape, StrictShape


class SessionResponse(Shape):
    """A conversation, without what was said."""

    id: str
    title: str
    created_at: float
    updated_at: float
    exchanges: int
    pinned: bool = False
    """Whether it is listed before the others on the page."""


class SessionsResponse(Shape):
    """Conversations of the caller, the latest first."""

    sessions: list[SessionResponse]


class SessionDetailResponse(Shape):
    """A conversation, with all that was said."""

    id: str
    title: str
    exchanges: list[AnswerResponse]


class SessionChangeRequest(StrictShape):
    """Changes of a conversation. What is left out stays."""

    title: str | None = Field(default=None, min_length=1, max_length=200)
    pinned: bool | None = None


class SessionMatchesRequest(StrictShape):
    """Words to find in conversations."""

    text: str = Field(min_length=1, max_length=200)


class SessionMatchResponse(SessionResponse):
    """A conversation in which words were found."""

    snippet: str
    """A piece of a line that has them: of the title, a question or an answer."""
    matches: list[tuple[int, int]]
    """The words in `snippet`, as half-open ranges of characters."""


class SessionMatchesResponse(Shape):
    """Conversations of the caller in which words were found, the latest first."""

    sessions: list[SessionMatchResponse]


class ShareRequest(StrictShape):
    """What a link is to show."""

    session_id: Identifier
    answer_id: Identifier | None = None
    """One answer alone. Without it, all that the conversation has now."""
    days: int = Field(default=7, ge=1, le=90)
    """Days until the link ends."""


class ShareResponse(Shape):
    """A link that shows answers to whoever has it."""

    id: str
    session_id: str
    title: str
    """Of the conversation."""
    answers: int
    created_at: float
    expires_at: float


class NewShareResponse(ShareResponse):
    """A link that was made, with its token, which is told only once."""

    link: str
    """Address of the page, relative to that of the server. The token stands behind `#`, so that no log has it."""


class SharesResponse(Shape):
    """Links of the caller that still open, the latest first."""

    shares: list[ShareResponse]


class TokenRequest(StrictShape):
    """The token of a link."""

    token: str = Field(max_length=100)


class SharedCitationResponse(Shape):
    """A citation of an answer that is shared: where it stands, and the cited lines."""

    number: int
    verdict: Verdict
    reason: str
    source: str
    place: str
    label: str
    quote: str


class SharedAnswerResponse(Shape):
    """An answer that is shared."""

    query: str
    html: str
    """Sanitized; empty if the answer is withheld or was refused."""
    citations: list[SharedCitationResponse]
    refused: bool
    reason: str
    model: str
    withheld: bool
    """Whether a document that it cites is no longer in the library: nothing of it is shown then."""


class SharedResponse(Shape):
    """What a link shows."""

    title: str
    expires_at: float
    answers: list[SharedAnswerResponse]


class RatingRequest(StrictShape):
    """What somebody says of an answer."""

    rating: Rating
    reason: Reason = ""
    comment: str = Field(default="", max_length=1000)


class FeedbackResponse(Shape):
    """What somebody said of an answer."""

    at: float
    who: str
    """Name of the key; `browser` without one."""
    rating: Rating
    reason: Reason
    comment: str
    query: str
    """As it was searched for, so that it stands alone."""
    model: str
    refused: bool
    places: list[str]
    """What the answer cited, as `SOURCE/PATH:START-END`."""


class FeedbackListResponse(Shape):
    """What people said of answers, the latest first."""

    feedback: list[FeedbackResponse]
