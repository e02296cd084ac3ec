"""Updates an index from a source, reading only files that may have changed."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from openbook.embedding.protocol import Embedder
from openbook.errors import ClusterError, LibraryWriteError, SourceError
from openbook.index.protocol import Index, Source
from openbook.ingest.difference import Difference, compare_source, folder_of, not_indexed, with_moved
from openbook.memory import release_memory
from openbook.settings import Settings
from openbook.sources.folder import Folder, holder_of
from openbook.sources.reader_registry import ReaderRegistry
from openbook.sources.walk import ScannedFile
from openbook.types import Document, SkipReason, Stamp

if TYPE_CHECKING:
    from openbook.index.packing import PackedEntries
    from openbook.ingest.preparation import PreparedFile

# Files per commit. A commit costs about 1 ms and adds a segment to the word index, which must be merged
# later; a killed process loses at most its uncommitted files.
_FILES_PER_COMMIT = 50

# Uncommitted chunks stay in memory. A manual of 600 pages has about as many (`benchmarks.documents`).
_CHUNKS_PER_COMMIT = 2_000

# File timestamps tick every 10 ms at worst on Linux. A file written so shortly before it was read can be
# written again without a change of its timestamps.
_UNSETTLED_NS = 20_000_000

# Leaving out a file that is not text loses nothing, so it is not reported.
_NO_TEXT_FORMATS = frozenset({SkipReason.BINARY, SkipReason.BINARY_NAME})

# They may end without a change of the file: a disk is mounted again, or a folder above is moved back.
_PASSING = frozenset({SkipReason.UNREADABLE, SkipReason.VANISHED, SkipReason.CHANGING})

# Share of new documents from which on merging the word index into one segment pays.
_OPTIMIZE_SHARE = 0.2

Progress = Callable[[int, int], None]
"""Called with the number of finished files and the total."""


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync of one source changed."""

    source: str
    added: int = 0
    changed: int = 0
    renamed: int = 0
    """Files added with the content of a deleted one; not counted as added or removed."""
    removed: int = 0
    unchanged: int = 0
    read: int = 0
    """Files whose content was read, whether it changed or not."""
    skipped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Paths of files that are not indexed, by reason, without those that match an ignore rule."""
    remarks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What is missing from files read in this sync, by path: document remarks, and skip reasons."""
    seconds: float = 0.0

    @property
    def wrote(self) -> bool:
        """Whether the index has changed."""
        return bool(self.added or self.changed or self.renamed or self.removed)


_Outcome = tuple[ScannedFile, "PreparedFile"]


def sync(
    root: Source,
    index: Index,
    *,
    settings: Settings,
    load_embedder: Callable[[], Embedder],
    served: Embedder | None = None,
    readers: ReaderRegistry | None = None,
    progress: Progress | None = None,
    only: Collection[str] = (),
    now: Callable[[], float] = time.time,
) -> SyncReport:
    """Update an index from its source. Files are committed in small batches, so aborting loses at most one batch.

    `load_embedder` is also called in child processes, so it must be picklable. `served` embeds in this process
    instead, several files per call. `only` restricts the sync to some paths.

    Raises:
        SourceError: The root is gone or cannot be listed; the index is not changed. Or another process has removed the
            source meanwhile; nothing of it is left.
        LibraryWriteError: The index cannot be written.
        ModelError: The server of `served` returns no vectors.
        SettingsError, PluginError, MissingExtraError, ClusterError: The executor of the settings cannot be used.
    """
    started, folder = now(), folder_of(root, settings, readers)
    difference = _narrowed(_with_retries(compare_source(folder, index), settings, readers), only)
    if all(remembered.name != root.name for remembered in index.roots()):
        index.put_root(root)
    difference = with_moved(difference, folder, index)
    writer = _Writer(index, root, difference, started)
    preparing = _prepared(difference, folder, settings, None if served else load_embedder, readers)
    # Close explicitly: the traceback of an exception would keep the generators, and so the child processes, alive.
    with contextlib.closing(preparing) as outcomes:
        for batch in _batched(outcomes):
            writer.write(_with_vectors(batch, served) if served else batch)
            if progress:
                progress(writer.done, len(difference.todo))
    if writer.done < len(difference.todo):  # without an error, answers would lack the rest and say nothing of it
        raise ClusterError(
            f"the executor returned {writer.done} of {len(difference.todo)} files",
            hint="run it again, or unset OPENBOOK_EXECUTOR to read the files on this machine",
        )
    if difference.gone or writer.has_written or not root.synced_at:
        writer.finish(replace(root, synced_at=started))
    report = _report(difference, writer, not_indexed(difference.scan.skipped, index.records(root.name)))
    if report.wrote:
        _optimize(index, every=report.added > _OPTIMIZE_SHARE * len(difference.scan.files))
    return replace(report, seconds=now() - started)


def _optimize(index: Index, *, every: bool) -> None:
    with contextlib.suppress(LibraryWriteError):  # everything is committed; searches are only slower
        index.optimize(every=every)
    release_memory()  # for long-running servers


