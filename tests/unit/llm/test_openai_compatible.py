from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.errors import BadResponseError, CutOffError
from openbook.llm.messages import (
    Event,
    Message,
    OpaqueBlock,
    ProviderCitation,
    ReplyFinished,
    Request,
    TextBlock,
    TextDelta,
    ToolCall,
    ToolResult,
    ToolStarted,
    Usage,
)
from openbook.llm.openai_compatible import OpenAIWire
from openbook.llm.providers import GROQ, LLAMACPP, OLLAMA, OPENAI, PROVIDERS, VLLM, Provider
from openbook.testing import ReceivedRequest, ScriptedReply
from openbook.testing import fake_openai as server
from tests.unit.llm.calls import FERRY, HELLO
from tests.unit.llm.replies import SOURCES, calls, conversations, words

PROVIDERS_OF_THIS_WIRE = [provider for provider in PROVIDERS.values() if provider.wire == "openai"]


def body_of(request: Request, provider: Provider = OPENAI) -> dict[str, Any]:
    body = OpenAIWire(provider).body(request, native=True)
    extra = body.pop("extra_body", {})
    return {"model": "m", "stream": True, **body, **extra}


def read(*chunks: dict[str, Any], provider: Provider = OPENAI) -> tuple[list[Event], ReplyFinished | None]:
    reader = OpenAIWire(provider).reader(HELLO, native=True)
    return [event for chunk in chunks for event in reader.read(chunk)], reader.finish()


def chunk(delta: dict[str, Any] | None = None, finish_reason: str | None = None, **more: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}], **more}


def call_piece(**more: Any) -> dict[str, Any]:
    return chunk({"tool_calls": [more]})


@pytest.mark.slow
@given(conversations(), st.sampled_from(PROVIDERS_OF_THIS_WIRE))
def test_every_request_is_as_the_wire_wants_it_and_loses_nothing(request: Request, provider: Provider) -> None:
    body = body_of(request, provider)

    server.check(body, groq=provider.documents)
    written = json.dumps(body, ensure_ascii=False)
    for message in request.messages:
        for part in message.parts:
            if not isinstance(part, OpaqueBlock):
                assert json.dumps(shown(part), ensure_ascii=False)[1:-1] in written


def shown(part: object) -> str:
    match part:
        case ToolCall(arguments=arguments):
            return arguments
        case TextBlock(text) | ToolResult(text=text):
            return text
    return str(part)


@pytest.mark.slow
@given(st.one_of(st.just(""), words), calls(), st.integers(1, 9))
def test_a_reply_is_the_same_however_it_is_cut_into_deltas(text: str, called: tuple[ToolCall, ...], piece: int) -> None:
    reply = ScriptedReply(*([text] if text else []), *called, usage=Usage(9, 4, 3))
    received = ReceivedRequest("/v1/chat/completions", {}, body_of(HELLO))

    events, finished = read(*server.events(reply, received, 1, piece))

    assert finished is not None
    assert (finished.message, finished.usage, finished.stop) == (reply.message, reply.usage, reply.stop)
    assert [event for event in events if isinstance(event, ToolStarted)] == [
        ToolStarted(call.id, call.name) for call in called
    ]


@pytest.mark.parametrize(
    ("provider", "limit", "asks_for_usage"),
    [
        (OPENAI, "max_completion_tokens", True),
        (GROQ, "max_completion_tokens", False),
        (OLLAMA, "max_tokens", True),
        (VLLM, "max_tokens", True),
        (LLAMACPP, "max_tokens", True),
    ],
    ids=lambda value: value.name if isinstance(value, Provider) else "",
)
def test_each_provider_gets_the_fields_that_it_knows(provider: Provider, limit: str, *, asks_for_usage: bool) -> None:
    body = body_of(HELLO, provider)

    assert body[limit] == 4096
    assert len({"max_tokens", "max_completion_tokens"} & body.keys()) == 1
    assert ("stream_options" in body) == asks_for_usage
    assert "temperature" not in body


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("any", "required"),
        ("ferry", {"type": "function", "function": {"name": "ferry"}}),
    ],
)
def test_the_choice_of_tools_is_written_in_the_words_of_the_wire(choice: str, sent: Any) -> None:
    body = body_of(replace(HELLO, tools=(FERRY,), tool_choice=choice))

    assert body["tool_choice"] == sent


