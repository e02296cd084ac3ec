"""The served library: reopened when its file is replaced, with opaque document ids."""

from __future__ import annotations

import contextlib
import hashlib
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from openbook.errors import LibraryError
from openbook.index.files import file_identity
from openbook.libraries.catalog import Location
from openbook.libraries.repositories import link_to
from openbook.library import Library
from openbook.retrieval.search import EVERYTHING
from openbook.settings import Settings
from openbook.types import Document, SkipReason, Span

# An unknown id lists the library again, which takes 0.1 s for 100,000 documents, and a library that is being rebuilt is
# opened again; but at most this often.
_LIST_EVERY_S = 2.0

# Prometheus asks every 15 s, and reading the records takes as long as a listing.
_COUNT_EVERY_S = 60.0


class ServedLibrary:
    """A library shared by many requests. Thread-safe."""

    def __init__(self, assistant: Library, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.location: Location = assistant.location
        self.settings: Settings = assistant.settings
        self._assistant = assistant
        self._file = _identity(self.location)
        self._users: Counter[Library] = Counter()
        self._clock = clock
        self._lock = threading.Lock()
        self._listed_s = self._opened_s = -math.inf
        self._places: dict[str, tuple[str, str]] = {}
        self._was_filled = False
        self._unread: tuple[float, Mapping[str, int]] = (-math.inf, {})

    @contextlib.contextmanager
    def in_use(self) -> Iterator[Library]:
        """Yield the current library, and keep it open while it is used.

        Rebuilding a library replaces its file. The old one is used until all sources are in the new one, and requests
        that began with the old file also end with it.
        """
        with self._lock:
            assistant = self._current()
            self._users[assistant] += 1
        try:
            yield assistant
        finally:
            with self._lock:
                self._users[assistant] -= 1
                self._close_unused()

    def is_filled(self, assistant: Library) -> bool:
        """Return whether the library in use has had a document or a complete source, which may be an empty folder.

        Before, it waits for its index job, or its name is wrong. A library that is emptied later stays filled, because
        somebody may want to upload to it.
        """
        if not self._was_filled:
            self._was_filled = assistant.stats().documents > 0 or any(root.synced_at for root in assistant.sources())
        return self._was_filled

    def changed_at(self, assistant: Library) -> float:
        """Return when an update last changed the library in use, in Unix seconds; 0.0 for never."""
        return max((root.synced_at for root in assistant.sources()), default=0.0)

    def unread(self, assistant: Library) -> Mapping[str, int]:
        """Count the files that were opened and not indexed, by reason. Counted once a minute at most."""
        if self._clock() - self._unread[0] >= _COUNT_EVERY_S:
            records = (record for root in assistant.sources() for record in assistant.index.records(root.name).values())
            reasons = (SkipReason.of(record.skipped) or "other" for record in records if record.skipped)
            self._unread = (self._clock(), Counter(map(str, reasons)))
        return self._unread[1]

    def opened_anew(self) -> Library:
        """Open the library separately, for background work that must not block questions."""
        return Library(self.location, self.settings)

    def document_id(self, source: str, path: str) -> str:
        """Return the id of a document, which is stable and does not reveal its path."""
        id_ = hashlib.sha256(f"{Path(self.location).name}\0{source}\0{path}".encode()).hexdigest()[:32]
        self._places[id_] = (source, path)
        return id_

    def link(self, source: str, span: Span, anchor: str | None = None) -> str:
        """Return the permanent link to a span; empty if there is none.

        `anchor` is the result of `anchor_of`: if the original has no lines, the link contains none.
        """
        with self.in_use() as assistant:
            root = next((root for root in assistant.sources() if root.name == source), None)
        return link_to(root, span, anchor) if root and span.path else ""

    def document(self, document_id: str) -> Document | None:
        """Return the document of an id; None if the library has none."""
        place = self.place(document_id)
        with self.in_use() as assistant:
            return assistant.index.document(*place) if place else None

    def place(self, document_id: str) -> tuple[str, str] | None:
        """Return source and path of a document by its id; None if the id is unknown."""
        with self.in_use() as assistant:
            if document_id not in self._places and self._clock() - self._listed_s >= _LIST_EVERY_S:
                self._listed_s = self._clock()
                self._places.clear()
                for listed in assistant.index.documents(EVERYTHING):
                    self.document_id(listed.source, listed.path)
            return self._places.get(document_id)

    def close(self) -> None:
        """Close the library once nobody uses it."""
        with self._lock:
            self._users[self._assistant] += 0
            self._file = None
            self._close_unused(everything=True)

    def _current(self) -> Library:
        file = _identity(self.location)
        is_replaced = file is not None and self._file is not None and file != self._file
        if is_replaced and self._clock() - self._opened_s >= _LIST_EVERY_S:
            self._opened_s = self._clock()
            with contextlib.suppress(LibraryError):  # being built; the old one answers until then
                fresh = Library(self.location, self.settings)
                self._users[fresh] += 0
                if all(root.synced_at for root in fresh.sources()) and fresh.sources():
                    self._users[self._assistant] += 0
                    self._assistant, self._file = fresh, file
                self._close_unused()
        return self._assistant

    def _close_unused(self, *, everything: bool = False) -> None:
        for assistant, count in list(self._users.items()):
            if count == 0 and (everything or assistant is not self._assistant):
                del self._users[assistant]
                assistant.close()


def _identity(location: Location) -> tuple[int, int] | None:
    return file_identity(location) if isinstance(location, Path) else None
