"""Routes for the caller's own conversations."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import JSONResponse

from openbook.server.auth import Caller, Identified
from openbook.server.exporting import as_markdown
from openbook.server.question_service import no_session
from openbook.server.saved import read_record
from openbook.server.schemas import SessionDetailResponse, SessionResponse, SessionsResponse, TitleRequest
from openbook.sessions.protocol import Session, Sessions

router: APIRouter = APIRouter()

Id = Annotated[str, Path(pattern="^[0-9a-f]{32}$")]


def _sessions(request: Request) -> Sessions:
    found: Sessions = request.app.state.sessions
    return found


async def _whole(request: Request, caller: Caller, session_id: str) -> tuple[Session, list[dict[str, Any]]]:
    found = await asyncio.to_thread(_sessions(request).records, caller.owner, session_id)
    if found is None:
        raise no_session(session_id)
    session, records = found
    return session, [read_record(record) for record in records]


@router.get("/api/sessions")
async def sessions(request: Request, caller: Identified) -> SessionsResponse:
    """List the caller's conversations, the latest first."""
    own = await asyncio.to_thread(_sessions(request).of, caller.owner)
    return SessionsResponse(sessions=[SessionResponse(**asdict(session)) for session in own])


@router.get("/api/sessions/{session_id}")
async def session(request: Request, caller: Identified, session_id: Id) -> SessionDetailResponse:
    """Return a conversation with all that was said."""
    found, records = await _whole(request, caller, session_id)
    return SessionDetailResponse.model_validate({"id": found.id, "title": found.title, "exchanges": records})


@router.patch("/api/sessions/{session_id}", status_code=204)
async def rename(request: Request, caller: Identified, session_id: Id, new: TitleRequest) -> None:
    """Give a conversation another title."""
    if not await asyncio.to_thread(_sessions(request).rename, caller.owner, session_id, new.title):
        raise no_session(session_id)


@router.delete("/api/sessions/{session_id}", status_code=204)
async def delete(request: Request, caller: Identified, session_id: Id) -> None:
    """Delete a conversation."""
    if not await asyncio.to_thread(_sessions(request).delete, caller.owner, session_id):
        raise no_session(session_id)


@router.get(
    "/api/sessions/{session_id}/export",
    response_class=Response,
    responses={200: {"content": {"application/json": {}, "text/markdown": {}}}},
)
async def export(
    request: Request,
    caller: Identified,
    session_id: Id,
    written_as: Annotated[Literal["markdown", "json"], Query(alias="format")] = "markdown",
) -> Response:
    """Return a conversation as a file: Markdown with its citations, or JSON."""
    found, records = await _whole(request, caller, session_id)
    headers = {"Content-Disposition": f'attachment; filename="{found.id}.{"json" if written_as == "json" else "md"}"'}
    if written_as == "json":
        return JSONResponse({"id": found.id, "title": found.title, "exchanges": records}, headers=headers)
    markdown = await asyncio.to_thread(as_markdown, found, records)
    return Response(markdown, media_type="text/markdown; charset=utf-8", headers=headers)
