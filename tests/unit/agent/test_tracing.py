"""A run, its calls of the model and its calls of tools become spans, without any text."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from threading import Event
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import get_current_span

from openbook.agent import Agent, Tool
from openbook.agent.tracing import RunSpans
from openbook.errors import OverloadedError
from openbook.llm.messages import ToolCall
from openbook.testing import ScriptedModel, ScriptedReply
from openbook.usage import Usage

SECRET = "the secret question"


def look_up(word: str) -> str:
    """Look up a word."""
    if word == "nothing":
        raise LookupError(SECRET)
    get_current_span().set_attribute("seen.inside", True)
    return SECRET


async def look_up_there(word: str) -> str:
    """Look up a word elsewhere."""
    return look_up(word)


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def tracer(exporter: InMemorySpanExporter) -> Any:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider.get_tracer("test")


def spans_of(exporter: InMemorySpanExporter) -> dict[str, tuple[ReadableSpan, dict[str, Any]]]:
    return {span.name: (span, dict(span.attributes or {})) for span in exporter.get_finished_spans()}


def calls(*names_and_words: tuple[str, str]) -> ScriptedReply:
    made = [ToolCall(f"c{n}", name, f'{{"word": "{word}"}}') for n, (name, word) in enumerate(names_and_words)]
    return ScriptedReply(*made, usage=Usage(10, 5))


def model(*replies: Any) -> ScriptedModel:
    return ScriptedModel(*replies, name="anthropic:claude-sonnet-5-5")


@pytest.mark.parametrize("is_async", [False, True], ids=["blocking", "async"])
def test_a_run_is_a_span_around_those_of_its_calls(
    exporter: InMemorySpanExporter, tracer: Any, *, is_async: bool
) -> None:
    replies = (calls(("look_up", "heron"), ("look_up_there", "owl")), ScriptedReply(SECRET, usage=Usage(20, 7)))
    agent = Agent(model(*replies), [look_up, look_up_there], tracer=tracer, name="birds")

    if is_async:
        asyncio.run(agent.arun(SECRET))
    else:
        agent.run(SECRET)

    spans = exporter.get_finished_spans()
    assert sorted(span.name for span in spans) == [
        "chat claude-sonnet-5-5",
        "chat claude-sonnet-5-5",
        "execute_tool look_up",
        "execute_tool look_up_there",
        "invoke_agent birds",
    ]
    run, told = spans_of(exporter)["invoke_agent birds"]
    assert {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "birds",
        "gen_ai.usage.input_tokens": 30,
        "gen_ai.usage.output_tokens": 12,
        "openbook.rounds": 1,
    }.items() <= told.items()
    assert told["openbook.cost_usd"] > 0
    assert run.context is not None
    assert {span.parent.span_id for span in spans if span.parent} == {run.context.span_id}
    for name, call_id in (("look_up", "c0"), ("look_up_there", "c1")):
        _, tool = spans_of(exporter)[f"execute_tool {name}"]
        assert (tool["gen_ai.tool.name"], tool["gen_ai.tool.call.id"], tool["seen.inside"]) == (name, call_id, True)
    assert SECRET not in "".join(span.to_json() for span in spans)


class LateFuture(Future[Any]):
    """A call whose callbacks run later than whoever waits for it goes on."""

    late: Callable[[Any], object] | None = None

    def add_done_callback(self, fn: Callable[[Any], object]) -> None:
        self.late = fn


def same(call: Future[Any]) -> Future[Any]:
    return call


def test_the_span_of_a_call_that_is_done_ends_once_and_before_that_of_its_run(
    exporter: InMemorySpanExporter, tracer: Any
) -> None:
    spans = RunSpans(tracer, model(), "birds")
    done, abandoned = LateFuture(), LateFuture()
    done.set_result(SECRET)

    with spans.around():
        for call in (done, abandoned):
            spans.tool(ToolCall("c1", "look_up", "{}"), Tool.from_function(look_up), partial(same, call))

    assert [span.name for span in exporter.get_finished_spans()] == ["execute_tool look_up", "invoke_agent birds"]
    abandoned.set_result(SECRET)
    for call in (done, abandoned):
        assert call.late is not None
        call.late(call)
    assert len(exporter.get_finished_spans()) == 3


def test_tools_that_fail_or_take_too_long_say_so_in_their_spans(exporter: InMemorySpanExporter, tracer: Any) -> None:
    ended = Event()

    def wait(word: str) -> None:
        """Wait for a word."""
        ended.wait()

    slow = Tool.from_function(wait, timeout_s=0.001)
    replies = (calls(("look_up", "nothing")), calls(("wait", "heron")), "Done.")

    try:
        Agent(model(*replies), [look_up, slow], tracer=tracer).run(SECRET)
    finally:
        ended.set()

    spans = spans_of(exporter)
    assert spans["execute_tool look_up"][1]["error.type"] == "LookupError"
    assert spans["execute_tool wait"][1]["error.type"] == "cancelled"
    assert spans["invoke_agent"][0].status.is_ok  # the model was told
    assert SECRET not in "".join(span.to_json() for span in exporter.get_finished_spans())


def test_a_run_that_fails_or_is_stopped_says_why(exporter: InMemorySpanExporter, tracer: Any) -> None:
    again = calls(("look_up", "owl"))
    agent = Agent(model(again, again, again, OverloadedError("busy")), [look_up], tracer=tracer, price=lambda *_: None)

    agent.run("Go round.")
    with pytest.raises(OverloadedError):
        agent.run("Once more.")

    stopped, failed = [s for s in exporter.get_finished_spans() if s.name == "invoke_agent"]
    assert dict(stopped.attributes or {})["openbook.stopped_by"] == "repeated_call"
    assert "openbook.cost_usd" not in (stopped.attributes or {})
    assert dict(failed.attributes or {})["error.type"] == "OverloadedError"
