"""Accepts and stores uploaded files. The name of a file can never lead outside of its folder."""

from __future__ import annotations

import contextlib
import filecmp
import hashlib
import itertools
import math
import os
import random
import re
import secrets
import shutil
import threading
import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from openbook.errors import SettingsError
from openbook.libraries.catalog import machine_id
from openbook.permissions import make_private_folder
from openbook.server.failures import RequestRefusedError, not_kept
from openbook.server.upload_bucket import UploadBucket
from openbook.server.upload_owners import UploadOwners
from openbook.settings import Settings
from openbook.sources.course_plan import are_courses
from openbook.sources.exclusions import is_ignored_file, is_ignored_folder
from openbook.sources.walk import refuse_by_name, size_limit

if TYPE_CHECKING:
    from fastapi import UploadFile

# Longer names are truncated.
_NAME_CHARS = 80

# With a number appended, a name still fits into 255 bytes, the limit of most file systems.
_NAME_BYTES = 240

# Name for a course of several files. A number would make it a lesson.
_COURSE = "Uploaded course"

# Pause and number of attempts after a collision with another server.
_PAUSE_S, _MAX_TRIES = 0.01, 20

# Seconds until a listing refreshes the copy again: normally, and after a failure.
_FRESH_S, _RETRY_S = 2.0, 15.0

# Distinguishes addresses of object storage from folders.
_SCHEME = "://"

_COPY_BYTES = 1024 * 1024

_PARTIAL = ".part"

# Age from which staged files are stale: they are moved once all have arrived, which takes seconds.
_PARTIAL_S = 3600.0

# Characters other than letters and digits of any script, and the few signs without a meaning for file systems and HTML.
_UNSAFE = re.compile(r"[^\w.()+ -]")

# Windows device names, with any suffix.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|(?:com|lpt)[0-9¹²³]) *(?:\.|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RejectedFile:
    """A rejected file and why."""

    name: str
    reason: str


