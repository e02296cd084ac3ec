"""Logins with OpenID Connect: the authorization code flow, with PKCE, state and nonce.

Authlib makes the requests and checks the claims. Rules in the settings decide who may log in, with which role.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from openbook.errors import MissingExtraError, SettingsError
from openbook.server.failures import RequestRefusedError
from openbook.server.keys import ROLES, Key, KeyStore, Role
from openbook.server.logins import Logins
from openbook.settings import Settings

if TYPE_CHECKING:
    from authlib.integrations.httpx_client import OAuth2Client

_logger = logging.getLogger(__name__)

# Time to enter a password and a second factor.
_STATE_S = 600.0

_TIMEOUT_S = 10.0

# Providers rotate their keys rarely, and publish new ones before using them.
_METADATA_S = 3600.0

# Tolerance for clock skew.
_LEEWAY_S = 60

# HS256 is excluded because anybody could sign with the published keys; `none` is no signature.
_ALGORITHMS = frozenset(f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)) | {
    "EdDSA",
    "Ed25519",
}

_PURPOSE = "oidc-state"

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Person:
    """A person identified by the provider who may log in."""

    id: str
    """Id of their key, which does not depend on their name."""
    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """A started login: the URL to redirect the browser to, and the cookie that it must send back."""

    url: str
    cookie: str


class OidcClient:
    """The client of a provider: starts logins, and verifies callbacks. Thread-safe."""

    def __init__(self, settings: Settings, logins: Logins) -> None:
        check_provider(settings)
        self._settings = settings
        self._logins = logins
        self._lock = threading.Lock()
        self._metadata: tuple[float, dict[str, Any]] | None = None
        self._keys: dict[str, Any] | None = None

    def begin(self) -> AuthorizationRequest:
        metadata = self._discovered()
        cookie, nonce, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(32), secrets.token_urlsafe(48)
        kept = json.dumps([_hash(cookie), nonce, verifier])
        state = self._logins.add(f"{_PURPOSE}:{kept}", _STATE_S)
        with self._client() as client:
            url, _ = client.create_authorization_url(
                metadata["authorization_endpoint"], state=state, code_verifier=verifier, nonce=nonce
            )
        return AuthorizationRequest(url, cookie)

    def finish(self, query: Mapping[str, str], cookie: str) -> Person:
        """Verify the callback of the provider, and return the person."""
        nonce, verifier = self._begun(query.get("state", ""), cookie)
        if "error" in query:
            # Without the provider's description, which is part of the URL and can be forged.
            raise RequestRefusedError(403, "the provider denied this login", hint="log in again, or ask who runs it")
        if query.get("iss", self._settings.oidc_issuer) != self._settings.oidc_issuer:
            raise _refused("another provider answered")
        return self._person(self._claims(query.get("code", ""), nonce, verifier))

    def _begun(self, state: str, cookie: str) -> tuple[str, str]:
        """Return the nonce and verifier of a login that this browser started. A state can be used once."""
        purpose, _, kept = (self._logins.find(state) if state else "").partition(":")
        if purpose != _PURPOSE:
            raise _refused("this login was not begun here, has ended, or took too long")
        self._logins.remove(state)
        begun_by, nonce, verifier = json.loads(kept)
        if not hmac.compare_digest(begun_by, _hash(cookie)):
            raise _refused("this login was begun in another browser")
        return nonce, verifier

    def _claims(self, code: str, nonce: str, verifier: str) -> dict[str, Any]:
        from authlib.common.errors import AuthlibBaseError
        from httpx2 import HTTPError

        metadata = self._discovered()
        try:
            with self._client() as client:
                token = client.fetch_token(metadata["token_endpoint"], code=code, code_verifier=verifier)
        except (AuthlibBaseError, HTTPError, ValueError) as exc:
            _logger.warning("a login failed", extra={"reason": f"token: {type(exc).__name__}"})
            raise _refused("the provider did not confirm this login") from exc
        return self._verified(str(token.get("id_token", "")), nonce, token)

    def _verified(self, id_token: str, nonce: str, token: Mapping[str, Any]) -> dict[str, Any]:
        """Return the claims of an ID token after checking signature, issuer, audience, nonce and expiry."""
        from authlib.oidc.core import CodeIDToken
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jws import JWSRegistry

        metadata = self._discovered()
        offered = metadata.get("id_token_signing_alg_values_supported") or ["RS256"]
        registry = JWSRegistry(algorithms=sorted(_ALGORITHMS.intersection(offered)), strict_check_header=False)
        options = {
            "iss": {"essential": True, "value": self._settings.oidc_issuer},
            "aud": {"essential": True, "value": self._settings.oidc_client_id},
            "nonce": {"essential": True, "value": nonce},
        }
        about = {"nonce": nonce, "client_id": self._settings.oidc_client_id, "access_token": token.get("access_token")}
        try:
            try:
                read = jwt.decode(id_token, self._key_set(), registry=registry)
            except JoseError:  # the provider may have rotated its keys
                read = jwt.decode(id_token, self._key_set(anew=True), registry=registry)
            claims = CodeIDToken(read.claims, read.header, options, about)
            claims.validate(now=int(time.time()), leeway=_LEEWAY_S)
        except (JoseError, ValueError) as exc:
            _logger.warning("a login failed", extra={"reason": f"ID token: {exc}"})
            raise _refused("the ID token of this login is not valid") from exc
        return dict(claims)

    def _person(self, claims: dict[str, Any]) -> Person:
        role = role_of(claims, self._settings)
        email = str(claims.get("email", ""))
        if role is None:
            _logger.warning("a login failed", extra={"reason": "no rule lets them in"})
            raise RequestRefusedError(
                403,
                "you are not allowed to log in",
                hint="ask whoever runs the server to add you to OPENBOOK_OIDC_READERS",
            )
        subject = f"{self._settings.oidc_issuer}\0{claims['sub']}"
        name = email or str(claims.get("preferred_username") or claims.get("name") or claims["sub"])
        return Person("oidc" + _hash(subject)[:24], name, role)

    def _discovered(self) -> dict[str, Any]:
        """Return the discovery document of the provider, read once an hour."""
        with self._lock:
            if self._metadata is not None and time.monotonic() - self._metadata[0] < _METADATA_S:
                return self._metadata[1]
            issuer = self._settings.oidc_issuer
            found = self._read(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
            missing = {"issuer", "authorization_endpoint", "token_endpoint", "jwks_uri"} - found.keys()
            if missing or found["issuer"] != issuer:
                _logger.warning("a login failed", extra={"reason": "the provider describes another one"})
                raise _unreachable()
            for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
                _check_tls(str(found[name]), name)
            self._metadata = (time.monotonic(), found)
            self._keys = None
            return found

    def _key_set(self, *, anew: bool = False) -> Any:
        from joserfc.jwk import KeySet

        metadata = self._discovered()
        with self._lock:
            if self._keys is None or anew:
                self._keys = self._read(metadata["jwks_uri"])
            return KeySet.import_key_set(self._keys)  # type: ignore[arg-type]

    def _read(self, url: str) -> dict[str, Any]:
        import httpx2

        try:
            response = httpx2.get(url, timeout=_TIMEOUT_S, follow_redirects=False)
            response.raise_for_status()
            read = response.json()
        except (httpx2.HTTPError, ValueError) as exc:
            _logger.warning("a login failed", extra={"reason": f"{type(exc).__name__} at the provider"})
            raise _unreachable() from exc
        if not isinstance(read, dict):
            raise _unreachable()
        return read

    def _client(self) -> OAuth2Client:
        from authlib.integrations.httpx_client import OAuth2Client

        secret = self._settings.oidc_client_secret
        return OAuth2Client(
            self._settings.oidc_client_id,
            secret.reveal() if secret else None,
            token_endpoint_auth_method="client_secret_basic" if secret else "none",
            scope=" ".join(self._settings.oidc_scopes),
            redirect_uri=self._settings.oidc_redirect_url,
            code_challenge_method="S256",
            timeout=_TIMEOUT_S,
            follow_redirects=False,
        )


def role_of(claims: Mapping[str, Any], settings: Settings) -> Role | None:
    """Return the highest role that a rule grants; None if no rule matches.

    A rule is an e-mail address, `@domain`, `claim:value`, or `*` for everybody with an account at the provider.
    Addresses count only if verified by the provider.

    Example:
        >>> settings = Settings(oidc_owners=("ada@example.org",), oidc_readers=("@example.org", "groups:class"))
        >>> role_of({"email": "ada@example.org", "email_verified": True}, settings)
        'owner'
        >>> role_of({"email": "eve@example.org", "email_verified": False}, settings)
        >>> role_of({"groups": ["class"]}, settings)
        'reader'
    """
    rules = dict(zip(ROLES, (settings.oidc_readers, settings.oidc_editors, settings.oidc_owners), strict=True))
    email = str(claims.get("email", "")).lower() if claims.get("email_verified") is True else ""
    return next((role for role in reversed(ROLES) if any(_fits(rule, email, claims) for rule in rules[role])), None)


def _fits(rule: str, email: str, claims: Mapping[str, Any]) -> bool:
    if rule == "*":
        return True
    if "@" in rule and ":" not in rule:
        wanted = rule.lower()
        return email.endswith(wanted) if wanted.startswith("@") else email == wanted
    claim, _, value = rule.partition(":")
    said = claims.get(claim)
    return value in said if isinstance(said, list) else bool(value) and said == value


def check_provider(settings: Settings) -> None:
    """Check the settings of the provider, without a request to it.

    Raises:
        SettingsError: One is missing, or cannot work.
        MissingExtraError: The packages are not installed.
    """
    try:
        import authlib.integrations.httpx_client  # noqa: F401
    except ModuleNotFoundError as exc:
        raise MissingExtraError(
            "the packages for OpenID Connect are not installed", hint="pip install 'openbook[oidc]'"
        ) from exc
    for name in ("oidc_client_id", "oidc_redirect_url"):
        if not getattr(settings, name):
            raise SettingsError(
                f"OPENBOOK_OIDC_ISSUER is set, and OPENBOOK_{name.upper()} is not",
                hint="docs/server.md tells what it is",
            )
    if not (settings.oidc_owners or settings.oidc_editors or settings.oidc_readers):
        raise SettingsError(
            "OPENBOOK_OIDC_ISSUER is set, and no rule lets anybody in",
            hint="set OPENBOOK_OIDC_READERS to @your.domain, for instance",
        )
    _check_tls(settings.oidc_issuer, "OPENBOOK_OIDC_ISSUER")
    _check_tls(settings.oidc_redirect_url, "OPENBOOK_OIDC_REDIRECT_URL")


def _check_tls(url: str, name: str) -> None:
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise SettingsError(f"{name} is not an https address", hint="use https: logins must be encrypted")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _refused(why: str) -> RequestRefusedError:
    return RequestRefusedError(401, why, hint="log in again")


def _unreachable() -> RequestRefusedError:
    return RequestRefusedError(502, "the login provider does not respond correctly", hint="try again later")


_SUBJECT = "oidc"

# Below the maximum length of a key name, with room for a suffix that distinguishes equal names.
_NAME_CHARS = 90


def is_person(key: Key) -> bool:
    """Return whether a key belongs to a person who logs in at a provider."""
    return key.id.startswith(_SUBJECT)


class PersonStore:
    """Stores people who log in at a provider, and finds them by the subject of a login.

    Servers with separate homes share logins but not keys: each stores a person at the first request with their login.
    """

    def __init__(self, keys: KeyStore) -> None:
        self._keys = keys

    def enter(self, person: Person) -> tuple[Key, str]:
        """Store a person after a login at the provider. Returns their key and the subject of their login."""
        at = self._keys.now()
        self._enrol(person, is_login=True)
        key = self._keys.get(person.id)
        if key is None:
            raise RequestRefusedError(403, "you are no longer allowed to log in", hint="ask whoever runs the server")
        return key, f"{_SUBJECT}:{json.dumps([person.id, person.name, person.role, at])}"

    def returning(self, subject: str) -> Key | None:
        """Return the key of a login; None if it is not a person's, or if an owner has removed them since."""
        kind, _, rest = subject.partition(":")
        if kind != _SUBJECT:
            return None
        key_id, name, role, at = json.loads(rest)
        removed = self._keys.tables.read("SELECT at FROM departed WHERE key_id = ?", (key_id,))
        if removed and removed[0][0] >= at:
            return None
        if not self._keys.tables.read("SELECT 1 FROM keys WHERE id = ?", (key_id,)):
            self._enrol(Person(key_id, name, role), is_login=False)
        return self._keys.get(key_id)

    def _enrol(self, person: Person, *, is_login: bool) -> None:
        """Add a person, or update the role of a known one by the provider's claims."""
        name = "".join(each if each.isalnum() or each in " .@+-_" else "_" for each in person.name)[:_NAME_CHARS]
        name = name if name[:1].isalnum() else f"_{name}"
        with self._keys.tables.transaction() as execute:
            taken = execute("SELECT 1 FROM keys WHERE name = ? AND id <> ?", (name, person.id)).fetchone()
            taken = taken or execute("SELECT 1 FROM classes WHERE name = ?", (name,)).fetchone()
            execute(
                "INSERT OR IGNORE INTO keys VALUES (?, ?, ?, ?)",
                # A random value, which is the hash of nothing.
                (person.id, f"{name} {person.id[-6:]}" if taken else name, secrets.token_bytes(32), self._keys.now()),
            )
            execute("INSERT OR IGNORE INTO grants VALUES (?, ?, NULL, NULL, NULL)", (person.id, person.role))
            if is_login:
                execute("UPDATE grants SET role = ? WHERE key_id = ?", (person.role, person.id))
