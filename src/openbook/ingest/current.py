"""Reads documents again, so that citations can be checked against the files themselves."""

from __future__ import annotations

import os
from pathlib import Path

from openbook.errors import SkippedFileError, SourceError
from openbook.index.protocol import Index, Source
from openbook.ingest.difference import folder_of
from openbook.settings import Settings
from openbook.sources.content_hash import is_content
from openbook.sources.reader_registry import ReaderRegistry


def text_now(root: Source, path: str, index: Index, settings: Settings, readers: ReaderRegistry) -> str | None:
    """Return the text that a document of a source has now; None if it is gone, or cannot be read."""
    from openbook.sources.documents import current_text  # lazy: it loads all readers, which searches do not need

    known = index.document(root.name, path)
    try:
        folder = folder_of(root, settings, readers)
        holder = folder.holder_of(path)
        if not holder:
            return current_text(folder.read_bytes(path), path, known, readers, mask=settings.mask_secrets)
        # An attachment is unchanged if its containing file is. Reading it again may take long.
        around = index.document(root.name, holder)
        is_same = around is not None and is_content(folder.read_bytes(holder), around.content_hash)
        return known.text if known and is_same else None
    except (SourceError, SkippedFileError):
        return None


def is_there(root: Source, index: Index) -> bool:
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
    return (status.st_size, status.st_mtime_ns) == (size_bytes, modified_ns)
