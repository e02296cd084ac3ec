"""A caller's own conversations over HTTP: listed, read, renamed, exported, deleted."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from openbook.answers import Exchange
from openbook.errors import OverloadedError
from openbook.llm.messages import Request
from openbook.sessions.protocol import MAX_EXCHANGES
from openbook.sessions.sqlite import SqliteSessions
from openbook.testing import ScriptedModel
from tests.server.conftest import Serve
from tests.server.reading import ask

QUESTION = "When do sessions end?"


def test_a_conversation_is_listed_read_renamed_and_deleted(client: TestClient) -> None:
    first = ask(client, QUESTION)
    second = ask(client, "How long does the retry policy wait?", session_id=first["session_id"])
    route = f"/api/sessions/{first['session_id']}"

    renamed = client.patch(route, json={"title": "Ends and waits"})
    (listed,) = client.get("/api/sessions").json()["sessions"]
    whole = client.get(route).json()
    deleted = client.delete(route)

    assert (renamed.status_code, listed["title"], listed["exchanges"]) == (204, "Ends and waits", 2)
    assert whole["exchanges"] == [first, second]
    assert (deleted.status_code, client.get(route).status_code) == (204, 404)
    assert client.get("/api/sessions").json() == {"sessions": []}


@pytest.mark.slow
def test_a_conversation_that_has_as_many_answers_as_one_reply_may_have_takes_no_more(
    client: TestClient, home: Path
) -> None:
    last = ask(client, QUESTION)
    session_id, (owner,) = last["session_id"], owners(home)
    with closing(SqliteSessions(home / "sessions.sqlite", expire_s=3600)) as sessions:
        for _ in range(MAX_EXCHANGES - 1):
            sessions.add(owner, session_id, Exchange(QUESTION, last["answer"]), last)

    refused = client.post("/api/query", json={"query": QUESTION, "session_id": session_id})
    begun = ask(client, QUESTION)

    assert (refused.status_code, refused.json()["error"]["message"]) == (
        409,
        "this conversation has 1,000 answers already",
    )
    assert "begin a new one" in refused.json()["error"]["hint"]
    assert len(client.get(f"/api/sessions/{session_id}").json()["exchanges"]) == MAX_EXCHANGES
    assert begun["session_id"] != session_id


def owners(home: Path) -> set[str]:
    """Return who has conversations."""
    with closing(sqlite3.connect(home / "sessions.sqlite")) as opened:
        return {owner for (owner,) in opened.execute("SELECT owner FROM sessions")}


def test_an_export_holds_nothing_that_a_viewer_of_markdown_would_load_or_run(serve: Serve) -> None:
    hostile = "![see](https://tracker.example/a) <img src=x onerror=run> `vec![1]` <b\n\n```rust\nvec![1]; // <b>\n```"
    client = serve(ScriptedModel(f"Sessions end after one hour [1:2]. {hostile}"))
    session_id = ask(client, f"{QUESTION} ![x](https://tracker.example)", model="scripted:model")["session_id"]
    client.patch(f"/api/sessions/{session_id}", json={"title": "<script>\n# [x](javascript:1) \u202e"})

    exported = client.get(f"/api/sessions/{session_id}/export").text

    assert exported.startswith("# \\<script> # \\[x\\](javascript:1) ‹U+202E›\n")
    assert not re.search(r"(?<!\\)<(img|script)|(?<!c)!\[", exported)
    assert "`vec![1]`" in exported
    assert "\nvec![1]; // <b>\n" in exported


def test_an_export_has_every_citation_with_its_verdict(client: TestClient) -> None:
    reply = ask(client, QUESTION)
    route = f"/api/sessions/{reply['session_id']}/export"

    markdown, as_json = client.get(route), client.get(route, params={"format": "json"})

    assert markdown.text == (
        "# When do sessions end?\n\n## When do sessions end?\n\n"
        f"{reply['answer']}\n\n- `[1:2]` guide.md:3 (Sessions): exact\n"
    )
    assert as_json.json()["exchanges"] == [reply]
    for response, ending in ((markdown, "md"), (as_json, "json")):
        assert response.headers["content-disposition"] == f'attachment; filename="{reply["session_id"]}.{ending}"'
    assert client.get(route, params={"format": "pdf"}).status_code == 422


def test_an_edited_question_takes_the_place_of_the_old_one_and_of_all_that_came_after_it(serve: Serve) -> None:
    model = ScriptedModel(
        "Sessions end after one hour [1:2].",
        *("How long does the retry policy wait?", "The policy waits 30 seconds [1:2]."),
        *("How long do parcels wait?", "Thirty seconds."),
        *("When do sessions of the guide end?", "After one hour [1:2]."),
    )
    client = serve(model, verifier="off")
    first = ask(client, QUESTION, model=model.name)
    session_id = first["session_id"]
    second = ask(client, "How long does the retry policy wait?", session_id=session_id, model=model.name)
    ask(client, "What about parcels?", session_id=session_id, model=model.name)
    before = len(model.requests)

    edited = ask(
        client,
        "When do sessions of the guide end?",
        session_id=session_id,
        replaces=second["id"],
        model=model.name,
    )

    kept = client.get(f"/api/sessions/{session_id}").json()
    asked = "".join(message.text for request in model.requests[before:] for message in request.messages)
    assert [each["id"] for each in kept["exchanges"]] == [first["id"], edited["id"]]
    assert kept["title"] == QUESTION
    assert [each["query"] for each in edited["earlier"]] == [second["query"]]
    assert QUESTION in asked  # what came before is looked back on, what is replaced is not
    assert "How long does the retry policy wait" not in asked
    assert "parcels" not in asked


@pytest.mark.slow
def test_an_answer_that_is_asked_for_again_keeps_its_earlier_versions_and_the_title_follows_an_edit(
    client: TestClient,
) -> None:
    reply = ask(client, QUESTION)
    session_id = reply["session_id"]

    ids = [reply["id"]]
    for _ in range(6):
        reply = ask(client, QUESTION, session_id=session_id, replaces=reply["id"])
        ids.append(reply["id"])
    edited = ask(client, "How long does the retry policy wait?", session_id=session_id, replaces=reply["id"])

    (listed,) = client.get("/api/sessions").json()["sessions"]
    assert (listed["exchanges"], listed["title"]) == (1, "How long does the retry policy wait?")
    assert [each["id"] for each in edited["earlier"]] == ids[-5:]
    assert [each["earlier"] for each in edited["earlier"]] == [[]] * 5


def test_an_answer_that_a_conversation_does_not_have_is_told_apart_from_a_conversation_that_is_not_there(
    client: TestClient,
) -> None:
    session_id, unknown = ask(client, QUESTION)["session_id"], "0" * 32
    place = f"/api/sessions/{session_id}"

    replies = [
        client.post("/api/shares", json={"session_id": session_id, "answer_id": unknown}),
        client.get(f"{place}/export", params={"answer": unknown}),
        client.get(f"{place}/answers/{unknown}/suggestions"),
        client.put(f"{place}/answers/{unknown}/rating", json={"rating": "up"}),
    ]

    said = {(reply.status_code, reply.json()["error"]["message"]) for reply in replies}
    assert said == {(404, "this conversation has no such answer")}


def test_an_answer_whose_place_was_taken_meanwhile_says_that_it_is_not_stored(serve: Serve, home: Path) -> None:
    def overtaken(_: Request) -> str:
        with closing(sqlite3.connect(home / "sessions.sqlite")) as disk, disk:
            disk.execute("UPDATE exchanges SET record = json_set(record, '$.id', 'another')")
        return "Sessions end after one hour [1:2]."

    model = ScriptedModel(overtaken)
    client = serve(model, verifier="off")
    first = ask(client, QUESTION)

    late = ask(client, QUESTION, session_id=first["session_id"], replaces=first["id"], model=model.name)

    kept = client.get(f"/api/sessions/{first['session_id']}").json()["exchanges"]
    assert ([each["id"] for each in kept], first["stored"]) == (["another"], True)
    assert (late["warning"], late["stored"]) == (
        "this answer was not saved: its conversation has been changed meanwhile",
        False,
    )


def test_an_answer_says_why_only_the_question_was_searched_for(serve: Serve) -> None:
    told = "Sessions end after one hour [1:2]."
    model = ScriptedModel(told, OverloadedError("no connection to http://10.0.0.7:9000/v1"), told)
    client = serve(model, verifier="off")
    first = ask(client, QUESTION, model=model.name)

    second = ask(client, "And when exactly?", session_id=first["session_id"], model=model.name)

    assert (first["warning"], second["warning"]) == (
        "",
        "searched only for the question: no connection to the model's server",
    )


def test_a_conversation_gets_no_blank_title(client: TestClient) -> None:
    route = f"/api/sessions/{ask(client, QUESTION)['session_id']}"

    refused = client.patch(route, json={"title": " \t "})

    assert (refused.status_code, client.get(route).json()["title"]) == (422, QUESTION)


def test_only_an_answer_of_the_same_conversation_of_the_caller_is_replaced(client: TestClient) -> None:
    mine, other = ask(client, QUESTION), ask(client, "How long does the retry policy wait?")
    tries = (
        {"session_id": mine["session_id"], "replaces": other["id"]},
        {"session_id": mine["session_id"], "replaces": "0" * 32},
        {"replaces": mine["id"]},
    )

    statuses = [client.post("/api/query", json={"query": QUESTION, **each}).status_code for each in tries]
    client.cookies.clear()
    stranger = client.post(
        "/api/query", json={"query": QUESTION, "session_id": mine["session_id"], "replaces": mine["id"]}
    )

    assert (statuses, stranger.status_code) == ([404, 404, 404], 404)


def test_a_conversation_is_pinned_and_one_that_is_not_there_is_not(client: TestClient) -> None:
    route = f"/api/sessions/{ask(client, QUESTION)['session_id']}"

    statuses = [client.patch(route, json={"pinned": True}).status_code for _ in range(2)]
    missing = client.patch(f"/api/sessions/{'0' * 32}", json={"pinned": True})

    (listed,) = client.get("/api/sessions").json()["sessions"]
    assert (statuses, missing.status_code) == ([204, 204], 404)
    assert (listed["pinned"], listed["title"]) == (True, QUESTION)
    client.patch(route, json={"pinned": False})
    assert not client.get("/api/sessions").json()["sessions"][0]["pinned"]


def test_conversations_are_found_by_words_of_their_questions_and_answers(client: TestClient) -> None:
    sessions, retries = ask(client, QUESTION), ask(client, "How long does the retry policy wait?")
    client.patch(f"/api/sessions/{sessions['session_id']}", json={"title": "Élan"})

    def found(text: str) -> list[tuple[str, str]]:
        reply = client.post("/api/session-matches", json={"text": text}).json()
        return [(each["id"], each["snippet"]) for each in reply["sessions"]]

    assert [id_ for id_, _ in found("END")] == [sessions["session_id"]]
    assert found("retry seconds 30")[0][0] == retries["session_id"]
    assert "30 seconds" in found("30 seconds")[0][1]
    assert found("éLAN") == [(sessions["session_id"], "Élan")]
    assert found("nothing of it") == []
    assert client.post("/api/session-matches", json={"text": ""}).status_code == 422
    client.cookies.clear()
    assert found("end") == []


def test_one_answer_is_exported_with_its_sources(client: TestClient) -> None:
    first = ask(client, QUESTION)
    second = ask(client, "How long does the retry policy wait?", session_id=first["session_id"])
    route = f"/api/sessions/{first['session_id']}/export"

    one = client.get(route, params={"answer": second["id"]})

    assert one.text.startswith("## How long does the retry policy wait?\n\n")
    assert one.text.endswith("- `[1:2]` guide.md:7 (Retries): exact\n")
    assert client.get(route, params={"answer": "0" * 32}).status_code == 404


@pytest.mark.slow
def test_no_path_of_another_route_is_taken_for_a_conversation(client: TestClient) -> None:
    paths = {path for path in client.get("/openapi.json").json()["paths"] if path.count("/") == 3}

    assert {path for path in paths if path.startswith("/api/sessions/")} == {"/api/sessions/{session_id}"}
    for method in ("GET", "PATCH", "DELETE"):
        refused = client.request(method, "/api/session-matches", json={"title": "x"})
        assert (refused.status_code, refused.headers["allow"]) == (405, "POST")


def test_after_an_answer_there_are_questions_to_go_on_with_for_its_owner_alone(client: TestClient) -> None:
    reply = ask(client, QUESTION)
    route = f"/api/sessions/{reply['session_id']}/answers"

    suggested = client.get(f"{route}/{reply['id']}/suggestions").json()["questions"]

    assert suggested == ["What can you tell me about Sessions?", "What can you tell me about retries?"]
    for question in suggested:
        assert not ask(client, question, session_id=reply["session_id"])["refused"]
    assert client.get(f"{route}/{'0' * 32}/suggestions").status_code == 404
    client.cookies.clear()
    assert client.get(f"{route}/{reply['id']}/suggestions").status_code == 404