def test_groq_gets_sources_as_documents() -> None:
    body = body_of(Request((Message("user", (*SOURCES, TextBlock("When?"))),)), GROQ)

    assert [(document["id"], document["source"]["text"]) for document in body["documents"]] == [
        (str(source.number), str(source)) for source in SOURCES
    ]
    assert body["messages"] == [{"role": "user", "content": "When?"}]
    assert body["citation_options"] == "enabled"


def test_a_failed_tool_is_told_in_words() -> None:
    results = (ToolResult("1", "no such port", is_error=True), ToolResult("2", "Error: no", is_error=True))

    body = body_of(Request((Message("user", (*results, ToolResult("3", "9:00"))),)))

    assert [turn["content"] for turn in body["messages"]] == ["error: no such port", "Error: no", "9:00"]


def test_a_citation_of_another_wire_becomes_a_mark() -> None:
    said = Message(
        "assistant", (TextBlock("It opens at nine."), ProviderCitation(2, 14, 18), TextBlock(" Come early."))
    )

    body = body_of(Request((said,)))

    assert body["messages"][0]["content"] == "It opens at nine. [2:14-18] Come early."


def test_a_turn_that_says_nothing_is_left_out() -> None:
    silent = (Message("assistant", ()), Message("user", ()), Message.user("Hi"))

    assert body_of(Request(silent))["messages"] == [{"role": "user", "content": "Hi"}]


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param(
            [
                {"index": 0, "id": "a", "function": {"name": "ferry", "arguments": '{"x":'}},
                {"index": 0, "function": {"arguments": "1}"}},
                {"index": 1, "id": "b", "function": {"name": "ferry", "arguments": "{}"}},
            ],
            id="by-index",
        ),
        pytest.param(
            [
                {"index": 0, "id": "a", "function": {"name": "ferry", "arguments": '{"x":1}'}},
                {"index": 0, "id": "b", "function": {"name": "ferry", "arguments": "{}"}},
            ],
            id="the-same-index-for-all",
        ),
        pytest.param(
            [
                {"id": "a", "function": {"name": "ferry", "arguments": '{"x":1}'}},
                {"id": "b", "function": {"name": "ferry", "arguments": ""}},
            ],
            id="no-index-and-no-arguments",
        ),
        pytest.param(
            [
                {"index": 0, "id": "a", "function": {"name": "ferry", "arguments": '{"x"'}},
                {"index": 0, "id": "a", "function": {"name": "ferry", "arguments": ":1}"}},
                {"index": 1, "id": "b", "function": {"name": "fer", "arguments": None}},
                {"index": 1, "function": {"name": "ry"}},
            ],
            id="name-repeated-and-name-cut",
        ),
        pytest.param(
            [
                {"index": 0, "id": "a", "function": {"name": "ferry", "arguments": ""}},
                {"index": 0, "id": "a-2", "function": {"arguments": '{"x"'}},
                {"index": 0, "id": "a-3", "function": {"arguments": ":1}"}},
                {"index": 1, "id": "b", "function": {"name": "ferry", "arguments": {}}},
            ],
            id="an-id-for-each-piece-and-an-object",
        ),
    ],
)
def test_tool_calls_are_put_together_however_a_server_cuts_them(pieces: list[dict[str, Any]]) -> None:
    events, finished = read(*(call_piece(**piece) for piece in pieces), chunk({}, "stop"))

    assert finished is not None
    assert finished.message.calls == (ToolCall("a", "ferry", '{"x":1}'), ToolCall("b", "ferry", "{}"))
    assert events == [ToolStarted("a", "ferry"), ToolStarted("b", "ferry")]
    assert finished.stop == "tools"


