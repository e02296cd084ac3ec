"""Lists the readable files of a folder by name and stamp, without opening them."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from openbook.errors import SourceError
from openbook.sources.exclusions import (
    is_binary_name,
    is_environment,
    is_ignored_file,
    is_ignored_folder,
    is_secret,
    is_secret_folder,
)
from openbook.sources.formats import BINARY_FORMATS
from openbook.sources.ignore import IgnoreRules, includes_again, rules_above, top_of_checkout
from openbook.sources.tracked_files import GitCalls, TrackedFiles
from openbook.text import size_text
from openbook.types import SkipReason, Stamp

if TYPE_CHECKING:
    from openbook.sources.reader_registry import ReaderRegistry

# Formats whose text is a small part of the file (notebooks contain images).
_EXTRACTED_SUFFIXES = (".ipynb",)
_EXTRACTED_FACTOR = 16

_DOCUMENT_SUFFIXES = tuple(f".{name}" for name in BINARY_FORMATS)

# Reparse tag of Windows junctions, which are not links but lead elsewhere: IO_REPARSE_TAG_MOUNT_POINT.
_MOUNT_POINT = 0xA0000003

KEYNOTE = "Keynote; save it as PDF or PPTX"
"""Skip reason of a presentation whose suffix is also that of keys."""

_MAX_NS = 2**63 - 1

_ZIP = b"PK\x03\x04"

# Windows lacks these flags, and has no named pipes. NONBLOCK: a file replaced by a pipe must not block; NOFOLLOW: nor a
# link lead outside.
OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
"""Flags to open untrusted files with."""

DEFAULT_MAX_FILE_BYTES = 1024 * 1024
"""Larger text files are generated or data. The largest hand-written module in 60 installed packages has 0.7 MB."""

DEFAULT_MAX_DOCUMENT_BYTES = 64 * 1024 * 1024
"""Limit for formats whose text is extracted. Slides with many images have about 20 MB; scanned books have more, but no
text."""


@dataclass(frozen=True, slots=True, order=True)
class ScannedFile:
    """A file that can be read."""

    path: str
    """POSIX path relative to the root of the source."""
    stamp: Stamp


@dataclass(frozen=True, slots=True, order=True)
class SkippedFile:
    """A file, folder or link that is not read although no rule ignores it."""

    path: str
    """POSIX path relative to the root. Folders end with a slash; invalid UTF-8 is shown as U+FFFD."""
    reason: str
    remedy: str = field(default="", compare=False)
    """What to do, if it depends on the file."""
    stamp: Stamp | None = field(default=None, compare=False)
    """That of a file that is too large."""


@dataclass(frozen=True, slots=True)
class Scan:
    """The current files of a source. Both lists are sorted by path, by code point."""

    files: tuple[ScannedFile, ...] = ()
    skipped: tuple[SkippedFile, ...] = ()


def covers(readers: ReaderRegistry | None, name: str) -> bool:
    """Return whether an external reader reads files of that name."""
    return readers is not None and readers.covers(name)


def size_limit(
    name: str,
    max_file_bytes: int,
    max_document_bytes: int = DEFAULT_MAX_DOCUMENT_BYTES,
    readers: ReaderRegistry | None = None,
) -> int:
    """Return the maximum size in bytes of a file of that name."""
    if name.lower().endswith(_DOCUMENT_SUFFIXES) or covers(readers, name):
        return max_document_bytes
    return max_file_bytes * _EXTRACTED_FACTOR if name.lower().endswith(_EXTRACTED_SUFFIXES) else max_file_bytes


def remedy_for_size(
    name: str, size_bytes: int, max_file_bytes: int, max_document_bytes: int, readers: ReaderRegistry | None
) -> str:
    """Return which limit to raise for a file that is too large."""
    is_document = size_limit(name, 0, 1, readers) > 0
    setting, limit = ("DOCUMENT", max_document_bytes) if is_document else ("FILE", max_file_bytes)
    return f"raise OPENBOOK_MAX_{setting}_BYTES from {limit}: it has {size_text(size_bytes)}"


def refuse_by_name(path: str, readers: ReaderRegistry | None = None) -> str:
    """Return why a file of that path is never read, whatever the rules are; empty if it may be."""
    *folders, name = path.split("/")
    if is_secret(name) or any(is_secret_folder(folder) for folder in folders):
        return SkipReason.SECRET
    return SkipReason.BINARY_NAME if is_binary_name(name) and not covers(readers, name) else ""


def stamp_of(status: os.stat_result) -> Stamp:
    """Build the stamp of a file from its status."""
    return Stamp(status.st_size, _storable(status.st_mtime_ns), _storable(status.st_ctime_ns))


def _storable(time_ns: int) -> int:
    """Return the nearest time that 64 bits hold: from 1677 to 2262. A damaged archive may set any."""
    return max(-_MAX_NS - 1, min(time_ns, _MAX_NS))


def is_link(status: os.stat_result) -> bool:
    """Return whether this is a link or, on Windows, a junction. The status must be taken without following it."""
    return stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", 0) == _MOUNT_POINT


def is_inside(path: str | Path, root: Path) -> bool:
    """Return whether a path, with links resolved, is below a root that contains no links."""
    return Path(path).resolve().is_relative_to(root)


def scan_folder(
    root: Path,
    max_file_bytes: int,
    max_document_bytes: int = DEFAULT_MAX_DOCUMENT_BYTES,
    readers: ReaderRegistry | None = None,
) -> Scan:
    """List the files of a folder and its subfolders.

    Links are never followed: a link within the source would list a file twice, and one out of it is out of scope.
    Special files are not opened. No rule ignores the root itself. Git's rules ignore no file that git tracks.

    Notebooks may have 16 times `max_file_bytes`. Files that an external reader covers are not skipped as binary, and
    have the limit of documents.

    Raises:
        SourceError: The root cannot be listed.
    """
    return _Walk(root, max_file_bytes, max_document_bytes, readers).run()


def why_ignored(root: Path, path: str) -> str:
    """Return which rule ignores a file or folder, by its path from the root; empty if none does, or it is not there.

    Files that git tracks count as any other. Nothing but ignore files is opened, and no link is followed.
    """
    rules, folder, prefix = rules_above(root), root, ""
    parts = PurePosixPath(path).parts
    for part in parts if os.path.lexists(root / path) else ():
        try:
            with os.scandir(folder) as found:
                names = {entry.name for entry in found}
        except OSError:
            return ""
        if part not in names or (folder / part).is_symlink():  # `..` is none of the names
            return ""
        rules = rules.enter(folder, prefix, names)
        folder /= part
        prefix += f"{part}/" if folder.is_dir() else part
        if reason := _why_ignored_here(rules, prefix, {name.lower() for name in names}):
            return reason
    return ""


def may_matter(root: Path, path: str) -> bool:
    """Return whether a scan of the root may find something else after a change at an absolute path.

    What is excluded by default is left out, because tools write there all the time, unless the root includes something
    again. Of what git keeps, the index tells which files are tracked, and `exclude` which are ignored.

    Example:
        >>> root = Path("/shop/.venv/shop")
        >>> [may_matter(root, f"{root}/{path}") for path in ("a.md", ".venv/a.md", ".git/index", ".git/objects/12")]
        [True, False, True, False]
    """
    if not Path(path).is_relative_to(root):
        return True
    parts = Path(path).relative_to(root).parts
    excluded = next((number for number, part in enumerate(parts) if is_ignored_folder(part, frozenset())), None)
    if excluded is None:
        return True
    if parts[excluded] == ".git":
        return parts[-1] in (".git", "index", "exclude")
    return includes_again(root)


def _why_ignored_here(rules: IgnoreRules, path: str, siblings: set[str]) -> str:
    own = rules.own_verdict(path)
    if own is not None:
        return "ignored by .openbookignore" if own else ""
    if rules.is_ignored_by_git(path):
        return "ignored by git"
    name = PurePosixPath(path).name
    is_default = is_ignored_folder(name, siblings) if path.endswith("/") else is_ignored_file(name, siblings)
    return f"{name} is made by tools" if is_default else ""


@dataclass(frozen=True, slots=True)
class _Place:
    """A folder to list."""

    folder: str
    prefix: str
    """Its path from the root, with a final slash; empty for the root."""
    rules: IgnoreRules
    tracked: TrackedFiles
    """What git tracks in the repository of the folder."""
    only_tracked: bool = False
    """Whether a rule of git ignores the folder, so that nothing else in it is read."""


class _Walk:
    def __init__(
        self, root: Path, max_file_bytes: int, max_document_bytes: int, readers: ReaderRegistry | None
    ) -> None:
        self._root = root
        self._readers = readers
        self._limits = (max_file_bytes, max_document_bytes)
        self._files: list[ScannedFile] = []
        self._skipped: list[SkippedFile] = []
        self._waiting: list[_Place] = []
        self._calls = GitCalls()

    def run(self) -> Scan:
        root = str(self._root)
        tracked = TrackedFiles(self._calls, root, "", is_repository=top_of_checkout(self._root) is not None)
        self._waiting.append(_Place(root, "", rules_above(self._root), tracked))
        while self._waiting:
            self._list(self._waiting.pop())
        self._files.sort(key=lambda file: file.path)
        return Scan(tuple(self._files), tuple(sorted(self._skipped)))

    def _list(self, place: _Place) -> None:
        folder, prefix = place.folder, place.prefix
        try:
            with os.scandir(folder) as found:
                entries = list(found)
        except OSError as exc:
            if not prefix:
                raise SourceError(folder, exc.strerror or SkipReason.UNREADABLE, hint="check its permissions") from exc
            self._skip(prefix, SkipReason.UNREADABLE_FOLDER)
            return
        names = {entry.name for entry in entries}
        if prefix and is_environment(names):
            return
        if prefix and ".git" in names:  # a submodule, or another repository
            place = replace(place, tracked=TrackedFiles(self._calls, folder, prefix), only_tracked=False)
        place = replace(place, rules=place.rules.enter(Path(folder), prefix, names))
        siblings = {name.lower() for name in names}
        for entry in entries:
            self._sort_in(entry, place, siblings)

    def _sort_in(self, entry: os.DirEntry[str], place: _Place, siblings: set[str]) -> None:
        name = entry.name
        path = place.prefix + name
        if place.only_tracked and not place.tracked.holds(path):
            pass
        elif not name.isascii() and not _is_utf8(name):
            self._skip(path, SkipReason.NAME_NOT_UTF8)
        elif entry.is_symlink() or _is_junction(entry):
            self._skip(path, SkipReason.LINK_INSIDE if self._leads_inside(entry) else SkipReason.LINK_OUTSIDE)
        elif entry.is_dir(follow_symlinks=False):
            self._sort_in_folder(entry, place, path + "/", siblings)
        elif is_secret(name):
            self._skip(path, KEYNOTE if _is_keynote(entry) else SkipReason.SECRET)
        elif self._is_ignored(place, path, is_ignored_file(name, siblings)):
            pass  # unlike what is skipped, it is not reported
        elif is_binary_name(name) and not covers(self._readers, name):
            self._skip(path, SkipReason.BINARY_NAME)
        else:
            self._sort_in_file(entry, path)

    def _sort_in_folder(self, entry: os.DirEntry[str], place: _Place, path: str, siblings: set[str]) -> None:
        if is_secret_folder(entry.name):
            self._skip(path, SkipReason.SECRET)
        elif not self._is_ignored(place, path, is_ignored_folder(entry.name, siblings)):
            only_tracked = place.only_tracked or bool(place.rules.verdict(path))
            self._waiting.append(_Place(entry.path, path, place.rules, place.tracked, only_tracked))

    def _sort_in_file(self, entry: os.DirEntry[str], path: str) -> None:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            self._skip(path, SkipReason.VANISHED)
            return
        if not stat.S_ISREG(status.st_mode):
            self._skip(path, SkipReason.NOT_REGULAR)
        elif status.st_size > size_limit(entry.name, *self._limits, self._readers):
            remedy = remedy_for_size(entry.name, status.st_size, *self._limits, self._readers)
            self._skip(path, SkipReason.TOO_LARGE, remedy, stamp_of(status))
        else:
            self._files.append(ScannedFile(path, stamp_of(status)))

    @staticmethod
    def _is_ignored(place: _Place, path: str, by_default: bool) -> bool:
        verdict = place.rules.verdict(path)
        if verdict and place.rules.own_verdict(path) is None and place.tracked.holds(path):
            return by_default
        return by_default if verdict is None else verdict

    def _leads_inside(self, entry: os.DirEntry[str]) -> bool:
        try:
            return is_inside(entry.path, self._root)
        except (OSError, RuntimeError):  # RuntimeError: a loop of links, before Python 3.13
            return True

    def _skip(self, path: str, reason: str, remedy: str = "", stamp: Stamp | None = None) -> None:
        shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        self._skipped.append(SkippedFile(shown, reason, remedy, stamp))


def _is_keynote(entry: os.DirEntry[str]) -> bool:
    """Return whether a `.key` file is a presentation: a zip, which no key is."""
    if not entry.name.lower().endswith(".key") or not entry.is_file(follow_symlinks=False):
        return False
    try:
        with os.fdopen(os.open(entry.path, OPEN_FLAGS), "rb") as stream:
            return stream.read(len(_ZIP)) == _ZIP
    except OSError:
        return False


def _is_junction(entry: os.DirEntry[str]) -> bool:
    return os.name == "nt" and entry.is_dir(follow_symlinks=False) and is_link(entry.stat(follow_symlinks=False))


def _is_utf8(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
