"""Who gets in, what is refused before anything is answered, and what every reply carries."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import openbook
from openbook.errors import OverloadedError
from openbook.server.keys import Grant, KeyStore
from openbook.server.logs import JsonFormatter
from openbook.testing import ScriptedModel, ScriptedReply
from openbook.testing.script import ModelStep
from openbook.usage import Usage
from tests.server.conftest import Serve
from tests.server.reading import ask, events_of

QUESTION = "When do sessions end?"
WEB = Path(openbook.__file__).parent / "server" / "web"
PRICED = "anthropic:claude-sonnet-5-5"


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture
def keys(home: Path) -> Iterator[KeyStore]:
    with closing(KeyStore(home)) as opened:
        yield opened


def test_without_a_key_nothing_but_health_and_the_page_is_answered(serve: Serve, keys: KeyStore) -> None:
    client = serve(needs_key=True)

    refused = {
        route: client.get(route).status_code
        for route in ("/api/sources", "/api/sessions", "/api/courses", "/metrics", "/api/me", "/openapi.json")
    }

    assert set(refused.values()) == {401}
    assert client.get("/healthz").status_code == 200
    assert client.post("/api/query", json={"query": QUESTION}, headers=bearer("obk_guessed")).status_code == 401


def test_a_key_opens_and_is_worthless_once_removed(serve: Serve, keys: KeyStore) -> None:
    key = keys.add("team")
    client = serve(needs_key=True)

    opened = client.get("/api/me", headers=bearer(key))
    keys.remove("team")

    assert opened.json() == {"key": "team", "needs_key": True, "role": "reader", "may_share": False}
    assert client.get("/api/me", headers=bearer(key)).status_code == 401


def test_a_browser_keeps_a_key_where_no_script_reads_it(serve: Serve, keys: KeyStore) -> None:
    key = keys.add("team")
    client = serve(needs_key=True)

    wrong = client.post("/api/login", json={"key": "obk_guessed"})
    right = client.post("/api/login", json={"key": key})
    inside = client.get("/api/me")
    client.post("/api/logout")

    assert (wrong.status_code, right.status_code, inside.json()["key"]) == (401, 204, "team")
    assert {"HttpOnly", "SameSite=strict"} <= set(right.headers["set-cookie"].split("; "))
    assert client.get("/api/me").status_code == 401


def test_a_page_that_reads_several_things_at_once_has_one_cookie_that_lasts(serve: Serve) -> None:
    client = serve(session_days=90)

    cookie = client.get("/").headers["set-cookie"]
    client.cookies.clear()
    reads = [client.get(f"/api/{each}") for each in ("models", "sources", "sessions", "courses")]

    assert "Max-Age=7776000" in cookie
    assert [reply.headers.get("set-cookie") for reply in reads] == [None] * 4


@pytest.mark.parametrize("spoken", ["http", "https"])
def test_a_cookie_is_for_https_alone_where_the_browser_speaks_it(client: TestClient, spoken: str) -> None:
    cookie = client.get("/api/me", headers={"X-Forwarded-Proto": spoken}).headers["set-cookie"]

    assert ("Secure" in cookie.split("; ")) == (spoken == "https")


def test_conversations_belong_to_the_key_or_browser_that_made_them(serve: Serve, keys: KeyStore) -> None:
    client = serve()
    first, second = keys.add("first"), keys.add("second")
    session_id = ask(client, QUESTION)["session_id"]
    others = client.post("/api/query", json={"query": QUESTION}, headers=bearer(first)).json()["session_id"]

    client.cookies.clear()

    asking: tuple[tuple[dict[str, str], list[str], str], ...] = (
        ({}, [], session_id),
        (bearer(second), [], others),
        (bearer(first), [others], session_id),
    )
    for headers, own, id_ in asking:
        listed = client.get("/api/sessions", headers=headers).json()["sessions"]
        assert [session["id"] for session in listed] == own
        for method, route, body in (
            ("GET", f"/api/sessions/{id_}", None),
            ("GET", f"/api/sessions/{id_}/export", None),
            ("PATCH", f"/api/sessions/{id_}", {"title": "mine"}),
            ("DELETE", f"/api/sessions/{id_}", None),
            ("POST", "/api/query", {"query": QUESTION, "session_id": id_}),
        ):
            assert client.request(method, route, json=body, headers=headers).status_code == 404, (method, route)


def test_a_key_asks_no_more_than_its_questions_a_minute(serve: Serve, keys: KeyStore) -> None:
    headers = bearer(keys.add("team", Grant("editor")))
    client = serve(key_questions_per_minute=2)

    statuses = [client.post("/api/query", json={"query": QUESTION}, headers=headers) for _ in range(3)]
    adding = client.post("/api/sources", json={"url": "octo/shop"}, headers=headers)

    assert [response.status_code for response in (*statuses, adding)] == [200, 200, 429, 429]
    assert int(statuses[-1].headers["retry-after"]) >= 1
    assert "more than 2 questions in a minute" in statuses[-1].json()["error"]["message"]


def test_a_key_spends_no_more_than_its_money_a_day(serve: Serve, keys: KeyStore) -> None:
    dear = ScriptedReply("Sessions end after one hour [1:2].", usage=Usage(100_000, 10_000))
    headers = bearer(keys.add("team"))
    client = serve(ScriptedModel(dear, name=PRICED), key_usd_per_day=0.2)
    body = {"query": QUESTION, "model": PRICED}

    first = client.post("/api/query", json=body, headers=headers)
    second = client.post("/api/query", json=body, headers=headers)

    assert (first.status_code, first.json()["cost_usd"] > 0.2) == (200, True)
    assert second.status_code == 429
    assert "spent for today" in second.json()["error"]["message"]
    assert client.post("/api/query", json={"query": QUESTION}, headers=headers).status_code == 200  # quotes are free


def test_an_answer_that_fails_at_its_end_was_not_for_nothing(serve: Serve, keys: KeyStore) -> None:
    began = ScriptedReply("Sessions end", error=OverloadedError("too much to do"))
    refused = OverloadedError("too much to do")
    headers = bearer(keys.add("team"))
    (key,) = keys.all()
    client = serve(ScriptedModel(refused, began, name=PRICED), answer_usd=0.25)

    spent = []
    for _ in range(2):
        client.post("/api/query", json={"query": QUESTION, "model": PRICED}, headers=headers)
        spent.append(keys.spent_today(key.id))

    assert spent == [0, 0.25]


@pytest.mark.parametrize(
    ("steps", "spent"),
    [([OverloadedError("too much to do")] * 2, 0), (["sessions", OverloadedError("too much to do")], 0.25)],
    ids=["at-once", "after-a-reply"],
)
def test_a_provider_that_is_down_costs_a_key_nothing(
    serve: Serve, keys: KeyStore, steps: list[ModelStep], spent: float
) -> None:
    headers = bearer(keys.add("team"))
    (key,) = keys.all()
    client = serve(
        ScriptedModel(*steps, name=PRICED), answer_usd=0.25, server_results=2
    )  # so few are searched for more

    reply = client.post("/api/query", json={"query": QUESTION, "model": PRICED}, headers=headers)

    assert (reply.status_code, keys.spent_today(key.id)) == (502, spent)


def test_no_answer_costs_more_than_is_allowed(serve: Serve) -> None:
    client = serve(ScriptedModel(name=PRICED), answer_usd=0.000001)

    reply = ask(client, QUESTION, model=PRICED)

    assert (reply["stopped"], reply["refused"]) == ("max_usd", True)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *[("localhost:8321", 200), ("127.0.0.1", 200), ("[::1]:80", 200), ("books.example", 200)],
        *[("evil.example", 400), ("localhost.evil.example", 400), ("", 400), ("[", 400)],
        *[("evil.example@127.0.0.1", 400), ("[::1%25evil.example]", 400), ("2130706433", 400)],
    ],
)
def test_a_name_that_is_not_ours_may_be_another_site(serve: Serve, host: str, status: int) -> None:
    client = serve(server_hosts=("books.example",))

    assert client.get("/healthz", headers={"Host": host}).status_code == status


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"Origin": "http://evil.example"}, id="origin"),
        pytest.param({"Origin": "null"}, id="no origin"),
        pytest.param({"Origin": "http://["}, id="an origin that is none"),
        pytest.param({"Sec-Fetch-Site": "cross-site"}, id="fetched by another site"),
        pytest.param({"Sec-Fetch-Site": "same-site"}, id="fetched by a neighbour"),
    ],
)
def test_cross_site_requests_change_nothing(client: TestClient, headers: dict[str, str]) -> None:
    response = client.post("/api/query", json={"query": QUESTION}, headers=headers)

    assert response.status_code == 403
    assert client.get("/api/sessions").json()["sessions"] == []


def test_a_form_cannot_change_anything(client: TestClient) -> None:
    del client.headers["X-Openbook"]

    response = client.post("/api/uploads", files={"files": ("a.md", b"# A")})
    by_curl = client.post(
        "/api/query", content='{"query": "?"}', headers={"Content-Type": "application/x-www-form-urlencoded"}
    )

    assert (response.status_code, by_curl.status_code) == (403, 403)
    assert "`Content-Type: application/json`" in by_curl.json()["error"]["hint"]
    assert (
        client.post("/api/query", json={"query": QUESTION}, headers={"Origin": "http://localhost"}).status_code == 200
    )


@pytest.mark.slow
def test_a_body_that_is_too_large_is_refused_whatever_length_it_claims(client: TestClient) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(40):
            yield b" " * 10_000

    claimed = client.post("/api/search", content=b" " * 400_000, headers={"Content-Type": "application/json"})
    chunked = client.post("/api/search", content=pieces(), headers={"Content-Type": "application/json"})

    assert (claimed.status_code, chunked.status_code) == (413, 413)
    assert "262,144 bytes" in chunked.json()["error"]["message"]


@pytest.mark.parametrize("length", ["5", "9" * 5000], ids=["two", "endless"])
def test_a_request_whose_end_two_could_see_at_two_places_is_refused(client: TestClient, length: str) -> None:
    headers = {"Content-Length": length, **({"Transfer-Encoding": "chunked"} if length == "5" else {})}

    response = client.post("/api/query", headers=headers)

    assert response.status_code == (400 if length == "5" else 413)
    assert response.headers["connection"] == "close"


@pytest.mark.slow
@pytest.mark.parametrize("route", ["/", "/healthz", "/readyz", "/docs", "/static/main.js", "/api/courses"])
def test_asking_for_the_head_gives_what_a_get_does_without_its_body(client: TestClient, route: str) -> None:
    whole, head = client.get(route), client.head(route)

    told = [{**each.headers, "x-request-id": "", "set-cookie": ""} for each in (whole, head)]
    assert (head.status_code, head.content, told[0]) == (200, b"", told[1])


def test_a_wrong_method_gets_a_405_with_all_allowed_methods(client: TestClient) -> None:
    replies = [client.put(f"/api/{path}", headers={"X-Openbook": "1"}) for path in (f"sessions/{'0' * 32}", "sources")]

    assert [(reply.status_code, reply.headers["allow"]) for reply in replies] == [
        (405, "DELETE, GET, PATCH"),
        (405, "GET, POST"),
    ]


@pytest.mark.slow
def test_unknown_methods_are_counted_together(client: TestClient) -> None:
    for word in ("BREW", "STEEP"):
        client.request(word, "/healthz")

    counted = client.get("/metrics").text
    assert 'method="other",route="/healthz"' in counted or 'method="other",route="none"' in counted
    assert "BREW" not in counted


@pytest.mark.slow
@pytest.mark.parametrize("route", ["/", "/healthz", "/docs", "/api/nothing", "/static/nothing.js", "/api/courses"])
def test_every_reply_has_an_id_and_forbids_what_a_page_does_not_need(client: TestClient, route: str) -> None:
    headers = client.get(route).headers

    policy = headers["content-security-policy"]
    assert re.fullmatch("[0-9a-f]{16}", headers["x-request-id"])
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert policy.endswith("; require-trusted-types-for 'script'; trusted-types openbook")
    assert "unsafe" not in policy
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
    assert "access-control-allow-origin" not in headers


def test_parts_of_the_page_are_asked_for_again_so_that_they_are_of_one_version(client: TestClient) -> None:
    first = client.get("/static/main.js")

    again = client.get("/static/main.js", headers={"If-None-Match": first.headers["etag"]})

    assert (first.headers["cache-control"], again.status_code, again.content) == ("no-cache", 304, b"")
    assert client.get("/").headers["cache-control"] == "no-store"


def _loaded(*names: str) -> set[str]:
    """Return the parts that some parts load, and themselves."""
    known: set[str] = set()
    while names:
        known.update(names)
        texts = ((WEB / name).read_text(encoding="utf-8") for name in names)
        names = tuple({name for text in texts for name in re.findall(r'from "\./([\w.]+)"', text)} - known)
    return known


@pytest.mark.slow
def test_the_page_is_small_and_its_parts_are_kept_under_the_name_of_their_version(client: TestClient) -> None:
    page = client.get("/").text
    (folder,) = set(re.findall(r'"(static/[0-9a-f]{16})/', page))

    files = [file for file in WEB.iterdir() if file.is_file() and file.name != "index.html"]
    parts = {file: client.get(f"/{folder}/{file.name}") for file in files}

    named = {client.get(f"/{part}").url.path: client.get(f"/{part}") for part in re.findall(r'"(static/[^"]+)"', page)}

    names = ["favicon.svg", "literata-ascii.woff2", "style.css", "theme.js", "main.bundle.js"]
    assert [path.rpartition("/")[2] for path in named] == names
    assert {part.headers["cache-control"] for part in parts.values()} == {"public, max-age=31536000, immutable"}
    assert all(part.content == file.read_bytes() for file, part in parts.items() if file.suffix != ".css")
    assert all("/*" not in part.text for file, part in parts.items() if file.suffix == ".css")
    assert {part.headers["cache-control"] for part in named.values()} == {"public, max-age=31536000, immutable"}
    compressed = sum(int(part.headers["content-length"]) for part in (*named.values(), client.get("/")))
    assert compressed < 60_000
    assert {part.headers.get("content-encoding") for part in parts.values() if len(part.content) > 500} == {"gzip"}
    assert "content-encoding" not in client.get("/openapi.json").headers  # a secret could be guessed by its length


@pytest.mark.parametrize("route", ["/", "/join", "/admin", "/courses", "/shared"])
def test_the_heads_of_all_pages_have_what_each_needs(client: TestClient, route: str) -> None:
    page = client.get(route).text

    assert page.count('<meta charset="utf-8" />') == 1
    assert page.count("<title>") == 1
    assert page.count("style.css") == 1
    assert page.index("theme.js") < page.index("</head>")
    assert "head.html" not in page


def test_fonts_are_sent_as_they_are_and_kept_for_good(client: TestClient) -> None:
    (address,) = re.findall(r'"(static/[^"]+\.woff2)"', client.get("/").text)

    font = client.get(f"/{address}")

    assert font.content == (WEB / "fonts" / "literata-ascii.woff2").read_bytes()
    assert (font.headers["content-type"], font.headers["cache-control"]) == (
        "font/woff2",
        "public, max-age=31536000, immutable",
    )
    assert "content-encoding" not in font.headers  # they are compressed already


def test_the_style_sheet_names_each_font_that_there_is_and_its_licence_is_beside_it(client: TestClient) -> None:
    named = set(re.findall(r'url\("fonts/([^"]+)"\)', client.get("/static/style.css").text))

    assert named == {file.name for file in (WEB / "fonts").glob("*.woff2")}
    assert "SIL OPEN FONT LICENSE Version 1.1" in client.get("/static/fonts/LICENSE-literata.txt").text


@pytest.mark.slow
def test_the_description_of_the_api_loads_nothing_and_runs_nothing(client: TestClient) -> None:
    page = client.get("/docs").text

    assert "/api/query/stream" in page
    assert not re.search(r"<script|<style|style=|https?://|`", page)
    assert client.get("/docs.css").headers["content-type"].startswith("text/css")
    assert "/api/query" in client.get("/openapi.json").json()["paths"]


def test_a_log_has_ids_and_routes_and_neither_texts_nor_keys(
    serve: Serve, keys: KeyStore, caplog: pytest.LogCaptureFixture
) -> None:
    key = keys.add("team")
    client = serve(needs_key=True)

    with caplog.at_level(logging.INFO, logger="openbook"):
        response = client.post("/api/query", json={"query": QUESTION}, headers=bearer(key))
        client.get(f"/api/sessions/{response.json()['session_id']}", headers=bearer(key))

    lines = [JsonFormatter().format(record) for record in caplog.records]
    logged: list[Any] = [json.loads(line) for line in lines]
    assert [line["route"] for line in logged] == ["/api/query", "/api/sessions/{session_id}"]
    assert (logged[0]["status"], logged[0]["caller"]) == (200, "team")
    for secret in (key, "sessions end", response.json()["session_id"]):
        assert secret not in "".join(lines)


def test_what_fails_on_the_server_is_logged_with_its_reason_and_without_the_question(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    quoting = [OverloadedError(f"groq has a fault (500): no room for {QUESTION!r}", status=500)] * 3
    model = ScriptedModel(*quoting)
    client = serve(model)
    asking = {"query": QUESTION, "model": model.name}
    chat = {"model": model.name, "messages": [{"role": "user", "content": QUESTION}], "stream": True}

    with caplog.at_level(logging.WARNING, logger="openbook"):
        client.post("/api/query", json=asking)
        client.post("/api/query/stream", json=asking)
        client.post("/v1/chat/completions", json=chat)
        client.post("/api/query", json={"query": "?!"})  # which is the fault of the request

    lines: list[Any] = [json.loads(JsonFormatter().format(record)) for record in caplog.records]
    told = [(line["event"], line["error"], line["reason"], line["model_status"]) for line in lines]
    assert told == [("failed", "OverloadedError", "groq has a fault", 500)] * 3
    assert "sessions end" not in str(lines)


def test_an_internal_error_is_reported_without_its_message(serve: Serve) -> None:
    model = ScriptedModel()  # it has nothing to say, and fails a call with an error that is none of ours
    asking = {"query": QUESTION, "model": model.name}
    client = serve(model)
    quiet = TestClient(client.app, base_url="http://localhost", raise_server_exceptions=False)

    whole = quiet.post("/api/query", json=asking)
    kind, streamed = events_of(quiet.post("/api/query/stream", json=asking).text)[-1]

    assert (whole.status_code, kind, whole.json()) == (500, "error", {"error": streamed})
    assert (streamed["message"], "request id" in streamed["hint"]) == ("the server failed at this request", True)
    assert "content-security-policy" in whole.headers
    assert 'openbook_questions_total{outcome="failed"} 2.0' in client.get("/metrics").text


def test_metrics_count_questions_stages_verdicts_tokens_and_refusals(serve: Serve) -> None:
    client = serve(ScriptedModel("Sessions end after one hour [1:2]."))
    ask(client, QUESTION, model="scripted:model")
    ask(client, "What is the airspeed of a swallow?")
    events_of(client.post("/api/query/stream", json={"query": QUESTION}).text)

    counted = client.get("/metrics").text

    for line in (
        'openbook_questions_total{outcome="answered"} 2.0',
        'openbook_questions_total{outcome="refused"} 1.0',
        'openbook_citations_total{verdict="exact"} 2.0',
        'openbook_tokens_total{direction="output"} 5.0',
        "openbook_unpriced_answers_total 1.0",
        'openbook_stage_seconds_count{stage="searching"} 3.0',
        'openbook_stage_seconds_count{stage="rendering"} 3.0',
        'openbook_stage_seconds_count{stage="own"} 3.0',
        'openbook_requests_total{method="POST",route="/api/query",status="200"} 2.0',
    ):
        assert line in counted, line
    assert "openbook_refusals_total{reason=" in counted


@pytest.mark.parametrize(
    ("written", "said", "verdict"),
    [
        ("An hour later, sessions are over [1:2].", "entailed", "confirmed"),
        ("An hour later, sessions are over [1:2].", "not said", "unverified"),
        ("Sessions end after 20 minutes [1:2].", "contradicted", "conflict"),
    ],
)
def test_metrics_count_citations_by_what_the_verifier_finds(
    serve: Serve, written: str, said: str, verdict: str
) -> None:
    found = json.dumps({"claim": 1, "verdict": said, "quote": "Sessions end after one hour."})
    client = serve(ScriptedModel(written, found))
    ask(client, QUESTION, model="scripted:model")

    counted = client.get("/metrics").text

    assert re.findall(r'openbook_citations_total\{verdict="(\w+)"\} 1.0', counted) == [verdict]
    assert 'openbook_stage_seconds_count{stage="verifying"} 1.0' in counted


def test_the_start_request_has_the_replies_of_all_its_routes(client: TestClient) -> None:
    ask(client, "When do sessions end?")

    started = client.get("/api/start").json()

    parts = ("me", "models", "answers", "sources", "sessions", "courses")
    assert started == {part: client.get(f"/api/{part}").json() for part in parts}
    assert len(started["sessions"]["sessions"]) == 1
