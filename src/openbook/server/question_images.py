"""Images of questions: decoded from data URLs, checked, and kept in memory for follow-up questions."""

from __future__ import annotations

import base64
import binascii
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from openbook.answers import Exchange
from openbook.llm.attachments import check_count, image
from openbook.server.failures import RequestRefusedError
from openbook.types import Attachment

MAX_BODY_BYTES = 12 * 1024 * 1024
"""Size limit of a request with images. Base64 adds a third, so 8 MB of images fit."""

QUESTIONS = frozenset({"/api/query", "/api/query/stream", "/api/answers", "/v1/chat/completions"})
"""Paths of requests that may have images."""

# Limits of stored images for all conversations: total size, and age. Follow-up questions come within minutes.
_KEPT_CHARS = 64 * 1024 * 1024
_KEPT_S = 3600.0

_DATA_URL = re.compile(r"data:(?P<type>[\w.+-]+/[\w.+-]+)(?:;[\w=.+-]+)*;base64,(?P<content>.*)", re.DOTALL)
_PDF = b"%PDF-"

_HINT = "send PNG, JPEG, GIF, WebP or PDF as a data URL: data:image/png;base64,..."


@dataclass(frozen=True, slots=True)
class ClientHistory:
    """The earlier exchanges of a conversation that its client stores, with images that are not decoded yet."""

    exchanges: tuple[Exchange, ...]
    pictured: int = 0
    """Which exchange has the images, counted from the end: -1 is the last."""
    urls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Kept:
    question: str
    images: tuple[Attachment, ...]
    ends_s: float

    @property
    def chars(self) -> int:
        return sum(len(each.base64) for each in self.images)


class QuestionImages:
    """Reads the images of questions, and keeps the last ones of each conversation. Thread-safe."""

    def __init__(
        self,
        most: int,
        draw: Callable[[bytes, int], Sequence[bytes]],
        *,
        clock: Callable[[], float] = time.monotonic,
        kept_chars: int = _KEPT_CHARS,
    ) -> None:
        """Accept at most `most` images per question. `draw` renders the first pages of a PDF as PNG."""
        self._most = most
        self._draw = draw
        self._clock = clock
        self._kept_chars = kept_chars
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def read(self, urls: Sequence[str]) -> tuple[Attachment, ...]:
        """Decode images from data URLs, in order; each page of a PDF is one. Nothing is fetched."""
        if urls and not self._most:
            raise RequestRefusedError(400, "this server accepts no images", hint="ask in words")
        found: list[Attachment] = []
        for number, url in enumerate(urls, start=1):
            try:
                found += self._read(url)
            except ValueError as exc:
                raise RequestRefusedError(400, f"image {number}: {exc}", hint=_HINT) from exc
            check_count(found, self._most)  # before more are rendered
        return tuple(found)

    def read_history(self, history: ClientHistory, last: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
        """Return the last exchanges of a history with their images. Those of earlier ones are not decoded."""
        if not history.urls or -history.pictured > len(last):
            return last
        told = list(last)
        told[history.pictured] = replace(told[history.pictured], images=self.read(history.urls))
        return tuple(told)

    def _read(self, url: str) -> list[Attachment]:
        parts = _DATA_URL.fullmatch(url)
        if parts is None:
            raise ValueError("it is not a data URL; addresses are not fetched")
        try:
            raw = base64.b64decode(parts["content"], validate=True)
        except binascii.Error as exc:
            raise ValueError("its base64 is malformed") from exc
        if not raw.startswith(_PDF):
            return [image(raw)]
        pages = self._draw(raw, self._most + 1)
        return [replace(image(page), name=f"p. {number}") for number, page in enumerate(pages, start=1)]

    def remember(self, session_id: str, question: str, images: tuple[Attachment, ...]) -> None:
        """Keep the images of a question until the next ones, for at most an hour."""
        if not images:
            return
        now = self._clock()
        with self._lock:
            self._kept[session_id] = _Kept(question, images, now + _KEPT_S)
            self._kept.move_to_end(session_id)
            for old in [each for each, kept in self._kept.items() if kept.ends_s <= now]:
                del self._kept[old]
            while sum(kept.chars for kept in self._kept.values()) > self._kept_chars:
                self._kept.popitem(last=False)

    def of_question(self, session_id: str, question: str) -> tuple[Attachment, ...]:
        """Return the images of a question in a conversation, if they are still in memory."""
        with self._lock:
            kept = self._kept.get(session_id)
        return kept.images if kept and kept.question == question and kept.ends_s > self._clock() else ()

    def attached(self, session_id: str, history: Sequence[Exchange]) -> tuple[Exchange, ...]:
        """Return a history with the images of its last question that had any."""
        told = list(history)
        for at in reversed(range(len(told))):
            if images := self.of_question(session_id, told[at].question):
                told[at] = replace(told[at], images=images)
                break
        return tuple(told)

    def forget(self, session_id: str) -> None:
        """Delete the images of a conversation."""
        with self._lock:
            self._kept.pop(session_id, None)
