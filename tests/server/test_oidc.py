"""Logins at a provider of OpenID Connect: who comes in, as what, and what is refused."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from fastapi.testclient import TestClient
from joserfc.jwk import RSAKey

from openbook.errors import MissingExtraError, SettingsError
from openbook.library import Library
from openbook.server.app import create_app
from openbook.server.keys import Grant, KeyStore
from openbook.server.logins import SqliteLogins
from openbook.server.oidc import OidcClient, role_of
from openbook.settings import Secret, Settings
from tests.fakes.oidc_provider import CLIENT_ID, CLIENT_SECRET, OidcProvider
from tests.redis_server import RedisServer
from tests.server.conftest import Serve

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

REDIRECT = "http://localhost/api/oidc/callback"

ServeOidc = Callable[..., TestClient]


@pytest.fixture
def provider() -> Iterator[OidcProvider]:
    with OidcProvider(REDIRECT) as running:
        yield running


@pytest.fixture
def serve_oidc(serve: Serve, provider: OidcProvider) -> ServeOidc:
    """Start servers whose people log in at the provider."""
    rules = {
        "oidc_owners": ("ada@example.org",),
        "oidc_editors": ("groups:authors",),
        "oidc_readers": ("@example.org",),
    }

    def start(**settings: Any) -> TestClient:
        given: dict[str, Any] = {
            "oidc_issuer": provider.issuer,
            "oidc_client_id": CLIENT_ID,
            "oidc_redirect_url": REDIRECT,
        }
        given |= {"oidc_client_secret": Secret(CLIENT_SECRET), **rules, **settings}
        return serve(needs_key=True, **given)

    return start


def depart(client: TestClient) -> str:
    """Begin a login, and return the address at the provider."""
    reply = client.get("/api/oidc/login", follow_redirects=False)
    assert reply.status_code == 303, reply.text
    return str(reply.headers["location"])


def come_back(client: TestClient, address: str) -> httpx2.Response:
    return client.get(address, follow_redirects=False)


def log_in(client: TestClient, provider: OidcProvider) -> httpx2.Response:
    return come_back(client, provider.authorize(depart(client)))


@pytest.mark.slow
def test_a_person_logs_in_and_out_and_has_the_role_of_the_rules(serve_oidc: ServeOidc, provider: OidcProvider) -> None:
    client = serve_oidc()
    page = client.get("/").text
    before = client.get("/api/me").status_code

    back = log_in(client, provider)
    inside = client.get("/api/me").json()
    asked = client.post("/api/query", json={"query": "When do sessions end?"}).status_code
    listed = client.get("/api/admin/people").json()["keys"]
    client.post("/api/logout")

    assert ("data-oidc" in page, before) == (True, 401)
    assert (back.status_code, back.headers["location"]) == (303, "../..")
    assert (inside["key"], inside["role"], asked) == ("ada@example.org", "owner", 200)
    assert [(each["name"], each["role"]) for each in listed] == [("ada@example.org", "owner")]
    assert client.get("/api/me").status_code == 401


@pytest.mark.slow
def test_the_login_cookie_is_httponly_and_samesite(serve_oidc: ServeOidc, provider: OidcProvider) -> None:
    client = serve_oidc()

    going = client.get("/api/oidc/login", headers={"X-Forwarded-Proto": "https"}, follow_redirects=False)
    back = client.get(
        provider.authorize(going.headers["location"]),
        headers={"X-Forwarded-Proto": "https", "Cookie": going.headers["set-cookie"].partition(";")[0]},
        follow_redirects=False,
    )

    assert {"HttpOnly", "SameSite=lax", "Secure"} <= set(going.headers["set-cookie"].split("; "))
    (login,) = [each for each in back.headers.get_list("set-cookie") if each.startswith("openbook_login=")]
    assert {"HttpOnly", "SameSite=strict", "Secure", "Max-Age=43200"} <= set(login.split("; "))


@pytest.mark.parametrize(
    ("claims", "role"),
    [
        ({"email": "bo@example.org", "email_verified": True}, "reader"),
        ({"email": "bo@example.org", "email_verified": True, "groups": ["staff", "authors"]}, "editor"),
        ({"groups": "authors"}, "editor"),
        ({"email": "ADA@Example.org", "email_verified": True}, "owner"),
        ({"email": "ada@example.org", "email_verified": False}, None),
        ({"email": "ada@example.org"}, None),
        ({"email": "eve@notexample.org", "email_verified": True}, None),
        ({"email": "eve@example.org.evil.net", "email_verified": True}, None),
        ({"groups": ["author"]}, None),
        ({}, None),
    ],
)
def test_rules_give_the_highest_role_that_fits(claims: dict[str, Any], role: str | None) -> None:
    settings = Settings(
        oidc_owners=("ada@example.org",), oidc_editors=("groups:authors",), oidc_readers=("@example.org",)
    )

    assert role_of(claims, settings) == role
    assert role_of(claims, dataclasses.replace(settings, oidc_readers=("*",))) == role or "reader"


@pytest.mark.slow
def test_a_person_without_a_matching_rule_is_refused_and_logged(serve_oidc: ServeOidc, provider: OidcProvider) -> None:
    client = serve_oidc()
    provider.claims = {"sub": "2", "email": "eve@elsewhere.net", "email_verified": True}

    refused = log_in(client, provider)
    provider.claims = {"sub": "1", "email": "ada@example.org", "email_verified": True}
    log_in(client, provider)
    (line,) = [each for each in client.get("/api/admin/log").json()["events"] if each["did"] == "was refused"]

    assert (refused.status_code, "OPENBOOK_OIDC_READERS" in refused.text) == (403, True)
    assert "openbook_login" not in refused.headers.get("set-cookie", "")
    assert "not allowed to log in" in line["what"] + line["who"]
    assert "eve" not in str(line)


ROGUE = RSAKey.generate_key(2048, {"kid": "first", "use": "sig", "alg": "RS256"})


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong",
    [
        {"iss": "https://evil.example"},
        {"aud": "another-client"},
        {"aud": [CLIENT_ID, "another-client"], "azp": "another-client"},
        {"nonce": "of another login"},
        {"nonce": None},
        {"exp": 1_000_000_000},
        {"exp": None},
        {"iat": 9_999_999_999},
        {"sub": None},
    ],
    ids=str,
)
def test_a_token_that_is_not_for_this_login_is_refused(
    serve_oidc: ServeOidc, provider: OidcProvider, wrong: dict[str, Any]
) -> None:
    client = serve_oidc()
    provider.change = lambda claims: {name: value for name, value in (claims | wrong).items() if value is not None}

    refused = log_in(client, provider)

    assert (refused.status_code, client.get("/api/me").status_code) == (401, 401)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["none", "another key", "HS256 with the public key", "cut"])
def test_a_token_that_the_provider_has_not_signed_is_refused(
    serve_oidc: ServeOidc, provider: OidcProvider, how: str
) -> None:
    client = serve_oidc()
    provider.sign = {
        "none": provider.unsigned,
        "another key": lambda claims: provider.signed(claims, key=ROGUE),
        "HS256 with the public key": provider.signed_with_the_public_key,
        "cut": lambda claims: provider.signed(claims)[:-8],
    }[how]

    refused = log_in(client, provider)

    assert (refused.status_code, client.get("/api/me").status_code) == (401, 401)


@pytest.mark.slow
def test_new_keys_of_the_provider_are_fetched(serve_oidc: ServeOidc, provider: OidcProvider) -> None:
    client = serve_oidc()
    first = log_in(client, provider)
    provider.key = RSAKey.generate_key(2048, {"kid": "second", "use": "sig", "alg": "RS256"})

    assert [first.status_code, log_in(client, provider).status_code] == [303, 303]
    assert provider.requests.count("/.well-known/openid-configuration") == 1


@pytest.mark.slow
def test_a_state_is_good_for_one_time_in_one_browser(serve_oidc: ServeOidc, provider: OidcProvider) -> None:
    app = serve_oidc().app
    ada, eve, later = (TestClient(app, base_url="http://localhost") for _ in range(3))
    address, another = (provider.authorize(depart(client)) for client in (ada, eve))
    later.cookies.update(ada.cookies)

    refused = [
        come_back(ada, another),
        come_back(ada, f"{REDIRECT}?code=1&state=guessed"),
        come_back(ada, f"{REDIRECT}?code=1"),
    ]
    ada.cookies.clear()
    ada.cookies.update(later.cookies)
    first = come_back(ada, address)
    replayed = come_back(later, address)

    assert [reply.status_code for reply in (*refused, replayed)] == [401] * 4
    assert first.status_code == 303
    assert [client.get("/api/me").status_code for client in (ada, eve, later)] == [200, 401, 401]


@pytest.mark.slow
def test_a_code_without_the_verifier_of_this_login_is_refused(serve_oidc: ServeOidc, provider: OidcProvider) -> None:
    client = serve_oidc()
    of_another = parse_qs(urlsplit(provider.authorize(depart(client))).query)["code"][0]
    own = provider.authorize(depart(client))

    injected = come_back(client, own.replace(parse_qs(urlsplit(own).query)["code"][0], of_another))

    assert injected.status_code == 401


@pytest.mark.slow
def test_an_error_of_the_provider_is_reported_without_its_description(serve_oidc: ServeOidc) -> None:
    client = serve_oidc()
    state = parse_qs(urlsplit(depart(client)).query)["state"][0]

    refused = come_back(client, f"{REDIRECT}?error=access_denied&error_description=Call+555&state={state}")

    assert refused.status_code == 403
    assert "555" not in refused.text


@pytest.mark.slow
def test_answers_of_another_provider_are_refused(serve_oidc: ServeOidc, provider: OidcProvider) -> None:
    client = serve_oidc()

    mixed_up = come_back(client, provider.authorize(depart(client)) + "&iss=https://evil.example")

    assert mixed_up.status_code == 401


@pytest.mark.slow
@pytest.mark.parametrize(
    "metadata", [{"issuer": "https://evil.example"}, {"jwks_uri": "http://evil.example/keys"}], ids=["issuer", "no TLS"]
)
def test_a_provider_that_describes_another_one_is_not_believed(
    serve_oidc: ServeOidc, provider: OidcProvider, metadata: dict[str, str]
) -> None:
    provider.metadata = metadata

    refused = serve_oidc().get("/api/oidc/login", follow_redirects=False)

    assert refused.status_code in (400, 502)
    assert "evil" not in refused.text


@pytest.mark.slow
def test_a_provider_that_is_away_is_told(serve_oidc: ServeOidc) -> None:
    away = serve_oidc(oidc_issuer="http://127.0.0.1:1").get("/api/oidc/login", follow_redirects=False)

    assert (away.status_code, "login provider" in away.text) == (502, True)


@pytest.mark.slow
def test_removing_a_person_ends_their_logins_until_they_log_in_again(
    serve_oidc: ServeOidc, provider: OidcProvider, home: Path
) -> None:
    client = serve_oidc()
    log_in(client, provider)
    with closing(KeyStore(home)) as keys:
        keys.remove("ada@example.org")

    after = client.get("/api/me").status_code
    again = log_in(client, provider)

    assert (after, again.status_code, client.get("/api/me").status_code) == (401, 303, 200)


@pytest.mark.slow
def test_whose_entry_has_expired_stays_out(serve_oidc: ServeOidc, provider: OidcProvider, home: Path) -> None:
    client = serve_oidc()
    log_in(client, provider)
    with closing(KeyStore(home)) as keys:
        keys.change("ada@example.org", Grant("owner", expires_at=1.0))

    assert client.get("/api/me").status_code == 401
    assert log_in(client, provider).status_code == 403


@pytest.mark.slow
def test_a_role_follows_the_claims_at_each_login_and_names_may_be_alike(
    serve_oidc: ServeOidc, provider: OidcProvider, home: Path
) -> None:
    with closing(KeyStore(home)) as keys:
        keys.add("Bo")
    client = serve_oidc()
    provider.claims = {"sub": "3", "preferred_username": "Bo", "groups": ["authors"]}
    log_in(client, provider)
    first = client.get("/api/me").json()
    provider.claims = {"sub": "3", "email": "bo@example.org", "email_verified": True}
    log_in(client, provider)
    second = client.get("/api/me").json()

    assert (first["role"], second["role"]) == ("editor", "reader")
    assert first["key"] == second["key"]
    assert first["key"].startswith("Bo ")


@pytest.mark.slow
def test_a_login_ends_after_some_hours_though_it_is_used(serve_oidc: ServeOidc, provider: OidcProvider) -> None:
    client = serve_oidc(oidc_hours=0.0004)  # 1.4 seconds
    log_in(client, provider)

    while client.get("/api/me").status_code == 200:
        client.get("/")  # which renews other logins

    assert client.get("/api/me").status_code == 401


@pytest.mark.slow
def test_servers_with_homes_of_their_own_know_a_person_by_the_shared_login(
    serve_oidc: ServeOidc, provider: OidcProvider, redis_server: RedisServer, home: Path, folder: Path
) -> None:
    one = serve_oidc(shared_store=Secret(redis_server.url))
    settings = dataclasses.replace(one.app.state.asker._settings, home=home.parent / "other")  # type: ignore[attr-defined]
    app = create_app(Library.of(folder, settings=settings), needs_key=True)
    with TestClient(app, base_url="http://localhost", headers={"X-Openbook": "1"}) as other:
        going = depart(one)
        other.cookies.update(one.cookies)
        back = come_back(other, provider.authorize(going))
        one.cookies.update(other.cookies)
        names = [client.get("/api/me").json()["key"] for client in (one, other)]
        session_id = one.post("/api/query", json={"query": "When do sessions end?"}).json()["session_id"]
        kept = other.get(f"/api/sessions/{session_id}").status_code
        with closing(KeyStore(settings.home)) as keys:
            keys.remove("ada@example.org")
        after = other.get("/api/me").status_code

    assert (back.status_code, names, kept, after) == (303, ["ada@example.org"] * 2, 200, 401)


@pytest.mark.slow
def test_generated_clients_find_the_operations_under_the_names_that_they_know(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]

    named = [paths[path]["get"]["operationId"] for path in ("/api/oidc/login", "/api/oidc/callback")]

    assert named == ["login_api_oidc_login_get", "callback_api_oidc_callback_get"]


def test_without_a_provider_there_is_no_such_login(client: TestClient) -> None:
    assert client.get("/api/oidc/login").status_code == 404
    assert "data-oidc" not in client.get("/").text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"oidc_client_id": ""}, "OPENBOOK_OIDC_CLIENT_ID is not"),
        ({"oidc_redirect_url": ""}, "OPENBOOK_OIDC_REDIRECT_URL is not"),
        ({"oidc_readers": ()}, "no rule lets anybody in"),
        ({"oidc_issuer": "http://sso.example"}, "OPENBOOK_OIDC_ISSUER is not an https address"),
        ({"oidc_redirect_url": "http://books.example/api/oidc/callback"}, "REDIRECT_URL is not an https address"),
    ],
)
def test_invalid_settings_are_reported_at_the_start(home: Path, change: dict[str, Any], words: str) -> None:
    good = Settings(
        home=home,
        oidc_issuer="https://sso.example",
        oidc_client_id="openbook",
        oidc_redirect_url="https://books.example/api/oidc/callback",
        oidc_readers=("*",),
    )

    with closing(KeyStore(home)) as keys:
        OidcClient(good, SqliteLogins(keys))
        with pytest.raises(SettingsError, match=words):
            OidcClient(dataclasses.replace(good, **change), SqliteLogins(keys))


def test_a_missing_package_names_its_extra(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "authlib.integrations.httpx_client", None)
    settings = Settings(
        home=home,
        oidc_issuer="https://sso.example",
        oidc_client_id="openbook",
        oidc_redirect_url="https://books.example/api/oidc/callback",
        oidc_readers=("*",),
    )

    with closing(KeyStore(home)) as keys:
        logins = SqliteLogins(keys)
        with pytest.raises(MissingExtraError) as caught:
            OidcClient(settings, logins)

    assert "openbook[oidc]" in caught.value.hint
