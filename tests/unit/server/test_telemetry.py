"""Spans of answers follow the conventions for generative AI, and hold no text."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from openbook.answers import Claim, GenerationResult, Verdict
from openbook.errors import MissingExtraError, ModelError, OverloadedError, SettingsError
from openbook.llm.messages import Message, Request
from openbook.server.answer_tracker import AnswerSpans, open_tracer
from openbook.testing import ScriptedModel, ScriptedReply
from openbook.usage import Usage

SECRET = "the secret question"


CLAIM = Claim(0, 9, "It waits.", ("[1]",))


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


def spans_with(exporter: InMemorySpanExporter) -> AnswerSpans:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return AnswerSpans(provider.get_tracer("test"), "0" * 32)


def call(spans: AnswerSpans, model: ScriptedModel) -> None:
    watched: Any = spans.watched(model)

    async def read() -> None:
        async with aclosing(watched.astream(Request((Message.user(SECRET),), max_tokens=99))) as events:
            async for _ in events:
                pass

    asyncio.run(read())


def test_an_answer_its_search_and_each_call_of_a_model_are_spans(exporter: InMemorySpanExporter) -> None:
    spans = spans_with(exporter)

    spans.enter("searching")
    spans.enter("writing")
    call(spans, ScriptedModel(ScriptedReply(SECRET, usage=Usage(10, 5)), name="anthropic:claude-sonnet-5-5"))
    spans.enter("checking")
    spans.end("answered", GenerationResult(SECRET, SECRET, usage=Usage(10, 5)))

    search, chat, checking, whole = exporter.get_finished_spans()
    assert [span.name for span in (search, chat, checking, whole)] == [
        "retrieval",
        "chat claude-sonnet-5-5",
        "checking",
        "invoke_agent openbook",
    ]
    assert chat.attributes is not None
    assert {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-sonnet-5-5",
        "gen_ai.request.max_tokens": 99,
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.response.finish_reasons": ("end",),
    }.items() <= dict(chat.attributes).items()
    assert whole.attributes is not None
    assert (whole.attributes["gen_ai.operation.name"], whole.attributes["openbook.outcome"]) == (
        "invoke_agent",
        "answered",
    )
    assert whole.context is not None
    assert {span.parent.span_id for span in (search, chat, checking) if span.parent} == {whole.context.span_id}
    assert SECRET not in "".join(span.to_json() for span in exporter.get_finished_spans())


@pytest.mark.parametrize(
    ("verdict", "told"), [("confirmed", {"openbook.quality_score": 1.0}), ("unverified", {})], ids=["decided", "open"]
)
def test_the_quality_is_told_where_a_claim_is_decided(
    exporter: InMemorySpanExporter, verdict: Verdict, told: dict[str, float], caplog: pytest.LogCaptureFixture
) -> None:
    answer = GenerationResult("?", "It waits.", claims=(replace(CLAIM, verdict=verdict),))

    spans_with(exporter).end("answered", answer)

    (whole,) = exporter.get_finished_spans()
    assert {name: value for name, value in (whole.attributes or {}).items() if "quality" in name} == told
    assert caplog.text == ""  # of a value that is none, the library complains


def test_a_call_that_fails_says_how(exporter: InMemorySpanExporter) -> None:
    spans = spans_with(exporter)

    with pytest.raises(ModelError):
        call(spans, ScriptedModel(OverloadedError("too much to do")))
    spans.end("failed", None)

    chat, _ = exporter.get_finished_spans()
    assert chat.attributes is not None
    assert (chat.attributes["error.type"], chat.status.is_ok) == ("OverloadedError", False)


def test_nothing_happens_unless_it_is_asked_for() -> None:
    model = ScriptedModel()
    spans = AnswerSpans(open_tracer(""), "0" * 32)

    spans.enter("searching")
    spans.end("answered", None)

    assert spans.watched(model) is model


def test_a_place_that_is_none_and_a_package_that_is_missing_are_told() -> None:
    with pytest.raises(SettingsError, match="telemetry is 'moon'"):
        open_tracer("moon")
    with pytest.raises(MissingExtraError) as caught:
        open_tracer("otlp")

    assert "openbook[telemetry]" in caught.value.hint
