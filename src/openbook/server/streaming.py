"""The progress of an answer as server-sent events."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

from fastapi.sse import ServerSentEvent

from openbook.answers import AnswerEvent, Stage, ToolUsed, Written
from openbook.errors import OpenbookError
from openbook.server.failures import error_body, internal_error, log_failure
from openbook.server.question_queue import Queued
from openbook.server.question_service import Progress, Replied
from openbook.server.rendering import BlockReader, render_block

_logger = logging.getLogger(__name__)

# Stages that clients see. Rephrasing a follow-up counts as searching.
_SHOWN = {
    "rephrasing": "searching",
    "searching": "searching",
    "writing": "writing",
    "checking": "checking",
    "verifying": "verifying",
}


async def as_events(happening: Progress, session_id: str) -> AsyncGenerator[ServerSentEvent, None]:
    """Yield server-sent events: `status`, `delta`, `block`, `draft`, `tool`, `citation`, and finally `done` or `error`.

    The HTTP status is sent before the stream begins, so failures are events.
    """
    teller = _EventBuilder(session_id)
    try:
        async with aclosing(happening):
            async for event in happening:
                for sent in await teller.tell(event):
                    yield sent
    except asyncio.CancelledError:
        # The text stays on the page, so its last block must be rendered too.
        for sent in await teller.rest():
            yield sent
        raise
    except OpenbookError as exc:
        log_failure(exc)
        yield ServerSentEvent(event="error", data=error_body(str(exc), exc.hint)["error"])
    except Exception:
        _logger.exception("a question failed")
        yield ServerSentEvent(event="error", data=internal_error()["error"])


# An unfinished block is rendered again after this many characters or, if long, after it has grown by a tenth. That is
# every few words when reading, and costs about ten times as much as rendering the block once.
_DRAFT_CHARS = 40
_DRAFT_SHARE = 10


class _EventBuilder:
    """Converts events of an answer to server-sent events."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._stage = ""
        self._blocks = BlockReader()
        self._index = 0
        self._undrafted_chars = 0

    async def tell(self, event: AnswerEvent | Queued | Replied) -> list[ServerSentEvent]:
        match event:
            case Queued(place):
                self._stage = "queued"
                told = {"stage": self._stage, "place": place, "session_id": self._session_id}
                return [ServerSentEvent(event="status", data=told)]
            case Stage(name):
                return await self._enter(_SHOWN[name])
            case Written(text, is_checked=False):
                return [ServerSentEvent(event="delta", data={"text": text}), *await self._finished(text)]
            case ToolUsed(name, arguments, outcome):
                tool = {"name": name, "arguments": arguments, "outcome": outcome}
                return [ServerSentEvent(event="tool", data=tool)]
            case Replied(response=reply):
                cited = [ServerSentEvent(event="citation", data=citation) for citation in reply.citations]
                return [*cited, ServerSentEvent(event="done", data=reply)]
        return []

    async def rest(self) -> list[ServerSentEvent]:
        """Return the events of the unfinished block, if there is one. Call it last."""
        return [
            ServerSentEvent(event="draft", data={"html": await asyncio.to_thread(render_block, text), "left_out": 0})
            for text in self._blocks.close()
            if self._stage == "writing"
        ]

    async def _enter(self, stage: str) -> list[ServerSentEvent]:
        if stage == self._stage:
            return []
        ended, self._stage = self._stage, stage
        blocks = [await self._block(text) for text in self._blocks.close()] if ended == "writing" else []
        if stage == "writing":  # the model starts again, for example after a tool call
            self._blocks = BlockReader()
        return [*blocks, ServerSentEvent(event="status", data={"stage": stage, "session_id": self._session_id})]

    async def _finished(self, text: str) -> list[ServerSentEvent]:
        blocks = [await self._block(block) for block in self._blocks.feed(text)]
        self._undrafted_chars += len(text)
        if self._undrafted_chars < _DRAFT_CHARS:
            return blocks
        draft, left_out = self._blocks.draft()
        if not draft.strip() or self._undrafted_chars < len(draft) // _DRAFT_SHARE:
            return blocks
        self._undrafted_chars = 0
        html = await asyncio.to_thread(render_block, draft)
        return [*blocks, ServerSentEvent(event="draft", data={"html": html, "left_out": len(left_out)})]

    async def _block(self, markdown: str) -> ServerSentEvent:
        html = await asyncio.to_thread(render_block, markdown)
        self._index += 1
        return ServerSentEvent(event="block", data={"index": self._index - 1, "html": html})
