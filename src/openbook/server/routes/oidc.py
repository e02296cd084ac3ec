"""Routes for logins at a provider of OpenID Connect."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse

from openbook.server.auth import Caller
from openbook.server.failures import RequestRefusedError
from openbook.server.oidc import OidcDoor
from openbook.server.parts import Parts, note, refuse

router: APIRouter = APIRouter()

COOKIE = "openbook_oidc"

# As long as a login may take.
_COOKIE_S = 600


def _door(parts: Parts) -> OidcDoor:
    if parts.oidc is None:
        raise RequestRefusedError(404, "there is no provider of logins here", hint="log in with a key")
    return parts.oidc


Door = Annotated[OidcDoor, Depends(_door)]


@router.get("/api/oidc/login", status_code=303, response_class=Response)
def login(request: Request, parts: Parts, door: Door) -> Response:
    """Send a browser to the provider."""
    departure = door.depart()
    reply = RedirectResponse(departure.url, 303)
    # Lax: it has to come back with a request that a page of the provider begins.
    parts.authenticator.set_cookie(request, reply, COOKIE, departure.cookie, _COOKIE_S, same_site="lax")
    return reply


@router.get("/api/oidc/callback", status_code=303, response_class=Response)
def callback(request: Request, parts: Parts, door: Door) -> Response:
    """Log a browser in that comes back from the provider, and send it to the page."""
    reply = RedirectResponse("../..", 303)
    reply.delete_cookie(COOKIE, httponly=True, samesite="lax")
    try:
        person = door.arrive(dict(request.query_params), request.cookies.get(COOKIE, ""))
        key = parts.authenticator.log_in_person(request, reply, person)
    except RequestRefusedError as exc:
        refuse(request, exc, "a login at the provider")
        raise
    request.state.caller = key.name
    note(request, Caller("", key), "logged in", "")
    return reply
