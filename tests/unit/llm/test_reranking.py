"""Reranking by a server, over real HTTP."""

from __future__ import annotations

import logging
from collections.abc import Callable

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
from openbook.llm.reranking import RERANKERS, RemoteReranker, open_remote_reranker
from openbook.llm.retry import RetryPolicy
from openbook.testing import Refusal
from tests.fakes.rerank_server import DIALECTS, RerankServer

ONCE = RetryPolicy(pauses_s=())
AT_ONCE = RetryPolicy(pauses_s=(0.0,), sleep=lambda _: None)
QUESTION = "When does the ferry sail?"

Start = Callable[..., RerankServer]


def on(server: RerankServer, *, key: str = "", retries: RetryPolicy = ONCE) -> RemoteReranker:
    return open_remote_reranker(server.name, environ={"LLM_API_KEY": key or server.key}, retries=retries)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_wire_gets_the_question_and_the_texts_and_scores_come_back_in_order(
    rerank_server: Start, dialect: str
) -> None:
    server = rerank_server(dialect=dialect)

    scores = on(server).scores(QUESTION, ["bread", "the ferry", "ferry"])

    assert scores == [0.0, 2.0, 1.0]
    assert server.questions == [QUESTION]
    assert server.requests == [["bread", "the ferry", "ferry"]]


def test_texts_that_are_too_long_for_the_model_are_shortened(rerank_server: Start) -> None:
    server = rerank_server(longest=1_000)

    on(server).scores(QUESTION, ["ferry " * 500, "short"])

    assert server.requests == [[("ferry " * 500)[:750], "short"]]


def test_a_server_that_refuses_even_short_texts_is_told_of(rerank_server: Start) -> None:
    with pytest.raises(BadRequestError, match="too large to process"):
        on(rerank_server(longest=100)).scores(QUESTION, ["long " * 500])


def test_a_busy_server_is_asked_once_more_and_no_oftener(rerank_server: Start) -> None:
    passing, lasting = rerank_server(Refusal(503)), rerank_server(Refusal(503), Refusal(503))

    assert on(passing, retries=AT_ONCE).scores(QUESTION, ["ferry"]) == [1.0]
    with pytest.raises(OverloadedError):
        on(lasting, retries=AT_ONCE).scores(QUESTION, ["ferry"])


def test_a_key_that_is_refused_is_shown_nowhere(rerank_server: Start, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    reranker = on(rerank_server(), key="sk-wrong-and-secret")

    with pytest.raises(KeyRefusedError) as caught:
        reranker.scores(QUESTION, ["ferry"])

    assert "LLM_API_KEY" in caught.value.hint
    assert "sk-wrong-and-secret" not in f"{caught.value} {caught.value.hint} {reranker!r} {caplog.text}"


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param({"error": "no"}, id="something-else"),
        pytest.param([], id="nothing"),
        pytest.param({"results": [{"index": 0, "relevance_score": 1}]}, id="one-is-missing"),
        pytest.param({"results": [{"index": n, "relevance_score": "high"} for n in (0, 1)]}, id="words"),
        pytest.param([{"index": n, "score": None} for n in (0, 1)], id="null"),
        pytest.param([{"index": n, "score": float("nan")} for n in (0, 1)], id="not-a-number"),
        pytest.param([{"index": n} for n in (0, 1)], id="no-score"),
    ],
)
def test_what_is_not_one_number_for_each_text_is_refused(rerank_server: Start, reply: object) -> None:
    with pytest.raises(BadResponseError, match="no scores for 2 texts") as caught:
        on(rerank_server(reply=reply)).scores(QUESTION, ["a", "b"])

    assert "reranker" in caught.value.hint


def test_a_server_that_is_not_there_is_named(rerank_server: Start) -> None:
    server = RerankServer()
    server._http.server_close()

    with pytest.raises(UnreachableError, match=r"127\.0\.0\.1"):
        on(server).scores(QUESTION, ["a"])
    rerank_server()  # opens this machine to the test


@pytest.mark.parametrize("provider", ["cohere", "jina", "voyage"])
def test_services_need_the_key_that_their_own_clients_read(provider: str) -> None:
    key = RERANKERS[provider].key

    reranker = open_remote_reranker(f"{provider}:some-model", environ={key: "k"})

    assert reranker.name == f"{provider}:some-model"
    with pytest.raises(KeyMissingError, match=key):
        open_remote_reranker(f"{provider}:some-model", environ={})


@pytest.mark.parametrize(
    "name", ["cohere", "groq:llama", "nonsense", "http://127.0.0.1:8080/v1", "tei:", "tei:somewhere", "tei:cohere:x"]
)
def test_a_name_that_means_nothing_is_refused_with_those_that_do(name: str) -> None:
    with pytest.raises(SettingsError, match=r"reranker|address") as caught:
        open_remote_reranker(name, environ={"CO_API_KEY": "k"})

    assert "cohere" in caught.value.hint
    assert "tei:http" in caught.value.hint
