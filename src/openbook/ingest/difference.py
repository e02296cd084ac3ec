"""Compares a source with the index, without reading contents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from openbook.errors import SourceError
from openbook.index.filters import filter_predicate
from openbook.index.protocol import FileRecord, Index, Source
from openbook.ingest.remedies import remedy_for
from openbook.settings import Settings
from openbook.sources.content_hash import is_read_as_now
from openbook.sources.folder import Folder, holder_of
from openbook.sources.reader_registry import ReaderRegistry
from openbook.sources.walk import Scan, ScannedFile, SkippedFile
from openbook.types import Filter, SkipReason, Stamp


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between a source and its index."""

    source: str
    scan: Scan
    known: Mapping[str, FileRecord]
    todo: tuple[ScannedFile, ...]
    """Files that are new or may have changed."""
    gone: frozenset[str]
    """Paths in the index that no longer exist in the source."""
    moved: frozenset[str] = frozenset()
    """Paths of unchanged files that must be read again, because their lesson or the reading of their attachments
    changed."""
    held: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Paths of indexed attachments, by the path of the file that contains them."""
    outdated: frozenset[str] = frozenset()
    """Paths of indexed files that have changed, and are too large to be read again. The index keeps them."""

    def with_todo(self, paths: Collection[str]) -> Difference:
        """Add files to the ones to read, whether they have changed or not."""
        todo = {*self.todo, *(file for file in self.scan.files if file.path in paths)}
        return replace(self, todo=tuple(sorted(todo)), moved=self.moved.union(paths))

    @property
    def forgotten(self) -> int:
        """Count the documents among the deleted files; the others were skipped files."""
        return sum(1 for path in self.gone if not self.known[path].skipped)

    def not_indexed(self) -> dict[str, tuple[str, ...]]:
        """Return the paths of files that are not indexed, by reason, both sorted."""
        return not_indexed(
            self.scan.skipped, {path: record for path, record in self.known.items() if path not in self.gone}
        )

    def remedies(self) -> dict[str, str]:
        """Return what to do about skipped files, by path, if it depends on the file."""
        return {skipped.path: skipped.remedy for skipped in self.scan.skipped if skipped.remedy}

    def unread(self) -> dict[str, str]:
        """Return why files that may contain text could not be read and what to do, by path, sorted."""
        remedies = self.remedies()
        found = (
            (path, "; ".join(filter(None, (reason, remedies.get(path) or remedy_for(reason)))))
            for reason, paths in self.not_indexed().items()
            for path in paths
            if _may_hold_words(reason, path)
        )
        return dict(sorted(found))


def not_indexed(by_scan: Iterable[SkippedFile], records: Mapping[str, FileRecord]) -> dict[str, tuple[str, ...]]:
    """Return the paths of files skipped by name or size, or earlier by content, by reason, both sorted."""
    refused = [(skipped.reason, skipped.path) for skipped in by_scan]
    unread = [(record.skipped, path) for path, record in records.items() if record.skipped]
    found: dict[str, list[str]] = {}
    for reason, path in sorted(refused + unread):
        found.setdefault(reason, []).append(path)
    return {reason: tuple(paths) for reason, paths in found.items()}


# Skip reasons for files that are not text, are indexed elsewhere, are excluded, or were printed by Openbook.
_NO_WORDS = frozenset(
    {
        SkipReason.SECRET,
        SkipReason.BINARY,
        SkipReason.LINK_INSIDE,
        SkipReason.NOT_REGULAR,
        SkipReason.VANISHED,
        SkipReason.QUESTION_SET,
        SkipReason.EVALUATION,
        SkipReason.ANSWER,
        SkipReason.SEARCH_RESULTS,
    }
)

# Text formats among the files that are skipped by name.
_WRITTEN = (".djvu", ".mobi", ".numbers", ".pages")


def _may_hold_words(reason: str, path: str) -> bool:
    known = SkipReason.of(reason)
    if known is SkipReason.BINARY_NAME:
        return path.lower().endswith(_WRITTEN)
    return known not in _NO_WORDS


def unread_files(pending: Mapping[str, Difference | SourceError], where: Filter) -> dict[str, str]:
    """Return why files that may contain text could not be read and what to do, by path, where a filter lets them pass.

    Their kinds and lessons are unknown, and not compared.
    """
    courses = frozenset((source, "" if path == "." else path) for source, path in where.courses)
    places = [Filter(globs=where.globs, sources=where.sources, within=within) for within in (where.within, courses)]
    checks = [check for check in map(filter_predicate, places) if check is not None]
    read = ((source, found.unread()) for source, found in pending.items() if not isinstance(found, SourceError))
    return {
        path: reason
        for source, unread in read
        for path, reason in unread.items()
        if all(check(source, path, "") for check in checks)
    }


def folder_of(root: Source, settings: Settings, readers: ReaderRegistry | None = None) -> Folder:
    """Open a source that is recorded in the library.

    Raises:
        SourceError: It is gone.
    """
    return Folder(
        Path(root.location),
        root.name,
        max_file_bytes=settings.max_file_bytes,
        max_document_bytes=settings.max_document_bytes,
        is_course=root.kind == "course",
        readers=readers,
    )


def compare_source(folder: Folder, index: Index) -> Difference:
    """Return what a sync would change, without reading contents.

    Raises:
        SourceError: The source cannot be listed.
    """
    scan = folder.scan()
    known = index.records(folder.name)
    todo = tuple(
        file
        for file in scan.files
        if (record := known.get(file.path)) is None
        or record.stamp != file.stamp
        or _would_be_read_otherwise(file.path, record)
    )
    # The limits may be those of this process alone: what another one has indexed stays.
    large = {file.path: file.stamp for file in scan.skipped if file.stamp and _is_indexed(known.get(file.path))}
    outdated = frozenset(path for path, stamp in large.items() if not _is_alike(known[path].stamp, stamp))
    unread = tuple(file for file in scan.skipped if file.path not in large or file.path in outdated)
    paths = {*large, *(file.path for file in scan.files)}
    held: dict[str, set[str]] = {}
    missing: set[str] = set()
    for path in known.keys() - paths:
        holder = holder_of(path, paths)
        (held.setdefault(holder, set()) if holder else missing).add(path)
    # Files in a folder that cannot be listed may still exist.
    closed = {skipped.path.rstrip("/") for skipped in scan.skipped if skipped.reason == SkipReason.UNREADABLE_FOLDER}
    gone = {path for path in missing if closed.isdisjoint(map(str, PurePosixPath(path).parents))}
    difference = Difference(
        folder.name,
        replace(scan, skipped=unread),
        known,
        todo,
        frozenset(gone),
        held={holder: frozenset(inner) for holder, inner in held.items()},
        outdated=outdated,
    )
    to_read = {
        holder for holder, inner in held.items() if any(_would_be_read_otherwise(one, known[one]) for one in inner)
    }
    return difference.with_todo(to_read) if to_read else difference


def _is_alike(stamp: Stamp, other: Stamp) -> bool:
    """Return whether size and time are the same. The time of the last change is not recorded of files just written."""
    return (stamp.size_bytes, stamp.modified_ns) == (other.size_bytes, other.modified_ns)


def _is_indexed(record: FileRecord | None) -> bool:
    return record is not None and not record.skipped


def _would_be_read_otherwise(path: str, record: FileRecord) -> bool:
    return not record.skipped and not is_read_as_now(record.content_hash, path)


def compare_sources(
    index: Index, settings: Settings, readers: ReaderRegistry | None = None, machine: str = ""
) -> dict[str, Difference | SourceError]:
    """Return what a sync of each source would change, by name, or why it cannot be compared. Reads no contents.

    In a shared library, only the sources of this machine can be compared.
    """
    found: dict[str, Difference | SourceError] = {}
    for root in index.roots():
        if not root.is_of(machine):
            hint = "update it there"
            found[root.name] = SourceError(root.location, "is a source of another machine", hint=hint)
            continue
        try:
            found[root.name] = compare_source(folder_of(root, settings, readers), index)
        except SourceError as exc:
            found[root.name] = exc
    return found


def with_moved(difference: Difference, folder: Folder, index: Index) -> Difference:
    """Add the files whose lesson changed because other files came or went, or the table of contents changed.

    Only runs if something changed, because it looks up every document of a course in the index.

    Raises:
        CourseFileError: A `course.toml` is invalid.
    """
    if not folder.is_course or not (difference.todo or difference.gone):
        return difference
    from openbook.sources.courses import is_placed_as

    # All of them, so that an invalid `course.toml` is an error now. Later, each file would be skipped for it, for good.
    placements = {file.path: folder.placement_of(file.path) for file in difference.scan.files}
    moved = {
        file.path
        for file in difference.scan.files
        if file.path in difference.known
        and not difference.known[file.path].skipped
        and not is_placed_as((chunk.lesson for chunk in index.chunks(folder.name, file.path)), placements[file.path])
    }
    return difference.with_todo(moved)
