"""The server side of OpenAI Chat Completions: validates requests, and formats replies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from openbook.llm.messages import ProviderCitation, TextBlock
from openbook.testing.script import ReceivedRequest, Refusal, ScriptedReply
from openbook.testing.strictness import expect, only

Json = dict[str, Any]

_TYPES = {401: "invalid_request_error", 429: "requests"}
_CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}
# A refusal ends with `stop`, with its text in a field of its own.
_STOPS = {"end": "stop", "length": "length", "tools": "tool_calls", "stop": "stop", "refused": "stop"}
_STOPS |= {"filtered": "content_filter"}

# The fields of openai 3.54 and groq 1.7 for text.
_FIELDS = frozenset(
    {"frequency_penalty", "logit_bias", "logprobs", "max_completion_tokens", "max_tokens", "messages", "metadata"}
    | {"model", "n", "parallel_tool_calls", "presence_penalty", "prompt_cache_key", "reasoning_effort"}
    | {"response_format", "seed", "service_tier", "stop", "store", "stream", "stream_options", "temperature"}
    | {"tool_choice", "tools", "top_logprobs", "top_p", "user", "verbosity"}
)
_GROQ_FIELDS = frozenset({"citation_options", "documents", "reasoning_format"})
_OF_ROLE = {
    "system": ({"content"}, {"name"}),
    "developer": ({"content"}, {"name"}),
    "user": ({"content"}, {"name"}),
    "assistant": (set(), {"content", "name", "refusal", "tool_calls"}),
    "tool": ({"content", "tool_call_id"}, set()),
}
_UNKNOWN = "Unrecognized request argument supplied: {place}{name}"
_MISSING = "Missing required parameter: '{place}{name}'."
_NAME = re.compile(r"[\w-]{1,64}", re.ASCII)
_PARTS = ("text", "image_url", "file")
_IMAGE_URL = re.compile(r"https?://|data:image/(?:gif|jpeg|png|webp);base64,")
_MAX_STOPS = 4


def check_headers(headers: Mapping[str, str], key: str) -> None:
    """Reject a request without the right key."""
    given = headers.get("authorization", "").removeprefix("Bearer ")
    expect(given == key, f"Incorrect API key provided: {given[:8]}***.", status=401)


def check(body: Json, *, groq: bool) -> None:
    """Reject what the API would reject. Groq's has a few more fields."""
    _only(body, "", _FIELDS | (_GROQ_FIELDS if groq else set()), {"model", "messages"})
    limits = {"max_tokens", "max_completion_tokens"} & body.keys()
    expect(len(limits) < 2, "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
    for limit in limits:
        expect(
            isinstance(body[limit], int) and body[limit] >= 1, f"Invalid '{limit}': below minimum value.", param=limit
        )
    stops = body.get("stop") or []
    expect(isinstance(stops, str) or len(stops) <= _MAX_STOPS, "Invalid 'stop': array too long.", param="stop")
    if body.get("stream_options") is not None:
        expect(bool(body.get("stream")), "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
    _check_tools(body)
    _check_messages(body["messages"])


def _check_tools(body: Json) -> None:
    tools = body.get("tools", [])
    expect("tools" not in body or bool(tools), "Invalid 'tools': empty array.", param="tools")
    for index, tool in enumerate(tools):
        place = f"tools[{index}]."
        _only(tool, place, {"type", "function"}, {"type", "function"})
        expect(tool["type"] == "function", f"Invalid value: '{tool['type']}'.", param=f"{place}type")
        function, place = tool["function"], f"{place}function."
        _only(function, place, {"name", "description", "parameters", "strict"}, {"name"})
        expect(bool(_NAME.fullmatch(function["name"])), f"Invalid '{place}name': string does not match pattern.")
        schema = function.get("parameters", {"type": "object"})
        expect(schema.get("type") == "object", f"Invalid schema for function '{function['name']}'.")
    for name in ("tool_choice", "parallel_tool_calls"):
        expect(bool(tools) or name not in body, f"'{name}' is only allowed when 'tools' are specified.", param=name)
    choice = body.get("tool_choice", "auto")
    if isinstance(choice, dict):
        _only(choice, "tool_choice.", {"type", "function"}, {"type", "function"})
        names = [tool["function"]["name"] for tool in tools]
        expect(choice["function"].get("name") in names, "Tool choice names a function that is not in 'tools'.")
    else:
        expect(choice in ("auto", "none", "required"), f"Invalid value: '{choice}'.", param="tool_choice")


def _check_messages(messages: list[Json]) -> None:
    expect(bool(messages), "Invalid 'messages': empty array.", param="messages")
    waiting: set[str] = set()
    for index, message in enumerate(messages):
        place = f"messages[{index}]."
        role = message.get("role")
        expect(role in _OF_ROLE, f"Invalid value: '{role}'.", param=f"{place}role")
        required, optional = _OF_ROLE[str(role)]
        _only(message, place, {"role"} | required | optional, required)
        if role == "tool":
            expect(message["tool_call_id"] in waiting, _STRAY, param=f"{place}role")
            waiting.discard(message["tool_call_id"])
        else:
            expect(not waiting, _unanswered(waiting))
        waiting |= {_check_call(call, place) for call in message.get("tool_calls") or ()}
        _check_content(message, place)
    expect(not waiting, _unanswered(waiting))


_STRAY = "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'."


def _unanswered(calls: set[str]) -> str:
    return (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        f"The following tool_call_ids did not have response messages: {', '.join(sorted(calls))}"
    )


def _check_call(call: Json, place: str) -> str:
    _only(call, f"{place}tool_calls.", {"id", "type", "function"}, {"id", "type", "function"})
    _only(call["function"], f"{place}tool_calls.function.", {"name", "arguments"}, {"name", "arguments"})
    name = str(call["function"]["name"])
    expect(bool(_NAME.fullmatch(name)), f"Invalid '{place}tool_calls.function.name': string does not match pattern.")
    expect(isinstance(call["function"]["arguments"], str), f"Invalid type for '{place}tool_calls': expected a string.")
    return str(call["id"])


def _check_content(message: Json, place: str) -> None:
    content = message.get("content")
    if content is None:
        expect(bool(message.get("tool_calls")), "Invalid value for 'content': expected a string, got null.")
        return
    if isinstance(content, list):
        expect(bool(content), f"Invalid '{place}content': empty array.")
        for part in content:
            _check_part(part, f"{place}content.")
    else:
        expect(isinstance(content, str), f"Invalid type for '{place}content'.", param=f"{place}content")


def _check_part(part: Json, place: str) -> None:
    kind = part.get("type")
    expect(kind in _PARTS, f"Invalid value: '{kind}'.", param=f"{place}type")
    _only(part, place, {"type", str(kind)}, {"type", str(kind)})
    if kind == "image_url":
        _only(part[kind], f"{place}image_url.", {"url", "detail"}, {"url"})
        expect(bool(_IMAGE_URL.match(part[kind]["url"])), "Invalid image URL.", param=f"{place}image_url")
    elif kind == "file":
        _only(part[kind], f"{place}file.", {"filename", "file_data"}, {"filename", "file_data"})
        is_pdf = part[kind]["file_data"].startswith("data:application/pdf;base64,")
        expect(is_pdf, "Invalid file data.", param=f"{place}file.file_data")


def _only(value: Json, place: str, allowed: set[str] | frozenset[str], required: set[str]) -> None:
    only(value, place, allowed, required=required, unknown=_UNKNOWN, missing=_MISSING)


def failure(refusal: Refusal, number: int) -> Json:
    """Format an error."""
    kind = _TYPES.get(refusal.status, "server_error" if refusal.status >= 500 else "invalid_request_error")
    code = _CODES.get(refusal.status)
    return {"error": {"message": refusal.message, "type": kind, "param": refusal.param, "code": code}}


def whole(reply: ScriptedReply, received: ReceivedRequest, number: int) -> Json:
    """Format a reply that is not streamed."""
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in reply.message.calls
    ]
    message: Json = {"role": "assistant", "content": None, "refusal": None, _said_in(reply): reply.message.text or None}
    message |= {"tool_calls": calls} if calls else {}
    message |= {"annotations": list(_annotations(reply, received))} if _documents(received) else {}
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": _STOPS.get(reply.stop, "function_call"),
    }
    usage = {} if reply.usage is None else {"usage": _usage(reply)}
    return _head(received, number, "chat.completion") | {"choices": [choice]} | usage


