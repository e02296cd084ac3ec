"""A library that is indexed in the background, and again when its files change."""

from __future__ import annotations

import contextlib
import logging
import os
import shlex
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import TypeVar

from openbook.errors import (
    CorruptLibraryError,
    LibraryError,
    LibraryWriteError,
    OpenbookError,
    SourceError,
    rebuild_hint,
)
from openbook.index.files import file_identity
from openbook.index.protocol import Source
from openbook.ingest.reading_state import ReadingState
from openbook.ingest.sync import SyncReport
from openbook.library import Library
from openbook.sources.walk import may_matter

_logger = logging.getLogger(__name__)

# Changes within this time are handled together. Only the next call looks at them, so a burst costs nothing, but a call
# that comes sooner does not know of them.
_DEBOUNCE_MS = 50
_STEP_MS = 5

# How often the watcher checks whether to stop.
_POLL_MS = 500


# How long a call waits for indexing. Small folders take less, and agents give up on slow servers.
PATIENCE_S = 4.0

# Delay of indexing, so that the first requests and their imports come first.
_START_DELAY_S = 1.0

T = TypeVar("T")


class _StoppedError(Exception):
    """The server stops during indexing."""


class WatchedLibrary:
    """A library whose folders are watched, so that only changes are indexed, in the background."""

    def __init__(
        self,
        assistant: Library,
        paths: Sequence[Path],
        *,
        watch: bool = True,
        patience_s: float = PATIENCE_S,
        remake: Callable[[LibraryError], Library] | None = None,
        report: Callable[[SyncReport], None] | None = None,
    ) -> None:
        """Take a library and its folders and files. Nothing is indexed yet.

        Without `paths`, the sources of the library are taken as they are. Without `watch`, they are indexed once, at
        the first use. `patience_s` is how long a call waits for indexing. `remake` rebuilds a damaged library, after it
        was closed; None if that would lose data. `report` is told what each sync of a source has changed.
        """
        self.assistant = assistant
        self._given = assistant
        self._file = _file_of(assistant)
        self._remake = remake
        self._report = report
        self._replacing = threading.Lock()
        self._mended = ""
        # Set while the library is closed because it is damaged and could not be rebuilt.
        self._damage: CorruptLibraryError | None = None
        self._paths = paths
        self._watch = watch
        self._patience_s = patience_s
        self._turn = threading.Condition()
        # Counters, so that changes during indexing are not lost.
        self._wanted, self._done = 1, 0
        self._is_working = False
        self._hurry, self._stop, self._closing = threading.Event(), threading.Event(), threading.Event()
        self._state = ReadingState()
        self._error: OpenbookError | None = None
        self._used = threading.local()
        self._missing: tuple[Path, ...] = ()
        self._watched: tuple[Path, ...] = ()
        # Why a source that is there was not updated by the last look.
        self._failure = ""
        # Locations of the sources, for hints when the library cannot be read.
        self._locations: list[str] = []
        self._registered: Library | None = None
        self._is_watching = False
        self._watcher: threading.Thread | None = None
        self._worker: threading.Thread | None = None

    def start(self) -> None:
        """Start indexing in the background, after the first requests."""
        self._start_worker(_START_DELAY_S)

    @contextlib.contextmanager
    def fresh(self) -> Iterator[Library]:
        """Yield the library after indexing changes, as far as the time limit allows."""
        self._follow_file()
        assistant = self.assistant
        try:
            self._refresh()
            yield assistant
        except LibraryError as exc:
            # Any call can find damage, and does not know the sources for the hint.
            if exc.rebuild and self._locations:
                exc.hint = rebuild_hint(exc.rebuild, [shlex.join(self._locations)])
            raise

    def use(self, call: Callable[[], T]) -> T:
        """Make a call that uses the library. If it finds damage, rebuild the library and call again."""
        assistant = self.assistant
        try:
            return call()
        except LibraryError as exc:
            if not self._is_replaced(assistant, exc):
                raise
            return call()

    def _is_replaced(self, assistant: Library, exc: LibraryError) -> bool:
        """Replace a library that has failed, and return whether it was replaced."""
        with self._replacing:
            if self.assistant is not assistant:  # by another call
                return True
            damage, fresh = self._damage or exc, None
            file = _file_of(assistant)
            if file is not None and (self._damage or file != self._file):  # another process may have rebuilt it
                with contextlib.suppress(CorruptLibraryError):
                    fresh = Library(assistant.location, assistant.settings)
            if fresh is None and self._remake and isinstance(damage, CorruptLibraryError) and damage.rebuild:
                fresh = self._rebuilt(damage, self._remake)
            if fresh is None:
                return False
            self._take(fresh)
            return True

    def _follow_file(self) -> None:
        """Take the library that another process has made in place of this one, once all of its sources are read."""
        if _file_of(self.assistant) in (None, self._file):
            return
        with self._replacing, contextlib.suppress(LibraryError):  # being made; this one answers until then
            if self._damage or _file_of(self.assistant) in (None, self._file):
                return
            fresh = Library(self.assistant.location, self.assistant.settings)
            if fresh.sources() and all(root.synced_at for root in fresh.sources()):
                self._take(fresh)
            else:
                fresh.close()

    def _take(self, fresh: Library) -> None:
        self.assistant.close()
        self._damage = None
        self._change()  # before it is used
        self.assistant, self._file = fresh, _file_of(fresh)

    def _rebuilt(self, damage: CorruptLibraryError, remake: Callable[[LibraryError], Library]) -> Library:
        """Close the damaged library, and rebuild it.

        Raises:
            CorruptLibraryError: It cannot be rebuilt now. The next call tries again.
        """
        self.assistant.close()  # Windows cannot delete open files
        try:
            fresh = remake(damage)
        except (OSError, LibraryError) as exc:
            self._damage = damage
            raise damage from exc
        self._remake = None  # only once: damage that returns has another cause
        self._mended = "the library was damaged: it is made again from its folders"
        return fresh

    def _refresh(self) -> None:
        self._schedule_scan()
        end = monotonic() + self._patience_s
        while self._is_due and monotonic() < end and not self._closing.is_set():
            self._start_worker()
            with self._turn:
                self._turn.wait_for(lambda: not self._is_working, timeout=max(0.0, end - monotonic()))
                error, self._error = self._error, None
            if error is not None:
                raise error
        with self._replacing:
            mended, self._mended = self._mended, ""
        notes = (mended, self._failure, *self._missing_folders(), str(self.reading or ""))
        self._used.notes = tuple(filter(None, notes))

    @property
    def reading(self) -> ReadingState | None:
        """Progress of indexing; None if everything is indexed."""
        return self._state if self._is_due else None

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings on the last results of this thread: missing folders, or files that are not indexed yet."""
        notes: tuple[str, ...] = getattr(self._used, "notes", ())
        return notes

    def has_courses(self) -> bool:
        """Return whether courses have been indexed so far."""
        return self.use(lambda: bool(self.assistant.courses()))

    def close(self) -> None:
        """Stop indexing and watching. Indexed files stay."""
        self._closing.set()
        self._hurry.set()
        self._stop.set()
        for thread in (self._worker, self._watcher):
            if thread is not None:
                thread.join(timeout=5)
        if self.assistant is not self._given:
            self.assistant.close()

    @property
    def _is_due(self) -> bool:
        return self._done != self._wanted

    def _change(self) -> None:
        with self._turn:
            self._wanted += 1

    def _schedule_scan(self) -> None:
        """Schedule a scan if a source is not watched, if a missing folder is back, or if the last one failed."""
        if self._is_due:
            return
        is_ready = self._watch and self._registered is self.assistant
        if self._failure or any(map(file_identity, self._missing)) or (is_ready and not self._watches_all):
            self._change()

    def _start_worker(self, delay_s: float = 0.0) -> None:
        with self._turn:
            if not delay_s:
                self._hurry.set()
            if self._is_working or not self._is_due or self._closing.is_set():
                return
            self._is_working, self._state, self._error = True, ReadingState(), None
            self._worker = threading.Thread(target=self._work, args=(delay_s,), name="reading", daemon=True)
            self._worker.start()

    def _work(self, delay_s: float) -> None:
        """Index until nothing is left to do, or indexing fails."""
        self._hurry.wait(delay_s)
        error: OpenbookError | None = None
        is_over = False
        try:
            while not is_over and error is None:
                error = self._read()
                with self._turn:
                    is_over = not self._is_due
                    self._is_working = not is_over
        except _StoppedError:
            pass
        finally:
            with self._turn:
                self._is_working, self._error = False, error
                self._turn.notify_all()

    def _read(self) -> OpenbookError | None:
        """Index all changes up to now, and return the error if that fails."""
        target, self._state, assistant = self._wanted, ReadingState(), self.assistant
        try:
            self._sync(assistant)
        except OpenbookError as exc:
            with self._replacing:
                return exc if self.assistant is assistant else None
        with self._turn:
            self._done = target
        return None

    def _sync(self, assistant: Library) -> None:
        if self._registered is not assistant:
            for path in self._paths:
                assistant.register(path, allow_large=True)  # the command has checked it
            self._registered = assistant
            self._locations = [root.location for root in assistant.sources()]
        if self._watch and (self._missing or not self._watches_all):
            self._start()
        failure = ""
        for root in self._sources():
            try:
                report = assistant.add(root.location, progress=self._progress)
            except (SourceError, LibraryWriteError) as exc:
                # A missing disk, or a read-only library: what is indexed can still be searched.
                if not assistant.stats().documents:
                    raise
                if isinstance(exc, LibraryWriteError) or _is_reachable(root):
                    failure = f"the library was not updated: {exc}"
            else:
                if self._report:
                    self._report(report)
        self._failure = failure

    def _progress(self, done: int, total: int) -> None:
        self._state = ReadingState(done, total)
        if self._closing.is_set():
            raise _StoppedError

    def _start(self) -> None:
        self._stop.set()  # the previous watcher does not watch folders that are back
        places = self._watched = self._watchable_places()
        there = [place for place in places if file_identity(place)]
        self._missing = tuple(place for place in places if place not in there)
        self._stop = threading.Event()
        if self._closing.is_set():
            return
        self._is_watching = bool(there)
        if there:
            self._watcher = threading.Thread(target=self._follow, args=(there, self._stop), name="watch", daemon=True)
            self._watcher.start()

    @property
    def _watches_all(self) -> bool:
        """Whether the sources that the library has now are watched; another process may have added one."""
        return self._is_watching and self._watched == self._watchable_places()

    def _watchable_places(self) -> tuple[Path, ...]:
        return tuple(map(_watchable, self._sources()))

    def _sources(self) -> list[Source]:
        """List the sources to keep up to date; of a shared library, only the given folders."""
        named = {str(path) for path in self._paths}
        return [root for root in self.assistant.sources() if not self.assistant.is_shared or root.location in named]

    def _missing_folders(self) -> Iterator[str]:
        """Yield a warning for each source whose folder is missing."""
        for root in self._sources():
            if not _is_reachable(root):
                yield f"the folder of {root.name} is gone: what is found in it was indexed before"

    def _follow(self, places: Sequence[Path], stop: threading.Event) -> None:
        from watchfiles import watch

        began = list(map(file_identity, places))
        is_first = True  # what changed after the scan and before the watch began is not told
        try:
            for changes in watch(
                *places,
                stop_event=stop,
                debounce=_DEBOUNCE_MS,
                step=_STEP_MS,
                watch_filter=lambda _, path: any(may_matter(place, path) for place in places),
                raise_interrupt=False,
                rust_timeout=_POLL_MS,
                yield_on_timeout=True,
            ):
                # A folder that was replaced is not watched any more.
                if list(map(file_identity, places)) != began:
                    break
                if changes or is_first:
                    self._change()
                is_first = False
        except (OSError, RuntimeError) as exc:  # such as the limit of the system for watched folders
            _logger.warning("folders are not watched, so each call looks at all of them: %s", exc)
            self._is_watching = False  # so each use scans the folders
            return
        if not stop.is_set():
            self._is_watching = False
            self._change()


def _file_of(assistant: Library) -> tuple[int, int] | None:
    return file_identity(assistant.location) if isinstance(assistant.location, Path) else None


def _is_reachable(root: Source) -> bool:
    """Return whether the folder of a source exists and is readable, and so is its file."""
    place = _watchable(root)
    is_hidden = root.kind == "file" and os.access(root.location, os.F_OK) and not os.access(root.location, os.R_OK)
    return file_identity(place) is not None and os.access(place, os.R_OK | os.X_OK) and not is_hidden


def _watchable(root: Source) -> Path:
    """Return the folder to watch; for a file, its folder, because editors replace files."""
    place = Path(root.location)
    return place.parent if root.kind == "file" else place
