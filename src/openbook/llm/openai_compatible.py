"""OpenAI's Chat Completions API, which many servers implement with small differences."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from openbook.errors import BadResponseError, CutOffError
from openbook.llm.encoding import json_safe, name_to_send
from openbook.llm.messages import (
    Attachment,
    CitationDelta,
    Event,
    Message,
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
from openbook.llm.providers import Provider

# Thinking tags of Qwen, DeepSeek and derived models.
_OPEN, _CLOSE = "<think>", "</think>"

# Some chat templates put the opening tag into the prompt, so the reply only has the closing one, on a line of its own.
_CLOSED_ALONE = re.compile(r"\A(?!\s*<think>).*?^</think>[ \t]*(?:\n\s*|\Z)", re.DOTALL | re.MULTILINE)


class ThinkingFilter:
    r"""Removes the thinking from a streamed reply.

    Example:
        >>> thoughts = ThinkingFilter()
        >>> [thoughts.leave_out(piece) for piece in ("<thi", "nk>Hm.</thi", "nk>\n\n", "At", " nine.")]
        ['', '', '', 'At', ' nine.']
    """

    def __init__(self) -> None:
        self._held = ""
        self._is_over = False

    def leave_out(self, text: str) -> str:
        """Process a piece of text, and return what can be shown so far."""
        if self._is_over:
            return text
        self._held += text
        begun = self._held.lstrip()
        if begun.startswith(_OPEN):
            without_thinking = begun.partition(_CLOSE)[2].lstrip()
            self._is_over = bool(without_thinking)
            return without_thinking
        if _OPEN.startswith(begun):
            return ""
        self._is_over = True
        return self._held

    def close(self) -> str:
        """Return withheld text that is not thinking, at the end of the reply."""
        held = "" if self._is_over or self._held.lstrip().startswith(_OPEN) else self._held
        self._is_over = True
        return held


def without_thinking(text: str) -> str:
    r"""Remove thinking whose opening tag was never sent.

    Example:
        >>> without_thinking("So they ask when.\n</think>\n\nAt nine."), without_thinking("Write `</think>` behind it.")
        ('At nine.', 'Write `</think>` behind it.')
    """
    return _CLOSED_ALONE.sub("", text, count=1)


_STOPS: Mapping[str, StopReason] = {
    "stop": "end",  # this API does not distinguish a stop sequence from the end
    "length": "length",
    "tool_calls": "tools",
    "function_call": "tools",
    "content_filter": "filtered",
}


class OpenAIWire:
    """Chat Completions with the differences of one provider. Stateless."""

    sdk = "openai"
    clients: tuple[str, str] = ("OpenAI", "AsyncOpenAI")
    path = "/chat/completions"

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    def body(self, request: Request, *, native: bool) -> dict[str, Any]:
        """Encode a request. `native` applies if the provider accepts `documents`."""
        quirks = self._provider
        native = native and quirks.documents
        turns = [turn for message in request.messages for turn in _turns(message, native=native)]
        if request.system:
            turns.insert(0, {"role": "system", "content": request.system})
        body: dict[str, Any] = {"messages": turns, quirks.limit: request.max_tokens}
        if quirks.usage_on_request:
            body["stream_options"] = {"include_usage": True}
        body |= request.sampling.fields
        if request.tools:
            body |= _tools(request, by_name=quirks.forces_by_name)
        if native and (documents := _documents(request)):
            body |= {"documents": documents, "citation_options": "enabled"}
        return body

    def reader(self, request: Request, *, native: bool) -> OpenAIReader:
        native = native and self._provider.documents
        sources = {str(s.number): s for m in request.messages for s in m.parts if isinstance(s, ShownSource)}
        return OpenAIReader(self._provider.name, sources if native else {})

    def chunks(self, reply: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Convert a complete reply to the chunks of a stream, for the stream reader."""
        choices = []
        for choice in reply["choices"]:
            message = choice["message"]
            calls = [{"index": index, **call} for index, call in enumerate(message.get("tool_calls") or ())]
            choices.append({**choice, "delta": {**message, "tool_calls": calls}})
        yield {**reply, "choices": choices}


