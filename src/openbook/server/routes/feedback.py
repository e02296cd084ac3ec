"""Routes for ratings of answers."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Response
from fastapi.responses import JSONResponse

from openbook.server.auth import Identified, Owner
from openbook.server.failures import REFUSALS
from openbook.server.feedback import question_set
from openbook.server.parts import Id, Parts
from openbook.server.question_service import no_answer, no_session
from openbook.server.session_schemas import FeedbackListResponse, FeedbackResponse, RatingRequest

router: APIRouter = APIRouter(responses=REFUSALS)

_MAX_RATINGS = 10_000


def _record(parts: Parts, caller: Identified, session_id: Id, answer_id: Id) -> dict[str, Any]:
    found = parts.sessions.records(caller.owner, session_id)
    if found is None:
        raise no_session(session_id)
    record = next((each for each in found[1] if each["id"] == answer_id), None)
    if record is None:
        raise no_answer()
    return record


Answer = Annotated[dict[str, Any], Depends(_record)]


@router.put("/api/sessions/{session_id}/answers/{answer_id}/rating", status_code=204)
def rate(parts: Parts, caller: Identified, record: Answer, said: RatingRequest) -> None:
    """Rate an answer, with a reason and a comment. Owners of the server can read them, and the question."""
    parts.feedback.rate(caller.owner, caller.name, record, said.rating, said.reason, said.comment.strip())


@router.delete("/api/sessions/{session_id}/answers/{answer_id}/rating", status_code=204)
def take_back(parts: Parts, caller: Identified, record: Answer) -> None:
    """Withdraw a rating."""
    parts.feedback.take_back(caller.owner, record["id"])


@router.get(
    "/api/admin/feedback",
    response_model=FeedbackListResponse,
    responses={200: {"content": {"application/json": {}, "application/jsonl": {}}}},
)
def feedback(
    parts: Parts,
    _: Owner,
    written_as: Annotated[Literal["json", "eval"], Query(alias="format")] = "json",
) -> Response:
    """Return the latest ratings, newest first; with `format=eval` as a question set for `openbook eval`."""
    said = parts.feedback.last(_MAX_RATINGS)
    if written_as == "json":
        listed = FeedbackListResponse(feedback=[FeedbackResponse.model_validate(each) for each in said])
        return JSONResponse(listed.model_dump())
    lines = "".join(f"{json.dumps(each.to_dict(), ensure_ascii=False)}\n" for each in question_set(said))
    headers = {"Content-Disposition": 'attachment; filename="questions.jsonl"'}
    return Response(lines, media_type="application/jsonl; charset=utf-8", headers=headers)
