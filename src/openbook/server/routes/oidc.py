"""Routes for logins at a provider of OpenID Connect."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from openbook.server.auth import Authenticator, Caller
from openbook.server.failures import RequestRefusedError
from openbook.server.oidc import OidcDoor
from openbook.server.people import People
from openbook.server.routes.people import note

router: APIRouter = APIRouter()

COOKIE = "openbook_oidc"

# As long as a login may take.
_COOKIE_S = 600


def _door(request: Request) -> OidcDoor:
    door: OidcDoor | None = request.app.state.oidc
    if door is None:
        raise RequestRefusedError(404, "there is no provider of logins here", hint="log in with a key")
    return door


@router.get("/api/oidc/login", status_code=303, response_class=Response)
async def login(request: Request) -> Response:
    """Send a browser to the provider."""
    departure = await asyncio.to_thread(_door(request).depart)
    reply = RedirectResponse(departure.url, 303)
    authenticator: Authenticator = request.app.state.authenticator
    # Lax: it has to come back with a request that a page of the provider begins.
    authenticator.set_cookie(request, reply, COOKIE, departure.cookie, _COOKIE_S, same_site="lax")
    return reply


@router.get("/api/oidc/callback", status_code=303, response_class=Response)
async def callback(request: Request) -> Response:
    """Log a browser in that comes back from the provider, and send it to the page."""
    reply = RedirectResponse("../..", 303)
    reply.delete_cookie(COOKIE, httponly=True, samesite="lax")
    door = _door(request)
    authenticator: Authenticator = request.app.state.authenticator

    def enter() -> None:
        try:
            person = door.arrive(dict(request.query_params), request.cookies.get(COOKIE, ""))
            key = authenticator.log_in_person(request, reply, person)
        except RequestRefusedError as exc:
            people: People = request.app.state.people
            people.audit.refuse(f"a login at the provider: {exc}", request.client.host if request.client else "")
            raise
        request.state.caller = key.name
        note(request, Caller("", key), "logged in", "")

    await asyncio.to_thread(enter)
    return reply
