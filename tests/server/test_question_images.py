"""Images over HTTP: data URLs alone, within limits, shown to the model, remembered for the questions that follow."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from fpdf import FPDF
from PIL import Image

from openbook.answers import Exchange
from openbook.llm.messages import Attachment, Request
from openbook.server.keys import KeyStore
from openbook.server.question_images import MAX_BODY_BYTES, QuestionImages
from openbook.testing import FakeServer, ScriptedModel, ScriptedReply
from openbook.usage import Usage
from tests.server.conftest import Serve
from tests.unit.llm.calls import model_on

MODEL = "scripted:model"
PRICED = "anthropic:claude-sonnet-5-5"
WORDS = "When do sessions end?"
ANSWER = "Sessions end after one hour [1:2]."


def data_url(color: tuple[int, int, int] = (255, 0, 0), size: tuple[int, int] = (40, 20), kind: str = "PNG") -> str:
    file = io.BytesIO()
    Image.new("RGB", size, color).save(file, kind)
    return f"data:image/{kind.lower()};base64,{base64.b64encode(file.getvalue()).decode()}"


def pdf_url(pages: int) -> str:
    document = FPDF()
    for _ in range(pages):
        document.add_page()
    return f"data:application/pdf;base64,{base64.b64encode(bytes(document.output())).decode()}"


RED, BLUE = data_url(), data_url((0, 0, 255))


def post(client: TestClient, query: str = "What is this?", **more: Any) -> Any:
    return client.post("/api/query", json={"query": query, "model": MODEL, **more})


def images_of(request: Request) -> list[str]:
    parts = [part for message in request.messages for part in message.parts]
    return [f"data:{part.media_type};base64,{part.base64}" for part in parts if isinstance(part, Attachment)]


def scripted(answers: int) -> ScriptedModel:
    return ScriptedModel(*[WORDS, ANSWER] * answers)


@pytest.fixture
def asked(serve: Serve) -> Callable[..., TestClient]:
    def started(model: Any, **settings: Any) -> TestClient:
        return serve(model, verifier="off", query_expansion=False, **settings)

    return started


@pytest.mark.parametrize("workers", [0, 1])
def test_a_question_about_an_image_is_put_into_words_and_answered(
    asked: Callable[..., TestClient], workers: int
) -> None:
    model = scripted(1)
    client = asked(model, server_workers=workers)

    reply = post(client, images=[RED]).json()

    assert (reply["searched"], reply["sources"]) == (WORDS, ["guide.md:3 (Sessions)"])
    assert [images_of(request) for request in model.requests] == [[RED], [RED]]


@pytest.mark.slow
def test_follow_ups_use_the_last_images_which_are_never_stored(
    asked: Callable[..., TestClient], tmp_path: Path
) -> None:
    model = scripted(3)
    client = asked(model)

    first = post(client, images=[RED]).json()
    post(client, "And this one?", images=[BLUE], session_id=first["session_id"])
    post(client, "And when?", session_id=first["session_id"])

    told = [images_of(request) for request in model.requests]
    assert told == [[RED], [RED], [RED, BLUE], [RED, BLUE], [BLUE], [BLUE]]
    kept = client.get(f"/api/sessions/{first['session_id']}").text
    assert "base64" not in kept
    assert not any(RED[-60:].encode() in path.read_bytes() for path in tmp_path.rglob("sessions.sqlite*"))
    assert client.delete(f"/api/sessions/{first['session_id']}").status_code == 204


def test_an_answer_that_is_written_again_is_written_with_the_images_of_its_question(
    asked: Callable[..., TestClient],
) -> None:
    model = scripted(2)
    client = asked(model)

    first = post(client, images=[RED]).json()
    post(client, session_id=first["session_id"], replaces=first["id"])

    assert [images_of(request) for request in model.requests] == [[RED]] * 4


@pytest.mark.slow
def test_each_page_of_a_pdf_is_an_image(asked: Callable[..., TestClient]) -> None:
    model = scripted(1)
    client = asked(model)

    post(client, images=[pdf_url(2)])

    assert [len(images_of(request)) for request in model.requests] == [2, 2]
    assert all(url.startswith("data:image/png;base64,") for url in images_of(model.requests[0]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("images", "message"),
    [
        pytest.param(
            ["https://example.com/a.png"], "image 1: it is not a data URL; addresses are not fetched", id="address"
        ),
        pytest.param([RED, "file:///etc/passwd"], "image 2: it is not a data URL", id="file"),
        pytest.param(["data:image/png;base64,%%%"], "image 1: its base64 is malformed", id="base64"),
        pytest.param(["data:image/png;base64,PHN2Zz4="], "image 1: it is no image of a kind", id="svg"),
        pytest.param([RED] * 4, "the question has 4 images, and may have 3", id="too-many"),
        pytest.param([pdf_url(4)], "the question has 4 images, and may have 3", id="too-many-pages"),
        pytest.param([data_url(size=(9_000, 1))], "9,000 x 1 pixels, and a model takes 8,000 a side", id="pixels"),
        pytest.param(["data:application/pdf;base64,JVBERi0x"], "the PDF cannot be read", id="damaged-pdf"),
    ],
)
def test_an_invalid_image_is_refused_before_the_model_call(
    asked: Callable[..., TestClient], images: list[str], message: str
) -> None:
    refused = post(asked(ScriptedModel()), images=images)

    assert refused.status_code == 400
    assert message in refused.json()["error"]["message"]
    assert refused.json()["error"]["hint"]


def test_images_without_a_model_and_for_one_that_reads_none_are_refused_with_why(
    asked: Callable[..., TestClient], fake_server: Callable[..., FakeServer]
) -> None:
    groq = model_on(fake_server(), "groq")
    unread = post(asked(groq), images=[RED], model=groq.name)
    quotes = post(asked(ScriptedModel()), images=[RED], model="extractive")

    assert (unread.status_code, quotes.status_code) == (400, 400)
    assert "does not read images" in unread.json()["error"]["message"]
    assert "images need a model that reads them" in quotes.json()["error"]["message"]


def test_a_server_may_take_none(asked: Callable[..., TestClient]) -> None:
    client = asked(ScriptedModel(), server_images=0)

    assert client.get("/api/models").json()["images"] == 0
    assert post(client, images=[RED]).json()["error"]["message"] == "this server accepts no images"
    assert post(client, images=["x" * 300_000]).status_code == 413


@pytest.fixture
def key(home: Path) -> dict[str, str]:
    """Return the header with a key of the server."""
    with closing(KeyStore(home)) as keys:
        return {"Authorization": f"Bearer {keys.add('team')}"}


@pytest.mark.parametrize("route", ["/api/query", "/v1/chat/completions"])
@pytest.mark.parametrize("said", ["in a minute", "for today"])
def test_no_image_of_a_caller_with_nothing_left_is_decoded(
    serve: Serve, key: dict[str, str], route: str, said: str
) -> None:
    model = ScriptedModel(ScriptedReply(ANSWER, usage=Usage(100_000, 10_000)), name=PRICED)
    settings: dict[str, Any] = {"key_questions_per_minute": 1} if said == "in a minute" else {"key_usd_per_day": 0.2}
    client = serve(model, verifier="off", query_expansion=False, **settings)
    undecodable = "data:image/png;base64,%%%"
    bodies: dict[str, dict[str, Any]] = {
        "/api/query": {"query": "What?", "images": [undecodable]},
        "/v1/chat/completions": {"messages": [{"role": "user", "content": shown("What?", undecodable)}]},
    }
    client.post("/api/query", json={"query": WORDS, "model": PRICED}, headers=key)

    refused = client.post(route, json={"model": PRICED, **bodies[route]}, headers=key)

    assert (refused.status_code, said in refused.json()["error"]["message"]) == (429, True), refused.text


def test_an_image_that_cannot_be_decoded_costs_nothing(serve: Serve, key: dict[str, str]) -> None:
    model = ScriptedModel(WORDS, ANSWER, name=PRICED)
    client = serve(model, verifier="off", query_expansion=False, answer_usd=1.0, key_usd_per_day=1.0)

    refused = client.post(
        "/api/query", json={"query": "What?", "model": PRICED, "images": ["data:image/png;base64,%%%"]}, headers=key
    )
    answered = client.post("/api/query", json={"query": "What?", "model": PRICED, "images": [RED]}, headers=key)

    assert (refused.status_code, answered.status_code) == (400, 200), answered.text


@pytest.mark.slow
def test_large_images_are_read_and_larger_ones_are_not(asked: Callable[..., TestClient]) -> None:
    noise = Image.effect_noise((1_000, 900), 100)
    file = io.BytesIO()
    noise.save(file, "PNG")
    url = f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
    client = asked(scripted(1))

    assert len(url) > 512 * 1024  # twice of what another request may have
    assert post(client, images=[url]).status_code == 200
    assert post(client, images=["x" * MAX_BODY_BYTES]).status_code == 413


def test_nothing_large_of_a_stranger_is_read(serve: Serve) -> None:
    client = serve(scripted(1), needs_key=True)

    refused = client.post("/v1/chat/completions", json={"messages": [], "x": "x" * 300_000})

    assert refused.status_code == 401


def chat(client: TestClient, *messages: Any) -> Any:
    told = [{"role": role, "content": content} for role, content in messages]
    return client.post("/v1/chat/completions", json={"model": MODEL, "messages": told})


def shown(text: str, url: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": url}}]


def test_clients_of_openai_send_images_as_parts_and_keep_them_themselves(asked: Callable[..., TestClient]) -> None:
    model = scripted(1)
    client = asked(model)

    reply = chat(
        client,
        ("user", shown("What is this?", RED)),
        ("assistant", "A session."),
        ("user", shown("And this?", BLUE)),
        ("assistant", "Another one."),
        ("user", "When do they end?"),
    )

    assert reply.status_code == 200, reply.text
    assert [images_of(request) for request in model.requests] == [[BLUE], [BLUE]]


def test_an_address_in_a_part_is_not_fetched(asked: Callable[..., TestClient]) -> None:
    reply = chat(asked(ScriptedModel()), ("user", shown("What is this?", "http://127.0.0.1:9/a.png")))

    assert (reply.status_code, "addresses are not fetched" in reply.text) == (400, True)


def test_a_question_with_more_than_ten_images_is_refused_by_both_ways_in(asked: Callable[..., TestClient]) -> None:
    client = asked(ScriptedModel())
    many = [part for _ in range(11) for part in shown("What is this?", RED)]

    replies = [post(client, images=[RED] * 11), chat(client, ("user", many))]

    assert [reply.status_code for reply in replies] == [422, 400]
    assert "at most 10 images" in replies[1].text


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_images_are_kept_for_an_hour_and_the_oldest_go_first() -> None:
    clock = Clock()
    images = QuestionImages(3, lambda raw, most: [], clock=clock, kept_chars=len(RED) + len(BLUE))
    red, blue = images.read([RED])[0], images.read([BLUE])[0]

    for session_id, image in (("a", red), ("b", blue), ("c", red)):
        images.remember(session_id, "What?", (image,))
    images.remember("c", "Why?", ())

    history = (Exchange("What?", "This."), Exchange("Why?", "So."))
    assert images.attached("a", history) == history
    assert [each.images for each in images.attached("b", history)] == [(blue,), ()]
    clock.now = 3_601.0
    assert images.attached("b", history) == history