@pytest.mark.parametrize(
    ("ids", "indices"),
    [
        pytest.param(("a", "a"), (0, 1), id="twice-the-same"),
        pytest.param(("", ""), (0, 1), id="none"),
        pytest.param(("", ""), (0, 0), id="none-and-one-index"),
    ],
)
def test_each_call_of_a_reply_has_an_id_of_its_own(ids: tuple[str, str], indices: tuple[int, int]) -> None:
    called = [
        call_piece(index=index, id=call_id, function={"name": name, "arguments": "{}"})
        for call_id, index, name in zip(ids, indices, ("ferry", "train"), strict=True)
    ]

    events, finished = read(*called, chunk({}, "tool_calls"))

    assert finished is not None
    assert [call.name for call in finished.message.calls] == ["ferry", "train"]
    assert len({call.id for call in finished.message.calls}) == 2
    assert events == [ToolStarted(call.id, call.name) for call in finished.message.calls]


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": None, "completion_tokens": None},
        {"prompt_tokens": "5", "completion_tokens": 6},
        {"completion_tokens": 6},
        {"prompt_tokens": 0, "completion_tokens": 0},
        "many",
    ],
)
def test_what_was_not_counted_is_not_taken_for_nothing(usage: Any) -> None:
    _, finished = read(chunk({"content": "Hello"}, "stop"), {"choices": [], "usage": usage})

    assert finished is not None
    assert not finished.usage.known
    assert finished.usage.input_tokens == 0


def test_words_may_come_in_a_list_with_thoughts() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}

    events, finished = read(
        chunk({"content": [thought]}), chunk({"content": [{"type": "text", "text": "At nine."}]}, "stop")
    )

    assert events == [TextDelta("At nine.")]
    assert finished is not None
    assert finished.message == Message.assistant("At nine.")


@pytest.mark.parametrize("size", [1, 5, 100])
@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("<think>\nIt may be 500 kg.\n</think>\n\nAt most 31 kg.", "At most 31 kg."),
        ("\n<think></think>At <think> most.", "At <think> most."),
        ("<think>It may be", ""),
        ("<think>Done.</think>", ""),
        ("<thin", "<thin"),
        ("  <thinner>", "  <thinner>"),
    ],
)
def test_thoughts_among_the_words_are_left_out(said: str, shown: str, size: int) -> None:
    pieces = [said[at : at + size] for at in range(0, len(said), size)]

    events, finished = read(*(chunk({"content": piece}) for piece in pieces), chunk({}, "stop"))

    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == shown
    assert finished is not None
    assert finished.message.text == shown


def test_thoughts_that_began_in_the_prompt_are_left_out_in_the_end() -> None:
    _, finished = read(chunk({"content": "It may be 500 kg.\n</think>"}), chunk({"content": "\n\n31 kg."}, "stop"))

    assert finished is not None
    assert finished.message.text == "31 kg."


def test_a_character_that_was_cut_in_half_is_whole_in_the_end() -> None:
    events, finished = read(chunk({"content": "Ahoy \ud83d"}), chunk({"content": "\ude00 \ud83d"}, "stop"))

    assert "".join(event.text for event in events if isinstance(event, TextDelta)).isprintable()
    assert finished is not None
    assert finished.message.text == "Ahoy 😀 \ufffd"


def test_a_call_without_an_id_gets_one() -> None:
    _, finished = read(call_piece(index=0, function={"name": "ferry", "arguments": "{}"}), chunk({}, "tool_calls"))

    assert finished is not None
    assert finished.message.calls == (ToolCall("call_1", "ferry", "{}"),)


def test_a_refusal_is_text_and_the_reason() -> None:
    _, finished = read(chunk({"refusal": "I will not."}), chunk({"refusal": ""}, "content_filter"))

    assert finished is not None
    assert (finished.message.text, finished.stop) == ("I will not.", "refused")


def test_a_reply_without_a_reason_for_its_end_is_not_complete() -> None:
    _, finished = read(chunk({"content": "Hello"}))

    assert finished is None


def test_groq_tells_in_a_field_of_its_own_that_it_gave_up() -> None:
    with pytest.raises(CutOffError, match="groq gave up: no more"):
        read({"choices": [], "x_groq": {"error": "no more"}}, provider=GROQ)


@pytest.mark.parametrize(
    "bad",
    [
        {"choices": ["text"]},
        {"choices": [{"delta": "text"}]},
        {"choices": 3},
        call_piece(function="ferry"),
        {"choices": [], "usage": {}, "x_groq": "?"},
    ],
)
def test_a_chunk_that_is_not_as_promised_is_a_bad_response(bad: dict[str, Any]) -> None:
    with pytest.raises(BadResponseError, match="unknown shape"):
        read(bad)
