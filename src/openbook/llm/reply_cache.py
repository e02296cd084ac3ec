"""Caches replies in a folder, for equal requests to the same model."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from decimal import Decimal
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from openbook.llm.messages import (
    CitationDelta,
    Event,
    ProviderCitation,
    ReplyFinished,
    Request,
    StopReason,
    TextBlock,
    TextDelta,
    ToolCall,
    ToolStarted,
)
from openbook.llm.protocol import Model, ModelWrapper
from openbook.permissions import make_private_folder
from openbook.usage import PricedUsage

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_logger = logging.getLogger(__name__)

# Reproducible ends. A reply that was cut off, refused or filtered may be better the next time.
_KEPT: tuple[StopReason, ...] = ("end", "tools", "stop")

# Increment if the fields of the key change.
_VERSION = 1


class CachedModel(ModelWrapper):
    """A model with a cache of whole replies. Threads and processes may share it.

    The key is the model, messages, system prompt, tools, token limit and sampling settings. A cached reply costs
    nothing, and its text arrives at once. Errors are not cached, nor replies that were cut off, refused or filtered.

    The files contain replies and hashes of requests, but no requests or keys. Only their owner can read them.
    """

    def __init__(self, model: Model, folder: str | Path) -> None:
        """Cache the replies of a model. The folder is created with the first reply."""
        super().__init__(model)
        self._folder = Path(folder).expanduser()

    def stream(self, request: Request) -> Iterator[Event]:
        """Reply from the cache, or call the model and store its reply."""
        path = self._path(request)
        kept = _read(path)
        if kept is not None:
            yield from _replay(kept)
            return
        for event in self._model.stream(request):
            if isinstance(event, ReplyFinished):
                _write(path, event)
            yield event

    async def astream(self, request: Request) -> AsyncIterator[Event]:
        import asyncio

        path = self._path(request)
        kept = await asyncio.to_thread(_read, path)
        if kept is not None:
            for event in _replay(kept):
                yield event
            return
        async for event in self._model.astream(request):
            if isinstance(event, ReplyFinished):
                await asyncio.to_thread(_write, path, event)
            yield event

    def _path(self, request: Request) -> Path:
        asked = {"version": _VERSION, "model": self.name, **asdict(replace(request, deadline_s=0))}
        written = json.dumps(asked, sort_keys=True, default=str)
        digest = hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()
        return self._folder / digest[:2] / f"{digest}.json"


def _replay(kept: ReplyFinished) -> Iterator[Event]:
    for part in kept.message.parts:
        match part:
            case TextBlock(text):
                yield TextDelta(text)
            case ToolCall(id=call_id, name=name):
                yield ToolStarted(call_id, name)
            case ProviderCitation():
                yield CitationDelta(part)
    yield replace(kept, usage=PricedUsage(cost_usd=Decimal(0)))


def _read(path: Path) -> ReplyFinished | None:
    try:
        return _replies().validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as exc:  # truncated, or of another version: it is overwritten
        _logger.warning("a cached reply cannot be read: %s: %s", path, type(exc).__name__)
        return None


def _write(path: Path, reply: ReplyFinished) -> None:
    """Store a reply atomically. A failure is only logged, since the caller has the reply."""
    if reply.stop not in _KEPT or not reply.message.parts:
        return
    try:
        make_private_folder(path.parent)
        with NamedTemporaryFile("wb", dir=path.parent, suffix=".new", delete=False) as file:  # private
            file.write(_replies().dump_json(reply))
        try:
            Path(file.name).replace(path)
        except OSError:
            with suppress(OSError):
                os.unlink(file.name)  # noqa: PTH108 - the name is a text
            raise
    except (OSError, ValueError) as exc:  # a full disk, or invalid Unicode
        _logger.warning("a reply cannot be cached: %s", exc)


@cache
def _replies() -> TypeAdapter[ReplyFinished]:
    from pydantic import TypeAdapter

    return TypeAdapter(ReplyFinished)
