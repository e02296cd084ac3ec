"""Answers as OpenAI chat completions: numbered citations, a list of sources, and annotations."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote

from openbook.answers import Exchange, GenerationResult, Written
from openbook.errors import OpenbookError
from openbook.grounding.marks import CitationMark, MarkParser, find_marks
from openbook.server.failures import RequestRefusedError, error_body, internal_error, log_failure
from openbook.server.question_images import ClientHistory
from openbook.server.question_queue import Queued
from openbook.server.question_service import Progress, Replied
from openbook.server.schemas import QUESTION_CHARS, QUESTION_IMAGES, AnswerResponse, ChatMessage, CitationResponse

# Separates the answer from the list of sources. Clients send both back as history, of which only the answer is used.
_SOURCES = "\n\n**Sources**\n\n"

_FINISH: dict[str, Literal["stop", "length", "content_filter"]] = {
    "length": "length",
    "max_tokens": "length",
    "filtered": "content_filter",
}


def read_conversation(messages: Sequence[ChatMessage]) -> tuple[str, list[str], ClientHistory]:
    """Return the question of a conversation, the addresses of its images, and the exchanges before it.

    System messages and tool calls are ignored: the server has its own prompts. Of the images of earlier questions, only
    the last are kept, since models see no others. No image is decoded: that costs time, and the caller may have none.
    """
    said = [(message.role, *_read(message)) for message in messages if message.role in ("user", "assistant")]
    if not said or said[-1][0] != "user":
        raise RequestRefusedError(400, "the last message is not the user's", hint="end `messages` with a question")
    if len(said[-1][1]) > QUESTION_CHARS:
        raise RequestRefusedError(
            400, f"a question has at most {QUESTION_CHARS:,} characters", hint="ask in fewer words"
        )
    if len(said[-1][2]) > QUESTION_IMAGES:
        raise RequestRefusedError(400, f"a question has at most {QUESTION_IMAGES} images", hint="leave some out")
    history: list[Exchange] = []
    pictured: tuple[int, list[str]] = (0, [])
    question, urls = "", list[str]()
    for role, text, shown in said[:-1]:
        if role == "user":
            question, urls = text, shown
        elif question:
            pictured = (len(history), urls) if urls else pictured
            history.append(Exchange(question, text.partition(_SOURCES)[0]))
            question = ""
    at, urls = pictured
    return said[-1][1], said[-1][2], ClientHistory(tuple(history), at - len(history), tuple(urls))


def _read(message: ChatMessage) -> tuple[str, list[str]]:
    """Return the text of a message, and the addresses of its images."""
    if not isinstance(message.content, list):
        return message.content or "", []
    texts, urls = list[str](), list[str]()
    for part in message.content:
        image = part.get("image_url")
        url = image.get("url") if isinstance(image, dict) else image
        if isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif part.get("type") == "image_url" and isinstance(url, str):
            urls.append(url)
        else:
            kind = str(part.get("type", "unknown"))[:50]
            raise RequestRefusedError(
                400, f"a part of a message is {kind!r}", hint="send `text`, or `image_url` with a data URL"
            )
    return "\n".join(texts), urls


@dataclass(slots=True)
class NumberedText:
    """The text of an answer in which each mark is replaced by `[1]`, `[2]` and so on, in order of appearance."""

    text: str = ""
    """Text so far."""
    numbers: dict[str, int] = field(default_factory=dict)
    """Number of each mark, by its text in the answer."""
    places: list[tuple[str, int, int]] = field(default_factory=list)
    """Each mark, and the half-open range of its number in `text`."""
    _parser: MarkParser = field(default_factory=MarkParser)

    def feed(self, text: str) -> str:
        """Add a piece of the answer, and return the text that can be shown so far."""
        return self._add(self._parser.feed(text))

    def close(self) -> str:
        """Return the text that was withheld because it might have become a mark."""
        return self._add(self._parser.close())

    def _add(self, pieces: Sequence[str | CitationMark]) -> str:
        start = len(self.text)
        for piece in pieces:
            if isinstance(piece, str):
                self.text += piece
                continue
            number = self.numbers.setdefault(piece.text, len(self.numbers) + 1)
            shown = f"[{number}]"
            self.places.append((piece.text, len(self.text), len(self.text) + len(shown)))
            self.text += shown
        return self.text[start:]


def source_list(written: NumberedText, answer: GenerationResult, reply: AnswerResponse) -> str:
    """Return the numbered sources with their verdicts as Markdown; empty if nothing is cited."""
    lines = [
        f"- [{number}] {place}"
        for mark, number in written.numbers.items()
        for place in _places(mark, answer, reply.citations)
    ]
    conflicts = [
        f"- In conflict with its source: “{_line(claim.text)}” ({_line(claim.reason)})"
        for claim in reply.claims
        if claim.verdict == "conflict"
    ]
    return f"{_SOURCES}{chr(10).join([*lines, *conflicts])}" if lines or conflicts else ""


def _places(mark: str, answer: GenerationResult, citations: Sequence[CitationResponse]) -> list[str]:
    """Return the places of a mark after checking, which may have moved it since it was shown."""
    moved = (repair.after for repair in answer.repairs if mark in repair.before)
    marks = [mark, *(each.text for after in moved for each in find_marks(after))]
    found = [cited for cited in citations if cited.mark in marks]
    return list(dict.fromkeys(map(_place, found))) or ["removed by the check"]


def _place(cited: CitationResponse) -> str:
    place = _line(cited.place) or "nothing that was shown"
    # Names of files are untrusted: in code, they are no markup.
    shown = f"[`{place}`]({cited.url})" if cited.url else f"`{place}`"
    # All unverified citations have the same reason.
    reason = "" if cited.verdict == "unverified" else _line(cited.reason)
    return f"{shown}: {cited.verdict}{f', {reason}' if reason else ''}"


def _line(text: str) -> str:
    return " ".join(text.split()).replace("`", "'")


def url_citations(written: NumberedText, citations: Sequence[CitationResponse]) -> list[dict[str, Any]]:
    """Return a `url_citation` for each number in the text, with its characters.

    Local files have no public URL. Theirs is `openbook:source/path#L3-L5`, which can be parsed.
    """
    by_mark = {cited.mark: cited for cited in reversed(citations)}
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "url": by_mark[mark].url or _local_address(by_mark[mark]),
                "title": by_mark[mark].place,
                "start_index": start,
                "end_index": end,
            },
        }
        for mark, start, end in written.places
        if mark in by_mark
    ]


def _local_address(cited: CitationResponse) -> str:
    return f"openbook:{quote(cited.source)}/{quote(cited.path)}#L{cited.start_line}-L{cited.end_line}"


@dataclass(frozen=True, slots=True)
class CompletionHead:
    """The fields that all chunks of one completion share."""

    id: str
    model: str
    created: int = field(default_factory=lambda: int(time.time()))
    """Unix seconds."""

    def of(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Build a chunk of the completion."""
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model, **fields}


