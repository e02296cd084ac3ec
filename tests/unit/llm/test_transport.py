"""Calls over real HTTP, by the official SDKs, to a server that is as strict as the real ones."""

from __future__ import annotations

import asyncio
import logging
import threading
import traceback
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from openbook.errors import (
    BadRequestError,
    BadResponseError,
    CutOffError,
    KeyRefusedError,
    ModelError,
    OverloadedError,
    RateLimitedError,
    TimedOutError,
    UnreachableError,
)
from openbook.llm.choose import connect
from openbook.llm.connecting import _cut_at_deadline
from openbook.llm.messages import (
    CitationDelta,
    Event,
    Message,
    ProviderCitation,
    ReplyFinished,
    Request,
    Sampling,
    ShownSource,
    TextBlock,
    TextDelta,
    ToolCall,
    ToolResult,
    ToolStarted,
    Usage,
)
from openbook.llm.protocol import acomplete, complete
from openbook.llm.providers import LLAMACPP
from openbook.llm.retry import RetryPolicy, RetryState
from openbook.llm.transport import WireModel, _Call
from openbook.testing import FakeServer, Fault, Refusal, ScriptedReply
from tests.unit.llm.calls import FERRY, HELLO, WIRES, Clock, model_on, read_async

Start = Callable[..., FakeServer]

CALL = ToolCall("call_1", "ferry", '{"port": "Lisboa"}')
OPENING = ShownSource(1, "FAQ", "faq.md:3-4", ("It opens at nine.", "It closes at five."))

wires = pytest.mark.parametrize("wire", WIRES)


def read(model: WireModel, request: Request, *, blocking: bool) -> list[Event]:
    return list(model.stream(request)) if blocking else asyncio.run(read_async(model, request))


@wires
def test_a_reply_streams_and_ends_with_all_of_it(fake_server: Start, wire: str) -> None:
    usage = Usage(input_tokens=20, output_tokens=6, cached_input_tokens=12)
    reply = ScriptedReply("Grüße, 你好! ", CALL, usage=usage)
    server = fake_server(reply, reply)
    request = replace(HELLO, tools=(FERRY,), system="Be brief.", sampling=Sampling(stop=("END",)))

    events = read(model_on(server, wire), request, blocking=True)

    *deltas, finished = events
    assert "".join(event.text for event in deltas if isinstance(event, TextDelta)) == "Grüße, 你好! "
    assert [event for event in deltas if not isinstance(event, TextDelta)] == [ToolStarted("call_1", "ferry")]
    assert finished == ReplyFinished(
        Message("assistant", (TextBlock("Grüße, 你好! "), CALL)), usage, "tools", "test-model"
    )
    assert read(model_on(server, wire), request, blocking=False) == events


@wires
def test_the_rounds_of_a_tool_loop_are_sent_as_the_wire_wants_them(fake_server: Start, wire: str) -> None:
    server = fake_server("At nine.")
    bad = ToolCall("call_2", "ferry", '{"port": ')
    results = (ToolResult("call_1", "9:00"), ToolResult("call_2", "no such port", is_error=True))
    history = (
        Message.user("When?"),
        Message("assistant", (TextBlock("I will look."), CALL, bad)),
        Message("user", (TextBlock("Hurry."), *results)),
    )

    reply = complete(model_on(server, wire), Request(history, tools=(FERRY,)))

    assert reply.message == Message.assistant("At nine.")
    assert "no such port" in str(server.requests[0].body)


@pytest.mark.parametrize("provider", [*WIRES, "ollama", "vllm", "llamacpp"])
@pytest.mark.parametrize("choice", ["auto", "none", "any", "ferry"])
def test_each_provider_takes_each_choice_of_tools(fake_server: Start, provider: str, choice: str) -> None:
    server = fake_server("Hello.")
    other = replace(FERRY, name="other")

    complete(model_on(server, provider), replace(HELLO, tools=(other, FERRY), tool_choice=choice))

    sent = server.requests[0].body
    assert sent["model"] == "test-model"
    if provider in ("ollama", "llamacpp") and choice == "ferry":
        assert [tool["function"]["name"] for tool in sent["tools"]] == ["ferry"]
        assert sent["tool_choice"] == "required"
    else:
        assert len(sent["tools"]) == 2


@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])
@pytest.mark.parametrize("wire", ["anthropic", "groq"])
def test_citations_of_the_wires_own_become_ours(fake_server: Start, wire: str, *, blocking: bool) -> None:
    exact = ProviderCitation(1, 2, 2, "It closes at five.")
    server = fake_server(ScriptedReply("It closes at five.", exact, " Come early."))
    request = Request((Message("user", (OPENING, TextBlock("When does it close?"))),))

    *deltas, finished = read(model_on(server, wire), request, blocking=blocking)

    # Groq names the source, and no place in it.
    cited = exact if wire == "anthropic" else ProviderCitation(1, 1, 2)
    assert isinstance(finished, ReplyFinished)
    assert finished.message.parts == (TextBlock("It closes at five."), cited, TextBlock(" Come early."))
    assert CitationDelta(cited) in deltas


