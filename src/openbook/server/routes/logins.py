"""Routes for logins: with a key, as a student, or at a provider of OpenID Connect."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse

from openbook.server.auth import Caller, Identified
from openbook.server.classes import StudentStore
from openbook.server.failures import REFUSALS, RequestRefusedError
from openbook.server.keys import Key
from openbook.server.oidc import OidcClient
from openbook.server.parts import Parts, note, refuse
from openbook.server.people_schemas import CallerResponse, LoginRequest, StudentRequest
from openbook.server.shares import may_share

router: APIRouter = APIRouter(responses=REFUSALS)

_OIDC_COOKIE = "openbook_oidc"

# The maximum duration of a login.
_OIDC_COOKIE_S = 600


@router.get("/api/me")
def me(request: Request, response: Response, parts: Parts, caller: Identified) -> CallerResponse:
    """Return the caller, and renew the browser's cookie."""
    parts.authenticator.greet(request, response)
    return CallerResponse(
        key=caller.key.name if caller.key else "",
        needs_key=parts.authenticator.needs_key,
        role=caller.role,
        may_share=may_share(parts.settings, caller),
    )


@router.post("/api/login", status_code=204)
def login(request: Request, response: Response, parts: Parts, sent: LoginRequest) -> None:
    """Log a browser in with a key or as a student. The cookie contains a token, not the key."""
    try:
        key = _found(parts, sent)
    except RequestRefusedError as exc:
        who = _students(parts).known(sent.student.code, sent.student.name) if sent.student else "a key"
        refuse(request, exc, who)
        raise
    _let_in(request, response, parts, key)
    note(request, Caller("", key), "logged in", "")


@router.post("/api/join", status_code=204)
def join(request: Request, response: Response, parts: Parts, new: StudentRequest) -> None:
    """Join a class, and log in."""
    try:
        key = _students(parts).join(new.code, new.name, new.pin)
    except RequestRefusedError as exc:
        refuse(request, exc, "a student who wanted to join")
        raise
    _let_in(request, response, parts, key)
    note(request, Caller("", key), "joined class", "")


@router.post("/api/logout", status_code=204)
def logout(request: Request, response: Response, parts: Parts) -> None:
    """End the login of a browser, and delete its cookie."""
    key = parts.authenticator.log_out(request, response)
    if key is not None:
        note(request, Caller("", key), "logged out", "")


def _found(parts: Parts, sent: LoginRequest) -> Key:
    if (sent.student is None) == (not sent.key):
        raise RequestRefusedError(400, "a login has either a key or a student", hint="send one of them")
    if sent.student is not None:
        return _students(parts).log_in(sent.student.code, sent.student.name, sent.student.pin)
    key = parts.keys.find(sent.key)
    if key is None:
        raise RequestRefusedError(
            401, "this key is unknown, was revoked, or has expired", hint="`openbook keys add NAME` creates one"
        )
    return key


def _let_in(request: Request, response: Response, parts: Parts, key: Key) -> None:
    parts.authenticator.log_in(request, response, key)
    request.state.caller = key.name


def _students(parts: Parts) -> StudentStore:
    return StudentStore(parts.keys, parts.people.classes)


def _client(parts: Parts) -> OidcClient:
    if parts.oidc is None:
        raise RequestRefusedError(404, "this server has no login provider", hint="log in with a key")
    return parts.oidc


Oidc = Annotated[OidcClient, Depends(_client)]


# `name` is part of the operation id, which generated clients use as a method name.
@router.get("/api/oidc/login", name="login", status_code=303, response_class=Response)
def oidc_login(request: Request, parts: Parts, oidc: Oidc) -> Response:
    """Redirect a browser to the provider."""
    begun = oidc.begin()
    reply = RedirectResponse(begun.url, 303)
    # Lax, because the provider's page sends the browser back.
    parts.authenticator.set_cookie(request, reply, _OIDC_COOKIE, begun.cookie, _OIDC_COOKIE_S, same_site="lax")
    return reply


@router.get("/api/oidc/callback", name="callback", status_code=303, response_class=Response)
def oidc_callback(request: Request, parts: Parts, oidc: Oidc) -> Response:
    """Log in a browser that returns from the provider, and redirect it to the page."""
    reply = RedirectResponse("../..", 303)
    reply.delete_cookie(_OIDC_COOKIE, httponly=True, samesite="lax")
    try:
        person = oidc.finish(dict(request.query_params), request.cookies.get(_OIDC_COOKIE, ""))
        key = parts.authenticator.log_in_person(request, reply, person)
    except RequestRefusedError as exc:
        refuse(request, exc, "a login at the provider")
        raise
    request.state.caller = key.name
    note(request, Caller("", key), "logged in", "")
    return reply
