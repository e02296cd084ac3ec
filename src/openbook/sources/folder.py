"""A folder, a git checkout or a single file as a source of documents."""

from __future__ import annotations

import contextlib
import os
import stat
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from openbook.errors import SkippedFileError, SourceError, SourceNotFoundError
from openbook.sources.exclusions import is_secret_folder
from openbook.sources.walk import (
    DEFAULT_MAX_DOCUMENT_BYTES,
    Scan,
    ScannedFile,
    SkippedFile,
    is_link,
    refuse_by_name,
    scan_folder,
    size_limit,
    stamp_of,
)
from openbook.types import Document, Lesson, SkipReason

if TYPE_CHECKING:
    from openbook.sources.reader_registry import ReaderRegistry

DEFAULT_MAX_FILE_BYTES = 1024 * 1024
"""Larger text is generated or data. The largest module written by people among 60 installed packages has 0.7 MB."""

# Not there on Windows, which has no pipes among its files either. NONBLOCK: a file that has just
# been replaced by a pipe must not stop us; NOFOLLOW: nor a link lead us out.
_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def source_name(path: str | Path) -> str:
    """Name a source after its folder or file. Names of two folders may be equal.

    Example:
        >>> source_name("/home/me/shop/")
        'shop'
    """
    return Path(path).expanduser().resolve().name or "root"


class Folder:
    """A local folder, git checkout or single file.

    Of its content nothing is kept between calls but which courses it holds: that is decided once, when
    the first document is read. One object may serve many threads.
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
        """Take a path; `~` is the home folder.

        Args:
            root: Folder, or a file that is then the only one and is read even if rules ignore it.
            name: Of the source; None takes the one of the folder or file.
            max_file_bytes: Larger files are skipped. Notebooks, which carry pictures, may have 16
                times as much.
            max_document_bytes: The same for PDF, Office and other formats whose text is extracted.
            is_course: What is in it is material of a course, or of one course for each of its folders.
            readers: Of formats that Openbook does not know.

        Raises:
            SourceError: The path does not exist, cannot be reached, or lies in a folder of secrets such as `.ssh`.
        """
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
        """Folder that all paths are relative to."""
        self.name: str = source_name(path) if name is None else name
        self._limits = (max_file_bytes, max_document_bytes)
        self._readers = readers
        self._only = path.name if is_file else None
        self._is_course = is_course and not is_file
        self._courses: dict[str, Lesson] = {}
        """Courses by the path of their folder, as far as they were asked for."""

    def scan(self) -> Scan:
        """List what can be read, from names, sizes and times alone. No file is opened but rules.

        Raises:
            SourceError: The root has vanished or cannot be listed.
        """
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
            self._check_size(status, name)
        except SkippedFileError as exc:
            return Scan(skipped=(SkippedFile(name, exc.reason),))
        return Scan(files=(ScannedFile(name, stamp_of(status)),))

    def read(self, path: str) -> Document:
        """Read one file as a document, in this process: `read_bytes`, `read_document`, `placed`.

        Raises:
            SkippedFileError: Not read, with a reason of few words: those of `read_bytes`, `binary`, ...
        """
        # Decoding and the readers are there for files that changed; most scans find none.
        from openbook.sources.documents import read_document

        raw = self.read_bytes(path)
        return self.placed(read_document(raw, source=self.name, path=path, readers=self._readers))

    def placed(self, document: Document) -> Document:
        """Make a document part of the course that it belongs to, if this is a folder of courses."""
        course = self.course_of(document.path)
        if course is None:
            return document
        from openbook.sources.courses import as_lesson

        return as_lesson(document, course)

    def course_of(self, path: str) -> Lesson | None:
        """Return the course that a file belongs to, a lesson without number; None if it is part of none."""
        if not self._is_course:
            return None
        folder = "."
        if self._holds_courses:
            folder, *inside = path.split("/")
            if not inside:
                return None
        if folder not in self._courses:
            self._courses[folder] = self._course_at(folder)
        return self._courses[folder]

    @cached_property
    def _holds_courses(self) -> bool:
        """Whether each folder in this one is a course, rather than all of it together."""
        from openbook.sources.courses import are_courses

        folders, files = self._names(".")
        return are_courses(folders, ()) and all(
            are_courses(folders, [name]) or self._is_course_itself(name) for name in files
        )

    def _course_at(self, path: str) -> Lesson:
        from openbook.sources.courses import describe, describing_files

        texts = []
        for name in describing_files(self._names(path)[1]):
            with contextlib.suppress(SkippedFileError):
                texts.append(self.read_bytes(name if path == "." else f"{path}/{name}").decode("utf-8", "replace"))
        return describe(path, self.root.name if path == "." else path, texts)

    def _is_course_itself(self, name: str) -> bool:
        from openbook.sources.readers.course import is_course

        with contextlib.suppress(SkippedFileError):
            return is_course(self.read_bytes(name).decode("utf-8", "replace"))
        return False

    def _names(self, path: str) -> tuple[list[str], list[str]]:
        """List the folders and the files in a folder, without hidden ones."""
        with contextlib.suppress(OSError), os.scandir(self.root / path) as entries:
            found = [entry for entry in entries if not entry.name.startswith(".")]
            folders = [entry.name for entry in found if entry.is_dir(follow_symlinks=False)]
            return folders, [entry.name for entry in found if entry.is_file(follow_symlinks=False)]
        return [], []

    def read_bytes(self, path: str) -> bytes:
        """Read what one file holds, at one moment.

        Ignore rules are not asked again; secrets, links and paths out of the root are refused.

        Args:
            path: POSIX path from the root, as `scan` gives it.

        Raises:
            SkippedFileError: Not read, with a reason of few words: `vanished`, `unreadable`,
                `not a regular file`, `too large`, `secret`, `changing`, ...
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

    def _locate(self, path: str) -> str:
        """Return the place of a file, making sure that no link and no `..` leads out of the root."""
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
        """Read a file; None if somebody wrote to it meanwhile."""
        # Asked before it is opened: opening a device can have effects.
        _check_regular(_lstat(file, path), path)
        try:
            with os.fdopen(os.open(file, _OPEN_FLAGS), "rb") as stream:
                before = os.fstat(stream.fileno())
                _check_regular(before, path)
                self._check_size(before, path)
                raw = stream.read(before.st_size + 1)
                after = os.fstat(stream.fileno())
        except OSError as exc:
            raise _skipped(path, exc) from exc
        unchanged = stamp_of(before) == stamp_of(after) and len(raw) == before.st_size
        return raw if unchanged else None

    def _check_size(self, status: os.stat_result, path: str) -> None:
        if status.st_size > size_limit(path, *self._limits, self._readers):
            raise SkippedFileError(path, SkipReason.TOO_LARGE)


def leads_elsewhere_on_windows(path: str, separator: str = os.sep) -> bool:
    r"""Return whether a POSIX path would be read as another one there: `..\a`, `C:a`, or `a.txt:stream`."""
    return separator == "\\" and not {"\\", ":"}.isdisjoint(path)


def _lstat(place: str, path: str) -> os.stat_result:
    try:
        return os.lstat(place)
    except (OSError, ValueError) as exc:  # ValueError: a NUL character in the path
        raise _skipped(path, exc) from exc


def _check_regular(status: os.stat_result, path: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise SkippedFileError(path, SkipReason.NOT_REGULAR)


def _skipped(path: str, exc: OSError | ValueError) -> SkippedFileError:
    gone = isinstance(exc, (FileNotFoundError, NotADirectoryError))
    return SkippedFileError(path, SkipReason.VANISHED if gone else SkipReason.UNREADABLE)
