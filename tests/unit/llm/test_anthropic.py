from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.errors import BadResponseError
from openbook.llm.anthropic import AnthropicWire
from openbook.llm.messages import (
    CitationDelta,
    Message,
    OpaqueBlock,
    Part,
    ProviderCitation,
    Request,
    ShownSource,
    TextBlock,
    ToolCall,
    ToolResult,
)
from openbook.testing import ReceivedRequest, ScriptedReply
from openbook.testing import fake_anthropic as server
from tests.unit.llm.calls import FERRY, HELLO
from tests.unit.llm.replies import SOURCES, calls, cited_texts, conversations, thoughts

WIRE = AnthropicWire()
ASKED = Request((Message("user", (*SOURCES, TextBlock("When?"))),), tools=(FERRY,))


def body_of(request: Request, *, native: bool = True) -> dict[str, Any]:
    return {"model": "m", **WIRE.body(request, native=native)}


def as_parts(blocks: list[dict[str, Any]]) -> list[Part]:
    """Read blocks as parts again."""
    parts: list[Part] = []
    for block in blocks:
        match block["type"]:
            case "text":
                parts.append(TextBlock(block["text"]))
                for place in block.get("citations", ()):
                    number = SOURCES[place["search_result_index"]].number
                    parts.append(ProviderCitation(number, place["start_block_index"] + 1, place["end_block_index"]))
            case "tool_use":
                parts.append(ToolCall(block["id"], block["name"], json.dumps(block["input"])))
            case "tool_result":
                parts.append(ToolResult(block["tool_use_id"], block.get("content", ""), block["is_error"]))
            case "search_result":
                units = tuple(unit["text"] for unit in block["content"])
                number = next(source.number for source in SOURCES if source.place == block["source"])
                parts.append(ShownSource(number, block["title"], block["source"], units))
            case _:
                parts.append(OpaqueBlock("anthropic", json.dumps(block)))
    return parts


@pytest.mark.slow
@given(conversations())
def test_every_request_is_as_the_wire_wants_it_and_loses_nothing(request: Request) -> None:
    body = body_of(request)

    server.check(body)
    for message, turn in zip(request.messages, body["messages"], strict=True):
        wanted = [
            replace(part, arguments=json.dumps(as_object(part.arguments))) if isinstance(part, ToolCall) else part
            for part in message.parts
        ]
        assert sorted(map(repr, as_parts(turn["content"]))) == sorted(map(repr, wanted))
        assert turn["role"] == message.role


def as_object(arguments: str) -> Any:
    try:
        value = json.loads(arguments or "{}")
    except json.JSONDecodeError:
        value = None
    return value if isinstance(value, dict) else {"INVALID_JSON": arguments}


@pytest.mark.slow
@given(thoughts(), cited_texts(), calls(), st.integers(1, 9))
def test_a_reply_is_the_same_however_it_is_cut_into_deltas(
    thought: list[OpaqueBlock], spoken: list[Part], called: tuple[ToolCall, ...], piece: int
) -> None:
    message = Message("assistant", (*thought, *spoken, *called))
    body = body_of(ASKED)
    # The server counts sources as the wire does, by their place in the request.
    place = {source.number: position for position, source in enumerate(SOURCES, start=1)}
    parts = [
        replace(part, source=place[part.source]) if isinstance(part, ProviderCitation) else part
        for part in message.parts
    ]

    reader = WIRE.reader(ASKED, native=True)
    events = [
        event
        for chunk in server.events(ScriptedReply(*parts), ReceivedRequest("/v1/messages", {}, body), 1, piece)
        for event in reader.read(chunk)
    ]
    finished = reader.finish()

    assert finished is not None
    assert [without_quote(part) for part in finished.message.parts] == list(message.parts)
    assert [without_quote(event.cited) for event in events if isinstance(event, CitationDelta)] == [
        part for part in spoken if isinstance(part, ProviderCitation)
    ]


def without_quote(part: Part) -> Part:
    return replace(part, quote="") if isinstance(part, ProviderCitation) else part


def test_a_note_stands_in_the_title_where_it_cannot_be_cited() -> None:
    sources = (
        ShownSource(1, "f", "a.py:1-2", ("def f():",), "cut here"),
        ShownSource(2, "", "b.py:1-2", ("x",), "cut here"),
    )
    request = Request(
        (
            Message("user", (*sources, TextBlock("Why?"))),
            Message("assistant", (TextBlock("So."), ProviderCitation(1, 1, 1))),
        )
    )

    (asked, answered) = body_of(request)["messages"]

    assert [block.get("title") for block in asked["content"][:2]] == ["f (cut here)", "(cut here)"]
    assert [len(block["content"]) for block in asked["content"][:2]] == [1, 1]
    assert answered["content"][0]["citations"][0]["title"] == "f (cut here)"


