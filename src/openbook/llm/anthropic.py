"""The Anthropic Messages API: converts requests to JSON, and response chunks to events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from openbook.errors import BadResponseError
from openbook.llm.encoding import id_to_send, json_safe, name_to_send
from openbook.llm.messages import (
    Attachment,
    CitationDelta,
    Event,
    Message,
    OpaqueBlock,
    Part,
    ProviderCitation,
    ReplyFinished,
    Request,
    ShownSource,
    StopReason,
    TextBlock,
    TextDelta,
    ToolCall,
    ToolResult,
    ToolSpec,
    ToolStarted,
    Usage,
)

_STOPS: Mapping[str, StopReason] = {
    "end_turn": "end",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "stop_sequence": "stop",
    "tool_use": "tools",
    "refusal": "refused",
}

_CACHED = {"cache_control": {"type": "ephemeral"}}

# Key for arguments that are not valid JSON: the call must be sent back to the model, and the API accepts only objects.
_MALFORMED = "INVALID_JSON"

_THINKING = ("thinking", "redacted_thinking")


class AnthropicWire:
    """Anthropic Messages, with prompt caching and native citations. Stateless."""

    sdk = "anthropic"
    clients: tuple[str, str] = ("Anthropic", "AsyncAnthropic")
    path = "/v1/messages"

    def body(self, request: Request, *, native: bool) -> dict[str, Any]:
        sources = sources_of(request) if native else ()
        turns: list[dict[str, Any]] = [
            {"role": message.role, "content": content}
            for message in request.messages
            if (content := _content(message, sources, native=native))
        ]
        shown = [block for turn in turns for block in turn["content"] if block["type"] == "search_result"]
        if shown:
            shown[-1] |= _CACHED
        body: dict[str, Any] = {"max_tokens": request.max_tokens, "messages": turns}
        if request.system.strip():
            body["system"] = [{"type": "text", "text": request.system, **_CACHED}]
        if request.tools:
            body["tools"] = [_tool(spec) for spec in request.tools]
            body["tool_choice"] = _choice(request.tool_choice)
            body |= _CACHED  # each round of a tool loop sends all previous rounds again
        if request.sampling.stop:  # the only sampling setting of current models
            body["stop_sequences"] = list(request.sampling.stop)
        return body

    def reader(self, request: Request, *, native: bool) -> AnthropicReader:
        return AnthropicReader(sources_of(request) if native else ())

    def chunks(self, reply: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Convert a complete reply to the chunks of a stream, for the stream reader."""
        yield {"type": "message_start", "message": reply}
        for index, block in enumerate(reply["content"]):
            yield {"type": "content_block_start", "index": index, "content_block": block}
            for citation in block.get("citations") or ():
                delta = {"type": "citations_delta", "citation": citation}
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        yield {"type": "message_delta", "delta": {"stop_reason": reply.get("stop_reason")}}
        yield {"type": "message_stop"}


def sources_of(request: Request) -> tuple[ShownSource, ...]:
    """List the sources of a request in the order in which Anthropic counts them."""
    return tuple(part for message in request.messages for part in message.parts if isinstance(part, ShownSource))


def _content(message: Message, sources: tuple[ShownSource, ...], *, native: bool) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    # The API requires tool results to come first.
    for part in sorted(message.parts, key=lambda part: not isinstance(part, ToolResult)):
        if isinstance(part, ProviderCitation):
            _cite(blocks, part, sources)
        else:
            block = _block(part, native=native)
            if block is not None:
                blocks.append(block)
    return blocks


def _block(part: Part, *, native: bool) -> dict[str, Any] | None:
    match part:
        case TextBlock(text):
            return {"type": "text", "text": text} if text.strip() else None  # the API rejects blank blocks
        case Attachment():
            return _attached(part)
        case ShownSource():
            return _search_result(part) if native else {"type": "text", "text": str(part)}
        case ToolCall(id=call_id, name=name, arguments=arguments):
            return {
                "type": "tool_use",
                "id": id_to_send(call_id),
                "name": name_to_send(name),
                "input": _object(arguments),
            }
        case ToolResult(call_id, text, is_error):
            result: dict[str, Any] = {
                "type": "tool_result",
                "tool_use_id": id_to_send(call_id),
                "is_error": is_error,
            }
            return result | ({"content": text} if text.strip() else {})
        case OpaqueBlock(wire=AnthropicWire.sdk, json=text):
            block: dict[str, Any] = json.loads(text)
            return block
    return None


def _attached(part: Attachment) -> dict[str, Any]:
    source = {"type": "base64", "media_type": part.media_type, "data": part.base64}
    if part.kind == "image":
        return {"type": "image", "source": source}
    return {"type": "document", "source": source} | ({"title": part.name} if part.name else {})


def _search_result(source: ShownSource) -> dict[str, Any]:
    return {
        "type": "search_result",
        "title": _title(source),
        "source": source.place,
        "content": [{"type": "text", "text": unit} for unit in source.units],
        "citations": {"enabled": True},
    }


def _title(source: ShownSource) -> str:
    # In the title, because a note in a content block could be cited.
    return f"{source.title} ({source.note})".lstrip() if source.note else source.title


def _cite(blocks: list[dict[str, Any]], cited: ProviderCitation, sources: tuple[ShownSource, ...]) -> None:
    text = blocks[-1] if blocks and blocks[-1]["type"] == "text" else None
    index = next((index for index, source in enumerate(sources) if source.number == cited.source), None)
    if text is None:
        return
    if index is None:  # no longer in this request: keep only the mark
        text["text"] += f" {cited}"
        return
    source = sources[index]
    location = {
        "type": "search_result_location",
        "search_result_index": index,
        "source": source.place,
        "title": _title(source),
        "start_block_index": cited.first - 1,
        "end_block_index": cited.last,
        "cited_text": cited.quote or "".join(source.units[cited.first - 1 : cited.last]),
    }
    text.setdefault("citations", []).append(location)


