"""Authentication: identify callers by key or, where none is needed, by a cookie. Each sees only their own data."""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request, Response

from openbook.server.failures import RequestRefusedError
from openbook.server.keys import Key, KeyStore

KEY_COOKIE = "openbook_key"
BROWSER_COOKIE = "openbook_browser"

_BROWSER = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request."""

    owner: str
    """Whom conversations belong to. Tells neither a key nor a cookie."""
    key: Key | None = None


class Authenticator:
    """Identify callers by key or cookie."""

    def __init__(self, keys: KeyStore, *, needs_key: bool, cookie_s: float = 30 * 24 * 3600.0) -> None:
        """Take the parts.

        Args:
            keys: Those that let in.
            needs_key: Whether everybody needs one.
            cookie_s: Seconds that a browser keeps a cookie: as long as a conversation, whose owner it tells.
        """
        self._keys = keys
        self.needs_key = needs_key
        self._cookie_s = cookie_s

    def caller(self, request: Request, response: Response) -> Caller:
        """Return the caller of a request. A browser without a cookie gets one if the request changes something.

        Raises:
            RequestRefusedError: A key is needed and missing, or is none of ours.
        """
        scheme, _, sent = request.headers.get("authorization", "").partition(" ")
        sent = sent.strip() if scheme.lower() == "bearer" else ""
        kept = request.cookies.get(KEY_COOKIE, "")
        key = self._keys.find(sent or kept) if sent or kept else None
        if key is not None:
            return Caller(f"key:{key.id}", key)
        if sent or self.needs_key:
            problem = "this key is not known" if sent or kept else "a key is needed"
            raise RequestRefusedError(
                401, problem, hint="send it as `Authorization: Bearer KEY`; `openbook keys add NAME` makes one"
            )
        browser = request.cookies.get(BROWSER_COOKIE, "")
        if not _BROWSER.fullmatch(browser):
            browser = secrets.token_hex(16)
            # A page reads several things at once: each would get another cookie, and the last one would win.
            if request.method not in ("GET", "HEAD"):
                self._set(request, response, BROWSER_COOKIE, browser)
        return Caller(f"browser:{hashlib.sha256(browser.encode()).hexdigest()[:32]}")

    def greet(self, request: Request, response: Response) -> None:
        """Renew the cookie of a browser. One without any gets one, unless keys are needed."""
        key, browser = request.cookies.get(KEY_COOKIE, ""), request.cookies.get(BROWSER_COOKIE, "")
        if key and self._keys.find(key) is not None:
            self._set(request, response, KEY_COOKIE, key)
        elif not self.needs_key:
            known = _BROWSER.fullmatch(browser)
            self._set(request, response, BROWSER_COOKIE, browser if known else secrets.token_hex(16))

    def log_in(self, request: Request, response: Response, key: str) -> None:
        """Store a key in an HttpOnly cookie.

        Raises:
            RequestRefusedError: It is none of ours.
        """
        if self._keys.find(key) is None:
            raise RequestRefusedError(401, "this key is not known", hint="`openbook keys add NAME` makes one")
        self._set(request, response, KEY_COOKIE, key)

    def _set(self, request: Request, response: Response, name: str, value: str) -> None:
        """Set a cookie that scripts cannot read and that other sites cannot make a browser send."""
        # Whoever makes the header up keeps a cookie from themselves, so any proxy is believed.
        secure = "https" in (request.url.scheme, request.headers.get("x-forwarded-proto", "").partition(",")[0].lower())
        response.set_cookie(name, value, max_age=int(self._cookie_s), httponly=True, samesite="strict", secure=secure)


def _caller(request: Request, response: Response) -> Caller:
    authenticator: Authenticator = request.app.state.authenticator
    caller = authenticator.caller(request, response)
    request.state.caller = caller.key.name if caller.key else "browser"
    return caller


async def identified(request: Request, response: Response) -> Caller:
    """Return the caller of a request, and name them in the log.

    Raises:
        RequestRefusedError: A key is needed and missing, or is none of ours.
    """
    return _caller(request, response)


Identified = Annotated[Caller, Depends(identified)]