def test_the_system_prompt_the_last_source_and_the_loop_are_cached() -> None:
    body = body_of(replace(ASKED, system="Be brief."))

    marked = [block["type"] for block in body["messages"][0]["content"] if "cache_control" in block]
    assert body["system"] == [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    assert marked == ["search_result"]
    assert "cache_control" not in body["messages"][0]["content"][0]
    assert body["cache_control"] == {"type": "ephemeral"}
    assert "cache_control" not in body_of(HELLO)


def test_no_temperature_is_sent_and_nothing_that_was_not_asked_for() -> None:
    assert body_of(HELLO) == {
        "model": "m",
        "max_tokens": 4096,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Say hello."}]}],
    }


def test_without_citations_of_its_own_sources_are_numbered_text() -> None:
    body = body_of(ASKED, native=False)

    assert [block["text"] for block in body["messages"][0]["content"]] == [*map(str, SOURCES), "When?"]


def test_a_citation_of_a_source_that_is_no_longer_shown_becomes_a_mark() -> None:
    history = (
        Message.user("When?"),
        Message("assistant", (TextBlock("At nine."), ProviderCitation(5, 2, 3))),
        Message.user("Sure?"),
    )

    body = body_of(Request(history))

    assert body["messages"][1]["content"] == [{"type": "text", "text": "At nine. [5:2-3]"}]


def test_blank_texts_and_what_other_wires_want_back_are_left_out() -> None:
    history = (
        Message("user", (TextBlock(" \n"), TextBlock("Hi"))),
        Message("assistant", (ProviderCitation(1, 1, 1), OpaqueBlock("openai", "{}"))),
        Message.user("Well?"),
    )

    body = body_of(Request(history))

    assert [turn["content"][0]["text"] for turn in body["messages"]] == ["Hi", "Well?"]


@pytest.mark.parametrize(
    "chunk",
    [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "early"}},
        {"type": "content_block_stop", "index": 3},
        {"type": "content_block_start", "index": 0, "content_block": None},
        {"type": "message_start", "message": None},
        {"type": "message_delta", "delta": []},
    ],
)
def test_a_chunk_that_is_not_as_promised_is_a_bad_response(chunk: dict[str, Any]) -> None:
    with pytest.raises(BadResponseError, match="unknown shape"):
        list(WIRE.reader(HELLO, native=False).read(chunk))


NOWHERE = [
    {"search_result_index": 0, "start_block_index": first, "end_block_index": end}
    for first, end in [(1, 0), (1, 1), (-5, 1), (None, 1), (0, 1.5), ("0", "1")]
]


def test_what_a_newer_wire_adds_is_passed_over() -> None:
    reader = WIRE.reader(ASKED, native=True)
    start = {"type": "content_block_start", "index": 0}
    delta = {"type": "content_block_delta", "index": 0}
    chunks: list[dict[str, Any]] = [
        {"type": "new_event"},
        {"type": "message_start", "message": {"model": "m"}},
        start | {"content_block": {"type": "text", "text": "It "}},
        delta | {"delta": {"type": "new_delta"}},
        delta | {"delta": {"type": "text_delta", "text": "opens."}},
        delta | {"delta": {"type": "citations_delta", "citation": {"type": "char_location"}}},
        delta | {"delta": {"type": "citations_delta", "citation": {"search_result_index": 9}}},
        *(delta | {"delta": {"type": "citations_delta", "citation": place}} for place in NOWHERE),
        {"type": "content_block_stop", "index": 0},
        start | {"content_block": {"type": "server_tool_use", "id": "1", "name": "n", "input": {}}},
        {"type": "content_block_stop", "index": 0},
        start | {"content_block": {"type": "tool_use", "id": "1", "name": "ferry", "input": {"port": "Faro"}}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "new_reason"}, "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
    ]

    for chunk in chunks:
        list(reader.read(chunk))
    finished = reader.finish()

    assert finished is not None
    assert finished.message.parts == (TextBlock("It opens."), ToolCall("1", "ferry", '{"port": "Faro"}'))
    assert (finished.stop, finished.usage.known) == ("other", False)