@pytest.mark.parametrize("provider", ["openai", "llamacpp"])
def test_sources_are_numbered_text_where_the_wire_has_no_citations(fake_server: Start, provider: str) -> None:
    server = fake_server("It closes at five [1:2].")

    complete(model_on(server, provider), Request((Message("user", (OPENING, TextBlock("When?"))),)))

    assert server.requests[0].body["messages"][0]["content"] == f"{OPENING}\n\nWhen?"


@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])
@pytest.mark.parametrize(
    ("wire", "complaint"),
    [
        ("anthropic", "messages.0.content.0: Input tag 'search_result' does not match any of the expected tags"),
        ("groq", "property 'documents' is unsupported"),
    ],
)
def test_sources_are_numbered_text_for_a_model_that_refuses_citations(
    fake_server: Start, wire: str, complaint: str, *, blocking: bool
) -> None:
    server = fake_server(Refusal(400, complaint), "Five [1:2].", "Five [1:2].")
    request = Request((Message("user", (OPENING, TextBlock("When?"))),))
    model = model_on(server, wire)

    replies = [read(model, request, blocking=blocking)[-1] for _ in range(2)]

    first, second, third = (str(received.body) for received in server.requests)
    assert [reply.message.text for reply in replies if isinstance(reply, ReplyFinished)] == ["Five [1:2]."] * 2
    assert "1| It opens at nine." not in first or wire == "groq"
    assert "1| It opens at nine." in second
    assert second == third


@pytest.mark.parametrize("wire", ["anthropic", "openai"])
@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])
@pytest.mark.parametrize(
    ("status", "kind", "tries"),
    [
        *((400, BadRequestError, 1), (401, KeyRefusedError, 1), (403, KeyRefusedError, 1), (404, BadRequestError, 1)),
        *((408, TimedOutError, 4), (409, OverloadedError, 4), (413, BadRequestError, 1), (422, BadRequestError, 1)),
        *((429, RateLimitedError, 4), (500, OverloadedError, 4), (503, OverloadedError, 4), (529, OverloadedError, 4)),
    ],
)
def test_a_status_is_an_error_of_its_kind_and_tried_again_if_it_may_pass(
    fake_server: Start, wire: str, status: int, kind: type[ModelError], tries: int, *, blocking: bool
) -> None:
    server, clock = fake_server(*[Refusal(status)] * tries), Clock()

    with pytest.raises(kind) as caught:
        read(model_on(server, wire, clock=clock), HELLO, blocking=blocking)

    assert caught.value.status == status
    assert clock.slept == [1.0, 2.0, 4.0][: tries - 1]


@wires
@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])
def test_a_limit_that_passes_is_waited_out(fake_server: Start, wire: str, *, blocking: bool) -> None:
    server, clock = fake_server(Refusal(429, headers={"retry-after": "7"}), Refusal(529), "Hello."), Clock()

    *_, finished = read(model_on(server, wire, clock=clock), HELLO, blocking=blocking)

    assert isinstance(finished, ReplyFinished)
    assert finished.message == Message.assistant("Hello.")
    assert clock.slept == [7.0, 2.0]


@wires
@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])
@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        pytest.param(Fault("cut", after=3), CutOffError, id="cut"),
        pytest.param(Fault("end", after=3), CutOffError, id="end"),
        pytest.param(Fault("error", after=3), OverloadedError, id="error"),
        pytest.param(Fault("error"), OverloadedError, id="error-at-once"),
        pytest.param(Fault("malformed", after=3), BadResponseError, id="malformed"),
        pytest.param(Fault("malformed"), BadResponseError, id="malformed-at-once"),
    ],
)
def test_nothing_is_tried_again_once_the_reply_has_begun(
    fake_server: Start, wire: str, fault: Fault, kind: type[ModelError], *, blocking: bool
) -> None:
    server, clock = fake_server(fault), Clock()

    with pytest.raises(kind):
        read(model_on(server, wire, clock=clock), HELLO, blocking=blocking)

    assert clock.slept == []


@wires
@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])
@pytest.mark.parametrize("then", ["cut", "end"])
def test_a_reply_that_breaks_before_it_begins_is_tried_again(
    fake_server: Start, wire: str, then: Any, *, blocking: bool
) -> None:
    server, clock = fake_server(Fault(then), "Hello."), Clock()

    events = read(model_on(server, wire, clock=clock), HELLO, blocking=blocking)

    assert isinstance(events[-1], ReplyFinished)
    assert clock.slept == [1.0]


@wires
@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])
@pytest.mark.parametrize("after", [0, 3], ids=["before-the-first-byte", "within-the-reply"])
def test_a_call_ends_at_its_deadline(fake_server: Start, wire: str, after: int, *, blocking: bool) -> None:
    server = fake_server(Fault("hold", after=after))

    with pytest.raises(TimedOutError) as failed:
        read(model_on(server, wire), replace(HELLO, deadline_s=0.3), blocking=blocking)

    assert "OPENBOOK_MODEL_TIMEOUT_S" in failed.value.hint
    assert server.wait_for_disconnect()


