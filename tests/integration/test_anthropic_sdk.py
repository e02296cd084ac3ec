"""Anthropic's own SDK parses the replies of the fake server, so the fake is faithful."""

from __future__ import annotations

import asyncio
import importlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from openbook.llm.messages import OpaqueBlock, ProviderCitation, ToolCall, Usage
from openbook.testing import FakeServer, Fault, Refusal, ScriptedReply

Servers = Callable[..., FakeServer]

ASK = {"role": "user", "content": "When does the tide turn?"}
CALL = ToolCall("c1", "search", '{"query": "tide", "limit": 3}')
SEARCH = {
    "name": "search",
    "description": "Search the sources.",
    "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}},
}
TABLE = {
    "type": "search_result",
    "source": "tides.md:1-2",
    "title": "Tides",
    "content": [{"type": "text", "text": "High at six."}, {"type": "text", "text": "Low at noon."}],
    "citations": {"enabled": True},
}
USED = {"type": "tool_use", "id": "c1", "name": "search", "input": {"query": "tide"}}
RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "at noon"}


def sdk() -> Any:
    """Import the SDK only in tests that use it: that takes a second, and each worker collects this module."""
    return importlib.import_module("anthropic")


@contextmanager
def client(server: FakeServer, **options: Any) -> Iterator[Any]:
    settings: dict[str, Any] = {"api_key": server.key, "base_url": server.anthropic_url, "max_retries": 0}
    with sdk().Anthropic(**(settings | options)) as connected:
        yield connected


def ask(server: FakeServer, **fields: Any) -> Any:
    """Send a request, and return the reply; if streamed, assembled by the SDK."""
    body = {"model": "claude-sonnet-5-5", "max_tokens": 100, "messages": [ASK]} | fields
    with client(server) as connected:
        if body.pop("stream", True):
            with connected.messages.stream(**body) as stream:
                return stream.get_final_message()
        return connected.messages.create(**body)


