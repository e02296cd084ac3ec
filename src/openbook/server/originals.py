"""Original files of documents, for download, and PDF pages as images.

A file is sent only if it has not changed since it was indexed, and if no secrets were masked in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from anyio import CapacityLimiter

from openbook.errors import SkippedFileError, SourceError
from openbook.ingest.difference import folder_of
from openbook.process_pool import JobFailure, SharedProcess
from openbook.server.failures import RequestRefusedError
from openbook.server.served_library import ServedLibrary
from openbook.server.uploads import UploadStore
from openbook.sources.content_hash import is_content
from openbook.sources.documents import attached_bytes
from openbook.sources.readers.pdf_picture import PageJob, draw_page
from openbook.sources.readers.reading import PdfOptions
from openbook.types import Document

# An ordinary text page takes 0.1 to 0.3 s.
_TIMEOUT_S = 10.0

# Longest wait for the process; then the text is shown instead.
_MAX_WAIT_S = 2.0

# Threads that wait for the process, separate from those of other routes.
_MAX_THREADS = 32

_MEMORY_BYTES = 1024**3

# Longer ranges are not quotes.
_MAX_WORDS_CHARS = 20_000

_PAGE = re.compile(r"p\. (\d+)(?: box (\d+),(\d+),(\d+),(\d+))?")


def page_of(document: Document, offset: int) -> int:
    """Return the page of a character in a PDF, from 1; 0 for other documents, whose pages cannot be rendered."""
    if document.language != "pdf":
        return 0
    labels = [anchor.label for anchor in document.anchors if anchor.start_char <= offset]
    named = _PAGE.fullmatch(labels[-1]) if labels else None
    return int(named[1]) if named else 1


def _boxes(document: Document, page: int, start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield the boxes of a range of characters on a scanned page."""
    ends = (*(anchor.start_char for anchor in document.anchors[1:]), len(document.text))
    for anchor, behind in zip(document.anchors, ends, strict=True):
        named = _PAGE.fullmatch(anchor.label)
        if named and named[2] and int(named[1]) == page and anchor.start_char < end and start < behind:
            yield int(named[2]), int(named[3]), int(named[4]), int(named[5])


class Originals:
    """Original files of one library. Thread-safe. PDFs are rendered in a process that is killed if it is slow."""

    def __init__(
        self,
        library: ServedLibrary,
        *,
        timeout_s: float = _TIMEOUT_S,
        max_wait_s: float = _MAX_WAIT_S,
        draw: Callable[[PageJob], bytes] = draw_page,
        uploads: UploadStore | None = None,
    ) -> None:
        """Uploads may be missing, if they were sent to another server."""
        self._uploads = uploads
        self.threads = CapacityLimiter(_MAX_THREADS)
        self._library = library
        self._process = SharedProcess(draw, timeout_s=timeout_s, max_wait_s=max_wait_s, memory_bytes=_MEMORY_BYTES)

    def has(self, document: Document) -> bool:
        """Return whether a document has a file that may be sent. Only `read` detects that it has changed."""
        if _is_masked(document):
            return False
        with self._library.in_use() as assistant:
            root = next((root for root in assistant.sources() if root.name == document.source), None)
        if root is None:
            return False
        if self._uploads and self._uploads.at(root.location) and not _is_there(root.location, document):
            self._uploads.refresh_for_listing()
        return _is_there(root.location, document)

    def read(self, document: Document) -> bytes:
        """Return the file of a document, if it is unchanged since it was indexed."""
        if _is_masked(document):
            raise _no_original("secrets were masked in its text")
        settings = self._library.settings
        with self._library.in_use() as assistant:
            root = next((root for root in assistant.sources() if root.name == document.source), None)
            record = assistant.index.records(document.source).get(document.path)
        if root and self._uploads and self._uploads.at(root.location) and not _is_there(root.location, document):
            self._uploads.refresh()
        if root is None or record is None or not Path(root.location).exists():
            raise _no_original("its file is not on this machine")
        try:
            folder = folder_of(root, settings)
            holder = folder.holder_of(document.path)
            raw = folder.read_bytes(holder or document.path)
            if holder:
                raw = attached_bytes(raw, holder, document.path)
        except (SourceError, SkippedFileError) as exc:
            raise _no_original("its file cannot be read any more") from exc
        if not is_content(raw, record.content_hash):
            raise _no_original("its file has changed since it was indexed")
        return raw

    def page(self, document: Document, number: int, start_char: int, end_char: int) -> bytes:
        """Return a page of a PDF as PNG, with the words of a range of characters marked."""
        if document.language != "pdf":
            raise _no_original("it has no pages to render")
        words = document.text[start_char : min(end_char, start_char + _MAX_WORDS_CHARS)]
        options = PdfOptions(password=self._library.settings.pdf_password)
        boxes = tuple(_boxes(document, number, start_char, end_char))
        drawn = self._drawn(PageJob(self.read(document), number, words, options, boxes))
        if isinstance(drawn, JobFailure):
            raise RequestRefusedError(503, f"this page cannot be drawn: {drawn.reason}", hint="read its text instead")
        if not drawn:
            raise _no_original("it has no such page")
        return drawn

    def pages(self, raw: bytes, most: int) -> list[bytes]:
        """Render the first pages of a PDF that a client sent, as PNG."""
        drawn: list[bytes] = []
        while len(drawn) < most:
            page = self._drawn(PageJob(raw, len(drawn) + 1, "", PdfOptions()))
            if isinstance(page, JobFailure):
                raise RequestRefusedError(
                    400, f"the PDF cannot be read: {page.reason}", hint="send its pages as images"
                )
            if not page:
                break
            drawn.append(page)
        return drawn

    def _drawn(self, job: PageJob) -> bytes | JobFailure:
        drawn = self._process.ask(job)
        return JobFailure("other pages are being rendered") if drawn is None else drawn

    def close(self) -> None:
        """Stop the process. The next page starts another one."""
        self._process.close()


def _is_there(location: str, document: Document) -> bool:
    """Return whether the file of a document exists, or the file that it is attached to."""
    place = Path(location)
    inside = (place / document.path, *map(place.joinpath, PurePosixPath(document.path).parents))
    try:
        return place.is_file() or any(file.is_file() for file in inside)
    except PermissionError:
        return False


def _is_masked(document: Document) -> bool:
    return any(remark.startswith("masked: ") for remark in document.remarks)


def _no_original(why: str) -> RequestRefusedError:
    return RequestRefusedError(404, f"there is no original of this document: {why}", hint="its text can be read")
