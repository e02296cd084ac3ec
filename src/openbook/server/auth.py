"""Authentication: identify callers by key, by login or, where neither is needed, by cookie."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Depends, Request, Response, Security
from fastapi.security import APIKeyCookie, HTTPBearer

from openbook.errors import OpenbookError
from openbook.server.failures import RequestRefusedError
from openbook.server.keys import ROLES, Key, KeyStore, Role
from openbook.server.logins import Logins, SqliteLogins
from openbook.server.oidc import Person, PersonStore, is_person

LOGIN_COOKIE = "openbook_login"
BROWSER_COOKIE = "openbook_browser"

_BROWSER = re.compile(r"([0-9a-f]{32})\.([0-9a-f]{64})")

# The role of all callers if no key is required. Managing keys always requires a key.
_WITHOUT_KEY: Role = "editor"


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request."""

    owner: str
    """Owner of the caller's conversations. Reveals neither the key nor the cookie."""
    key: Key | None = None

    @property
    def name(self) -> str:
        return self.key.name if self.key else "browser"

    @property
    def role(self) -> Role:
        return self.key.grant.role if self.key else _WITHOUT_KEY

    def may(self, needed: Role) -> bool:
        """Return whether the caller has a role, or one that includes it."""
        return ROLES.index(self.role) >= ROLES.index(needed)

    def check(self, needed: Role) -> None:
        if not self.may(needed):
            whose = "your key" if self.key else "a browser without a key"
            raise RequestRefusedError(
                403,
                f"only an {needed} may do this; {whose} is {'an' if self.role != 'reader' else 'a'} {self.role}",
                hint=f"ask whoever runs the server for a key with the role {needed}",
            )


