"""Routes for sharing answers by link."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from openbook.server.auth import Caller, Identified
from openbook.server.failures import REFUSALS, RequestRefusedError
from openbook.server.parts import Id, Parts, note
from openbook.server.question_service import no_answer, no_session
from openbook.server.served_library import ServedLibrary
from openbook.server.session_schemas import (
    NewShareResponse,
    SharedAnswerResponse,
    SharedCitationResponse,
    SharedResponse,
    ShareRequest,
    ShareResponse,
    SharesResponse,
    TokenRequest,
)
from openbook.server.shares import Share, may_share
from openbook.sessions.protocol import Session

router: APIRouter = APIRouter(responses=REFUSALS)

_DAY_S = 24 * 3600.0

# Nobody can keep track of more.
_MAX_PER_CALLER = 100


@router.post("/api/shares", status_code=201)
def share(request: Request, parts: Parts, caller: Identified, wanted: ShareRequest) -> NewShareResponse:
    """Create a link to one answer, or to all current answers of a conversation."""
    if not may_share(parts.settings, caller):
        raise RequestRefusedError(
            403,
            "you may not share answers here",
            hint="ask whoever runs the server: OPENBOOK_SERVER_SHARES says who may",
        )
    found = parts.sessions.records(caller.owner, wanted.session_id)
    ids = [each["id"] for each in found[1] if wanted.answer_id in (None, each["id"])] if found else []
    if found is None:
        raise no_session(wanted.session_id)
    if not ids:
        raise no_answer()
    if len(parts.shares.of(caller.owner)) >= _MAX_PER_CALLER:
        raise RequestRefusedError(409, f"you share {_MAX_PER_CALLER} links already", hint="revoke one of them")
    key_id = caller.key.id if caller.key else ""
    new, token = parts.shares.add(caller.owner, key_id, wanted.session_id, ids, wanted.days * _DAY_S)
    note(request, caller, "shared", f"link {new.id}, {wanted.days} days")
    return NewShareResponse(**_listed(new, found[0]).model_dump(), link=f"shared#{token}")


@router.get("/api/shares")
def shares(parts: Parts, caller: Identified) -> SharesResponse:
    """List the caller's active links, the latest first, without their tokens."""
    found = [(each, parts.sessions.records(each.owner, each.session_id)) for each in parts.shares.of(caller.owner)]
    return SharesResponse(shares=[_listed(each, kept[0]) for each, kept in found if kept is not None])


@router.delete("/api/shares/{share_id}", status_code=204)
def revoke(request: Request, parts: Parts, caller: Identified, share_id: Id) -> None:
    """Revoke a link."""
    if not parts.shares.remove(caller.owner, share_id):
        raise RequestRefusedError(404, "you have no such link", hint="it may have ended")
    note(request, caller, "revoked link", f"link {share_id}")


@router.post("/api/shared")
def shared(parts: Parts, opened: TokenRequest) -> SharedResponse:
    """Return the answers of a link. Needs no key: the token grants access to them alone.

    Each answer has its question, its text and the cited lines. An answer that cites a document no longer in the library
    is withheld. If the link is invalid for any reason, the response is the same 404.
    """
    found = parts.shares.find(opened.token)
    kept = parts.sessions.records(found.owner, found.session_id) if found and _is_allowed(parts, found) else None
    answers = [record for record in kept[1] if record["id"] in found.answers] if found and kept else []
    if found is None or kept is None or not answers:
        raise RequestRefusedError(
            404, "this link does not exist or has expired", hint="ask whoever sent it for another one"
        )
    # A single answer is titled by its question, because the title of the conversation may be about others.
    title = kept[0].title if len(found.answers) > 1 else answers[0]["query"]
    shown = [_shown(record, parts.library) for record in answers]
    return SharedResponse(title=title, expires_at=found.expires_at, answers=shown)


def _is_allowed(parts: Parts, found: Share) -> bool:
    """Return whether the creator of a link may still share: it is dead without their key, or the role for it."""
    key = parts.keys.get(found.key_id) if found.key_id else None
    if key is None and (found.key_id or parts.authenticator.needs_key):
        return False
    return may_share(parts.settings, Caller(found.owner, key))


def _shown(record: dict[str, Any], library: ServedLibrary) -> SharedAnswerResponse:
    """Return the public part of an answer: an allow-list of fields."""
    citations = record["citations"]
    is_gone = any(each["document_id"] and library.document(each["document_id"]) is None for each in citations)
    # The text of a refusal names nearest results, which are not citations.
    is_shown = not (is_gone or record["refused"])
    return SharedAnswerResponse(
        query=record["query"],
        html=record["html"] if is_shown else "",
        citations=[
            SharedCitationResponse(**{name: each[name] for name in SharedCitationResponse.model_fields})
            for each in (citations if is_shown else ())
        ],
        refused=record["refused"],
        reason=record["reason"] if record["refused"] else "",
        model=record["model"],
        withheld=is_gone,
    )


def _listed(share: Share, session: Session) -> ShareResponse:
    return ShareResponse(
        id=share.id,
        session_id=share.session_id,
        title=session.title,
        answers=len(share.answers),
        created_at=share.created_at,
        expires_at=share.expires_at,
    )
