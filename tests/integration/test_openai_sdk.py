"""OpenAI's own SDK reads what the script of the fake server says, so the server is known to be faithful."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import openai
import pytest

from openbook.llm.messages import ProviderCitation, ToolCall, Usage
from openbook.testing import FakeServer, Fault, Refusal, ScriptedReply

Servers = Callable[..., FakeServer]

ASK = {"role": "user", "content": "When does the tide turn?"}
CALL = ToolCall("c1", "search", '{"query": "tide", "limit": 3}')
SEARCH = {
    "type": "function",
    "function": {
        "name": "search",
        "description": "Search the sources.",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
    },
}
ASKED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "at noon"}


@contextmanager
def client(server: FakeServer, **options: Any) -> Iterator[Any]:
    settings: dict[str, Any] = {"api_key": server.key, "base_url": server.openai_url, "max_retries": 0}
    with openai.OpenAI(**(settings | options)) as connected:
        yield connected


def ask(server: FakeServer, *, url: str = "", **fields: Any) -> Any:
    """Send a request, and give the completion; if it is streamed, put together by the SDK."""
    body = {"model": "gpt-6.1-terra", "messages": [ASK]} | fields
    with client(server, base_url=url or server.openai_url) as connected:
        if body.pop("stream", True):
            with connected.chat.completions.stream(**body) as stream:
                return stream.get_final_completion()
        return connected.chat.completions.create(**body)


def chunks_of(server: FakeServer, *, url: str = "", **fields: Any) -> list[Any]:
    with client(server, base_url=url or server.openai_url) as connected:
        return list(connected.chat.completions.create(model="gpt-6.1-terra", messages=[ASK], stream=True, **fields))


@pytest.mark.slow
@pytest.mark.parametrize("stream", [True, False])
def test_a_text_with_its_usage_and_reason_arrives(fake_server: Servers, stream: bool) -> None:
    server = fake_server(ScriptedReply("Ebb — at noon ⚓.", usage=Usage(20, 4, cached_input_tokens=8)))
    asked: dict[str, Any] = {"stream_options": {"include_usage": True}} if stream else {}

    completion = ask(server, stream=stream, **asked)

    [choice] = completion.choices
    assert (choice.message.content, choice.finish_reason) == ("Ebb — at noon ⚓.", "stop")
    assert completion.model == "gpt-6.1-terra"
    usage = completion.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (20, 4, 24)
    assert usage.prompt_tokens_details.cached_tokens == 8


@pytest.mark.slow
@pytest.mark.parametrize("stream", [True, False])
def test_tool_calls_arrive_whole(fake_server: Servers, stream: bool) -> None:
    server = fake_server(ScriptedReply("Let me look.", CALL, ToolCall("c2", "search", "{}")))

    completion = ask(server, stream=stream, tools=[SEARCH])

    [choice] = completion.choices
    assert choice.message.content == "Let me look."
    assert [(call.id, call.function.name, call.function.arguments) for call in choice.message.tool_calls] == [
        ("c1", "search", CALL.arguments),
        ("c2", "search", "{}"),
    ]
    assert choice.finish_reason == "tool_calls"


def test_the_arguments_of_a_call_come_in_pieces(fake_server: Servers) -> None:
    server = fake_server(ScriptedReply(CALL), piece=4)

    chunks = chunks_of(server, tools=[SEARCH])

    deltas = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or ()]
    assert (deltas[0].id, deltas[0].function.name) == ("c1", "search")
    assert {(delta.index, delta.id) for delta in deltas[1:]} == {(0, None)}
    assert len(deltas) > 5


def test_usage_comes_only_if_a_stream_asks_for_it(fake_server: Servers) -> None:
    server = fake_server("Noon.", "Noon.")

    silent, asked = chunks_of(server), chunks_of(server, stream_options={"include_usage": True})

    assert [chunk.usage for chunk in silent if chunk.usage] == []
    assert (asked[-1].choices, asked[-1].usage.total_tokens) == ([], 15)


def test_usage_can_be_missing(fake_server: Servers) -> None:
    server = fake_server(ScriptedReply("Noon.", usage=None), ScriptedReply("Noon.", usage=None))

    chunks = chunks_of(server, stream_options={"include_usage": True})

    assert not any(chunk.usage for chunk in chunks)
    assert ask(server, stream=False).usage is None


@pytest.mark.parametrize("stream", [True, False])
def test_a_reply_can_be_empty(fake_server: Servers, stream: bool) -> None:
    server = fake_server(ScriptedReply(stop="filtered"))

    [choice] = ask(server, stream=False).choices if not stream else [chunks_of(server)[-1].choices[0]]

    assert choice.finish_reason == "content_filter"


def test_groq_cites_documents_and_reports_usage_in_its_own_fields(fake_server: Servers) -> None:
    server = fake_server(ScriptedReply("Ask. ", "Low at noon.", ProviderCitation(1, 1, 1)))
    documents = [{"id": "1", "source": {"type": "text", "text": "Low at noon."}}]

    chunks = chunks_of(server, url=server.groq_url, extra_body={"documents": documents, "citation_options": "enabled"})

    sent = [chunk.to_dict() for chunk in chunks]
    [annotations] = [
        delta["annotations"] for chunk in sent for delta in [chunk["choices"][0]["delta"]] if "annotations" in delta
    ]
    assert annotations == [
        {"type": "document_citation", "document_citation": {"document_id": "1", "start_index": 5, "end_index": 17}}
    ]
    assert sent[-1]["x_groq"]["usage"]["total_tokens"] == 15


@pytest.mark.parametrize(
    ("step", "error"),
    [
        pytest.param(Refusal(401), openai.AuthenticationError, id="401"),
        pytest.param(Refusal(404), openai.NotFoundError, id="404"),
        pytest.param(Refusal(429, headers={"retry-after": "7"}), openai.RateLimitError, id="429"),
        pytest.param(Refusal(500), openai.InternalServerError, id="500"),
        pytest.param(Refusal(529), openai.InternalServerError, id="529"),
    ],
)
def test_refusals_are_errors_of_the_sdk(fake_server: Servers, step: Refusal, error: type[Exception]) -> None:
    server = fake_server(step)

    with pytest.raises(error) as caught:
        ask(server)

    fault: Any = caught.value
    assert fault.status_code == step.status
    assert fault.body["message"] == step.message
    assert fault.response.headers.get("retry-after") == step.headers.get("retry-after")


def test_a_wrong_key_is_refused_and_takes_no_step(fake_server: Servers) -> None:
    server = fake_server("Noon.")

    with client(server, api_key="wrong") as connected, pytest.raises(openai.AuthenticationError):
        connected.chat.completions.create(model="gpt-6.1-terra", messages=[ASK])

    assert server.requests == []
    assert ask(server).choices[0].message.content == "Noon."


@pytest.mark.parametrize("stream", [True, False])
def test_a_connection_that_breaks_is_an_error_and_not_an_end(fake_server: Servers, stream: bool) -> None:
    server = fake_server(Fault("cut", after=2))

    with pytest.raises(openai.APIConnectionError):
        ask(server, stream=stream)


def test_a_stream_can_end_without_its_end(fake_server: Servers) -> None:
    server = fake_server(Fault("end", after=3))

    chunks = chunks_of(server)

    assert [chunk.choices[0].finish_reason for chunk in chunks] == [None] * 3


@pytest.mark.parametrize("stream", [True, False])
def test_what_is_not_json_is_an_error(fake_server: Servers, stream: bool) -> None:
    server = fake_server(Fault("malformed", after=2))

    with pytest.raises(ValueError, match=r"Expecting|Unterminated"):
        ask(server, stream=stream)


def test_an_error_can_come_inside_of_a_stream(fake_server: Servers) -> None:
    server = fake_server(Fault("error", after=2))

    with pytest.raises(openai.APIError, match="Overloaded"):
        ask(server)


@pytest.mark.slow
def test_a_first_byte_that_does_not_come_runs_into_the_timeout(fake_server: Servers) -> None:
    server = fake_server(Fault("hold"), Fault("hold"))

    for stream in (True, False):
        with client(server, timeout=0.2) as connected, pytest.raises(openai.APITimeoutError):
            connected.chat.completions.create(model="gpt-6.1-terra", messages=[ASK], stream=stream)

        assert server.wait_for_disconnect()


def test_the_server_sees_that_a_stream_was_closed(fake_server: Servers) -> None:
    server = fake_server(Fault("hold", after=2))

    with client(server) as connected:
        stream = connected.chat.completions.create(model="gpt-6.1-terra", messages=[ASK], stream=True)
        next(stream)
        stream.close()

    assert server.wait_for_disconnect()


def test_a_client_that_stays_to_the_end_is_not_missed(fake_server: Servers) -> None:
    server = fake_server("Noon.")

    ask(server)

    assert not server.wait_for_disconnect(timeout_s=0)


def test_the_client_that_does_not_block_reads_the_same(fake_server: Servers) -> None:
    server = fake_server("Noon.")

    async def completion() -> Any:
        async with openai.AsyncOpenAI(api_key=server.key, base_url=server.openai_url) as connected:
            messages: Any = [ASK]
            return await connected.chat.completions.create(model="gpt-6.1-terra", messages=messages)

    assert asyncio.run(completion()).choices[0].message.content == "Noon."


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        pytest.param({"extra_body": {"top_k": 1}}, "argument supplied: top_k", id="unknown-field"),
        pytest.param({"extra_body": {"documents": []}}, "argument supplied: documents", id="field-of-groq"),
        pytest.param({"max_tokens": 1, "max_completion_tokens": 1}, "at the same time", id="two-limits"),
        pytest.param({"max_tokens": 0}, "Invalid 'max_tokens'", id="no-tokens"),
        pytest.param({"stop": list("abcde")}, "Invalid 'stop'", id="five-stops"),
        pytest.param({"stream_options": {"include_usage": True}}, "'stream' is enabled", id="options-without-stream"),
        pytest.param({"messages": []}, "Invalid 'messages'", id="no-messages"),
        pytest.param({"messages": [{"role": "model", "content": "?"}]}, "Invalid value: 'model'", id="role"),
        pytest.param({"messages": [{"role": "user"}]}, "Missing required parameter", id="no-content"),
        pytest.param({"messages": [{"role": "user", "content": None}]}, "got null", id="content-is-null"),
        pytest.param({"messages": [{"role": "user", "content": []}]}, "empty array", id="content-is-empty"),
        pytest.param({"messages": [ASK, RESULT]}, "must be a response", id="result-without-call"),
        pytest.param({"messages": [ASK, ASKED], "tools": [SEARCH]}, "did not have response", id="call-at-the-end"),
        pytest.param({"messages": [ASK, ASKED, ASK]}, "did not have response messages: c1", id="call-without-result"),
        pytest.param({"messages": [ASK, ASKED, RESULT, RESULT]}, "must be a response", id="two-results-of-a-call"),
        pytest.param({"tools": []}, "Invalid 'tools'", id="empty-tools"),
        pytest.param({"tools": [{"type": "web", "function": {"name": "a"}}]}, "'web'", id="type-of-tool"),
        pytest.param({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "pattern", id="name-of-tool"),
        pytest.param({"tool_choice": "auto"}, "only allowed when 'tools'", id="choice-without-tools"),
        pytest.param({"parallel_tool_calls": False}, "only allowed when 'tools'", id="parallel-without-tools"),
        pytest.param({"tools": [SEARCH], "tool_choice": "any"}, "Invalid value: 'any'", id="choice"),
        pytest.param(
            {"tools": [SEARCH], "tool_choice": {"type": "function", "function": {"name": "x"}}},
            "not in 'tools'",
            id="choice-of-no-tool",
        ),
    ],
)
def test_what_the_api_refuses_is_refused(fake_server: Servers, fields: dict[str, Any], complaint: str) -> None:
    server = fake_server()

    with pytest.raises(openai.BadRequestError) as caught:
        ask(server, stream=False, **fields)

    assert complaint in str(caught.value)
    assert server.requests == []


def test_what_the_api_takes_is_taken(fake_server: Servers) -> None:
    server = fake_server("Noon.")
    parts = {"role": "user", "content": [{"type": "text", "text": "And then?"}]}

    completion = ask(
        server,
        messages=[{"role": "system", "content": "Be brief."}, ASK, ASKED, RESULT, parts],
        tools=[SEARCH],
        tool_choice={"type": "function", "function": {"name": "search"}},
        max_completion_tokens=9,
        stop="END",
    )

    assert completion.choices[0].message.content == "Noon."
    assert server.requests[0].body["messages"][4] == parts