@wires
def test_closing_a_stream_cancels_the_request(fake_server: Start, wire: str) -> None:
    server = fake_server(Fault("hold", after=4))
    stream: Any = model_on(server, wire).stream(HELLO)
    next(stream)

    stream.close()

    assert server.wait_for_disconnect()


@wires
def test_closing_an_async_stream_cancels_the_request(fake_server: Start, wire: str) -> None:
    server = fake_server(Fault("hold", after=4), Fault("hold", after=4))

    async def close_early() -> None:
        stream: Any = model_on(server, wire).astream(HELLO)
        await anext(stream)
        await stream.aclose()

    async def cancel_task() -> None:
        begun = asyncio.Event()

        async def read_on() -> None:
            async for _ in model_on(server, wire).astream(HELLO):
                begun.set()

        task = asyncio.create_task(read_on())
        await begun.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(close_early())
    first = server.wait_for_disconnect()
    asyncio.run(cancel_task())

    assert first
    assert server.wait_for_disconnect()


@wires
def test_an_empty_reply_and_a_missing_usage_are_no_errors(fake_server: Start, wire: str) -> None:
    server = fake_server(ScriptedReply(usage=None))

    reply = complete(model_on(server, wire), HELLO)

    assert reply.message == Message("assistant", ())
    assert reply.stop == "end"
    assert not reply.usage.known


@wires
@pytest.mark.parametrize("stop", ["length", "stop", "refused", "other"])
def test_why_a_model_stopped_is_told(fake_server: Start, wire: str, stop: Any) -> None:
    server = fake_server(ScriptedReply("Well", stop=stop))

    reply = complete(model_on(server, wire), replace(HELLO, sampling=Sampling(stop=("END",))))

    told = {"stop": "end", "other": "tools"} if wire != "anthropic" else {}
    assert reply.stop == told.get(stop, stop)


@wires
@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])
def test_a_reply_without_end_is_ended_and_the_server_named(fake_server: Start, wire: str, *, blocking: bool) -> None:
    at_most, endless = ScriptedReply("again " * 8_000), ScriptedReply("again " * 12_000)
    server = fake_server(at_most, endless, at_most, piece=4_000)
    model = model_on(server, wire)

    read(model, HELLO, blocking=blocking)
    with pytest.raises(BadResponseError, match="wrote more than 65,536 characters") as caught:
        read(model, HELLO, blocking=blocking)
    read(model, HELLO, blocking=blocking)

    assert "`max_tokens`" in caught.value.hint


@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])
def test_a_server_that_is_not_there_is_tried_again_and_then_named(
    fake_server: Start, free_port: int, *, blocking: bool
) -> None:
    clock = Clock()
    model = connect(replace(LLAMACPP, url=f"http://127.0.0.1:{free_port}/v1"), "any", retries=clock.retries())

    with pytest.raises(UnreachableError, match=str(free_port)):
        read(model, HELLO, blocking=blocking)

    assert clock.slept == [1.0, 2.0, 4.0]


@wires
@pytest.mark.parametrize("refusal", [Refusal(401, "bad key: key-of-the-fake-server"), Refusal(500, "at fault")])
def test_no_key_is_in_errors_tracebacks_or_logs(
    fake_server: Start, wire: str, refusal: Refusal, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server = fake_server(*[refusal] * (4 if refusal.status == 500 else 1))

    with pytest.raises(ModelError) as caught:
        complete(model_on(server, wire, clock=Clock()), HELLO)

    shown = "".join(traceback.format_exception(caught.value)) + caplog.text
    assert caught.value.__context__ is None
    assert "Authorization" not in shown or "[secret]" in shown
    assert server.key not in shown


@wires
def test_one_model_serves_several_threads_and_loops(fake_server: Start, wire: str) -> None:
    server = fake_server(*["Hello."] * 6)
    model = model_on(server, wire)

    async def three() -> list[ReplyFinished]:
        return await asyncio.gather(*(acomplete(model, HELLO) for _ in range(3)))

    replies = [*asyncio.run(three()), *asyncio.run(three())]

    assert [reply.message.text for reply in replies] == ["Hello."] * 6


def test_json_that_is_no_object_is_a_bad_response() -> None:
    call = _Call(connect(LLAMACPP, "any"), HELLO, RetryState(RetryPolicy(), 1.0), native=False)

    with pytest.raises(BadResponseError, match="not an object"):
        call.read([1])


def test_a_response_without_a_socket_has_the_deadline_of_its_reads_alone() -> None:
    class InMemory:
        extensions: ClassVar[dict[str, Any]] = {}
        request: ClassVar[Any] = SimpleNamespace(extensions={"timeout": {"read": 0.0}})

    threads = threading.active_count()
    _cut_at_deadline(InMemory())

    assert threading.active_count() == threads