def as_completion(head: CompletionHead, answer: GenerationResult, reply: AnswerResponse) -> dict[str, Any]:
    """Return a whole answer as a chat completion, with its checked citations."""
    written = NumberedText()
    written.feed(answer.answer)
    written.close()
    message = {
        "role": "assistant",
        "content": written.text + source_list(written, answer, reply),
        "refusal": None,
        "annotations": url_citations(written, reply.citations),
    }
    choice = {"index": 0, "message": message, "finish_reason": _finish(answer), "logprobs": None}
    citations = [cited.model_dump(mode="json") for cited in reply.citations]
    return head.of("chat.completion", choices=[choice], usage=_usage(reply), citations=citations)


async def as_chunks(head: CompletionHead, events: Progress, *, with_usage: bool) -> AsyncGenerator[str, None]:
    """Yield an answer as the lines of an event stream, `[DONE]` last.

    Model text is sent as it is written; the results of the check follow. Errors are lines too, since the status is
    already sent.
    """
    yield _sent(_chunk(head, {"role": "assistant", "content": ""}))
    written = NumberedText()
    try:
        async with aclosing(events):
            async for event in events:
                if isinstance(event, Queued):
                    yield f": place {event.place} in the queue\n\n"
                elif isinstance(event, Written) and not event.is_checked:
                    if text := written.feed(event.text):
                        yield _sent(_chunk(head, {"content": text}))
                elif isinstance(event, Replied):
                    for line in _end(head, written, event.answer, event.response, with_usage=with_usage):
                        yield line
    except OpenbookError as exc:
        log_failure(exc)
        yield _sent(error_body(str(exc), exc.hint))
    except Exception:
        yield _sent(internal_error())
        raise
    yield "data: [DONE]\n\n"


def _end(
    head: CompletionHead, written: NumberedText, answer: GenerationResult, reply: AnswerResponse, *, with_usage: bool
) -> Iterator[str]:
    """Yield the sources and the last chunk, after the model text."""
    # Without a model, nothing has been sent yet; with one, the quotes after its text are missing.
    rest = answer.answer[answer.own_chars :] if written.text and answer.own_chars is not None else ""
    text = written.feed(rest if written.text else answer.answer) + written.close()
    text += source_list(written, answer, reply)
    marked = url_citations(written, reply.citations)
    yield _sent(_chunk(head, {"content": text, "annotations": marked}))
    cited = [each.model_dump(mode="json") for each in reply.citations]
    yield _sent(_chunk(head, {}, _finish(answer)) | {"citations": cited})
    if with_usage:
        yield _sent(head.of("chat.completion.chunk", choices=[], usage=_usage(reply)))


def _chunk(head: CompletionHead, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    return head.of("chat.completion.chunk", choices=[choice])


def _sent(body: dict[str, Any]) -> str:
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n"


def _finish(answer: GenerationResult) -> str:
    return _FINISH.get(answer.stopped, "stop")


def _usage(reply: AnswerResponse) -> dict[str, Any]:
    read, wrote = reply.usage.input_tokens, reply.usage.output_tokens
    return {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote}
