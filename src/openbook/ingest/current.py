"""Reads documents again, so that citations can be checked against the files themselves."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from openbook.errors import SkippedFileError, SourceError
from openbook.index.protocol import Index, Source
from openbook.ingest.difference import folder_of
from openbook.settings import Settings
from openbook.sources.content_hash import is_content
from openbook.sources.folder import Folder
from openbook.sources.reader_registry import ReaderRegistry
from openbook.sources.walk import stamp_of
from openbook.types import SkipReason


def text_now(
    root: Source, path: str, index: Index, settings: Settings, readers: ReaderRegistry, *, is_elsewhere: bool = False
) -> str | None:
    """Return the text that a document of a source has now; None if it is gone, or cannot be read.

    `is_elsewhere`: the files may be on another machine. Then it is the text that was indexed, unless they are here.
    """
    text, known = _read(root, path, index, settings, readers), index.document(root.name, path)
    if is_elsewhere and known is not None and known.text != text and not _is_there(root, index):
        return known.text
    return text


def _read(root: Source, path: str, index: Index, settings: Settings, readers: ReaderRegistry) -> str | None:
    from openbook.sources.documents import current_text  # lazy: it loads all readers, which searches do not need

    known = index.document(root.name, path)
    try:
        folder = folder_of(root, settings, readers)
        holder = folder.holder_of(path)
        raw = _bytes_of(holder or path, folder, root, index, settings, readers)
        if not holder:
            return current_text(raw, path, known, readers, mask=settings.mask_secrets)
        # An attachment is unchanged if its containing file is. Reading it again may take long.
        around = index.document(root.name, holder)
        return known.text if known and around is not None and is_content(raw, around.content_hash) else None
    except (SourceError, SkippedFileError):
        return None


def _bytes_of(
    path: str, folder: Folder, root: Source, index: Index, settings: Settings, readers: ReaderRegistry
) -> bytes:
    """Read a file, which may be as large as when it was indexed: by a process with other limits, perhaps."""
    try:
        return folder.read_bytes(path)
    except SkippedFileError as exc:
        record = index.records(root.name).get(path) if exc.reason == SkipReason.TOO_LARGE else None
        if record is None or record.skipped:
            raise
        size_bytes = record.stamp.size_bytes
    raised = replace(settings, max_file_bytes=size_bytes, max_document_bytes=size_bytes)
    return folder_of(root, raised, readers).read_bytes(path)


def _is_there(root: Source, index: Index) -> bool:
    """Return whether a location has files of a source, as they were indexed.

    Where another machine indexed it, the location may be a volume that is not mounted, or a folder of something else.
    """
    place = Path(root.location)
    try:
        if place.is_dir() and not any(place.iterdir()):  # in large libraries, listing the files takes long
            return False
        top = place if place.is_dir() else place.parent
        return place.exists() and any(
            _has_stamp(top / path, record.stamp.size_bytes, record.stamp.modified_ns)
            for path, record in index.records(root.name).items()
        )
    except OSError:
        return False


def _has_stamp(file: Path, size_bytes: int, modified_ns: int) -> bool:
    try:
        status = os.lstat(file)
    except (OSError, ValueError):
        return False
    stamp = stamp_of(status)
    return (stamp.size_bytes, stamp.modified_ns) == (size_bytes, modified_ns)
