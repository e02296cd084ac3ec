"""A local OpenID Connect provider: discovery, keys, authorization, and signed tokens.

It is strict like a real provider. Tests can make it return wrong data.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT_ID, CLIENT_SECRET = "openbook", "secret-of-openbook"

Claims = dict[str, Any]


class OidcProvider:
    """A provider that logs in everybody, with `claims`. Leaving the context stops it."""

    def __init__(self, redirect_url: str) -> None:
        """Set the only allowed redirect URL."""
        self.claims: Claims = {"sub": "1", "email": "ada@example.org", "email_verified": True}
        self.change: Callable[[Claims], Claims] = lambda claims: claims
        """Changes the claims of ID tokens."""
        self.sign: Callable[[Claims], str] = self.signed
        """Signs ID tokens."""
        self.metadata: Claims = {}
        """Changes of the metadata."""
        self.key = _first_key()
        self.requests: list[str] = []
        self._redirect_url = redirect_url
        self._codes: dict[str, dict[str, str]] = {}
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _exchange_of(self))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def issuer(self) -> str:
        """Address of the provider."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def signed(self, claims: Claims, *, key: RSAKey | None = None) -> str:
        """Sign claims like a provider."""
        key = key or self.key
        return jwt.encode({"alg": "RS256", "kid": key.kid}, claims, key)

    def unsigned(self, claims: Claims) -> str:
        """Encode claims as a token with algorithm `none`."""
        return f"{_encoded({'alg': 'none'})}.{_encoded(claims)}."

    def signed_with_the_public_key(self, claims: Claims) -> str:
        """Sign claims with the public key as if it were a shared secret."""
        text = f"{_encoded({'alg': 'HS256', 'kid': self.key.kid})}.{_encoded(claims)}"
        signature = hmac.digest(self.key.as_pem(private=False), text.encode(), "sha256")
        return f"{text}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"

    def authorize(self, address: str) -> str:
        """Log in a browser at an authorization URL, and return the URL that it is redirected to."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert query["response_type"] == "code"
        assert query["client_id"] == CLIENT_ID
        assert query["redirect_uri"] == self._redirect_url
        assert query["code_challenge_method"] == "S256"
        assert "openid" in query["scope"].split()
        code = secrets.token_urlsafe(16)
        self._codes[code] = query
        return f"{self._redirect_url}?{urlencode({'code': code, 'state': query['state']})}"

    def answer(self, path: str, body: str, authorization: str) -> tuple[int, Any]:
        """Return status and JSON of a reply."""
        self.requests.append(path)
        if path == "/.well-known/openid-configuration":
            return 200, {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
                **self.metadata,
            }
        if path == "/keys":
            return 200, {"keys": [self.key.as_dict(private=False)]}
        return self._token(body, authorization) if path == "/token" else (404, {})

    def _token(self, body: str, authorization: str) -> tuple[int, Any]:
        sent = {name: values[0] for name, values in parse_qs(body).items()}
        expected = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        if authorization != f"Basic {expected}":
            return 401, {"error": "invalid_client"}
        asked = self._codes.pop(sent.get("code", ""), None)
        digest = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if asked is None or challenge != asked["code_challenge"] or sent.get("redirect_uri") != self._redirect_url:
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 300, "nonce": asked["nonce"]}
        token = self.sign(self.change(claims | self.claims))
        return 200, {"access_token": "opaque", "token_type": "Bearer", "expires_in": 300, "id_token": token}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@cache
def _first_key() -> RSAKey:
    """Generate a key for all providers, because it takes longer than a login."""
    return RSAKey.generate_key(2048, {"kid": "first", "use": "sig", "alg": "RS256"})


def _encoded(part: Claims) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


def _exchange_of(provider: OidcProvider) -> type[BaseHTTPRequestHandler]:
    class Exchange(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply(*provider.answer(self.path, "", ""))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            self._reply(*provider.answer(self.path, body, self.headers.get("authorization", "")))

        def _reply(self, status: int, reply: Any) -> None:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(reply).encode())

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    return Exchange
