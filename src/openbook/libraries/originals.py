"""The files that a library was made from, read again when an answer is checked."""

from __future__ import annotations

from pathlib import Path

from openbook.errors import SkippedFileError, SourceError
from openbook.index.protocol import Index
from openbook.ingest.difference import folder_of
from openbook.settings import Settings
from openbook.sources.content_hash import is_content
from openbook.sources.documents import current_text
from openbook.sources.reader_registry import ReaderRegistry
from openbook.types import Chunk


def text_now(chunk: Chunk, index: Index, settings: Settings, readers: ReaderRegistry, *, is_shared: bool) -> str | None:
    """Return the text of a chunk's document as its file has it now; None if that is gone, or cannot be read.

    `is_shared`: the library is one of several machines, so the file may be on another one. What that machine read
    last is then what there is.
    """
    source, path = chunk.source, chunk.span.path
    root = next((root for root in index.roots() if root.name == source), None)
    if root is None:
        return None
    known = index.document(source, path)
    if is_shared and not Path(root.location).exists():
        return known.text if known else None
    try:
        folder = folder_of(root, settings, readers)
        holder = folder.holder_of(path)
        if not holder:
            return current_text(folder.read_bytes(path), path, known, readers, mask=settings.mask_secrets)
        # What is attached to a file is what it was as long as the file is: to read it again may take long.
        around = index.document(source, holder)
        is_same = around is not None and is_content(folder.read_bytes(holder), around.content_hash)
        return known.text if known and is_same else None
    except (SourceError, SkippedFileError):
        return None
