"""The library behind the tools: brought up to date on first use, and again when its files have changed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from openbook.errors import LibraryWriteError, SourceError
from openbook.index.protocol import Source
from openbook.library import Library

_logger = logging.getLogger(__name__)

# Editors save in bursts. What changes within this time is looked at once.
_SETTLE_MS = 100
_STEP_MS = 50

# How often the watcher looks whether it is to end: so long closing waits for it.
_POLL_MS = 500


class WatchedLibrary:
    """A library whose folders are watched, so that only what changed is looked at, and only when it is asked."""

    def __init__(self, assistant: Library, paths: Sequence[Path], *, watch: bool = True) -> None:
        """Take a library and the folders and files that belong in it; nothing is read yet.

        Args:
            assistant: The library. Threads share it.
            paths: To be registered in it. Without any, its sources are taken as they are.
            watch: Whether changes are noticed as they happen; else the first use is the last look.
        """
        self.assistant = assistant
        self._paths = paths
        self._watch = watch
        self._lock = threading.Lock()
        self._changed = threading.Event()
        self._changed.set()
        self._stop = threading.Event()
        self._missing: tuple[Path, ...] = ()
        self._is_registered = self._is_watching = False
        self._watcher: threading.Thread | None = None

    @contextmanager
    def fresh(self) -> Iterator[Library]:
        """Yield the library as its files are now. The first time takes as long as indexing does.

        Raises:
            SourceError: A source is gone and the library holds nothing of it.
            LibraryError: The library cannot be used.
        """
        if self._is_due:
            with self._lock:
                if self._is_due:  # else another thread has just done it
                    self._bring_up_to_date()
        yield self.assistant

    def close(self) -> None:
        """Stop watching."""
        self._stop.set()
        if self._watcher is not None:
            self._watcher.join(timeout=5)

    @property
    def _is_due(self) -> bool:
        return self._changed.is_set() or any(place.exists() for place in self._missing)

    def _bring_up_to_date(self) -> None:
        if not self._is_registered:
            for path in self._paths:
                self.assistant.register(path)
            self._is_registered = True
        if self._watch and (self._missing or not self._is_watching):
            self._start()
        # Before the look: what changes during it is looked at again. Without a watcher every call has to look.
        if self._is_watching or not self._watch:
            self._changed.clear()
        for root in self._sources():
            try:
                self.assistant.add(root.location)
            except (SourceError, LibraryWriteError):
                # A disk that is not there, or a library that is read-only: what is known still answers.
                if not self.assistant.stats().documents:
                    self._changed.set()
                    raise

    def _start(self) -> None:
        self._stop.set()  # the one before does not know of what has come back
        places = [_watchable(root) for root in self._sources()]
        there = [place for place in places if place.exists()]
        self._missing = tuple(place for place in places if place not in there)
        self._stop = threading.Event()
        self._is_watching = bool(there)
        if there:
            self._watcher = threading.Thread(target=self._follow, args=(there, self._stop), name="watch", daemon=True)
            self._watcher.start()

    def _sources(self) -> list[Source]:
        """List the sources to keep up to date. In a library of several machines these are the folders named here."""
        named = {str(path) for path in self._paths}
        return [root for root in self.assistant.sources() if not self.assistant.is_shared or root.location in named]

    def _follow(self, places: Sequence[Path], stop: threading.Event) -> None:
        from watchfiles import watch

        began = list(map(_identity, places))
        try:
            for _ in watch(
                *places,
                stop_event=stop,
                debounce=_SETTLE_MS,
                step=_STEP_MS,
                raise_interrupt=False,
                rust_timeout=_POLL_MS,
            ):
                self._changed.set()
                # A folder that comes back is another one, of which the system tells nothing.
                if list(map(_identity, places)) != began:
                    break
        except (OSError, RuntimeError) as exc:  # as where the system watches no more folders
            _logger.warning("folders are not watched, so each call looks at all of them: %s", exc)
        finally:
            if not stop.is_set():
                self._is_watching = False
                self._changed.set()


def _identity(place: Path) -> tuple[int, int] | None:
    try:
        found = place.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _watchable(root: Source) -> Path:
    """Return the folder to watch: of a file too, because editors replace files."""
    place = Path(root.location)
    return place.parent if root.kind == "file" else place