@pytest.mark.parametrize("stream", [True, False])
def test_a_text_with_its_usage_and_reason_arrives(fake_server: Servers, stream: bool) -> None:
    server = fake_server(
        ScriptedReply("Ebb — at noon ⚓.", usage=Usage(20, 4, cached_input_tokens=8, cache_write_tokens=2))
    )

    message = ask(server, stream=stream)

    assert [(block.type, block.text) for block in message.content] == [("text", "Ebb — at noon ⚓.")]
    assert (message.stop_reason, message.model) == ("end_turn", "claude-sonnet-5-5")
    usage = message.usage
    assert (usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (10, 8, 2)
    assert usage.output_tokens == 4


@pytest.mark.parametrize("stream", [True, False])
def test_tool_calls_arrive_whole(fake_server: Servers, stream: bool) -> None:
    server = fake_server(ScriptedReply("Let me look.", CALL, ToolCall("c2", "search", "{}")))

    message = ask(server, stream=stream, tools=[SEARCH])

    assert [block.type for block in message.content] == ["text", "tool_use", "tool_use"]
    assert [(block.id, block.input) for block in message.content[1:]] == [
        ("c1", {"query": "tide", "limit": 3}),
        ("c2", {}),
    ]
    assert message.stop_reason == "tool_use"


def test_the_arguments_of_a_call_come_in_pieces(fake_server: Servers) -> None:
    server = fake_server(ScriptedReply(CALL), piece=4)

    with client(server) as connected:
        chunks = list(
            connected.messages.create(
                model="claude-sonnet-5-5", max_tokens=9, messages=[ASK], tools=[SEARCH], stream=True
            )
        )

    pieces = [chunk.delta.partial_json for chunk in chunks if chunk.type == "content_block_delta"]
    assert len(pieces) > 5
    assert "".join(pieces) == CALL.arguments


@pytest.mark.parametrize("stream", [True, False])
def test_citations_point_at_the_units_of_search_results(fake_server: Servers, stream: bool) -> None:
    server = fake_server(ScriptedReply("Low water is at noon.", ProviderCitation(1, 2, 2), " Ask again."))

    message = ask(server, stream=stream, messages=[{"role": "user", "content": [TABLE, {"type": "text", "text": "?"}]}])

    [location] = message.content[0].citations
    assert location.type == "search_result_location"
    assert (location.search_result_index, location.start_block_index, location.end_block_index) == (0, 1, 2)
    assert (location.cited_text, location.source, location.title) == ("Low at noon.", "tides.md:1-2", "Tides")
    assert not message.content[1].citations


def test_thinking_arrives_with_its_signature(fake_server: Servers) -> None:
    thought = '{"type": "thinking", "thinking": "Noon, surely.", "signature": "sig"}'
    server = fake_server(ScriptedReply(OpaqueBlock("anthropic", thought), "Noon."))

    message = ask(server)

    assert (message.content[0].thinking, message.content[0].signature) == ("Noon, surely.", "sig")


@pytest.mark.parametrize("stream", [True, False])
def test_a_reply_can_be_empty(fake_server: Servers, stream: bool) -> None:
    server = fake_server(ScriptedReply(stop="length"))

    message = ask(server, stream=stream)

    assert (message.content, message.stop_reason) == ([], "max_tokens")


def test_usage_can_be_missing(fake_server: Servers) -> None:
    server = fake_server(ScriptedReply("Noon.", usage=None))

    message = ask(server, stream=False)

    assert "usage" not in message.to_dict()


@pytest.mark.parametrize(
    ("step", "error"),
    [
        pytest.param(Refusal(401), "AuthenticationError", id="401"),
        pytest.param(Refusal(404), "NotFoundError", id="404"),
        pytest.param(Refusal(429, headers={"retry-after": "7"}), "RateLimitError", id="429"),
        pytest.param(Refusal(500), "InternalServerError", id="500"),
        pytest.param(Refusal(529), "APIStatusError", id="529"),
    ],
)
def test_refusals_are_errors_of_the_sdk(fake_server: Servers, step: Refusal, error: str) -> None:
    server = fake_server(step)

    with pytest.raises(getattr(sdk(), error)) as caught:
        ask(server)

    fault: Any = caught.value
    assert fault.status_code == step.status
    assert fault.body["error"]["message"] == step.message
    assert fault.response.headers.get("retry-after") == step.headers.get("retry-after")


def test_a_wrong_key_is_refused_and_takes_no_step(fake_server: Servers) -> None:
    server = fake_server("Noon.")

    with client(server, api_key="wrong") as connected, pytest.raises(sdk().AuthenticationError):
        connected.messages.create(model="claude-sonnet-5-5", max_tokens=9, messages=[ASK])

    assert server.requests == []
    assert ask(server).content[0].text == "Noon."


@pytest.mark.parametrize("stream", [True, False])
def test_a_connection_that_breaks_is_an_error_and_not_an_end(fake_server: Servers, stream: bool) -> None:
    server = fake_server(Fault("cut", after=4))

    with pytest.raises((httpx2.RemoteProtocolError, sdk().APIConnectionError)):
        ask(server, stream=stream)


def test_a_stream_can_end_without_its_end(fake_server: Servers) -> None:
    server = fake_server(Fault("end", after=4))

    with client(server) as connected:
        chunks = list(connected.messages.create(model="claude-sonnet-5-5", max_tokens=9, messages=[ASK], stream=True))

    assert [chunk.type for chunk in chunks] == ["message_start", "content_block_start", "content_block_delta"]


@pytest.mark.parametrize("stream", [True, False])
def test_what_is_not_json_is_an_error(fake_server: Servers, stream: bool) -> None:
    server = fake_server(Fault("malformed", after=2))

    with pytest.raises((ValueError, sdk().APIError)):
        ask(server, stream=stream)


def test_an_error_can_come_inside_of_a_stream(fake_server: Servers) -> None:
    server = fake_server(Fault("error", after=4))

    with pytest.raises(sdk().APIStatusError) as caught:
        ask(server)

    body: Any = caught.value.body
    assert body["error"]["type"] == "overloaded_error"


def test_a_first_byte_that_does_not_come_runs_into_the_timeout(fake_server: Servers) -> None:
    server = fake_server(Fault("hold"))

    with client(server, timeout=0.2) as connected, pytest.raises(sdk().APITimeoutError):
        connected.messages.create(model="claude-sonnet-5-5", max_tokens=9, messages=[ASK], stream=True)

    assert server.wait_for_disconnect()


def test_the_server_sees_that_a_stream_was_closed(fake_server: Servers) -> None:
    server = fake_server(Fault("hold", after=4))

    with client(server) as connected:
        stream = connected.messages.create(model="claude-sonnet-5-5", max_tokens=9, messages=[ASK], stream=True)
        next(stream)
        stream.close()

    assert server.wait_for_disconnect()


def test_the_client_that_does_not_block_reads_the_same(fake_server: Servers) -> None:
    server = fake_server("Noon.")

    async def text() -> Any:
        async with (
            sdk().AsyncAnthropic(api_key=server.key, base_url=server.anthropic_url) as connected,
            connected.messages.stream(model="claude-sonnet-5-5", max_tokens=9, messages=[ASK]) as stream,
        ):
            return await stream.get_final_text()

    assert asyncio.run(text()) == "Noon."


def test_several_clients_are_served_at_once(fake_server: Servers) -> None:
    together = threading.Barrier(2)

    def wait(_: object) -> str:
        together.wait(timeout=10)
        return "Noon."

    server = fake_server(wait, wait)
    said: list[str] = []
    threads = [threading.Thread(target=lambda: said.append(ask(server).content[0].text)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert said == ["Noon.", "Noon."]


def text(words: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **fields}


MARK = {"cache_control": {"type": "ephemeral"}}
ASKED = {"role": "assistant", "content": [USED]}


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        pytest.param({"extra_body": {"temperature": 0}}, "temperature: Extra inputs", id="unknown-field"),
        pytest.param({"max_tokens": 0}, "max_tokens", id="no-tokens"),
        pytest.param({"messages": []}, "at least one message", id="no-messages"),
        pytest.param({"messages": [{"role": "assistant", "content": "Hm."}]}, "first message", id="begins-with-reply"),
        pytest.param({"messages": [{"role": "system", "content": "Be brief."}]}, "Unexpected role", id="system-role"),
        pytest.param({"messages": [ASK, {"role": "assistant", "content": "It"}]}, "prefill", id="prefill"),
        pytest.param({"messages": [{"role": "user", "content": ""}]}, "non-empty content", id="empty-message"),
        pytest.param({"messages": [{"role": "user", "content": [text(" ")]}]}, "non-whitespace", id="blank-text"),
        pytest.param({"messages": [{"role": "user", "content": [USED]}]}, "Input tag 'tool_use'", id="call-of-a-user"),
        pytest.param({"stop_sequences": ["\n"]}, "stop_sequences", id="blank-stop"),
        pytest.param({"tools": [SEARCH, SEARCH]}, "unique", id="tools-of-one-name"),
        pytest.param({"tools": [SEARCH | {"name": "a b"}]}, "pattern", id="name-of-tool"),
        pytest.param({"tools": [SEARCH | {"input_schema": {"type": "string"}}]}, "'object'", id="schema-of-tool"),
        pytest.param({"tool_choice": {"type": "any"}}, "while providing tools", id="choice-without-tools"),
        pytest.param(
            {"tools": [SEARCH], "tool_choice": {"type": "tool", "name": "x"}}, "'x' not found", id="choice-of-no-tool"
        ),
        pytest.param({"messages": [ASK, ASKED, ASK], "tools": [SEARCH]}, "without `tool_result`", id="no-result"),
        pytest.param(
            {"messages": [ASK, ASKED, {"role": "user", "content": [text("Here:"), RESULT]}], "tools": [SEARCH]},
            "without `tool_result`",
            id="result-behind-text",
        ),
        pytest.param(
            {"messages": [{"role": "user", "content": [RESULT]}], "tools": [SEARCH]},
            "unexpected `tool_use_id`",
            id="result-without-call",
        ),
        pytest.param(
            {"messages": [ASK, ASKED, {"role": "user", "content": [RESULT]}]},
            "must define tools",
            id="calls-without-tools",
        ),
        pytest.param({"system": [text("Hi.", **MARK)] * 5}, "Found 5", id="five-cache-marks"),
        pytest.param(
            {"messages": [{"role": "user", "content": [TABLE, TABLE | {"citations": {"enabled": False}}]}]},
            "for all search results",
            id="some-citations",
        ),
        pytest.param(
            {"messages": [{"role": "user", "content": [TABLE | {"content": []}]}]}, "not be empty", id="empty-source"
        ),
        pytest.param(
            {"messages": [{"role": "user", "content": [TABLE | {"place": "x"}]}]}, "place: Extra", id="field-of-block"
        ),
    ],
)
def test_what_the_api_refuses_is_refused(fake_server: Servers, fields: dict[str, Any], complaint: str) -> None:
    server = fake_server()

    with pytest.raises(sdk().BadRequestError) as caught:
        ask(server, stream=False, **fields)

    assert complaint in str(caught.value)
    assert server.requests == []


def test_what_the_api_takes_is_taken(fake_server: Servers) -> None:
    server = fake_server("Noon.")
    answered = {"role": "user", "content": [RESULT, text("And then?")]}
    cited = text(
        "Low.",
        citations=[
            {
                "type": "search_result_location",
                "cited_text": "Low at noon.",
                "source": "tides.md:1-2",
                "title": "Tides",
                "search_result_index": 0,
                "start_block_index": 1,
                "end_block_index": 2,
            }
        ],
    )

    message = ask(
        server,
        system=[text("Be brief.", **MARK)],
        tools=[SEARCH],
        tool_choice={"type": "tool", "name": "search"},
        stop_sequences=["END"],
        messages=[
            {"role": "user", "content": [TABLE | MARK, text("?")]},
            {"role": "assistant", "content": [cited]},
            ASK,
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, USED]},
            answered,
        ],
        cache_control={"type": "ephemeral"},
    )

    assert message.content[0].text == "Noon."
    assert server.requests[0].body["messages"][4] == answered


def test_a_header_that_is_missing_is_refused(fake_server: Servers) -> None:
    server = fake_server()

    response = httpx2.post(f"{server.anthropic_url}/v1/messages", json={}, headers={"x-api-key": server.key})

    assert (response.status_code, response.json()["error"]["type"]) == (400, "invalid_request_error")
    assert "anthropic-version" in response.json()["error"]["message"]


def test_a_path_that_is_not_known_is_not_found(fake_server: Servers) -> None:
    server = fake_server()

    assert httpx2.post(f"{server.anthropic_url}/v2/messages", json={}).status_code == 404