def _turns(message: Message, *, native: bool) -> Iterator[dict[str, Any]]:
    """Encode one message as several: each tool result is a message of its own, and comes first."""
    for part in message.parts:
        if isinstance(part, ToolResult):
            yield {"role": "tool", "tool_call_id": part.call_id, "content": _result_text(part)}
    if message.role == "user":
        shown = [part for part in message.parts if not (native and isinstance(part, ShownSource))]
        if any(isinstance(part, Attachment) for part in shown):
            yield {"role": "user", "content": list(_content(shown))}
        elif text := "\n\n".join(filter(None, map(_written, shown))):
            yield {"role": "user", "content": text}
        return
    text = "".join(_written(part) for part in message.parts)
    turn: dict[str, Any] = {"role": "assistant", "content": text or None}
    if message.calls:
        turn["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": name_to_send(call.name), "arguments": call.arguments},
            }
            for call in message.calls
        ]
    if text or message.calls:
        yield turn


def _content(parts: Iterable[Part]) -> Iterator[dict[str, Any]]:
    for part in parts:
        if isinstance(part, Attachment):
            url = f"data:{part.media_type};base64,{part.base64}"
            if part.kind == "image":
                yield {"type": "image_url", "image_url": {"url": url}}
            else:
                yield {"type": "file", "file": {"filename": part.name or "document.pdf", "file_data": url}}
        elif text := _written(part):
            yield {"type": "text", "text": text}


def _result_text(result: ToolResult) -> str:
    # This API has no field for errors.
    failed = result.is_error and not result.text.lower().startswith("error")
    return f"error: {result.text}" if failed else result.text


def _written(part: Part) -> str:
    match part:
        case TextBlock(text):
            return text
        case ShownSource():
            return str(part)
        case ProviderCitation():
            return f" {part}"
    return ""


def _tools(request: Request, *, by_name: bool) -> dict[str, Any]:
    tools, choice = request.tools, request.tool_choice
    named = choice not in ("auto", "none", "any")
    if named and not by_name:
        tools = tuple(tool for tool in tools if tool.name == choice)
    wanted: Any = "required" if choice == "any" or named else choice
    if named and by_name:
        wanted = {"type": "function", "function": {"name": choice}}
    return {"tools": [_tool(tool) for tool in tools], "tool_choice": wanted}


def _tool(spec: ToolSpec) -> dict[str, Any]:
    described = {"name": spec.name, "description": spec.description, "parameters": dict(spec.parameters)}
    return {"type": "function", "function": described}


def _documents(request: Request) -> list[dict[str, Any]]:
    """Return sources for a provider that cites whole documents. The numbers of units remain in the text."""
    return [
        {"id": str(part.number), "source": {"type": "text", "text": str(part)}}
        for message in request.messages
        for part in message.parts
        if isinstance(part, ShownSource)
    ]


@dataclass(slots=True)
class _Call:
    """A tool call during streaming."""

    id: str
    """Unique within the reply."""
    said_id: str
    """As sent by the server."""
    name: str = ""
    arguments: str = ""
    started: bool = False

    def is_another(self, call_id: str, name: str) -> bool:
        """Return whether a piece with the same index begins another call.

        Some servers send index 0 for every call, or none: then a new id is a new call. Others send a new id with every
        piece, but a name only with the first; or no ids at all.
        """
        renamed = bool(self.arguments and name not in ("", self.name))
        return (bool(name) and call_id not in ("", self.said_id)) or (not call_id and renamed)