class UploadStore:
    """The uploaded files of one library, in folders that are its sources."""

    def __init__(self, library: str, settings: Settings, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Take the folder of a library, which is created with the first file.

        Raises:
            SettingsError: The home is not writable, or the shared folder does not exist.
        """
        self._home = _home_of(library, settings)
        self._settings = settings
        self._bucket = UploadBucket(settings.uploads, library, self._home) if _SCHEME in settings.uploads else None
        self._owners = UploadOwners(self._home)
        self._lock = threading.Lock()
        self._clock, self._asked_again_s = clock, -math.inf

    def refresh(self) -> None:
        """Update the copy of uploads on object storage, which other servers may have changed.

        Raises:
            RequestRefusedError: The storage does not respond, or the copy cannot be written.
        """
        if self._bucket is not None:
            with self._lock:
                self._refresh(self._bucket)

    def refresh_for_listing(self) -> None:
        """Update the copy, unless that was tried recently or is in progress."""
        if self._bucket is None or self._clock() < self._asked_again_s or not self._lock.acquire(blocking=False):
            return
        try:
            with contextlib.suppress(RequestRefusedError):  # the known files are still listed
                self._refresh(self._bucket)
        finally:
            self._lock.release()

    def _refresh(self, bucket: UploadBucket) -> None:
        pause_s = _RETRY_S
        try:
            bucket.refresh()
            pause_s = _FRESH_S
        except OSError as exc:
            raise not_kept("copy of the uploads", exc) from exc
        finally:
            self._asked_again_s = self._clock() + pause_s

    @property
    def folders(self) -> list[Path]:
        """Folders with files, which must be synced."""
        return [folder for folder in (self.folder(), self.folder(course=True)) if folder.is_dir()]

    def folder(self, *, course: bool = False) -> Path:
        """Return the folder of uploads, or that of uploaded course material."""
        return self._home / ("uploaded courses" if course else "uploads")

    def made_folder(self, *, course: bool = False) -> Path:
        """Return such a folder, creating it if needed.

        Raises:
            RequestRefusedError: It cannot be created on the disk.
        """
        folder = self.folder(course=course)
        try:
            make_private_folder(folder)
        except OSError as exc:
            raise not_kept("upload", exc) from exc
        return folder

    def check(self, files: Iterable[UploadFile]) -> tuple[list[tuple[str, UploadFile]], list[RejectedFile]]:
        """Choose the files to accept, each with the name to show.

        Raises:
            RequestRefusedError: There is none, there are too many, or they are too large together.
        """
        files = list(files)
        if not files:
            raise RequestRefusedError(400, "the upload contains no file", hint="send files in the field `files`")
        if len(files) > self._settings.upload_files:
            raise RequestRefusedError(
                413, f"the upload holds more than {self._settings.upload_files} files", hint="send less at once"
            )
        if sum(file.size or 0 for file in files) > self._settings.upload_bytes:
            raise RequestRefusedError(
                413, f"the files have more than {self._settings.upload_bytes:,} bytes", hint="send less at once"
            )
        taken, refused = [], []
        for file in files:
            name = safe_name(file.filename or "")
            reason = self._refusal(name, file.size or 0)
            if reason:
                refused.append(RejectedFile(name, reason))
            else:
                taken.append((name, file))
        return taken, refused

    def _refusal(self, name: str, size_bytes: int) -> str:
        limit = size_limit(name, self._settings.max_file_bytes, self._settings.max_document_bytes)
        if size_bytes > limit:
            return f"larger than {limit:,} bytes"
        if size_bytes == 0:
            return "empty"
        # Ignore rules of uploads, and names that a scan would not find.
        hidden = "hidden by its name" if name.startswith(".") else ""
        return refuse_by_name(name) or hidden or ("left out by its name" if is_ignored_file(name) else "")

    def keep(self, taken: Sequence[tuple[str, UploadFile]], owner: str, *, course: bool = False) -> list[str]:
        """Write files atomically, and return their paths in the folder.

        Course material of one upload gets a folder of its own, as a course. Files that exist with the same name and
        content are not changed.

        Raises:
            RequestRefusedError: A file cannot be written, or the owner stores too much; no file is stored.
        """
        folder, made = self.folder(course=course), list[Path]()
        partial = self._home / f"{secrets.token_hex(8)}{_PARTIAL}"
        self.refresh()
        with self._lock:
            self._check_room(owner, sum(file.size or 0 for _, file in taken))
            try:
                staged = self._stage(taken, partial)
                folder.mkdir(parents=True, exist_ok=True)
                kept = _settled(staged, partial, folder, made, course=course)
                tries = itertools.count(1)
                while self._bucket is not None and not self._bucket.put(self._files_of(made), owner):
                    _back_off(next(tries))
                    _undo(staged, partial, kept, made, course=course)
                    self._bucket.refresh()
                    kept = _settled(staged, partial, folder, made, course=course)
                if self._bucket is None:
                    self._owners.add(owner, kept)
            except BaseException as exc:
                for path in made:
                    _discard(path)
                if isinstance(exc, OSError):
                    raise not_kept("upload", exc) from exc
                raise
            finally:
                shutil.rmtree(partial, ignore_errors=True)
        return [path.relative_to(folder).as_posix() for path in kept]

    def _files_of(self, places: Iterable[Path]) -> list[str]:
        """Return the paths of files, and of all files in folders, relative to the home."""
        files = (file for place in places for file in ([place] if place.is_file() else sorted(place.rglob("*"))))
        return [file.relative_to(self._home).as_posix() for file in files if file.is_file()]

    def _check_room(self, owner: str, size_bytes: int) -> None:
        used, most = (self._bucket or self._owners).used_bytes(owner), self._settings.key_upload_bytes
        if used + size_bytes > most:
            raise RequestRefusedError(
                413,
                f"your uploads have {used:,} bytes, and may have {most:,}",
                hint="delete some of them, or send less",
            )

    def _stage(self, taken: Iterable[tuple[str, UploadFile]], partial: Path) -> list[Path]:
        """Write files into a staging folder, so that no incomplete file is indexed."""
        make_private_folder(self._home)
        partial.mkdir()
        unnamed, staged = partial / _PARTIAL, []
        for name, file in taken:
            with unnamed.open("wb") as stream:
                while piece := file.file.read(_COPY_BYTES):
                    stream.write(piece)
                stream.flush()
                os.fsync(stream.fileno())
            staged.append(_settle(unnamed, partial / name))
        unnamed.unlink(missing_ok=True)
        return list(dict.fromkeys(staged))

    def clean(self) -> None:
        """Delete staged files that a killed server has left. Recent ones may belong to another server."""
        before = time.time() - _PARTIAL_S
        with self._lock, contextlib.suppress(OSError):  # skipped: incomplete files are not read
            for partial in self._home.glob(f"*{_PARTIAL}"):
                if partial.stat().st_mtime > before:
                    continue
                if partial.is_dir():
                    shutil.rmtree(partial)
                else:
                    partial.unlink(missing_ok=True)

    def files(self, folder: Path) -> list[str]:
        """List the files of an upload folder, indexed or not, as sorted relative paths."""
        return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())

    def at(self, location: str) -> Path | None:
        """Return the upload folder at a location; None if there is none."""
        ours = self.folder(), self.folder(course=True)
        return next((folder for folder in ours if str(folder.resolve()) == location), None)

    def forget(self, location: str) -> None:
        """Delete the files of a source, if it is an upload folder."""
        with self._lock:
            folder = self.at(location)
            if folder is not None and folder.is_dir():
                if self._bucket is not None:
                    self._bucket.delete(self._files_of([folder]))
                partial = self._home / f"{secrets.token_hex(8)}{_PARTIAL}"
                folder.rename(partial)  # removes everything atomically
                shutil.rmtree(partial, ignore_errors=True)

    def remove(self, folder: Path, path: str) -> None:
        """Delete one file of an upload folder, by a path from `files`.

        Raises:
            RequestRefusedError: It cannot be deleted.
        """
        file = folder / path
        with self._lock:
            if self._bucket is not None:
                self._bucket.delete(self._files_of([file]))
            try:
                file.unlink(missing_ok=True)
            except OSError as exc:
                raise RequestRefusedError(
                    500, f"the file cannot be deleted: {exc.strerror}", hint="ask whoever runs the server"
                ) from exc
            if file.parent != folder:
                with contextlib.suppress(OSError):  # not empty
                    file.parent.rmdir()

    def change(self, write: Callable[[], Path]) -> None:
        """Change a file in an upload folder, and store it.

        Args:
            write: Writes the file, and returns its path.

        Raises:
            RequestRefusedError: The upload storage does not respond, or the file cannot be written.
        """
        if self._bucket is None:
            write()
            return
        with self._lock:  # otherwise a refresh before the file is stored would lose it
            self._refresh(self._bucket)
            file = write()
            try:
                self._bucket.replace(file.resolve().relative_to(self._home.resolve()).as_posix())
            except OSError as exc:
                raise not_kept("change", exc) from exc


def _home_of(library: str, settings: Settings) -> Path:
    """Return the folder of all uploads of a library, or of their copy."""
    if _SCHEME in settings.uploads:
        return settings.home / "uploads" / f"{library}-{hashlib.sha256(settings.uploads.encode()).hexdigest()[:8]}"
    if settings.uploads:
        shared = Path(settings.uploads).expanduser()
        # Not created here: if the shared disk is not mounted, other servers would not see the files.
        if not (shared.is_absolute() and shared.is_dir()):
            raise SettingsError(
                f"the folder {settings.uploads!r} for uploads is not there",
                hint="set OPENBOOK_UPLOADS to a folder, by its whole path, on a disk that all servers have there",
            )
        return shared / library
    # In a shared library, machines with equal paths would confuse their folders.
    return settings.home / "uploads" / (f"{library}-{machine_id(settings.home)}" if settings.storage else library)


def _settled(staged: Sequence[Path], partial: Path, folder: Path, made: list[Path], *, course: bool) -> list[Path]:
    """Move staged files to their final places, which are returned. See `_settle`."""
    if not course:
        return [_settle(file, folder / file.name, made) for file in staged]
    target = _settle(partial, folder / _course_name(staged), made)
    return [target / file.name for file in staged]


def _back_off(tries: int) -> None:
    """Sleep for a random time, so that two servers do not collide again."""
    if tries == _MAX_TRIES:
        raise RequestRefusedError(503, "other uploads with these names are in progress", hint="try again in a minute")
    time.sleep(random.uniform(_PAUSE_S, 10 * _PAUSE_S))


def _undo(staged: Sequence[Path], partial: Path, kept: Sequence[Path], made: list[Path], *, course: bool) -> None:
    """Undo what `_settled` did."""
    if course and made:
        made[0].rename(partial)
    elif not course:
        for file, place in zip(staged, kept, strict=True):
            if place in made:
                place.rename(file)
    made.clear()


def _discard(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _settle(what: Path, wanted: Path, made: list[Path] | None = None) -> Path:
    """Move a file or folder to a place, or to one with a number appended, and return the place.

    Args:
        what: File or folder to move. It stays if an identical one is already there.
        wanted: The place.
        made: The place is appended to this list if it is new.
    """
    place, number = wanted, 1
    while not _moved(what, place):
        if _holds(place, what):
            return place
        number += 1
        behind = f" {number}" if what.is_dir() else f" ({number})"
        place = wanted.with_name(f"{wanted.stem}{behind}{wanted.suffix}")
    if made is not None:
        made.append(place)
    return place


def _moved(what: Path, place: Path) -> bool:
    """Move a file or folder to a place, unless it exists: from an earlier upload, or another server."""
    is_folder = what.is_dir()
    try:
        if is_folder and not place.exists():
            what.rename(place)  # does not replace a folder with files
        elif not is_folder:
            os.link(what, place)  # a rename would replace an existing file
            what.unlink()
        else:
            return False
    except OSError:
        if place.exists():
            return False
        what.rename(place)  # a file system without hard links
    return True


def _holds(place: Path, what: Path) -> bool:
    if what.is_dir():
        names = [file.name for file in what.iterdir()]
        there = {file.name for file in place.iterdir()} if place.is_dir() else set()
        return there == set(names) and filecmp.cmpfiles(place, what, names, shallow=False)[0] == names
    return place.is_file() and filecmp.cmp(place, what, shallow=False)


def _course_name(files: Sequence[Path]) -> str:
    """Return the folder name of a course: its title, unless one of its files has another."""
    name = files[0].stem
    # A name such as "lesson", alone or with a number, would merge all folders into one course.
    is_title = len(files) == 1 and are_courses([f"{name} 2"], ()) and not is_ignored_folder(name, frozenset())
    return name if is_title else _COURSE


def safe_name(name: str) -> str:
    r"""Sanitize a file name from a browser: no path, not hidden, the same suffix.

    Example:
        >>> safe_name("../../etc/pass<wd>.md"), safe_name("C:\\notes\\Prüfung 2.txt"), safe_name("..")
        ('pass_wd_.md', 'Prüfung 2.txt', 'file')
    """
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    clean = _UNSAFE.sub("_", last).strip().rstrip(". ")
    if _DEVICE.match(clean):
        clean = f"_{clean}"
    stem, dot, suffix = clean.rpartition(".")
    if not dot or len(suffix) >= _NAME_CHARS or len(suffix.encode()) >= _NAME_BYTES:
        return _cut(clean, _NAME_CHARS, _NAME_BYTES) or "file"
    return f"{_cut(stem, _NAME_CHARS - len(suffix) - 1, _NAME_BYTES - len(suffix.encode()) - 1)}.{suffix}"


def _cut(text: str, max_chars: int, max_bytes: int) -> str:
    return text[:max_chars].encode()[:max_bytes].decode(errors="ignore")