def _narrowed(difference: Difference, only: Collection[str]) -> Difference:
    """Restrict the difference to some files; empty for all."""
    if not only:
        return difference
    todo = tuple(file for file in difference.todo if file.path in only)
    gone = frozenset(path for path in difference.gone if path in only or holder_of(path, only))
    return replace(difference, todo=todo, gone=gone)


def _prepared(
    difference: Difference,
    folder: Folder,
    settings: Settings,
    load_embedder: Callable[[], Embedder] | None,
    readers: ReaderRegistry | None,
) -> Generator[_Outcome, None, None]:
    """Prepare files, in child processes if there is enough work."""
    if not difference.todo:
        return
    # Lazy: an unchanged source needs neither grammars nor child processes.
    from openbook.ingest.executor import executor_for
    from openbook.ingest.preparation import FileJob, FilePreparer, PreparedFile, Preparer
    from openbook.process_pool import JobFailure, apply_safely, took_more_memory

    preparer = FilePreparer(folder, Preparer(folder.name, settings, load_embedder, readers))
    files = {file.path: file for file in difference.todo}
    known = difference.known
    unread = known.keys() - difference.moved
    jobs = [FileJob(path, known[path].content_hash if path in unread else "") for path in files]
    own = [job for job in jobs if preparer.preparer.is_of_program(job.path)]
    jobs = [job for job in jobs if not preparer.preparer.is_of_program(job.path)]
    executor = executor_for(settings, sum(file.stamp.size_bytes for file in difference.todo))
    with contextlib.closing(executor.run(preparer, jobs, settings)) as outcomes:
        for job, outcome in itertools.chain(((job, apply_safely(preparer, job)) for job in own), outcomes):
            if isinstance(outcome, JobFailure):
                of_memory = took_more_memory(settings.file_memory_bytes)
                reason = of_memory if outcome.reason == SkipReason.TOO_MUCH_MEMORY else outcome.reason
                outcome = PreparedFile(reason=reason)
            yield files[job.path], outcome


def _with_retries(difference: Difference, settings: Settings, readers: ReaderRegistry | None) -> Difference:
    """Add skipped files whose skip reason may no longer apply, also because of new settings or packages."""
    skipped = {path: record.skipped for path, record in difference.known.items() if record.skipped}
    if not skipped:
        return difference
    from openbook.process_pool import took_longer, took_more_memory
    from openbook.sources import optional_readers
    from openbook.sources.readers.pdf import may_be_read_now
    from openbook.sources.readers.reading import PdfOptions

    options = PdfOptions(settings.max_pages, settings.pdf_password, optional_readers.recognizer_of(settings))
    limits = {
        SkipReason.TOOK_LONGER: took_longer(settings.file_timeout_s),
        SkipReason.TOO_MUCH_MEMORY: took_more_memory(settings.file_memory_bytes),
    }
    outdated = {
        path
        for path, reason in skipped.items()
        if SkipReason.of(reason) in _PASSING
        or may_be_read_now(reason, options)
        or optional_readers.may_be_read_now(reason)
        or (readers and readers.may_read_now(path, reason))
        or ((known := SkipReason.of(reason)) in limits and reason != limits[known])
    }
    holders = {holder for holder, inner in difference.held.items() if not outdated.isdisjoint(inner)}
    return difference.with_todo(outdated | holders)