class Authenticator:
    """Identify callers by key, login or cookie. Methods may block on a file or the network."""

    def __init__(
        self,
        keys: KeyStore,
        logins: Logins | None = None,
        *,
        needs_key: bool,
        cookie_s: float = 30 * 24 * 3600.0,
        person_s: float = 0.0,
    ) -> None:
        """Set the lifetime of cookies, and of logins at a provider (`person_s`, 0 without one), in seconds.

        A cookie identifies the owner of conversations, so it should last as long as they do.
        """
        self._keys = keys
        self.logins: Logins = logins or SqliteLogins(keys)
        self._secret = self.logins.secret()
        self.needs_key = needs_key
        self._cookie_s = cookie_s
        self._person_s = person_s
        self._persons = PersonStore(keys)

    def caller(self, request: Request, response: Response) -> Caller:
        """Return the caller of a request, and set a cookie for a new browser if the request changes something."""
        scheme, _, sent = request.headers.get("authorization", "").partition(" ")
        sent = sent.strip() if scheme.lower() == "bearer" else ""
        token = request.cookies.get(LOGIN_COOKIE, "")
        key = self._keys.find(sent) if sent else self._logged_in(token)
        if key is not None:
            with contextlib.suppress(OpenbookError):  # reads work even if the disk is full
                self._keys.used(key)
            return Caller(f"key:{key.id}", key)
        if sent or self.needs_key:
            problem = "this key is unknown, was revoked, or has expired" if sent or token else "a key is needed"
            raise RequestRefusedError(
                401, problem, hint="send it as `Authorization: Bearer KEY`; `openbook keys add NAME` creates one"
            )
        browser = self._browser(request)
        if not browser:
            browser = secrets.token_hex(16)
            # A page sends several requests at once: each would get its own cookie, and the last would win.
            if request.method not in ("GET", "HEAD"):
                self.set_cookie(request, response, BROWSER_COOKIE, self._signed(browser))
        return Caller(f"browser:{hashlib.sha256(browser.encode()).hexdigest()[:32]}")

    def greet(self, request: Request, response: Response) -> None:
        """Renew the cookie and the login of a browser. A new browser gets a cookie, unless keys are required."""
        token = request.cookies.get(LOGIN_COOKIE, "")
        key = self._logged_in(token)
        if key is not None and not is_person(key):  # people must log in at their provider again after some hours
            self.logins.renew(token, self._cookie_s)
            self.set_cookie(request, response, LOGIN_COOKIE, token)
        elif key is None and not self.needs_key:
            browser = self._browser(request) or secrets.token_hex(16)
            self.set_cookie(request, response, BROWSER_COOKIE, self._signed(browser))

    def log_in(self, request: Request, response: Response, key: Key) -> None:
        """Log a browser in with a key: set a token as an HttpOnly cookie, and end its previous login."""
        self._end(request)
        token = self.logins.add(f"{key.id}:{key.stamp}", self._cookie_s)
        self.set_cookie(request, response, LOGIN_COOKIE, token)

    def log_in_person(self, request: Request, response: Response, person: Person) -> Key:
        """Log a browser in as a person whom the provider has identified, and return their entry among the keys."""
        key, subject = self._persons.enter(person)
        self._end(request)
        token = self.logins.add(subject, self._person_s)
        self.set_cookie(request, response, LOGIN_COOKIE, token, self._person_s)
        return key

    def log_out(self, request: Request, response: Response) -> Key | None:
        """Revoke the login of a browser, and return its key."""
        key = self._logged_in(request.cookies.get(LOGIN_COOKIE, ""))
        self._end(request)
        response.delete_cookie(LOGIN_COOKIE, httponly=True, samesite="strict")
        return key

    def _end(self, request: Request) -> None:
        if token := request.cookies.get(LOGIN_COOKIE, ""):
            self.logins.remove(token)

    def _logged_in(self, token: str) -> Key | None:
        """Return the key of a login; None without a login, or if the key was revoked or replaced since."""
        subject = self.logins.find(token) if token else ""
        if self._person_s and (person := self._persons.returning(subject)) is not None:
            return person
        key_id, _, stamp = subject.partition(":")
        key = self._keys.get(key_id) if key_id else None
        return key if key is not None and hmac.compare_digest(key.stamp, stamp) else None

    def _browser(self, request: Request) -> str:
        """Return the id in the cookie of a browser; empty if this server did not issue it."""
        kept = _BROWSER.fullmatch(request.cookies.get(BROWSER_COOKIE, ""))
        return kept[1] if kept and hmac.compare_digest(self._signed(kept[1]), kept[0]) else ""

    def _signed(self, browser: str) -> str:
        return f"{browser}.{hmac.new(self._secret, browser.encode(), hashlib.sha256).hexdigest()}"

    def set_cookie(
        self,
        request: Request,
        response: Response,
        name: str,
        value: str,
        lasts_s: float | None = None,
        *,
        same_site: Literal["lax", "strict"] = "strict",
    ) -> None:
        """Set a cookie that scripts cannot read and that pages of other sites cannot make a browser send."""
        # A forged header only deprives its sender of the cookie, so every proxy is trusted.
        secure = "https" in (request.url.scheme, request.headers.get("x-forwarded-proto", "").partition(",")[0].lower())
        max_age = int(self._cookie_s if lasts_s is None else lasts_s)
        response.set_cookie(name, value, max_age=max_age, httponly=True, samesite=same_site, secure=secure)


KeyScheme = Annotated[object, Security(HTTPBearer(auto_error=False, scheme_name="key", description="A key."))]
"""Documents in OpenAPI that a route accepts a key. Only the authenticator decides about access."""

_Cookie = Annotated[
    object,
    Security(
        APIKeyCookie(name=LOGIN_COOKIE, auto_error=False, scheme_name="login", description="Set by `POST /api/login`.")
    ),
]


async def identified(request: Request, response: Response, _: KeyScheme = None, __: _Cookie = None) -> Caller:
    """Return the caller of a request, and add their name to the access log."""
    authenticator: Authenticator = request.app.state.authenticator
    # Not in the thread pool of routes, which may be exhausted.
    caller = await asyncio.to_thread(authenticator.caller, request, response)
    request.state.caller = caller.name
    return caller


Identified = Annotated[Caller, Depends(identified)]


async def _editor(caller: Identified) -> Caller:
    caller.check("editor")
    return caller


async def _owner(caller: Identified) -> Caller:
    caller.check("owner")
    return caller


Editor = Annotated[Caller, Depends(_editor)]
"""The caller of a request that requires the role of an editor."""

Owner = Annotated[Caller, Depends(_owner)]
"""The caller of a request that requires the role of an owner."""
