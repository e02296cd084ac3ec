"""The server side of Anthropic Messages: validates requests, and formats replies."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from openbook.llm.messages import OpaqueBlock, ProviderCitation, TextBlock, ToolCall
from openbook.testing.script import ReceivedRequest, Refusal, ScriptedReply
from openbook.testing.strictness import expect, only

Json = dict[str, Any]

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_STOPS = {"end": "end_turn", "length": "max_tokens", "tools": "tool_use", "stop": "stop_sequence", "refused": "refusal"}

# The fields of anthropic 2.12, which no longer include `temperature`, `top_p` and `top_k`.
_FIELDS = frozenset(
    {"cache_control", "container", "diagnostics", "inference_geo", "max_tokens", "messages", "metadata", "model"}
    | {"output_config", "service_tier", "speed", "stop_sequences", "stream", "system", "thinking", "tool_choice"}
    | {"tools"}
)
# Required and optional fields of the block types that Openbook sends.
_BLOCKS = {
    "text": ({"text"}, {"cache_control", "citations"}),
    "image": ({"source"}, {"cache_control"}),
    "document": ({"source"}, {"cache_control", "citations", "context", "title"}),
    "search_result": ({"source", "title", "content"}, {"cache_control", "citations"}),
    "tool_result": ({"tool_use_id"}, {"cache_control", "content", "is_error"}),
    "tool_use": ({"id", "name", "input"}, {"cache_control"}),
    "thinking": ({"thinking", "signature"}, set()),
    "redacted_thinking": ({"data"}, set()),
}
_OF_ROLE = {
    "user": {"text", "image", "document", "search_result", "tool_result"},
    "assistant": {"text", "tool_use", "thinking", "redacted_thinking"},
}
_MEDIA = {
    "image": {"image/gif", "image/jpeg", "image/png", "image/webp"},
    "document": {"application/pdf"},
}
_LOCATION = {"type", "cited_text", "source", "title", "search_result_index", "start_block_index", "end_block_index"}
_NAME = re.compile(r"[\w-]{1,128}", re.ASCII)
_MAX_CACHE_MARKS = 4


def check_headers(headers: Mapping[str, str], key: str) -> None:
    """Reject a request without the right key, or without a version."""
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    expect(key in (headers.get("x-api-key"), bearer), "invalid x-api-key", status=401)
    expect("anthropic-version" in headers, "anthropic-version: header is required")


def check(body: Json) -> None:
    """Reject what the API would reject."""
    only(body, "", _FIELDS, required=("model", "max_tokens", "messages"))
    expect(isinstance(body["max_tokens"], int) and body["max_tokens"] >= 1, "max_tokens: must be 1 or more")
    stops = body.get("stop_sequences", [])
    expect(all(isinstance(stop, str) and stop.strip() for stop in stops), "stop_sequences: must contain non-whitespace")
    _check_tools(body)
    system = _blocks(body.get("system", []), "system")
    for place, block in system:
        _check_block(block, place, {"text"})
    _check_messages(body)
    everything = [body, *body.get("tools", []), *(block for _, block in [*system, *_all_blocks(body)])]
    marks = [item["cache_control"] for item in everything if item.get("cache_control")]
    expect(
        len(marks) <= _MAX_CACHE_MARKS,
        f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}.",
    )
    for mark in marks:
        only(mark, "cache_control.", ("type", "ttl"), required=("type",))
        expect(mark["type"] == "ephemeral", "cache_control.type: Input should be 'ephemeral'")


def _check_tools(body: Json) -> None:
    tools, choice = body.get("tools", []), body.get("tool_choice")
    for index, tool in enumerate(tools):
        place = f"tools.{index}."
        only(
            tool,
            place,
            ("cache_control", "description", "input_schema", "name", "strict", "type"),
            required=("name", "input_schema"),
        )
        expect(
            bool(_NAME.fullmatch(tool["name"])), f"{place}name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        )
        expect(tool["input_schema"].get("type") == "object", f"{place}input_schema.type: Input should be 'object'")
    names = [tool["name"] for tool in tools]
    expect(len(set(names)) == len(names), "tools: Tool names must be unique.")
    if choice is None:
        return
    expect(bool(tools), "tool_choice: may only be specified while providing tools")
    expect(choice.get("type") in ("auto", "any", "none", "tool"), "tool_choice.type: unknown")
    only(choice, "tool_choice.", ("type", "name", "disable_parallel_tool_use"), required=("type",))
    if choice["type"] == "tool":
        expect(choice.get("name") in names, f"Tool '{choice.get('name')}' not found in provided tools")


def _check_messages(body: Json) -> None:
    messages = body["messages"]
    expect(bool(messages), "messages: at least one message is required")
    waiting: set[str] = set()
    for index, message in enumerate(messages):
        place = f"messages.{index}"
        only(message, f"{place}.", ("role", "content"), required=("role", "content"))
        role = message["role"]
        expect(role in _OF_ROLE, f"messages: Unexpected role {role!r}. Use the top-level `system` parameter instead.")
        expect(index > 0 or role == "user", "messages: first message must use the user role")
        blocks = _blocks(message["content"], place)
        expect(bool(blocks), f"{place}: all messages must have non-empty content")
        for at, block in blocks:
            _check_block(block, at, _OF_ROLE[role])
        waiting = _check_pairs([block for _, block in blocks], waiting, index)
    expect(not waiting, _unanswered(len(messages) - 1, waiting))
    expect(messages[-1]["role"] == "user", "This model does not support assistant message prefill.")
    cited = {bool(block.get("citations", {}).get("enabled")) for block in _shown(body)}
    expect(len(cited) <= 1, "Citations must be enabled for all search results, or for none")
    called = any(block["type"].startswith("tool_") for _, block in _all_blocks(body))
    expect(
        not called or bool(body.get("tools")),
        "Requests which include `tool_use` or `tool_result` blocks must define tools",
    )


def _check_pairs(blocks: Sequence[Json], waiting: set[str], index: int) -> set[str]:
    """Check tool results against the calls of the previous message, and return the calls of this one."""
    answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    for call in answered:
        expect(call in waiting, f"messages.{index}: unexpected `tool_use_id` found in `tool_result` blocks: {call}")
    first = {block.get("tool_use_id") for block in blocks[: len(answered)]}
    expect(waiting <= first, _unanswered(index - 1, waiting - first))
    calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
    expect(len(set(calls)) == len(calls), f"messages.{index}: `tool_use` ids must be unique")
    return set(calls)


def _unanswered(index: int, calls: Iterable[str]) -> str:
    return (
        f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{', '.join(sorted(calls))}"
    )


def _blocks(content: Any, place: str) -> list[tuple[str, Json]]:
    if isinstance(content, str):
        return [(place, {"type": "text", "text": content})] if content else []
    expect(isinstance(content, list), f"{place}: Input should be a valid list")
    return [(f"{place}.content.{index}", block) for index, block in enumerate(content)]


def _all_blocks(body: Mapping[str, Any]) -> list[tuple[str, Json]]:
    return [block for message in body["messages"] for block in _blocks(message["content"], "")]


def _shown(body: Mapping[str, Any]) -> list[Json]:
    """List the search results in the order in which citations number them."""
    shown = []
    for _, block in _all_blocks(body):
        inner = _blocks(block.get("content", []), "") if block["type"] == "tool_result" else [("", block)]
        shown += [block for _, block in inner if block["type"] == "search_result"]
    return shown


def _check_block(block: Json, place: str, allowed: set[str]) -> None:
    kind = block.get("type")
    expect(kind in allowed, f"{place}: Input tag {kind!r} does not match any of the expected tags")
    required, optional = _BLOCKS[str(kind)]
    only(block, f"{place}.", {"type"} | required | optional, required=required)
    if kind == "text":
        expect(bool(block["text"].strip()), "messages: text content blocks must contain non-whitespace text")
        for location in block.get("citations") or ():
            only(location, f"{place}.citations.", _LOCATION, required=_LOCATION)
    elif kind in ("image", "document"):
        _check_source(block["source"], f"{place}.source.", _MEDIA[kind])
    elif kind == "search_result":
        expect(bool(block["content"]), f"{place}.content: must not be empty")
        for at, text in _blocks(block["content"], place):
            _check_block(text, at, {"text"})
    elif kind == "tool_use":
        expect(isinstance(block["input"], dict), f"{place}.input: Input should be a valid dictionary")
        for field in ("id", "name"):
            named = bool(_NAME.fullmatch(block[field]))
            expect(named, f"{place}.{field}: String should match pattern '^[a-zA-Z0-9_-]+$'")
    elif kind == "tool_result":
        for at, text in _blocks(block.get("content", []), place):
            _check_block(text, at, {"text", "search_result"})


def _check_source(source: Json, place: str, media: set[str]) -> None:
    only(source, place, ("type", "media_type", "data"), required=("type", "media_type", "data"))
    expect(source["type"] == "base64", f"{place}type: Input should be 'base64'")
    expect(source["media_type"] in media, f"{place}media_type: Input should be one of {', '.join(sorted(media))}")
    try:
        base64.b64decode(source["data"], validate=True)
    except ValueError:
        expect(False, f"{place}data: invalid base64 data")


def failure(refusal: Refusal, number: int) -> Json:
    """Format an error."""
    error = {"type": _TYPES.get(refusal.status, "api_error"), "message": refusal.message}
    return {"type": "error", "error": error, "request_id": f"req_{number}"}


def whole(reply: ScriptedReply, received: ReceivedRequest, number: int) -> Json:
    """Format a reply that is not streamed."""
    usage = {} if reply.usage is None else {"usage": _usage(reply)}
    blocks = list(_content(reply, received))
    for block in blocks:
        if block["type"] == "tool_use":
            block["input"] = json.loads(block["input"])
    return _message(received, number) | _stop(reply, received) | {"content": blocks} | usage


def events(reply: ScriptedReply, received: ReceivedRequest, number: int, piece: int) -> Iterator[Json]:
    """Format a reply as the events of a stream."""
    usage = {} if reply.usage is None else {"usage": _usage(reply) | {"output_tokens": 1}}
    message = _message(received, number) | {"content": [], "stop_reason": None, "stop_sequence": None} | usage
    yield {"type": "message_start", "message": message}
    yield {"type": "ping"}
    for index, block in enumerate(_content(reply, received)):
        yield {"type": "content_block_start", "index": index, "content_block": _hollow(block)}
        for delta in _deltas(block, piece):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    usage = {} if reply.usage is None else {"usage": {"output_tokens": reply.usage.output_tokens}}
    yield {"type": "message_delta", "delta": _stop(reply, received)} | usage
    yield {"type": "message_stop"}


def frame(event: Json) -> str:
    """Format an event as it is sent."""
    return f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n"


def _message(received: ReceivedRequest, number: int) -> Json:
    return {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": received.body["model"]}


def _stop(reply: ScriptedReply, received: ReceivedRequest) -> Json:
    stopped_by = received.body["stop_sequences"][0] if reply.stop == "stop" else None
    return {"stop_reason": _STOPS.get(reply.stop, "pause_turn"), "stop_sequence": stopped_by}


def _usage(reply: ScriptedReply) -> Json:
    usage = reply.usage
    assert usage is not None
    return {
        # Our count includes cached tokens; this API counts them separately.
        "input_tokens": usage.input_tokens - usage.cached_input_tokens - usage.cache_write_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cached_input_tokens,
        "output_tokens": usage.output_tokens,
    }


def _content(reply: ScriptedReply, received: ReceivedRequest) -> Iterator[Json]:
    """Yield the blocks of a reply. A text and the citations after it are one block."""
    blocks: list[Json] = []
    for part in reply.message.parts:
        match part:
            case TextBlock(text):
                blocks.append({"type": "text", "text": text, "citations": None})
            case ProviderCitation():
                blocks[-1]["citations"] = [*(blocks[-1]["citations"] or []), _location(part, received)]
            case ToolCall(id=call_id, name=name, arguments=arguments):
                blocks.append({"type": "tool_use", "id": call_id, "name": name, "input": arguments})
            case OpaqueBlock(json=text):
                blocks.append(json.loads(text))
    yield from blocks


def _location(cited: ProviderCitation, received: ReceivedRequest) -> Json:
    source = _shown(received.body)[cited.source - 1]
    texts = [unit["text"] for unit in source["content"]][cited.first - 1 : cited.last]
    return {
        "type": "search_result_location",
        "cited_text": "".join(texts),
        "source": source["source"],
        "title": source["title"],
        "search_result_index": cited.source - 1,
        "start_block_index": cited.first - 1,
        "end_block_index": cited.last,
    }


def _hollow(block: Json) -> Json:
    empty = {"text": "", "input": {}, "thinking": "", "signature": ""}
    start = block | {name: value for name, value in empty.items() if name in block}
    return start | {"citations": []} if start.get("citations") else start


def _deltas(block: Json, piece: int) -> Iterator[Json]:
    kinds = {
        "text": ("text_delta", "text"),
        "thinking": ("thinking_delta", "thinking"),
        "input": ("input_json_delta", "partial_json"),
    }
    for name, (kind, field) in kinds.items():
        text = block.get(name, "")
        for start in range(0, len(text), piece):
            yield {"type": kind, field: text[start : start + piece]}
    if "signature" in block:
        yield {"type": "signature_delta", "signature": block["signature"]}
    for location in block.get("citations") or ():
        yield {"type": "citations_delta", "citation": location}
