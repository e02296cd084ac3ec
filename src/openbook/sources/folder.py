"""A folder, a git checkout or a single file as a source of documents."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from openbook.errors import SkippedFileError, SourceError, SourceNotFoundError
from openbook.sources.exclusions import is_secret_folder
from openbook.sources.ignore import top_of_checkout
from openbook.sources.walk import (
    DEFAULT_MAX_DOCUMENT_BYTES,
    DEFAULT_MAX_FILE_BYTES,
    OPEN_FLAGS,
    Scan,
    ScannedFile,
    SkippedFile,
    is_link,
    refuse_by_name,
    remedy_for_size,
    scan_folder,
    size_limit,
    stamp_of,
)
from openbook.types import Document, SkipReason

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from openbook.sources.course_plan import Placement
    from openbook.sources.reader_registry import ReaderRegistry

# Bytes to read of a page for its front matter, first heading or table of contents.
_MAX_READ_BYTES = 256 * 1024


def source_name(path: str | Path) -> str:
    """Name a source after its folder or file. Names are not unique.

    Example:
        >>> source_name("/home/me/shop/")
        'shop'
    """
    return Path(path).expanduser().resolve().name or "root"


def is_gone(location: str) -> bool:
    """Return whether nothing is at a path. What cannot be reached, without permission for a folder above, is not gone.

    Example:
        >>> is_gone("/"), is_gone("/no/such/folder")
        (False, True)
    """
    try:
        return not Path(location).exists()
    except OSError:
        return False


def holder_of(path: str, files: Collection[str]) -> str:
    """Return the file that contains an attached file, by its path; empty if there is none.

    Example:
        >>> holder_of("mail/a.eml/slides.pdf", {"mail/a.eml"}), holder_of("mail/a.eml", {"mail/a.eml"})
        ('mail/a.eml', '')
    """
    return next((str(parent) for parent in PurePosixPath(path).parents if str(parent) in files), "")


class Folder:
    """A local folder, git checkout or single file.

    Only the course plan is cached, when the first document is read. Thread-safe.
    """

    def __init__(
        self,
        root: str | Path,
        name: str | None = None,
        *,
        max_file_bytes: int = DEFAULT_MAX_FILE_BYTES,
        max_document_bytes: int = DEFAULT_MAX_DOCUMENT_BYTES,
        is_course: bool = False,
        readers: ReaderRegistry | None = None,
    ) -> None:
        """Open a path; `~` is the home folder.

        Args:
            root: A folder, or a single file, which is read even if rules ignore it.
            name: Name of the source; None for that of the folder or file.
            max_file_bytes: Larger files are skipped. Notebooks, which contain images, may have 16 times as much.
            max_document_bytes: The same limit for PDF, Office and other formats whose text is extracted.
            is_course: Whether the folder contains a course, or one course per subfolder.
            readers: Readers for additional formats.

        Raises:
            SourceError: The path is empty, does not exist, cannot be reached, or is in a folder of secrets (`.ssh`).
        """
        if root == "":  # an unset variable, not the working folder
            raise SourceError("", "the path is empty", hint="write '.' for the working folder")
        given = Path(root)
        try:
            path = given.expanduser().resolve(strict=True)
            is_file = not path.is_dir()
        except (OSError, RuntimeError) as exc:
            hint = "give the path of a folder or file on this machine"
            if isinstance(exc, FileNotFoundError):
                raise SourceNotFoundError(str(given), "does not exist", hint=hint) from exc
            raise SourceError(str(given), str(exc), hint=hint) from exc
        if any(map(is_secret_folder, path.parts)):
            raise SourceError(str(given), "it contains secrets", hint=".ssh, .aws and similar folders are never read")
        self.root: Path = path.parent if is_file else path
        """The folder that all paths are relative to."""
        self.name: str = source_name(path) if name is None else name
        self._limits = (max_file_bytes, max_document_bytes)
        self._readers = readers
        self._only = path.name if is_file else None
        self.is_course: bool = is_course and not is_file
        """Whether the folder contains courses."""
        self._placements: Mapping[str, Placement] | None = None
        self._texts: dict[str, str] = {}

    def scan(self) -> Scan:
        """List the readable files with their sizes and times. Only ignore files are opened.

        Raises:
            SourceError: The root no longer exists, or cannot be listed.
        """
        self._placements, self._texts = None, {}
        return (
            scan_folder(self.root, *self._limits, self._readers) if self._only is None else self._scan_file(self._only)
        )

    def _scan_file(self, name: str) -> Scan:
        reason = refuse_by_name(name, self._readers)
        if reason:
            return Scan(skipped=(SkippedFile(name, reason),))
        try:
            status = _lstat(str(self.root / name), name)
            _check_regular(status, name)
        except SkippedFileError as exc:
            return Scan(skipped=(SkippedFile(name, exc.reason),))
        if self._is_too_large(status, name):
            remedy = remedy_for_size(name, status.st_size, *self._limits, self._readers)
            return Scan(skipped=(SkippedFile(name, SkipReason.TOO_LARGE, remedy, stamp_of(status)),))
        return Scan(files=(ScannedFile(name, stamp_of(status)),))

    def read(self, path: str) -> Document:
        """Read one file as a document, in this process: `read_bytes`, `read_document`, `placed`.

        Raises:
            SkippedFileError: It is not read. The reason is one of `read_bytes`, or `binary`, ...
        """
        # Lazy: decoding and the readers are needed only for changed files, and most scans find none.
        from openbook.sources.documents import read_document

        raw = self.read_bytes(path)
        return self.placed(read_document(raw, source=self.name, path=path, readers=self._readers))

    def placed(self, document: Document) -> Document:
        """Assign a document to its course, if this is a folder of courses."""
        placement = self.placement_of(document.path)
        if placement is None:
            return document
        from openbook.sources.courses import as_lesson

        return as_lesson(document, placement)

    def placement_of(self, path: str) -> Placement | None:
        """Return the placement of a file in its course; None without one.

        Raises:
            CourseFileError: A `course.toml` is invalid.
        """
        if not self.is_course:
            return None
        if self._placements is None:
            self._placements = self._place_files()
            self._texts = {}
        return self._placements.get(path)

    def _place_files(self) -> Mapping[str, Placement]:
        from openbook.sources.contents import Pages
        from openbook.sources.course_plan import place_files

        scan = scan_folder(self.root, *self._limits, self._readers)
        return place_files(Pages(frozenset(file.path for file in scan.files), self._text_of), self._names())

    def _names(self) -> str:
        """Return the name of the folder, then of those above it in its git checkout, separated by slashes.

        Other folders above say nothing of the course, and one may be called after a person.
        """
        top = top_of_checkout(self.root)
        inside = self.root.parts[-1:] if top in (None, Path.home()) else self.root.parts[len(top.parts) - 1 :]
        return "/".join([part for part in reversed(inside) if part.strip("/\\")][:4])

    def _text_of(self, path: str) -> str:
        """Read the beginning of a page for its title; empty if it cannot be read."""
        if path not in self._texts:
            self._texts[path] = ""
            with contextlib.suppress(SkippedFileError):
                self._texts[path] = self.read_bytes(path)[:_MAX_READ_BYTES].decode("utf-8", "replace")
        return self._texts[path]

    def read_bytes(self, path: str) -> bytes:
        """Read the bytes of a file, in a consistent state.

        Ignore rules are not applied again; secrets, links and paths outside the root are refused.

        Raises:
            SkippedFileError: It is not read. The reason is short: `vanished`, `unreadable`, `not a regular file`, `too
                large`, `secret`, `changing`, ...
        """
        refused = refuse_by_name(path, self._readers)
        if refused:
            raise SkippedFileError(path, refused)
        file = self._locate(path)
        for _ in range(2):
            raw = self._read_once(file, path)
            if raw is not None:
                return raw
        raise SkippedFileError(path, SkipReason.CHANGING, hint="it changed while it was being read; try again")

    def holder_of(self, path: str) -> str:
        """Return the file that contains an attached file such as `mail.eml/slides.pdf`; empty if there is none.

        Raises:
            SkippedFileError: A folder above it cannot be read.
        """
        parents = (str(parent) for parent in PurePosixPath(path).parents if parent.name)
        try:
            return next((parent for parent in parents if (self.root / parent).is_file()), "")
        except PermissionError as exc:
            raise SkippedFileError(path, SkipReason.UNREADABLE) from exc

    def _locate(self, path: str) -> str:
        """Return the path of a file, after checking that no link or `..` leads outside the root."""
        *folders, name = path.split("/")
        place = str(self.root)
        if not {"", ".", ".."}.isdisjoint(folders) or leads_elsewhere_on_windows(path):
            raise SkippedFileError(path, SkipReason.OUTSIDE)
        for part in folders:
            place = f"{place}/{part}"
            if is_link(_lstat(place, path)):
                raise SkippedFileError(path, SkipReason.OUTSIDE)
        return f"{place}/{name}"

    def _read_once(self, file: str, path: str) -> bytes | None:
        """Read a file; None if it changed during the read."""
        # Check before opening, because opening a device can have side effects.
        _check_regular(_lstat(file, path), path)
        try:
            with os.fdopen(os.open(file, OPEN_FLAGS), "rb") as stream:
                before = os.fstat(stream.fileno())
                _check_regular(before, path)
                if self._is_too_large(before, path):
                    raise SkippedFileError(path, SkipReason.TOO_LARGE)
                raw = stream.read(before.st_size + 1)
                after = os.fstat(stream.fileno())
        except OSError as exc:
            raise _skipped(path, exc) from exc
        unchanged = stamp_of(before) == stamp_of(after) and len(raw) == before.st_size
        return raw if unchanged else None

    def _is_too_large(self, status: os.stat_result, path: str) -> bool:
        return status.st_size > size_limit(path, *self._limits, self._readers)


def leads_elsewhere_on_windows(path: str, separator: str = os.sep) -> bool:
    r"""Return whether Windows would read a POSIX path as another one: `..\a`, `C:a`, or `a.txt:stream`."""
    return separator == "\\" and not {"\\", ":"}.isdisjoint(path)


def _lstat(place: str, path: str) -> os.stat_result:
    try:
        return os.lstat(place)
    except (OSError, ValueError) as exc:  # ValueError: NUL character in the path
        raise _skipped(path, exc) from exc


def _check_regular(status: os.stat_result, path: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise SkippedFileError(path, SkipReason.NOT_REGULAR)


def _skipped(path: str, exc: OSError | ValueError) -> SkippedFileError:
    gone = isinstance(exc, (FileNotFoundError, NotADirectoryError))
    return SkippedFileError(path, SkipReason.VANISHED if gone else SkipReason.UNREADABLE)
