"""Roles, classes, and what owners see: who may do what, and who is told why not."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from openbook.server.keys import ROLES, Grant, KeyStore, Role
from openbook.testing import ScriptedModel, ScriptedReply
from openbook.usage import Usage
from tests.server.conftest import FILES, Serve
from tests.server.reading import ask, events_of
from tests.support import write_tree

QUESTION = "When do sessions end?"
PRICED = "anthropic:claude-sonnet-5-5"
PIN = "704312"

Keys = dict[Role, dict[str, str]]

# What each route takes at least. All of them fail later, with a role that suffices.
NEEDED: dict[tuple[str, str], Role] = {
    ("POST", "/api/sources"): "editor",
    ("DELETE", "/api/sources/nothing"): "editor",
    ("POST", "/api/uploads"): "editor",
    ("DELETE", f"/api/documents/{'0' * 32}"): "editor",
    ("GET", "/api/admin/people"): "owner",
    ("POST", "/api/admin/keys"): "owner",
    ("PUT", "/api/admin/keys/nobody"): "owner",
    ("DELETE", "/api/admin/keys/nobody"): "owner",
    ("POST", "/api/admin/rotations/nobody"): "owner",
    ("POST", "/api/admin/classes"): "owner",
    ("GET", "/api/admin/log"): "owner",
    ("GET", "/api/admin/server"): "owner",
    ("GET", "/api/sessions"): "reader",
    ("GET", "/api/sources"): "reader",
    ("GET", "/api/me"): "reader",
}


@pytest.fixture
def store(home: Path) -> Iterator[KeyStore]:
    with closing(KeyStore(home)) as opened:
        yield opened


@pytest.fixture
def keys(store: KeyStore) -> Keys:
    return {role: {"Authorization": f"Bearer {store.add(role, Grant(role))}"} for role in ROLES}


@pytest.mark.slow
@pytest.mark.parametrize(("method", "route"), NEEDED)
def test_a_refused_role_is_told_the_required_one(serve: Serve, keys: Keys, method: str, route: str) -> None:
    client = serve(needs_key=True)
    needed = NEEDED[method, route]

    replies = {role: client.request(method, route, json={}, headers=keys[role]) for role in ROLES}

    for role, reply in replies.items():
        may = ROLES.index(role) >= ROLES.index(needed)
        assert (reply.status_code != 403) == may, role
        if not may:
            assert reply.json()["error"] == {
                "message": f"only an {needed} may do this; your key is {'a' if role == 'reader' else 'an'} {role}",
                "hint": f"ask whoever runs the server for a key with the role {needed}",
            }


def test_a_reader_asks_and_deletes_nothing_of_others(serve: Serve, keys: Keys) -> None:
    client = serve(needs_key=True)

    asked = client.post("/api/query", json={"query": QUESTION}, headers=keys["reader"])
    (source,) = client.get("/api/sources", headers=keys["reader"]).json()["sources"]
    removed = client.delete(f"/api/sources/{source['name']}", headers=keys["reader"])
    writable = {role: client.get("/api/sources", headers=keys[role]).json()["writable"] for role in ROLES}

    assert (asked.status_code, removed.status_code) == (200, 403)
    assert writable == {"reader": False, "editor": True, "owner": True}
    assert client.delete(f"/api/sources/{source['name']}", headers=keys["editor"]).status_code == 204


def test_a_caller_without_a_required_key_is_an_editor_and_cannot_manage_keys(client: TestClient) -> None:
    assert client.get("/api/me").json() == {"key": "", "needs_key": False, "role": "editor", "may_share": True}
    assert client.get("/api/sources").json()["writable"] is True
    refused = client.post("/api/admin/keys", json={"name": "mine", "role": "owner"})
    assert (refused.status_code, "a browser without a key" in refused.text) == (403, True)


@pytest.mark.slow
def test_an_owner_makes_changes_rotates_and_revokes_keys(serve: Serve, keys: Keys) -> None:
    client = serve(needs_key=True)
    client.headers.update(keys["owner"])
    new = {"name": "guest", "role": "reader", "questions_per_day": 1}

    made = client.post("/api/admin/keys", json=new)
    guest = {"Authorization": f"Bearer {made.json()['secret']}"}
    asked = [client.post("/api/query", json={"query": QUESTION}, headers=guest).status_code for _ in range(2)]
    changed = client.put("/api/admin/keys/guest", json={"role": "editor", "usd_per_day": 2.5})
    listed = {each["name"]: each for each in client.get("/api/admin/people").json()["keys"]}
    rotated = client.post("/api/admin/rotations/guest").json()["secret"]
    statuses = [client.get("/api/me", headers={"Authorization": f"Bearer {key}"}).status_code for key in (rotated, "x")]

    assert (made.status_code, changed.status_code, asked) == (201, 204, [200, 429])
    assert (listed["guest"]["role"], listed["guest"]["usd_per_day"], listed["guest"]["questions_today"]) == (
        *("editor", 2.5, 1),
    )
    assert listed["guest"]["last_used_at"] is not None
    assert client.get("/api/me", headers=guest).status_code == 401
    assert statuses == [200, 401]
    assert client.delete("/api/admin/keys/guest").status_code == 204
    assert client.delete("/api/admin/keys/guest").status_code == 404
    assert client.delete("/api/admin/keys/owner").status_code == 409


@pytest.mark.slow
def test_students_join_with_a_link_and_have_a_history_of_their_own(serve: Serve, keys: Keys) -> None:
    client = serve(needs_key=True)
    made = client.post("/api/admin/classes", json={"name": "class", "seats": 2}, headers=keys["owner"])
    ada = {"code": made.json()["secret"], "name": "Ada", "pin": PIN}

    joined = client.post("/api/join", json=ada)
    session_id = ask(client, QUESTION)["session_id"]
    cookie = dict(client.cookies)
    client.post("/api/logout")
    client.post("/api/join", json={**ada, "name": "Runa"})
    others = client.get("/api/sessions").json()["sessions"]
    client.post("/api/login", json={"student": ada})
    mine = client.get("/api/sessions").json()["sessions"]

    assert (joined.status_code, others, [each["id"] for each in mine]) == (204, [], [session_id])
    assert client.get("/api/me").json() == {"key": "class/Ada", "needs_key": True, "role": "reader", "may_share": False}
    client.cookies.clear()
    client.cookies.update(cookie)
    assert client.get("/api/me").status_code == 401  # a copy of the cookie from before the logout
    people = client.get("/api/admin/people", headers=keys["owner"]).json()
    assert [(each["name"], each["students"], each["seats"]) for each in people["classes"]] == [("class", 2, 2)]
    assert [each["class_name"] for each in people["keys"]] == ["class", "class", "", "", ""]

    client.post("/api/login", json={"student": ada})
    client.delete("/api/admin/keys/class/Ada", headers=keys["owner"])
    assert client.get("/api/me").status_code == 401


@pytest.mark.slow
def test_the_log_tells_who_did_what_and_neither_secrets_nor_questions(
    serve: Serve, keys: Keys, folder: Path, home: Path
) -> None:
    client = serve(needs_key=True)
    code = client.post("/api/admin/classes", json={"name": "class"}, headers=keys["owner"]).json()["secret"]
    ada = {"code": code, "name": "Ada", "pin": PIN}
    key = client.post("/api/admin/keys", json={"name": "new", "role": "editor"}, headers=keys["owner"]).json()["secret"]
    client.post("/api/join", json=ada)
    client.post("/api/login", json={"student": {**ada, "pin": "wrong pin"}})
    client.post("/api/login", json={"student": {**ada, "name": "704312"}})
    client.post("/api/login", json={"key": "obk_nearly"})
    ask(client, QUESTION)
    client.post("/api/logout")
    write_tree(folder / "more", FILES)
    client.post("/api/sources", json={"path": str(folder / "more")}, headers=keys["editor"])
    client.post("/api/uploads", files={"files": ("tides.md", b"# Tides")}, headers=keys["editor"])
    client.delete("/api/sources/harbour", headers=keys["editor"])

    events = client.get("/api/admin/log", headers=keys["owner"]).json()["events"]

    assert [(each["who"], each["did"], each["what"]) for each in reversed(events)] == [
        ("owner", "added class", "class, 100 seats"),
        ("owner", "added key", "new, editor"),
        ("class/Ada", "joined class", ""),
        ("", "was refused", "class/Ada: the name or the PIN is wrong"),
        ("", "was refused", "a student of class: the name or the PIN is wrong"),
        ("", "was refused", "a key: this key is unknown, was revoked, or has expired"),
        ("class/Ada", "logged out", ""),
        ("editor", "added source", "more"),
        ("editor", "uploaded", "tides.md"),
        ("editor", "removed source", "harbour"),
    ]
    assert {each["address"] for each in events} == {"testclient"}
    with closing(sqlite3.connect(home / "keys.sqlite")) as opened:
        kept = str(opened.execute("SELECT * FROM audit").fetchall())
    assert not [secret for secret in (key, code, PIN, "wrong pin", "obk_nearly", "sessions") if secret in kept]
    assert (home / "keys.sqlite").stat().st_mode & 0o077 == 0


def test_an_owner_sees_how_the_server_is(serve: Serve, keys: Keys) -> None:
    told = serve().get("/api/admin/server", headers=keys["owner"]).json()

    assert (told["documents"], told["store"], told["jobs"]) == (3, "", [])


def test_money_that_is_nearly_spent_has_words_of_its_own(serve: Serve, store: KeyStore) -> None:
    dear = ScriptedReply("Sessions end after one hour [1:2].", usage=Usage(10, 10))
    client = serve(ScriptedModel(dear, dear, name=PRICED))
    client.headers["Authorization"] = f"Bearer {store.add('team', Grant(usd_per_day=0.0001))}"
    body = {"query": QUESTION, "model": PRICED}

    whole = client.post("/api/query", json=body)
    *_, (kind, told) = events_of(client.post("/api/query/stream", json=body).text)

    assert (whole.status_code, int(whole.headers["retry-after"]) > 0, kind) == (429, True, "error")
    assert whole.json()["error"] == told
    assert told["message"] == "the 0.0001 US dollars that this key may still spend today are too little for this answer"
    assert store.uses()[store.all()[0].id].usd == 0


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("/api/query", {"query": QUESTION, "modelname": "extractive"}),
        ("/api/answers", {"query": QUESTION, "sessionid": "0" * 32}),
        ("/api/query", {"query": QUESTION, "filters": {"glob": ["*.md"]}}),
        ("/api/sources", {"path": ".", "recursive": True}),
        ("/api/login", {"key": "obk_1", "remember": True}),
    ],
)
def test_a_field_that_there_is_not_is_refused(client: TestClient, route: str, body: dict[str, object]) -> None:
    refused = client.post(route, json=body)

    assert refused.status_code == 422
    assert "Extra inputs are not permitted" in refused.json()["error"]["message"]


def test_links_of_courses_are_addresses_of_the_web(serve: Serve, folder: Path) -> None:
    links = [
        "javascript:alert(1)",
        " JaVaScRiPt:alert(1)",
        "data:text/html,x",
        "HTTPS://ok.example/a",
        "http://ok.example",
    ]
    for number, link in enumerate(links):
        text = f"Course Title: Course {number}\nCourse Link: {link}\n\nLesson 0: Welcome\nLesson Link: {link}\nWords.\n"
        write_tree(folder, {f"course{number}.txt": text})

    courses = [each for each in serve().get("/api/courses").json()["courses"] if each["title"].startswith("Course")]

    assert [each["link"] for each in courses] == ["", "", "", *links[3:]]
    assert [each["lessons"][0]["link"] for each in courses] == ["", "", "", *links[3:]]


@pytest.mark.parametrize(("route", "part"), [("/join", "join.bundle.js"), ("/admin", "admin.bundle.js")])
def test_the_pages_beside_the_questions_are_there_for_who_has_no_key_yet(serve: Serve, route: str, part: str) -> None:
    client = serve(needs_key=True)

    page = client.get(route)
    (named,) = re.findall(rf'"(static/[^"]*{part})"', page.text)

    assert page.headers["content-type"].startswith("text/html")
    assert client.get(f"/{named}").status_code == 200


@pytest.mark.slow
def test_the_description_tells_how_to_authenticate_and_so_does_a_refusal(serve: Serve, keys: Keys) -> None:
    client = serve(needs_key=True)

    described = client.get("/openapi.json", headers=keys["reader"]).json()
    refused = client.get("/api/me")

    schemes = described["components"]["securitySchemes"]
    assert {name: (each["type"], each.get("scheme", each.get("in"))) for name, each in schemes.items()} == {
        "key": ("http", "bearer"),
        "login": ("apiKey", "cookie"),
    }
    secured = {
        path: methods[method].get("security") for path, methods in described["paths"].items() for method in methods
    }
    assert {path for path, each in secured.items() if not each} == {
        *(
            "/healthz",
            "/readyz",
            "/api/login",
            "/api/join",
            "/api/shared",
            "/api/logout",
            "/api/oidc/login",
            "/api/oidc/callback",
        ),
    }
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, 'Bearer realm="Openbook"')
