"""Calls of a model become spans by the conventions for generative AI, without any text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from openbook.errors import OverloadedError
from openbook.llm.messages import Event, Message, ReplyFinished, Request, Sampling
from openbook.llm.protocol import acomplete, complete
from openbook.llm.tracing import TracedModel
from openbook.testing import ScriptedModel, ScriptedReply
from openbook.usage import Usage

SECRET = "the secret question"
REQUEST = Request((Message.user(SECRET),), max_tokens=99, sampling=Sampling(temperature=0.5, stop=("END",)))


class Plain:
    """A model whose streams cannot be closed."""

    name = "http://127.0.0.1:9000/v1#tiny"

    def stream(self, request: Request) -> Iterator[Event]:
        return iter([ReplyFinished(Message.assistant("Hello."))])

    def astream(self, request: Request) -> AsyncIterator[Event]:
        return _Once()


class _Once:
    def __init__(self) -> None:
        self._events: list[Event] = [ReplyFinished(Message.assistant("Hello."))]

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        if not self._events:
            raise StopAsyncIteration
        return self._events.pop()


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def tracer(exporter: InMemorySpanExporter) -> Any:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider.get_tracer("test")


def only(exporter: InMemorySpanExporter) -> tuple[ReadableSpan, dict[str, Any]]:
    (span,) = exporter.get_finished_spans()
    return span, dict(span.attributes or {})


def test_a_span_says_what_was_asked_and_what_it_came_to(exporter: InMemorySpanExporter, tracer: Any) -> None:
    model = ScriptedModel(ScriptedReply(SECRET, usage=Usage(10, 5)), name="groq:openai/gpt-oss-120b")

    complete(TracedModel(model, tracer), REQUEST)

    span, attributes = only(exporter)
    assert (span.name, span.kind.name) == ("chat openai/gpt-oss-120b", "CLIENT")
    assert {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "groq",
        "gen_ai.request.model": "openai/gpt-oss-120b",
        "gen_ai.request.max_tokens": 99,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.stop_sequences": ("END",),
        "gen_ai.response.finish_reasons": ("end",),
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
    }.items() <= attributes.items()
    assert not {"gen_ai.request.seed", "gen_ai.request.top_p"} & set(attributes)  # nobody set them
    assert SECRET not in span.to_json()


def test_a_span_of_a_failed_call_has_the_kind_of_its_error(exporter: InMemorySpanExporter, tracer: Any) -> None:
    model = TracedModel(ScriptedModel(OverloadedError("too much to do")), tracer)

    with pytest.raises(OverloadedError):
        asyncio.run(acomplete(model, REQUEST))

    span, attributes = only(exporter)
    assert (attributes["error.type"], span.status.is_ok) == ("OverloadedError", False)


def test_leaving_a_stream_ends_the_call_and_its_span(exporter: InMemorySpanExporter, tracer: Any) -> None:
    scripted = ScriptedModel("Two words.")

    stream = TracedModel(scripted, tracer).stream(REQUEST)
    next(stream)
    stream.close()

    assert only(exporter)[1]["error.type"] == "GeneratorExit"


def test_a_model_at_an_address_is_named_by_its_server(exporter: InMemorySpanExporter, tracer: Any) -> None:
    traced = TracedModel(Plain(), tracer)

    complete(traced, REQUEST)
    asyncio.run(acomplete(traced, REQUEST))

    span, _ = exporter.get_finished_spans()
    attributes = dict(span.attributes or {})
    assert (traced.name, attributes["server.address"], attributes["server.port"]) == (Plain.name, "127.0.0.1", 9000)
    assert attributes["gen_ai.provider.name"] == "openai_compatible"
    assert repr(traced).startswith("TracedModel(")
