"""Questions that take the place of an earlier one: edited, or asked once more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from openbook.answers import Exchange
from openbook.server.failures import RequestRefusedError
from openbook.server.records import read_records
from openbook.server.schemas import AnswerResponse
from openbook.sessions.protocol import Cut, Sessions, session_title

# Each is kept whole within the one that replaced it, so a conversation must not grow with every attempt.
_MOST_EARLIER = 5


@dataclass(frozen=True, slots=True)
class Replacing:
    """The answer whose place a question takes."""

    id: str
    cut: Cut
    earlier: list[AnswerResponse]
    """That answer, and those that it had replaced, the oldest first."""
    is_title: bool
    """Whether its question is the title of the conversation."""


def find_replaced(sessions: Sessions, owner: str, session_id: str | None, answer_id: str) -> Replacing:
    """Find the answer that is to be replaced.

    Raises:
        RequestRefusedError: The owner has no such answer in this conversation.
        SessionError: Conversations cannot be read.
    """
    found = sessions.records(owner, session_id) if session_id else None
    if found is None or session_id is None:
        raise _no_answer()
    session, kept = found
    records = read_records(session_id, kept)
    at = next((at for at, record in enumerate(records) if record["id"] == answer_id), None)
    if at is None:
        raise _no_answer()
    title = session_title(Exchange(records[at]["query"], ""))
    return Replacing(
        answer_id, Cut(at, len(records)), _earlier(records[at]), is_title=at == 0 and session.title == title
    )


def _earlier(record: dict[str, Any]) -> list[AnswerResponse]:
    replaced = AnswerResponse.model_validate(record)
    before, replaced.earlier = replaced.earlier, []
    return [*before, replaced][-_MOST_EARLIER:]


def _no_answer() -> RequestRefusedError:
    return RequestRefusedError(
        404,
        "this conversation has no such answer to replace",
        hint="open the conversation again: it may have been changed meanwhile",
    )