class _Writer:
    """Writes prepared files in batches, and counts the changes."""

    def __init__(self, index: Index, root: Source, difference: Difference, started: float) -> None:
        self._index = index
        self._root = root
        self._source = root.name
        self._known = difference.known
        self._gone = sorted(difference.gone)
        self._held = difference.held
        self._started = started
        self._departed = Counter(difference.known[path].content_hash for path in difference.gone)
        self.done = 0
        """Number of files, without attached ones."""
        self.has_written = False
        self.counts: Counter[str] = Counter()
        self.remarks: dict[str, tuple[str, ...]] = {
            path: (f"not updated: {SkipReason.TOO_LARGE}; {remedy}; the library keeps its earlier text",)
            for path, remedy in difference.remedies().items()
            if path in difference.outdated
        }

    def write(self, batch: Iterable[_Outcome]) -> None:
        """Commit a batch of files.

        Raises:
            SourceError: Another process has removed the source.
        """
        outcomes = list(batch)
        news = [(file, outcome) for file, outcome in outcomes if not self._is_recorded(file, outcome)]
        self.done += len(outcomes) - len(news)
        if news:
            with self._of_source():
                for file, outcome in news:
                    stamp = _settled(file.stamp, self._started)
                    self.done += 1
                    self._write_one(file.path, outcome, stamp)
                    if outcome.document is not None or outcome.reason:
                        self._write_attached(file.path, outcome, replace(stamp, size_bytes=0))
            self.has_written = True

    def finish(self, root: Source) -> None:
        """Delete the files that are gone, and record that the sync is complete.

        Raises:
            SourceError: Another process has removed the source.
        """
        with self._of_source():
            for path in self._gone:
                self._index.delete(self._source, path)
            self._index.put_root(root)

    @contextlib.contextmanager
    def _of_source(self) -> Iterator[None]:
        """Open a transaction for a source that is still there. Otherwise its documents would come back without it."""
        with self._index.batch():
            found = next((root for root in self._index.roots() if root.name == self._source), None)
            if found is not None and (found.kind, found.location) == (self._root.kind, self._root.location):
                yield
                return
            if found is None:  # an engine of several machines may have let in a batch after the removal
                self._index.delete_source(self._source)
        hint = "`openbook add` adds it again"
        raise SourceError(self._root.location, f"another process has removed {self._source}", hint=hint)

    def _is_recorded(self, file: ScannedFile, outcome: PreparedFile) -> bool:
        """Return whether a file that was tried again could not be read for the same reason."""
        known = self._known.get(file.path)
        if known is None or not outcome.reason:
            return False
        return (known.skipped, known.stamp) == (outcome.reason, file.stamp)

    def _write_attached(self, holder: str, outcome: PreparedFile, stamp: Stamp) -> None:
        """Replace the files attached to a file. Their size is counted with that file."""
        for path, one in outcome.attached:
            self._write_one(path, one, stamp)
        for path in sorted(self._held.get(holder, frozenset()).difference(dict(outcome.attached))):
            self._index.delete(self._source, path)
            self.counts["removed" if not self._known[path].skipped else "skipped"] += 1

    def _write_one(self, path: str, outcome: PreparedFile, stamp: Stamp) -> None:
        self.counts[self._written(path, outcome, stamp)] += 1

    def _written(self, path: str, outcome: PreparedFile, stamp: Stamp) -> str:
        """Write a file, and return how it changed."""
        was_indexed = path in self._known and not self._known[path].skipped
        if outcome.reason == SkipReason.TOO_LARGE and was_indexed:  # attached, or grown since the scan
            self.remarks[path] = (f"not updated: {outcome.reason}; the library keeps its earlier text",)
            return "unchanged"
        if outcome.reason:
            self._index.skip(self._source, path, stamp, outcome.reason)
            if outcome.reason not in _NO_TEXT_FORMATS:
                self.remarks[path] = (f"not indexed: {outcome.reason}",)
            return "removed" if was_indexed else "skipped"
        if outcome.document is None:
            self._index.touch(self._source, path, stamp, self._known[path].content_hash)
            return "unchanged"
        self._put(outcome.document, outcome.entries, stamp)
        if outcome.document.remarks:
            self.remarks[path] = outcome.document.remarks
        if was_indexed:
            return "changed"
        if self._departed[outcome.document.content_hash]:
            self._departed[outcome.document.content_hash] -= 1
            return "renamed"
        return "added"

    def _put(self, document: Document, chunks: PackedEntries, stamp: Stamp) -> None:
        if getattr(self._index, "takes_packed", False):
            self._index.put(document, chunks, stamp)
            return
        from openbook.ingest.preparation import unpacked

        self._index.put(document, unpacked(document, chunks), stamp)


def _report(difference: Difference, writer: _Writer, skipped: Mapping[str, tuple[str, ...]]) -> SyncReport:
    counts = writer.counts
    indexed = sum(1 for record in difference.known.values() if not record.skipped)
    return SyncReport(
        source=difference.source,
        added=counts["added"],
        changed=counts["changed"],
        renamed=counts["renamed"],
        removed=counts["removed"] + difference.forgotten - counts["renamed"],
        unchanged=indexed - counts["changed"] - counts["removed"] - difference.forgotten,
        read=len(difference.todo),
        skipped=skipped,
        remarks=dict(sorted(writer.remarks.items())),
    )


def _settled(stamp: Stamp, started: float) -> Stamp:
    """Return the stamp, or one that never matches if the file may be written again in the same tick.

    The reference is the start of the sync: the file can have been read right after it, and the commit may
    come minutes later.
    """
    recent = started * 1e9 - max(stamp.modified_ns, stamp.changed_ns) < _UNSETTLED_NS
    return replace(stamp, changed_ns=0) if recent else stamp


def _with_vectors(batch: list[_Outcome], embedder: Embedder) -> list[_Outcome]:
    from openbook.ingest.preparation import embedded

    files, prepared = zip(*batch, strict=True)
    return list(zip(files, embedded(prepared, embedder), strict=True))


def _batched(items: Iterable[_Outcome]) -> Iterator[list[_Outcome]]:
    batch, chunks = [], 0
    for item in items:
        batch.append(item)
        chunks += sum(len(one.entries.rows) for one in item[1].files)
        if len(batch) == _FILES_PER_COMMIT or chunks >= _CHUNKS_PER_COMMIT:
            yield batch
            batch, chunks = [], 0
    if batch:
        yield batch