def _object(arguments: str) -> dict[str, Any]:
    try:
        value = json.loads(arguments or "{}")
        json.dumps(value, allow_nan=False)  # otherwise it cannot be sent
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {_MALFORMED: arguments}


def _tool(spec: ToolSpec) -> dict[str, Any]:
    return {"name": spec.name, "description": spec.description, "input_schema": dict(spec.parameters)}


def _choice(choice: str) -> dict[str, str]:
    return {"type": choice} if choice in ("auto", "none", "any") else {"type": "tool", "name": choice}


@dataclass(slots=True)
class _Block:
    """A content block during streaming."""

    start: Mapping[str, Any]
    text: str = ""
    """Pieces of text, thinking, or the JSON of arguments."""
    signature: str = ""
    cited: list[ProviderCitation] = field(default_factory=list)


class AnthropicReader:
    """A reply during streaming."""

    def __init__(self, sources: tuple[ShownSource, ...]) -> None:
        self._sources = sources
        self._open: dict[int, _Block] = {}
        self._parts: list[Part] = []
        self._counts: dict[str, int] = {}
        self._model = ""
        self._stop: StopReason = "other"
        self._ended = False

    def read(self, chunk: Mapping[str, Any]) -> Iterator[Event]:
        try:
            match chunk.get("type"):
                case "message_start":
                    self._model = str(chunk["message"].get("model") or "")
                    self._count(chunk["message"].get("usage"))
                case "content_block_start":
                    yield from self._begin(chunk["index"], chunk["content_block"])
                case "content_block_delta":
                    yield from self._grow(self._open[chunk["index"]], chunk["delta"])
                case "content_block_stop":
                    yield from self._end(self._open.pop(chunk["index"]))
                case "message_delta":
                    self._stop = _STOPS.get(chunk["delta"].get("stop_reason"), "other")
                    self._count(chunk.get("usage"))
                case "message_stop":
                    self._ended = True
        except (KeyError, TypeError, AttributeError) as exc:
            raise BadResponseError(f"anthropic sent a chunk of an unknown shape: {chunk.get('type')!r}") from exc

    def finish(self, *, is_done: bool = False) -> ReplyFinished | None:
        if not self._ended:
            return None
        return ReplyFinished(Message("assistant", tuple(self._parts)), _usage(self._counts), self._stop, self._model)

    def _count(self, usage: Mapping[str, Any] | None) -> None:
        self._counts |= {name: n for name, n in (usage or {}).items() if isinstance(n, int)}

    def _begin(self, index: int, start: Mapping[str, Any]) -> Iterator[Event]:
        block = self._open[index] = _Block(start)
        if start["type"] == "tool_use":
            yield ToolStarted(start["id"], start["name"])
        elif start["type"] == "text" and start.get("text"):
            yield from self._grow(block, {"type": "text_delta", "text": start["text"]})

    def _grow(self, block: _Block, delta: Mapping[str, Any]) -> Iterator[Event]:
        match delta["type"]:
            case "text_delta":
                block.text += delta["text"]
                if delta["text"]:
                    yield TextDelta(json_safe(delta["text"]))
            case "input_json_delta":
                block.text += delta["partial_json"]
            case "thinking_delta":
                block.text += delta["thinking"]
            case "signature_delta":
                block.signature += delta["signature"]
            case "citations_delta":
                cited = self._cited(delta["citation"])
                if cited is not None:
                    block.cited.append(cited)

    def _cited(self, place: Mapping[str, Any]) -> ProviderCitation | None:
        index, first, end = (place.get(f"{name}_index") for name in ("search_result", "start_block", "end_block"))
        if not (isinstance(index, int) and isinstance(first, int) and isinstance(end, int)):
            return None
        if not (0 <= index < len(self._sources) and 0 <= first < end):
            return None
        return ProviderCitation(self._sources[index].number, first + 1, end, str(place.get("cited_text") or ""))

    def _end(self, block: _Block) -> Iterator[Event]:
        kind = block.start["type"]
        if kind == "text" and block.text:
            self._parts += [TextBlock(json_safe(block.text)), *block.cited]
            # Not before: a citation follows all of its words, whenever it arrived.
            yield from map(CitationDelta, block.cited)
        elif kind == "tool_use":
            arguments = block.text or json.dumps(block.start.get("input") or {})
            self._parts.append(ToolCall(block.start["id"], block.start["name"], json_safe(arguments)))
        elif kind in _THINKING:
            self._parts.append(OpaqueBlock(AnthropicWire.sdk, json.dumps(_thought(block))))


def _thought(block: _Block) -> dict[str, Any]:
    if block.start["type"] != "thinking":
        return dict(block.start)
    thinking = block.start.get("thinking") or ""
    signature = block.start.get("signature") or ""
    return {"type": "thinking", "thinking": thinking + block.text, "signature": signature + block.signature}


def _usage(counts: Mapping[str, int]) -> Usage:
    cached, written = counts.get("cache_read_input_tokens", 0), counts.get("cache_creation_input_tokens", 0)
    return Usage(
        # The API counts cached tokens separately; other providers include them, as we do.
        input_tokens=counts.get("input_tokens", 0) + cached + written,
        output_tokens=counts.get("output_tokens", 0),
        cached_input_tokens=cached,
        cache_write_tokens=written,
        known="input_tokens" in counts and "output_tokens" in counts,
    )
