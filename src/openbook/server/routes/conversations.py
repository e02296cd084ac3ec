"""Routes for the caller's own conversations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import JSONResponse
from markdown_it import MarkdownIt

from openbook.grounding.blocks import Fence, read_line
from openbook.server.auth import Identified
from openbook.server.failures import REFUSALS
from openbook.server.parts import Id, Parts
from openbook.server.question_service import no_answer, no_session
from openbook.server.rendering import visible
from openbook.server.routes.questions import arrival_of, unless_gone
from openbook.server.schemas import AnswerResponse, SuggestionsResponse
from openbook.server.session_schemas import (
    SessionChangeRequest,
    SessionDetailResponse,
    SessionMatchesRequest,
    SessionMatchesResponse,
    SessionMatchResponse,
    SessionResponse,
    SessionsResponse,
)
from openbook.server.suggestions import follow_ups
from openbook.sessions.protocol import Session
from openbook.sessions.searching import search_sessions

# Markup that a viewer would load or execute, and its escaped form, which a preceding backslash cannot undo.
_ACTIVE = re.compile(r"!(?=\[)|<(?=[A-Za-z/!?])")
_AS_TEXT = {"!": "!\\", "<": "&lt;"}
_CODE = re.compile(r"(`+[^`]*`+)")

# Viewers parse deeper nesting differently.
_MAX_DEPTH = 15

_SIGNS = re.compile(r"[\\`*\[\]<!]")


def as_markdown(session: Session, records: Sequence[dict[str, Any]]) -> str:
    """Format a conversation as Markdown: each question as a heading, its answer, and its citations.

    Viewers load and execute nothing in it. Code is not escaped, unless it is not certain to be code.
    """
    text = _written(session, records, _escaped_except_code)
    return text if _is_harmless(text) else _written(session, records, _as_text)


def _written(session: Session, records: Sequence[dict[str, Any]], write: Callable[[str], str]) -> str:
    heading = [f"# {_line(session.title)}"] if session.title else []
    parts = [*heading, *(part for record in records for part in _exchange(record, write))]
    return "\n\n".join(parts) + "\n"


def _exchange(record: dict[str, Any], write: Callable[[str], str]) -> Iterator[str]:
    yield f"## {_line(record['query'])}"
    yield write(record["answer"].strip())
    if record["citations"]:
        yield "\n".join(f"- `{cited['mark']}` {_place(cited)}: {_verdict(cited)}" for cited in record["citations"])


def _place(cited: dict[str, Any]) -> str:
    place = _line(cited["place"]) or "nothing that was shown"
    return f"<{cited['url']}> ({place})" if cited["url"] else place


def _verdict(cited: dict[str, Any]) -> str:
    return f"{cited['verdict']}, {_line(cited['reason'])}" if cited["reason"] else str(cited["verdict"])


def _as_text(answer: str) -> str:
    return _ACTIVE.sub(lambda match: _AS_TEXT[match[0]], answer)


def _escaped_except_code(answer: str) -> str:
    """Escape an answer, except for fenced code and, within one line, code in backticks."""
    lines: list[str] = []
    fence: Fence | None = None
    for line in answer.split("\n"):
        inside, (_, fence) = fence, read_line(line, fence)
        if not (inside or fence):  # every second piece is code
            line = "".join(piece if at % 2 else _as_text(piece) for at, piece in enumerate(_CODE.split(line)))
        lines.append(line)
    return "\n".join(lines)


def _is_harmless(text: str) -> bool:
    tokens = MarkdownIt("commonmark").parse(text)
    everything = [*tokens, *(child for token in tokens for child in token.children or ())]
    return not any(
        token.type in ("html_block", "html_inline", "image") or token.level >= _MAX_DEPTH for token in everything
    )


def _line(text: str) -> str:
    return _SIGNS.sub(r"\\\g<0>", " ".join(visible(text).split()))


router: APIRouter = APIRouter(responses=REFUSALS)

_MAX_MATCHES = 50


def _own(parts: Parts, caller: Identified, session_id: Id) -> tuple[Session, list[dict[str, Any]]]:
    found = parts.sessions.records(caller.owner, session_id)
    if found is None:
        raise no_session(session_id)
    return found


Own = Annotated[tuple[Session, list[dict[str, Any]]], Depends(_own)]


@router.get("/api/sessions")
def sessions(parts: Parts, caller: Identified) -> SessionsResponse:
    """List the caller's latest conversations, at most 2,000, the latest first."""
    own = parts.sessions.of(caller.owner)
    return SessionsResponse(sessions=[SessionResponse.model_validate(session) for session in own])


