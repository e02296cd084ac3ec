"""Routes for the door: who one is, and how a browser comes in and leaves."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Request, Response

from openbook.server.auth import Authenticator, Caller, Identified
from openbook.server.classes import StudentStore
from openbook.server.failures import RequestRefusedError
from openbook.server.keys import Key
from openbook.server.people import People
from openbook.server.people_schemas import CallerResponse, LoginRequest, StudentRequest
from openbook.server.routes.people import note
from openbook.server.shares import may_share

router: APIRouter = APIRouter()


@router.get("/api/me")
async def me(request: Request, response: Response, caller: Identified) -> CallerResponse:
    """Return the caller, and renew the browser's cookie."""
    authenticator: Authenticator = request.app.state.authenticator
    await asyncio.to_thread(authenticator.greet, request, response)
    return CallerResponse(
        key=caller.key.name if caller.key else "",
        needs_key=authenticator.needs_key,
        role=caller.role,
        may_share=may_share(request.app.state.library.settings, caller),
    )


@router.post("/api/login", status_code=204)
async def login(request: Request, response: Response, sent: LoginRequest) -> None:
    """Let a browser in, with a key or as a student. The cookie holds a token, not the key."""
    await asyncio.to_thread(_enter, request, response, sent)


@router.post("/api/join", status_code=204)
async def join(request: Request, response: Response, new: StudentRequest) -> None:
    """Join a class, and log in."""

    def enter() -> None:
        try:
            key = _students(request).join(new.code, new.name, new.pin)
        except RequestRefusedError as exc:
            _refuse(request, exc, "a student who wanted to join")
            raise
        _let_in(request, response, key)
        note(request, Caller("", key), "joined class", "")

    await asyncio.to_thread(enter)


@router.post("/api/logout", status_code=204)
async def logout(request: Request, response: Response) -> None:
    """End the login of a browser, and delete its cookie."""
    authenticator: Authenticator = request.app.state.authenticator

    def leave() -> None:
        key = authenticator.log_out(request, response)
        if key is not None:
            note(request, Caller("", key), "logged out", "")

    await asyncio.to_thread(leave)


def _enter(request: Request, response: Response, sent: LoginRequest) -> None:
    try:
        key = _found(request, sent)
    except RequestRefusedError as exc:
        who = _students(request).known(sent.student.code, sent.student.name) if sent.student else "a key"
        _refuse(request, exc, who)
        raise
    _let_in(request, response, key)
    note(request, Caller("", key), "logged in", "")


def _found(request: Request, sent: LoginRequest) -> Key:
    if (sent.student is None) == (not sent.key):
        raise RequestRefusedError(400, "a login has either a key or a student", hint="send one of them")
    if sent.student is not None:
        return _students(request).log_in(sent.student.code, sent.student.name, sent.student.pin)
    people: People = request.app.state.people
    key = people.keys.find(sent.key)
    if key is None:
        raise RequestRefusedError(
            401, "this key is not known, was revoked, or has expired", hint="`openbook keys add NAME` makes one"
        )
    return key


def _let_in(request: Request, response: Response, key: Key) -> None:
    authenticator: Authenticator = request.app.state.authenticator
    authenticator.log_in(request, response, key)
    request.state.caller = key.name


def _refuse(request: Request, exc: RequestRefusedError, who: str) -> None:
    """Write down who was refused and why; nothing of what was sent, which may be nearly right."""
    people: People = request.app.state.people
    people.audit.refuse(f"{who}: {exc}", request.client.host if request.client else "")


def _students(request: Request) -> StudentStore:
    people: People = request.app.state.people
    return StudentStore(people.keys, people.classes)