class OpenAIReader:
    """A reply during streaming."""

    def __init__(self, provider: str, sources: Mapping[str, ShownSource]) -> None:
        self._provider = provider
        self._sources = sources
        self._text: list[str] = []
        self._thoughts = ThinkingFilter()
        self._calls: list[_Call] = []
        self._at: dict[Any, _Call] = {}
        self._cited: list[tuple[int, ProviderCitation]] = []
        self._usage: Mapping[str, Any] = {}
        self._model = ""
        self._stop: StopReason | None = None
        self._is_refusal = False

    def read(self, chunk: Mapping[str, Any]) -> Iterator[Event]:
        try:
            self._model = chunk.get("model") or self._model
            own = chunk.get("x_groq") or {}
            self._usage = chunk.get("usage") or own.get("usage") or self._usage
            if own.get("error"):
                raise CutOffError(f"{self._provider} gave up: {str(own['error'])[:200]}", hint="try again")
            for choice in chunk.get("choices") or ():
                yield from self._read_choice(choice)
        except (KeyError, TypeError, AttributeError) as exc:
            raise BadResponseError(f"{self._provider} sent a chunk of an unknown shape") from exc

    def finish(self, *, is_done: bool = False) -> ReplyFinished | None:
        if self._stop is None and is_done:  # some servers give no reason
            self._text += filter(None, [self._thoughts.close()])
            if self._text or self._calls:
                self._stop = "refused" if self._is_refusal else "end"
        if self._stop is None:
            return None
        calls = [ToolCall(call.id, call.name, json_safe(call.arguments or "{}")) for call in self._calls]
        # Some servers report `stop` for tool calls too, as does OpenAI for forced calls.
        stop = "tools" if calls and self._stop == "end" else self._stop
        message = Message("assistant", (*self._words(), *calls))
        return ReplyFinished(message, _usage(self._usage), stop, self._model)

    def _read_choice(self, choice: Mapping[str, Any]) -> Iterator[Event]:
        delta = choice.get("delta") or {}
        said = self._thoughts.leave_out(_text_of(delta.get("content")))
        held = self._thoughts.close() if choice.get("finish_reason") else ""
        refusal = _text_of(delta.get("refusal"))
        self._is_refusal = self._is_refusal or bool(refusal)  # the finish reason comes in a chunk of its own
        for text in (said, held, refusal):
            if text:
                self._text.append(text)
                yield TextDelta(json_safe(text))
        for piece in delta.get("tool_calls") or ():
            yield from self._grow(piece)
        for annotation in delta.get("annotations") or ():
            yield from self._annotate(annotation)
        if choice.get("finish_reason"):
            self._stop = "refused" if self._is_refusal else _STOPS.get(choice["finish_reason"], "other")
            yield from self._start(self._calls)

    def _grow(self, piece: Mapping[str, Any]) -> Iterator[Event]:
        index, call_id = piece.get("index"), piece.get("id") or ""
        function = piece.get("function") or {}
        name, arguments = function.get("name") or "", function.get("arguments") or ""
        call = self._at.get(index)
        if call is None or call.is_another(call_id, name):
            call = self._at[index] = _Call(self._free_id(call_id), call_id)
            yield from self._start(self._calls)
            self._calls.append(call)
        if name != call.name:  # some servers repeat it in every piece
            call.name += name
        if arguments:
            call.arguments += arguments if isinstance(arguments, str) else json.dumps(arguments)
            yield from self._start([call])

    def _free_id(self, call_id: str) -> str:
        """Return an id that is unique in the reply; otherwise results could not be assigned."""
        taken = {call.id for call in self._calls}
        return call_id if call_id and call_id not in taken else f"{call_id or 'call'}_{len(taken) + 1}"

    def _start(self, calls: list[_Call]) -> Iterator[Event]:
        for call in calls:
            if not call.started:
                call.started = True
                yield ToolStarted(call.id, call.name)

    def _annotate(self, annotation: Mapping[str, Any]) -> Iterator[Event]:
        place = annotation.get("document_citation") or {}
        source = self._sources.get(str(place.get("document_id")))
        if source is not None and source.units:
            cited = ProviderCitation(source.number, 1, len(source.units))
            self._cited.append((place["end_index"], cited))
            yield CitationDelta(cited)

    def _words(self) -> Iterator[Part]:
        text, done = json_safe("".join(self._text)), 0
        text = text if self._cited else without_thinking(text)
        for end, cited in sorted(self._cited, key=lambda item: item[0]):
            if end > done:
                yield TextBlock(text[done:end])
                done = min(end, len(text))
            yield cited
        if text[done:]:
            yield TextBlock(text[done:])


def _text_of(content: Any) -> str:
    """Return the text of a delta: some servers send a list of parts, including thinking."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part["type"] == "text")
    return str(content or "")


def _usage(said: Any) -> Usage:
    counts = _counts(said)
    details = _counts(said.get("prompt_tokens_details")) if counts else {}
    return Usage(
        input_tokens=counts.get("prompt_tokens", 0),
        output_tokens=counts.get("completion_tokens", 0),
        cached_input_tokens=details.get("cached_tokens", 0),
        cache_write_tokens=details.get("cache_write_tokens", 0),
        known=counts.get("prompt_tokens", 0) > 0 and "completion_tokens" in counts,  # zero: not counted
    )


def _counts(said: Any) -> dict[str, int]:
    """Return the numeric values; null means not counted."""
    return {name: n for name, n in said.items() if isinstance(n, int)} if isinstance(said, Mapping) else {}
