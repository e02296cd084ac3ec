"""Routes for what people say of answers, and for owners who read it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import JSONResponse

from openbook.server.auth import Caller, Identified, Owner
from openbook.server.feedback import FeedbackStore, question_set
from openbook.server.question_service import no_session
from openbook.server.records import read_records
from openbook.server.session_schemas import FeedbackListResponse, FeedbackResponse, RatingRequest
from openbook.sessions.protocol import Sessions

router: APIRouter = APIRouter()

Id = Annotated[str, Path(pattern="^[0-9a-f]{32}$")]

_MOST = 10_000


def _store(request: Request) -> FeedbackStore:
    found: FeedbackStore = request.app.state.feedback
    return found


def _record(request: Request, caller: Caller, session_id: str, answer_id: str) -> dict[str, Any]:
    kept: Sessions = request.app.state.sessions
    found = kept.records(caller.owner, session_id)
    records = read_records(session_id, found[1]) if found else []
    record = next((each for each in records if each["id"] == answer_id), None)
    if record is None:
        raise no_session(session_id)
    return record


@router.put("/api/sessions/{session_id}/answers/{answer_id}/rating", status_code=204)
async def rate(request: Request, caller: Identified, session_id: Id, answer_id: Id, said: RatingRequest) -> None:
    """Say whether an answer is good, and why not. Owners of the server read it, with the question."""

    def keep() -> None:
        record = _record(request, caller, session_id, answer_id)
        _store(request).rate(caller.owner, caller.name, record, said.rating, said.reason, said.comment.strip())

    await asyncio.to_thread(keep)


@router.delete("/api/sessions/{session_id}/answers/{answer_id}/rating", status_code=204)
async def take_back(request: Request, caller: Identified, session_id: Id, answer_id: Id) -> None:
    """Take back what was said of an answer."""
    await asyncio.to_thread(_record, request, caller, session_id, answer_id)
    await asyncio.to_thread(_store(request).take_back, caller.owner, answer_id)


@router.get(
    "/api/admin/feedback",
    response_model=FeedbackListResponse,
    responses={200: {"content": {"application/json": {}, "application/jsonl": {}}}},
)
async def feedback(
    request: Request,
    _: Owner,
    written_as: Annotated[Literal["json", "eval"], Query(alias="format")] = "json",
) -> Response:
    """Return what was said of answers, the latest first; with `format=eval` as a question set for `openbook eval`."""
    said = await asyncio.to_thread(_store(request).last, _MOST)
    if written_as == "json":
        listed = FeedbackListResponse(feedback=[FeedbackResponse(**asdict(each)) for each in said])
        return JSONResponse(listed.model_dump())
    lines = "".join(f"{json.dumps(each.to_dict(), ensure_ascii=False)}\n" for each in question_set(said))
    headers = {"Content-Disposition": 'attachment; filename="questions.jsonl"'}
    return Response(lines, media_type="application/jsonl; charset=utf-8", headers=headers)