def events(reply: ScriptedReply, received: ReceivedRequest, number: int, piece: int) -> Iterator[Json]:
    """Format a reply as the chunks of a stream."""
    asked = bool((received.body.get("stream_options") or {}).get("include_usage"))
    groq = is_groq(received.path)
    head = _head(received, number, "chat.completion.chunk") | ({"usage": None} if asked else {})
    for delta in _deltas(reply, received, piece):
        yield head | {"choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}]}
    end = {"index": 0, "delta": {}, "logprobs": None, "finish_reason": _STOPS.get(reply.stop, "function_call")}
    own = {"x_groq": {"id": f"req_{number}", "usage": _usage(reply)}} if groq and reply.usage is not None else {}
    yield head | {"choices": [end]} | own
    if asked and reply.usage is not None:
        yield head | {"choices": [], "usage": _usage(reply)}


def frame(event: Json) -> str:
    """Format a chunk as it is sent."""
    return f"data: {json.dumps(event, ensure_ascii=False)}\n\n"


def is_groq(path: str) -> bool:
    """Return whether a path is one of Groq's, whose API begins with `/openai/v1`."""
    return path.startswith("/openai/")


def _head(received: ReceivedRequest, number: int, kind: str) -> Json:
    # 2026-01-01, constant so that replies do not differ.
    return {"id": f"chatcmpl-{number}", "object": kind, "created": 1767225600, "model": received.body["model"]}


def _usage(reply: ScriptedReply) -> Json:
    usage = reply.usage
    assert usage is not None
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_input_tokens},
    }


def _deltas(reply: ScriptedReply, received: ReceivedRequest, piece: int) -> Iterator[Json]:
    yield {"role": "assistant", "content": "", "refusal": None}
    text = reply.message.text
    for start in range(0, len(text), piece):
        yield {_said_in(reply): text[start : start + piece]}
    for index, call in enumerate(reply.message.calls):
        begun = {"name": call.name, "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": begun}]}
        for start in range(0, len(call.arguments), piece):
            more = {"arguments": call.arguments[start : start + piece]}
            yield {"tool_calls": [{"index": index, "function": more}]}
    if annotations := list(_annotations(reply, received)):
        yield {"annotations": annotations}


def _said_in(reply: ScriptedReply) -> str:
    return "refusal" if reply.stop == "refused" else "content"


def _documents(received: ReceivedRequest) -> list[Json]:
    return received.body.get("documents") or []


def _annotations(reply: ScriptedReply, received: ReceivedRequest) -> Iterator[Json]:
    """Yield citations in Groq's format: the cited words and the document, without units."""
    at, begun = 0, 0
    for part in reply.message.parts:
        match part:
            case TextBlock(text):
                at, begun = at + len(text), at
            case ProviderCitation(source=source):
                cited = {"document_id": _documents(received)[source - 1]["id"], "start_index": begun, "end_index": at}
                yield {"type": "document_citation", "document_citation": cited}