@router.post("/api/session-matches")
def matches(parts: Parts, caller: Identified, wanted: SessionMatchesRequest) -> SessionMatchesResponse:
    """List the caller's conversations with all words of a text, latest first, at most 50."""
    found = search_sessions(parts.sessions, caller.owner, wanted.text, _MAX_MATCHES)
    return SessionMatchesResponse(
        sessions=[
            SessionMatchResponse(**asdict(each.session), snippet=each.snippet, matches=list(each.matches))
            for each in found
        ]
    )


@router.get("/api/sessions/{session_id}")
def session(parts: Parts, caller: Identified, own: Own) -> SessionDetailResponse:
    """Return a conversation with all of its exchanges."""
    found, records = own
    ratings = parts.feedback.of(caller.owner, found.id)
    for record in records:
        record["rating"] = ratings.get(record["id"], "")
    return SessionDetailResponse.model_validate({"id": found.id, "title": found.title, "exchanges": records})


@router.get("/api/sessions/{session_id}/answers/{answer_id}/suggestions")
async def suggestions(
    request: Request, parts: Parts, caller: Identified, own: Own, answer_id: Id
) -> SuggestionsResponse:
    """Return follow-up questions to an answer, made without a model from its citations and their surroundings."""
    found, records = own
    at = next((at for at, record in enumerate(records) if record["id"] == answer_id), None)
    if at is None:
        raise no_answer()
    answer = AnswerResponse.model_validate(records[at])
    asked = [record["query"] for record in records]

    def suggested() -> list[str]:
        last = parts.settings.session_history
        history = parts.sessions.history(caller.owner, found.id, last, before=at + 1)
        with parts.library.in_use() as assistant:
            return follow_ups(assistant, answer.citations, asked, history)

    work = parts.searcher.run(suggested, arrival_of(request, caller).party)
    return SuggestionsResponse(questions=await unless_gone(request, work))


@router.patch("/api/sessions/{session_id}", status_code=204)
def change(parts: Parts, caller: Identified, session_id: Id, new: SessionChangeRequest) -> None:
    """Rename a conversation, or pin or unpin it."""
    is_there = parts.sessions.find(caller.owner, session_id) is not None
    if new.title is not None:
        is_there = parts.sessions.rename(caller.owner, session_id, new.title)
    if new.pinned is not None:
        is_there = parts.sessions.pin(caller.owner, session_id, pinned=new.pinned)
    if not is_there:
        raise no_session(session_id)


@router.delete("/api/sessions/{session_id}", status_code=204)
def delete(parts: Parts, caller: Identified, session_id: Id) -> None:
    """Delete a conversation with the ratings of its answers."""
    if not parts.sessions.delete(caller.owner, session_id):
        raise no_session(session_id)
    parts.images.forget(session_id)
    parts.feedback.forget(caller.owner, session_id)


@router.get(
    "/api/sessions/{session_id}/export",
    response_class=Response,
    responses={200: {"content": {"application/json": {}, "text/markdown": {}}}},
)
def export(
    own: Own,
    written_as: Annotated[Literal["markdown", "json"], Query(alias="format")] = "markdown",
    answer: Annotated[str | None, Query(pattern="^[0-9a-f]{32}$", description="Of one answer alone.")] = None,
) -> Response:
    """Return a conversation, or one answer of it, as a file: Markdown with its citations, or JSON."""
    found, records = own
    if answer is not None:
        records = [record for record in records if record["id"] == answer]
        if not records:
            raise no_answer()
        found = replace(found, title="")
    headers = {"Content-Disposition": f'attachment; filename="{found.id}.{"json" if written_as == "json" else "md"}"'}
    if written_as == "json":
        return JSONResponse({"id": found.id, "title": found.title, "exchanges": records}, headers=headers)
    return Response(as_markdown(found, records), media_type="text/markdown; charset=utf-8", headers=headers)
