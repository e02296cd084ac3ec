"""Embedding by a server, over real HTTP and the official SDK."""

from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np
import pytest

from openbook.errors import (
    BadRequestError,
    BadResponseError,
    KeyMissingError,
    KeyRefusedError,
    OverloadedError,
    SettingsError,
    UnreachableError,
)
from openbook.llm.embeddings import RemoteEmbedder, open_remote_embedder
from openbook.llm.retry import RetryPolicy
from openbook.testing import HashEmbedder, Refusal
from tests.fakes.embedding_server import EmbeddingServer

AT_ONCE = RetryPolicy(sleep=lambda _: None)
ONCE = RetryPolicy(pauses_s=())


Start = Callable[..., EmbeddingServer]


@pytest.fixture
def server(embedding_server: Start) -> EmbeddingServer:
    return embedding_server()


def on(server: EmbeddingServer, *, key: str = "", retries: RetryPolicy = ONCE) -> RemoteEmbedder:
    return open_remote_embedder(f"{server.url}#tiny", environ={"LLM_API_KEY": key or server.key}, retries=retries)


def test_texts_become_the_vectors_that_the_server_gives_in_order(server: EmbeddingServer) -> None:
    texts = [f"text number {number}" for number in range(150)]

    vectors = on(server).embed(texts)

    assert np.allclose(vectors, HashEmbedder().embed(texts), atol=1e-6)
    assert vectors.dtype == np.float32
    assert [text for request in server.requests for text in request] == texts
    assert max(map(len, server.requests)) == 32


def test_what_holds_no_word_is_a_row_of_zeros_and_is_not_sent(server: EmbeddingServer) -> None:
    vectors = on(server).embed(["", " \n", "a ferry", "\0", "--- !"])

    assert [bool(row.any()) for row in vectors] == [False, False, True, False, False]
    assert server.requests == [["a ferry"]]


def test_no_text_has_the_dimensions_of_the_model(server: EmbeddingServer) -> None:
    embedder = on(server)

    assert embedder.embed([]).shape == (0, 64)
    assert embedder.dim == 64
    assert len(server.requests) == 1


@pytest.mark.slow
def test_many_characters_go_in_several_requests(server: EmbeddingServer) -> None:
    on(server).embed([f"{number} " * 3_000 for number in range(20)])

    assert len(server.requests) > 1
    assert max(sum(map(len, request)) for request in server.requests) <= 30_000


def test_a_text_is_read_up_to_its_8192nd_character_and_may_hold_lone_surrogates(server: EmbeddingServer) -> None:
    on(server).embed(["ferry\udce4 " + "x" * 9_000])

    assert len(server.requests[0][0]) == 8_192


def test_texts_that_are_too_long_for_the_model_are_shortened_and_the_others_are_not(embedding_server: Start) -> None:
    server = embedding_server(longest=1_000)

    vectors = on(server).embed(["short one", "long " * 500, "short two"])

    assert server.requests == [["short one"], [("long " * 500)[:625]], ["short two"]]
    assert vectors.any(axis=1).all()


def test_a_server_that_calls_long_texts_a_fault_of_its_own_is_understood(embedding_server: Start) -> None:
    said = "input (1367 tokens) is too large to process. increase the physical batch size"
    server = embedding_server(Refusal(500, said))

    vectors = on(server).embed(["long " * 500])

    assert vectors.any()
    assert server.requests == [[("long " * 500)[:1250]]]


def test_a_server_that_refuses_even_short_texts_is_told_of(embedding_server: Start) -> None:
    embedder = on(embedding_server(longest=100))

    with pytest.raises(BadRequestError, match="too large to process"):
        embedder.embed(["long " * 500])


def test_an_unknown_model_is_asked_for_once(embedding_server: Start) -> None:
    server = embedding_server(Refusal(404, "no such model"))

    with pytest.raises(BadRequestError, match="no such model") as caught:
        on(server).embed(["a", "b"])

    assert "the name of the model" in str(caught.value.hint)
    assert not server.requests


def test_a_busy_server_is_asked_again(embedding_server: Start) -> None:
    server = embedding_server(Refusal(429), Refusal(503))

    vectors = on(server, retries=AT_ONCE).embed(["a ferry"])

    assert vectors.any()


def test_a_server_that_stays_busy_is_told_of(embedding_server: Start) -> None:
    embedder = on(embedding_server(*[Refusal(503)] * 4), retries=AT_ONCE)

    with pytest.raises(OverloadedError):
        embedder.embed(["a ferry"])


def test_a_refused_key_is_told_of_and_never_shown(server: EmbeddingServer, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(KeyRefusedError) as caught:
        on(server, key="sk-not-for-the-log").embed(["a ferry"])

    assert "sk-not-for-the-log" not in f"{caught.value} {caught.value.hint} {caught.value.__cause__} {caplog.text}"


@pytest.mark.allow_hosts(["127.0.0.1"])
def test_nobody_at_the_address_is_told_of(free_port: int) -> None:
    embedder = open_remote_embedder(f"http://127.0.0.1:{free_port}/v1#tiny", environ={}, retries=ONCE)

    with pytest.raises(UnreachableError, match="no connection"):
        embedder.embed(["a ferry"])


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"data": []},
        {"data": [{"index": 1, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": "AAAA"}]},
        {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": 0, "embedding": [float("nan")]}]},
        {"data": [{"index": 0, "embedding": [10**400]}]},
        {"data": [3]},
        {"data": 3},
        "ok",
    ],
    ids=str,
)
def test_what_is_no_list_of_vectors_is_refused(embedding_server: Start, reply: object) -> None:
    embedder = on(embedding_server(reply=reply))

    with pytest.raises(BadResponseError, match="no vectors for 1 text"):
        embedder.embed(["a ferry"])


def test_the_identity_is_that_of_the_model_wherever_it_is_served() -> None:
    ours = open_remote_embedder("http://127.0.0.1:9000/v1#nomic-embed-text", environ={})
    ollama = open_remote_embedder("ollama:nomic-embed-text", environ={})

    assert ours.identity == ollama.identity == "served:nomic-embed-text"


@pytest.mark.parametrize("name", ["anthropic:claude-embed", "openai", "nobody:model", "http://127.0.0.1:9000/v1", ""])
def test_a_name_that_means_no_embedder_is_refused(name: str) -> None:
    with pytest.raises(SettingsError) as caught:
        open_remote_embedder(name, environ={"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"})

    assert "text-embedding" in caught.value.hint
    assert "model is" not in str(caught.value)


def test_a_provider_that_needs_a_key_says_which_one() -> None:
    with pytest.raises(KeyMissingError, match="OPENAI_API_KEY"):
        open_remote_embedder("openai:text-embedding-3-small", environ={})
