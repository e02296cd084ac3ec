"""Images and PDF are sent as each wire wants them, to models that read them, and to no others."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fpdf import FPDF
from PIL import Image

from openbook.agent import Agent, Attachment, Budget, history_from_json, history_to_json, image, pdf, pdf_pages
from openbook.errors import BadRequestError, QueryError
from openbook.llm.attachments import MAX_IMAGE_BYTES, MAX_IMAGES, question_images
from openbook.llm.choose import open_model
from openbook.llm.messages import Message, Request, TextBlock
from openbook.llm.protocol import Model, complete
from openbook.llm.request_tokens import estimate_request
from openbook.testing import FakeServer, Refusal, ScriptedModel
from tests.unit.llm.calls import Clock, model_on

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
FakeServers = Callable[..., FakeServer]


@pytest.fixture
def two_pages(tmp_path: Path) -> Path:
    document = FPDF(format="A4")
    for color in ((255, 0, 0), (0, 0, 255)):
        document.add_page()
        document.set_fill_color(*color)
        document.rect(0, 0, 210, 297, style="F")
    path = tmp_path / "colours.pdf"
    path.write_bytes(bytes(document.output()))
    return path


def asked(*content: str | Attachment) -> Request:
    return Request((Message.user(*content),))


def test_anthropic_gets_images_and_documents_in_the_order_of_the_message(
    fake_server: FakeServers, two_pages: Path
) -> None:
    server = fake_server("A red page.")

    complete(model_on(server, "anthropic"), asked("What is on it?", image(PNG), pdf(two_pages)))

    text, picture, document = server.requests[0].body["messages"][0]["content"]
    assert text == {"type": "text", "text": "What is on it?"}
    assert picture["source"] == {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PNG).decode()}
    assert (document["title"], document["source"]["media_type"]) == ("colours.pdf", "application/pdf")
    assert base64.b64decode(document["source"]["data"]) == two_pages.read_bytes()


def test_openai_gets_them_as_parts_of_the_content(fake_server: FakeServers, two_pages: Path) -> None:
    server = fake_server("A red page.")

    complete(model_on(server, "openai"), asked("What is on it?", image(PNG), pdf(two_pages.read_bytes())))

    text, picture, file = server.requests[0].body["messages"][-1]["content"]
    assert text == {"type": "text", "text": "What is on it?"}
    assert picture["image_url"]["url"] == f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    assert file["file"]["filename"] == "document.pdf"
    assert file["file"]["file_data"].startswith("data:application/pdf;base64,")


def test_a_message_without_attachments_is_sent_as_before(fake_server: FakeServers) -> None:
    server = fake_server("Hello.")

    complete(model_on(server, "openai"), asked("Hello.", "Are you there?"))

    assert server.requests[0].body["messages"][-1]["content"] == "Hello.\n\nAre you there?"


def groq(server: FakeServer) -> Model:
    return model_on(server, "groq")


def program(_: FakeServer) -> Model:
    opened = open_model("cli:cat")
    assert opened is not None
    return opened


@pytest.mark.parametrize("opened", [groq, program], ids=["groq", "program"])
def test_a_model_that_reads_no_images_is_sent_nothing(
    fake_server: FakeServers, opened: Callable[[FakeServer], Model]
) -> None:
    server = fake_server()

    with pytest.raises(BadRequestError, match="does not read images") as caught:
        complete(opened(server), asked("What is on it?", image(PNG)))

    assert caught.value.hint == "send text, or name another model"
    assert server.requests == []


def test_a_model_that_reads_images_alone_names_the_way_to_show_it_a_pdf(
    fake_server: FakeServers, two_pages: Path
) -> None:
    model = model_on(fake_server(), "vllm")

    with pytest.raises(BadRequestError, match="does not read PDF") as caught:
        complete(model, asked(pdf(two_pages)))

    assert "pdf_pages" in caught.value.hint


def test_a_server_that_refuses_an_image_is_told_with_what_to_do(fake_server: FakeServers) -> None:
    refusal = Refusal(400, "image input is not supported - you may need to provide the mmproj")
    server = fake_server(refusal, refusal, Refusal(400, "image input is not supported"))
    model = model_on(server, "openai", clock=Clock())

    with pytest.raises(BadRequestError, match="mmproj") as caught:
        complete(model, asked(image(PNG)))
    with pytest.raises(BadRequestError) as of_text:
        complete(model, asked("An image?"))

    assert caught.value.hint == "openai:test-model may not read images; name a model that does"
    assert of_text.value.hint != caught.value.hint
    with pytest.raises(BadRequestError):
        complete(model, asked(image(PNG)))


def test_pages_of_a_pdf_are_drawn_as_images_in_the_order_that_is_asked_for(two_pages: Path) -> None:
    blue, red = pdf_pages(two_pages, [2, 1])

    assert (blue.name, red.name, blue.kind) == ("colours.pdf p. 2", "colours.pdf p. 1", "image")
    for attachment, color in ((blue, (0, 0, 255)), (red, (255, 0, 0))):
        drawn = Image.open(io.BytesIO(base64.b64decode(attachment.base64))).convert("RGB")
        assert drawn.size == (910, 1287)
        assert drawn.getpixel((455, 600)) == color
    assert image(base64.b64decode(blue.base64)).media_type == "image/png"


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WebP"])
def test_the_kind_of_an_image_is_read_from_its_first_bytes(kind: str, tmp_path: Path) -> None:
    Image.new("RGB", (3, 2)).save(tmp_path / "a.bin", kind)
    media_type = f"image/{kind.lower()}"

    read = image(tmp_path / "a.bin")

    assert (read.media_type, read.name, read.kind) == (media_type, "a.bin", "image")
    assert "base64" not in repr(read)  # which would fill a log


def test_what_no_model_takes_is_refused_before_it_is_asked(two_pages: Path, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"<svg></svg>")

    with pytest.raises(ValueError, match=r"a\.png is no image of a kind that models read"):
        image(tmp_path / "a.png")
    (tmp_path / "b.gif").write_bytes(b"GIF89a")
    with pytest.raises(ValueError, match=r"b\.gif is damaged"):
        image(tmp_path / "b.gif")
    with pytest.raises(ValueError, match=r"it has 4 x 8,001 pixels, and a model takes 8,000 a side"):
        image(b"GIF89a" + bytes([4, 0]) + (8_001).to_bytes(2, "little"))
    with pytest.raises(ValueError, match=r"it has 5\.1 MB, and a model takes 5 MB"):
        image(PNG + bytes(MAX_IMAGE_BYTES + 100_000))
    with pytest.raises(ValueError, match="is no PDF, is damaged, or is encrypted"):
        pdf(b"%PDF-1.7 and nothing")
    with pytest.raises(ValueError, match="has no page 3; its pages are 1 to 2"):
        pdf_pages(two_pages, [3])


def test_a_pdf_of_too_many_pages_is_refused_with_what_to_use() -> None:
    document = FPDF()
    for _ in range(101):
        document.add_page()

    with pytest.raises(ValueError, match="has 101 pages, and a model takes 100; use `pdf_pages`"):
        pdf(bytes(document.output()))


def test_an_agent_takes_images_keeps_them_in_its_history_and_saves_them() -> None:
    model = ScriptedModel("A dot.", "Yes.")
    agent = Agent(model)

    agent.chat(["What is on it?", image(PNG)])
    saved = Agent(model, history=history_from_json(history_to_json(agent.history)))
    saved.chat("Is it small?")

    first = model.requests[1].messages[0]
    assert first.parts == (TextBlock("What is on it?"), image(PNG))
    assert first.text == "What is on it?"


def test_a_budget_reserves_what_an_image_may_cost(two_pages: Path) -> None:
    one: Any = asked("What?", image(PNG))
    result = Agent(ScriptedModel("Never asked."), budget=Budget(max_tokens=3000)).run(["What?", image(PNG)])

    assert estimate_request(one) > 4800
    assert estimate_request(asked("What?", pdf(two_pages))) > 9600
    assert estimate_request(replace(one, messages=(Message.user("What?"),))) < 100
    assert result.stopped_by == "max_tokens"


def test_images_of_a_question_are_read_in_order_and_pages_of_pdf_are_drawn(two_pages: Path, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)

    all_pages = question_images([tmp_path / "a.png", two_pages, image(PNG)])
    (one_page,) = question_images([f"{two_pages}#page=2"])

    assert [each.kind for each in all_pages] == ["image"] * 4
    assert [each.name for each in all_pages] == ["a.png", "colours.pdf p. 1", "colours.pdf p. 2", ""]
    assert one_page.base64 == all_pages[2].base64


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param(["gone.png"], "cannot read 'gone.png': No such file", id="not-there"),
        pytest.param([b"<svg></svg>"], "it is no image of a kind", id="no-image"),
        pytest.param([PNG] * (MAX_IMAGES + 1), "the question has 6 images, and may have 5", id="too-many"),
        pytest.param([PNG + bytes(MAX_IMAGE_BYTES)], r"it has 5\.0 MB", id="too-large"),
        pytest.param([b"%PDF-1.7 and nothing"], "is no PDF", id="damaged"),
    ],
)
def test_what_cannot_be_an_image_of_a_question_is_told_with_what_can(given: Sequence[Any], message: str) -> None:
    with pytest.raises(QueryError, match=message) as caught:
        question_images(given)

    assert caught.value.hint


def test_a_pdf_of_more_pages_than_a_question_may_have_says_how_to_name_some() -> None:
    document = FPDF()
    for _ in range(MAX_IMAGES + 1):
        document.add_page()

    with pytest.raises(QueryError, match="the PDF has 6 pages") as caught:
        question_images([bytes(document.output())])

    assert "#page=3" in caught.value.hint


@pytest.mark.parametrize("given", ["a.png", PNG, image(PNG)])
def test_a_single_image_in_place_of_a_list_is_a_mistake_of_the_program(given: Any) -> None:
    with pytest.raises(TypeError, match=r"images=\[\.\.\.\]"):
        question_images(given)
