"""Questions over HTTP: whole answers, streams, conversations, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from fastapi.testclient import TestClient

from openbook.errors import CutOffError, OverloadedError
from openbook.llm.messages import Request, ShownSource
from openbook.testing import FakeServer, ScriptedModel, ScriptedReply
from tests.server.conftest import Serve
from tests.server.reading import ask, events_of
from tests.server.test_over_sockets import app_of, running

QUESTION = "When do sessions end?"
MODEL = "scripted:model"


def test_an_answer_has_what_clients_of_the_seed_read_and_checked_citations(client: TestClient) -> None:
    reply = ask(client, QUESTION)

    assert "Sessions end after one hour." in reply["answer"]
    assert reply["sources"] == ["guide.md:3 (Sessions)"]
    assert len(reply["session_id"]) == 32
    (citation,) = reply["citations"]
    assert (citation["number"], citation["verdict"], citation["quote"]) == (
        1,
        "exact",
        "Sessions end after one hour.",
    )
    assert 'data-cite="1"' in reply["html"]
    assert (reply["refused"], reply["cost_usd"], reply["model"]) == (False, 0.0, "extractive")


def test_a_citation_opens_in_the_viewer_at_its_characters(client: TestClient) -> None:
    (citation,) = ask(client, QUESTION)["citations"]

    span = {name: citation[name] for name in ("start_char", "end_char")}
    shown = client.get(f"/api/documents/{citation['document_id']}", params={**span, "context": 1}).json()

    assert [(unit["number"], unit["text"], unit["cited"]) for unit in shown["units"]] == [
        (2, "", False),
        (3, "Sessions end after one hour.", True),
        (4, "", False),
    ]
    assert (shown["path"], shown["more_before"], shown["more_after"]) == ("guide.md", True, True)


def test_an_unanswerable_question_is_refused_without_an_error(client: TestClient) -> None:
    reply = ask(client, "What is the airspeed of a swallow?")

    assert (reply["refused"], reply["citations"]) == (True, [])
    assert reply["reason"]


def test_the_nearest_places_of_a_refusal_name_lesson_and_heading(client: TestClient) -> None:
    course = ask(client, "Which parliament elects the crane?", course_name="quay")
    page = ask(client, "Which parliament elects the policy?", filters={"globs": ["*.md"]})

    (lesson, *_), (heading, *_) = course["nearest"], page["nearest"]
    assert lesson["label"].startswith("Working at the Quay · Lesson")
    assert heading["label"] in ("Sessions", "Retries")


def test_a_stream_tells_stages_words_blocks_and_the_same_answer(serve: Serve) -> None:
    client = serve(ScriptedModel("Sessions end after **one hour** [1:2].\n\nThat is all."))

    text = client.post("/api/query/stream", json={"query": QUESTION, "model": MODEL}).text

    events = events_of(text)
    done = events[-1][1]
    assert [value["stage"] for name, value in events if name == "status"] == ["searching", "writing", "checking"]
    assert "".join(value["text"] for name, value in events if name == "delta").startswith("Sessions end")
    blocks = [value for name, value in events if name == "block"]
    assert [block["index"] for block in blocks] == [0, 1]
    assert "<strong>one hour</strong>" in blocks[0]["html"]
    assert [value["number"] for name, value in events if name == "citation"] == [1]
    assert (events[-1][0], done["model"], done["usage"]["output_tokens"]) == ("done", MODEL, 5)
    assert client.get(f"/api/sessions/{done['session_id']}").json()["exchanges"] == [done]


def test_a_stream_tells_that_claims_are_verified_while_the_words_can_be_read(serve: Serve) -> None:
    said = '{"claim": 1, "verdict": "entailed", "quote": "Sessions end after one hour"}'
    client = serve(ScriptedModel("An hour later, sessions are over [1:2].", said))

    text = client.post("/api/query/stream", json={"query": QUESTION, "model": MODEL}).text

    told = [value["stage"] if name == "status" else name for name, value in events_of(text)]
    done = events_of(text)[-1][1]
    assert told[-6:] == ["block", "checking", "verifying", "checking", "citation", "done"]
    assert [claim["verdict"] for claim in done["claims"]] == ["confirmed"]
    assert (done["verifier"], done["quality_score"]) == (MODEL, 1.0)


@pytest.mark.parametrize("route", ["/api/query", "/api/query/stream"])
def test_a_model_that_dies_in_its_answer_is_told_in_words(serve: Serve, route: str) -> None:
    broken = ScriptedReply("Sessions end", error=CutOffError("the stream broke off", hint="ask again"))
    client = serve(ScriptedModel(broken))

    response = client.post(route, json={"query": QUESTION, "model": MODEL})

    told = {"message": "the stream broke off", "hint": "ask again"}
    if route == "/api/query":
        assert (response.status_code, response.json()) == (502, {"error": told})
    else:
        assert events_of(response.text)[-1] == ("error", told)
    assert client.get("/api/sessions").json()["sessions"] == []


def test_a_follow_up_is_asked_in_the_light_of_the_last_exchanges(serve: Serve) -> None:
    seen: list[Request] = []

    def answer(request: Request) -> str:
        seen.append(request)
        return f"Sessions end after one hour, answer {len(seen)} [1:2]."

    client = serve(ScriptedModel(answer, QUESTION, answer, QUESTION, answer), session_history=1, verifier="off")
    asked = {"model": MODEL}
    first = ask(client, QUESTION, **asked)

    for _ in range(2):
        ask(client, QUESTION, session_id=first["session_id"], **asked)

    last = "\n".join(message.text for message in seen[2].messages)
    assert ("answer 2" in last, "answer 1" in last) == (True, False)
    (session,) = client.get("/api/sessions").json()["sessions"]
    assert (session["title"], session["exchanges"]) == (QUESTION, 3)


def test_a_question_that_was_refused_stays_in_the_history(serve: Serve) -> None:
    model = ScriptedModel(QUESTION, "Sessions end after one hour [1:2].")
    client = serve(model)
    refused = ask(client, "Who painted the Mona Lisa?", model=MODEL)

    ask(client, QUESTION, session_id=refused["session_id"], model=MODEL)

    assert refused["refused"]
    assert [message.text for message in model.requests[-1].messages[:2]] == [
        "Who painted the Mona Lisa?",
        f"(refused: {refused['reason']})",
    ]


def test_a_call_of_a_model_ends_when_the_settings_say(serve: Serve) -> None:
    model = ScriptedModel("Sessions end after one hour [1:2].")
    client = serve(model, model_timeout_s=7.0)

    ask(client, QUESTION, model=MODEL)

    assert model.requests[0].deadline_s == 7.0


@pytest.mark.parametrize("workers", [0, 1], ids=["threads", "processes"])
def test_a_question_or_the_settings_say_how_many_results_an_answer_is_written_from(serve: Serve, workers: int) -> None:
    model = ScriptedModel(*["Sessions end after one hour [1:2]."] * 2)
    client = serve(model, server_results=2, server_workers=workers, verifier="off", query_expansion=False)

    for limit in ({}, {"limit": 1}):
        ask(client, "When does the ferry depart, when do sessions end, and who opens the quay?", model=MODEL, **limit)

    shown = [sum(isinstance(part, ShownSource) for m in each.messages for part in m.parts) for each in model.requests]
    assert shown == [2, 1]


def test_a_course_and_a_lesson_narrow_what_is_found(client: TestClient) -> None:
    lesson = ask(client, "What does the crane lift?", course_name="quay", lesson_number=1)
    other = ask(client, "What does the crane lift?", course_name="quay", lesson_number=0)

    assert lesson["citations"][0]["path"] == "quay.txt"
    assert other["refused"]


def test_a_part_of_no_lesson_is_refused(client: TestClient) -> None:
    response = client.post("/api/query", json={"query": QUESTION, "lesson_part": 3})

    assert (response.status_code, response.json()["error"]["hint"]) == (400, "send the number of its module too")


def test_filters_narrow_what_is_found(client: TestClient) -> None:
    reply = ask(client, QUESTION, filters={"globs": ["*.py"]})
    of_many = ask(client, QUESTION, filters={"sources": ["harbour"] * 300})

    assert reply["refused"]
    assert not of_many["refused"]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        pytest.param({"query": "???"}, 400, "word", id="no word"),
        pytest.param({"query": " "}, 400, "empty", id="blank"),
        pytest.param({}, 422, "query", id="no question"),
        pytest.param({"query": "x" * 20_000}, 422, "10000", id="too long"),
        pytest.param(
            {"query": QUESTION, "model": "http://10.0.0.1/v1#x"}, 400, "not offered here", id="address of a model"
        ),
        pytest.param({"query": QUESTION, "session_id": "0" * 32}, 404, "no conversation", id="no such conversation"),
        pytest.param({"query": QUESTION, "session_id": "session_1"}, 422, "session_id", id="no id"),
        pytest.param({"query": QUESTION, "course_name": "Cooking"}, 404, "course", id="no such course"),
        pytest.param({"query": QUESTION, "lesson_number": 99}, 400, "no lesson 99", id="no such lesson"),
        pytest.param({"query": QUESTION, "filters": {"sources": ["nope"]}}, 404, "no source", id="no such source"),
        pytest.param({"query": QUESTION, "filters": {"kinds": ["poem"]}}, 422, "kinds", id="no such kind"),
        pytest.param({"query": QUESTION, "filters": {"globs": ["*a" * 9]}}, 400, "wildcards", id="a slow pattern"),
        pytest.param({"query": QUESTION, "filters": {"globs": ["[z-a]"]}}, 400, "no pattern", id="no pattern"),
    ],
)
def test_a_question_that_cannot_be_asked_says_why(
    client: TestClient, body: dict[str, object], status: int, words: str
) -> None:
    response = client.post("/api/query/stream", json=body)

    assert response.status_code == status
    assert words in response.json()["error"]["message"]
    assert response.json()["error"]["hint"]
    assert "in quotes" not in response.text  # which is for a shell


def test_an_overloaded_model_is_no_fault_of_the_server(serve: Serve) -> None:
    client = serve(ScriptedModel(OverloadedError("the provider has too much to do", hint="wait")))

    response = client.post("/api/query", json={"query": QUESTION, "model": MODEL})

    assert response.status_code == 502


def test_an_index_that_is_replaced_is_used_from_the_next_question_on(client: TestClient, folder: Path) -> None:
    from openbook.index.files import remove_library_file
    from openbook.library import Library

    served: Library = client.app.state.library  # type: ignore[attr-defined]
    before = ask(client, QUESTION)
    (folder / "guide.md").write_text("# Sessions\n\nSessions end after two hours.\n", encoding="utf-8")
    remove_library_file(Path(served.location))
    with Library(served.location, served.settings) as another:
        another.add(folder)

    after = ask(client, QUESTION)

    assert "one hour" in before["answer"]
    assert "two hours" in after["answer"]


def test_a_list_has_its_shape_before_it_ends(fake_server: Callable[..., FakeServer], folder: Path, home: Path) -> None:
    words = "- Sessions end after **one hour** [1:2].\n- The retry policy waits 30 seconds [1:5].\n- That is all of it."
    app, name = app_of(folder, home, fake_server(ScriptedReply(words)), 0)

    with running(app) as url:
        text = httpx2.post(f"{url}/api/query/stream", json={"query": QUESTION, "model": name}, timeout=30).text

    told = [(kind, value["html"]) for kind, value in events_of(text) if kind in ("draft", "block")]
    assert [kind for kind, _ in told] == ["draft", "draft", "block"]
    assert "<strong>one hour</strong>" in told[0][1]
    assert [html.count("<li>") for _, html in told] == [1, 2, 3]
