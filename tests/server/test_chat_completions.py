"""OpenAI's own SDK asks the server: models, whole answers, streams, conversations, and errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from fastapi.testclient import TestClient

from openbook.errors import OverloadedError
from openbook.library import Library
from openbook.server.app import create_app
from openbook.server.models import ModelRegistry
from openbook.settings import Settings
from openbook.testing import ScriptedModel
from tests.server.conftest import FILES, Serve
from tests.server.test_over_sockets import running
from tests.support import write_tree

ASK = {"role": "user", "content": "When do sessions end?"}
MODEL = "scripted:model"
REPLY = "Sessions are over after one hour [1:2]."

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


@pytest.fixture
def sdk(tmp_path: Path) -> Any:
    """Return a context manager: OpenAI's client of a server whose model follows a script."""

    @contextmanager
    def connected(*replies: Any) -> Iterator[tuple[Any, ScriptedModel]]:
        folder = write_tree(tmp_path / "harbour", FILES)
        model = ScriptedModel(*replies)
        registry = ModelRegistry([MODEL], "extractive", open_one=lambda name: model if name == MODEL else None)
        settings = Settings(home=tmp_path / "home", verifier="off")
        app = create_app(Library.of(folder, settings=settings), models=registry)
        with running(app) as url, openai.OpenAI(api_key="none", base_url=f"{url}/v1", max_retries=0) as client:
            yield client, model

    return connected


def test_the_sdk_lists_the_models_that_are_offered(sdk: Any) -> None:
    with sdk() as (client, _):
        assert [model.id for model in client.models.list()] == ["openbook", "extractive", MODEL]


def test_an_answer_has_numbers_a_list_of_sources_and_annotations(sdk: Any) -> None:
    with sdk(REPLY) as (client, _):
        reply = client.chat.completions.create(model=MODEL, messages=[ASK])

    (choice,) = reply.choices
    assert choice.message.content.startswith("Sessions are over after one hour [1].")
    assert "- [1] `guide.md:3 (Sessions)`: unverified" in choice.message.content
    (annotation,) = choice.message.annotations
    cited = annotation.url_citation
    assert choice.message.content[cited.start_index : cited.end_index] == "[1]"
    assert (cited.title, cited.url) == ("guide.md:3 (Sessions)", "openbook:harbour/guide.md#L3-L3")
    assert (choice.finish_reason, reply.model) == ("stop", MODEL)
    assert reply.citations[0]["quote"] == "Sessions end after one hour."


@pytest.mark.slow
def test_a_stream_brings_words_then_sources_then_usage(sdk: Any) -> None:
    with sdk(REPLY) as (client, _):
        chunks = list(
            client.chat.completions.create(
                model=MODEL, messages=[ASK], stream=True, stream_options={"include_usage": True}
            )
        )

    words = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    whole = "".join(words)
    assert whole.startswith("Sessions are over after one hour [1].\n\n**Sources**\n\n- [1] `guide.md:3 (Sessions)`")
    assert len([each for each in words if each]) > 3
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].usage is not None


@pytest.mark.slow
def test_without_a_model_the_same_answer_comes_whole_and_as_a_stream(sdk: Any) -> None:
    with sdk() as (client, _):
        whole = client.chat.completions.create(model="openbook", messages=[ASK]).choices[0].message.content
        chunks = list(client.chat.completions.create(model="openbook", messages=[ASK], stream=True))

    assert "Sessions end after one hour." in whole
    assert ": exact" in whole
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == whole


@pytest.mark.slow
def test_the_history_is_used_without_its_lists_of_sources(sdk: Any) -> None:
    earlier = "Sessions end after one hour [1].\n\n**Sources**\n\n- [1] `guide.md:3`: exact"
    with sdk("How long do retries wait?", "They wait 30 seconds [1:7].") as (client, model):
        client.chat.completions.create(
            model=MODEL,
            messages=[
                {"role": "system", "content": "You are a pirate."},
                ASK,
                {"role": "assistant", "content": earlier},
                {"role": "user", "content": [{"type": "text", "text": "And how long do they wait when retried?"}]},
            ],
        )
        shown = "\n".join(str(message) for request in model.requests for message in request.messages)

    assert "Sessions end after one hour" in shown
    assert "**Sources**" not in shown
    assert "pirate" not in shown


def test_the_server_stores_nothing_of_a_conversation_that_a_client_sends(sdk: Any, tmp_path: Path) -> None:
    with sdk() as (client, _):
        client.chat.completions.create(model="openbook", messages=[ASK])
        url = str(client.base_url).removesuffix("/v1/")
        sessions = httpx2.get(f"{url}/api/sessions").json()

    assert sessions["sessions"] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("messages", "model", "told"),
    [
        ([ASK, {"role": "assistant", "content": "Soon."}], "openbook", "the last message is not the user's"),
        ([ASK], "gpt-1", "is not offered here"),
        ([{"role": "user", "content": "word " * 3000}], "openbook", "10,000 characters"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}], MODEL, "data URL"),
        ([{"role": "user", "content": [{"type": "input_audio"}]}], "openbook", "a part of a message is 'input_audio'"),
    ],
)
def test_an_invalid_request_is_refused_with_a_reason(sdk: Any, messages: Any, model: str, told: str) -> None:
    with sdk() as (client, _), pytest.raises(openai.APIStatusError, match=told):
        client.chat.completions.create(model=model, messages=messages)


def test_an_error_within_a_stream_reaches_the_client(sdk: Any) -> None:
    failing = sdk(OverloadedError("the provider is overloaded"))
    with failing as (client, _), pytest.raises(openai.APIError, match="overloaded"):
        list(client.chat.completions.create(model=MODEL, messages=[ASK], stream=True))


def test_a_key_is_needed_where_the_server_needs_one(serve: Serve) -> None:
    client: TestClient = serve(needs_key=True)

    refused = client.post("/v1/chat/completions", json={"messages": [ASK]})

    assert (refused.status_code, client.get("/v1/models").status_code) == (401, 401)
