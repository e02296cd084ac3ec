"""What people say of answers, and the question set that owners make of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from openbook.evals.questions import EvalQuestion, read_questions
from openbook.server.erasure import erase_in_home
from openbook.server.feedback import Feedback, FeedbackStore, question_set
from openbook.server.keys import Grant, KeyStore
from openbook.server.people import People
from openbook.settings import Settings
from tests.server.conftest import Serve

QUESTION = "When do sessions end?"
RETRIES = "How long does the retry policy wait?"
NOTHING = "Which parliament elects the chancellor of the harbour?"


@pytest.fixture
def people(home: Path) -> Iterator[dict[str, dict[str, str]]]:
    with closing(KeyStore(home)) as store:
        keys = {"ada": store.add("ada"), "eve": store.add("eve"), "owner": store.add("owner", Grant("owner"))}
        yield {name: {"Authorization": f"Bearer {key}"} for name, key in keys.items()}


def rate(client: TestClient, headers: dict[str, str], query: str, **said: str) -> Any:
    reply = client.post("/api/query", json={"query": query}, headers=headers).json()
    route = f"/api/sessions/{reply['session_id']}/answers/{reply['id']}/rating"
    assert client.put(route, json=said, headers=headers).status_code == 204
    return reply


def test_ratings_become_a_question_set_that_eval_reads(serve: Serve, people: dict[str, dict[str, str]]) -> None:
    client = serve(needs_key=True)
    rate(client, people["ada"], QUESTION, rating="good")
    rate(client, people["eve"], RETRIES, rating="bad", reason="incomplete", comment=" until when? ")
    rate(client, people["eve"], NOTHING, rating="good")

    exported = client.get("/api/admin/feedback", params={"format": "eval"}, headers=people["owner"])
    listed = client.get("/api/admin/feedback", headers=people["owner"]).json()["feedback"]

    questions = {each.text: each.to_dict() for each in read_questions(exported.text)}
    assert questions == {
        NOTHING: {"question": NOTHING, "unanswerable": True},
        RETRIES: {"question": RETRIES},
        QUESTION: {"question": QUESTION, "lines": ["harbour/guide.md:3-3"]},
    }
    assert 'filename="questions.jsonl"' in exported.headers["content-disposition"]
    said = [(each["who"], each["rating"], each["reason"], each["comment"]) for each in listed]
    assert said == [("eve", "good", "", ""), ("eve", "bad", "incomplete", "until when?"), ("ada", "good", "", "")]


def test_only_owners_read_what_was_said_and_only_own_answers_are_rated(
    serve: Serve, people: dict[str, dict[str, str]]
) -> None:
    client = serve(needs_key=True)
    reply = rate(client, people["ada"], QUESTION, rating="good")
    route = f"/api/sessions/{reply['session_id']}/answers/{reply['id']}/rating"

    assert client.get("/api/admin/feedback", headers=people["ada"]).status_code == 403
    assert client.put(route, json={"rating": "bad"}, headers=people["eve"]).status_code == 404
    assert client.delete(route, headers=people["eve"]).status_code == 404
    assert client.put(route, json={"rating": "so so"}, headers=people["ada"]).status_code == 422
    assert client.put(route, json={"rating": "bad", "comment": "x" * 1001}, headers=people["ada"]).status_code == 422


def test_what_a_removed_key_wrote_is_deleted_and_the_log_tells_how_much(
    serve: Serve, people: dict[str, dict[str, str]]
) -> None:
    client = serve(needs_key=True)
    rate(client, people["ada"], QUESTION, rating="bad", comment="private")
    rate(client, people["eve"], RETRIES, rating="good")

    removed = client.delete("/api/admin/keys/ada", headers=people["owner"])

    listed = client.get("/api/admin/feedback", headers=people["owner"]).json()["feedback"]
    events = client.get("/api/admin/log", headers=people["owner"]).json()["events"]
    assert (removed.status_code, [each["who"] for each in listed]) == (204, ["eve"])
    assert [(each["who"], each["did"], each["what"]) for each in events] == [
        ("owner", "deleted texts", "ada: 1 conversation, 1 rating, 0 share links"),
        ("owner", "removed key", "ada"),
    ]


def test_what_was_stored_after_its_key_was_removed_is_deleted_when_the_server_looks_again(
    serve: Serve, people: dict[str, dict[str, str]], home: Path
) -> None:
    client = serve(needs_key=True)
    with closing(KeyStore(home)) as store:
        ada = store.named("ada")
        assert ada is not None
        client.delete("/api/admin/keys/ada", headers=people["owner"])
        late = {"id": "a1", "session_id": "s1", "query": QUESTION, "model": "", "refused": False, "citations": []}
        with closing(FeedbackStore(home)) as feedback:
            feedback.rate(f"key:{ada.id}", "ada", late, "bad")

        erased = erase_in_home(People(store), Settings(home=home))

    assert str(erased) == "0 conversations, 1 rating, 0 share links"


def test_a_rating_is_shown_with_its_answer_changed_taken_back_and_deleted_with_the_conversation(
    serve: Serve, people: dict[str, dict[str, str]]
) -> None:
    client, ada = serve(needs_key=True), people["ada"]
    reply = rate(client, ada, QUESTION, rating="good")
    session = f"/api/sessions/{reply['session_id']}"
    route = f"{session}/answers/{reply['id']}/rating"

    def shown() -> str:
        return str(client.get(session, headers=ada).json()["exchanges"][0]["rating"])

    def kept() -> int:
        return len(client.get("/api/admin/feedback", headers=people["owner"]).json()["feedback"])

    assert shown() == "good"
    client.put(route, json={"rating": "bad", "reason": "wrong"}, headers=ada)
    assert (shown(), kept()) == ("bad", 1)
    client.delete(route, headers=ada)
    assert (shown(), kept()) == ("", 0)
    client.put(route, json={"rating": "good"}, headers=ada)
    client.delete(session, headers=ada)
    assert kept() == 0


def test_the_latest_rating_of_a_question_decides_and_what_cannot_be_asked_is_left_out() -> None:
    def said(query: str, **more: Any) -> Feedback:
        values = {"at": 1.0, "who": "ada", "rating": "good", "reason": "", "comment": "", "model": "extractive"}
        return Feedback(**{**values, "query": query, "refused": False, "places": ("a/b:c.md:2-4",), **more})

    refusable = said("Who sails?", rating="bad", reason="should have refused")
    questions = question_set([said("Which port?"), said(" Which port? ", rating="bad"), said("?"), refusable])

    assert [each.to_dict() for each in questions] == [
        {"question": "Which port?", "lines": ["a/b:c.md:2-4"]},
        EvalQuestion("Who sails?", unanswerable=True).to_dict(),
    ]
