"""Uploaded files: which are taken, and where they are kept. What a file is called is never a path."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from openbook.server.failures import RequestRefusedError
from openbook.settings import Settings
from openbook.sources.walk import refuse_by_name, size_limit

# Of the name that people see; what stands before and behind it is ours.
_NAME_CHARS = 80

# Told apart from others of the name, and from everything that somebody may guess.
_PREFIX_BYTES = 4

_COPY_BYTES = 1024 * 1024

_PARTIAL = ".part"

# Letters and digits of any script, and the few signs that mean nothing to a file system or a page.
_UNSAFE = re.compile(r"[^\w.()+ -]")


class Upload(Protocol):
    """A file as it was sent."""

    @property
    def filename(self) -> str | None: ...

    @property
    def size(self) -> int | None: ...

    @property
    def file(self) -> Readable: ...


class Readable(Protocol):
    """Bytes to read."""

    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that is not taken."""

    name: str
    reason: str


class Uploads:
    """The uploaded files of one library, in a folder that is one of its sources."""

    def __init__(self, library: str, settings: Settings) -> None:
        """Take the folder of a library. It is made when the first file comes."""
        self._home = settings.home / "uploads" / library
        self._settings = settings

    @property
    def folders(self) -> list[Path]:
        """Those that hold files, to be brought up to date."""
        return [folder for folder in (self.folder(), self.folder(course=True)) if folder.is_dir()]

    def folder(self, *, course: bool = False) -> Path:
        """Give the folder of uploads, or that of uploaded course material."""
        return self._home / ("uploaded courses" if course else "uploads")

    def check(self, files: Iterable[Upload]) -> tuple[list[tuple[str, Upload]], list[Refused]]:
        """Choose which files are taken, each with the name that people see.

        Raises:
            RequestRefusedError: There is none, there are too many, or they are too large together.
        """
        files = list(files)
        if not files:
            raise RequestRefusedError(400, "the upload holds no file", hint="send files in the field `files`")
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
                refused.append(Refused(name, reason))
            else:
                taken.append((name, file))
        return taken, refused

    def _refusal(self, name: str, size_bytes: int) -> str:
        limit = size_limit(name, self._settings.max_file_bytes)
        if size_bytes > limit:
            return f"larger than {limit:,} bytes"
        return "empty" if size_bytes == 0 else refuse_by_name(name)

    def keep(self, taken: Iterable[tuple[str, Upload]], *, course: bool = False) -> list[str]:
        """Write files, and give the names that they got. A file is there as a whole or not at all.

        Raises:
            RequestRefusedError: The disk does not take it; none of them is kept.
        """
        folder, kept = self.folder(course=course), []
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, file in taken:
                kept.append(f"{secrets.token_hex(_PREFIX_BYTES)}-{name}")
                self._write(folder / kept[-1], file)
        except OSError as exc:
            for name in kept:
                (folder / name).unlink(missing_ok=True)
            raise RequestRefusedError(
                507, f"the upload cannot be kept: {exc.strerror}", hint="nothing of it was kept; free some space"
            ) from exc
        return kept

    def _write(self, target: Path, file: Upload) -> None:
        # Not in the folder itself: what is half written must not be indexed.
        partial = self._home / f"{secrets.token_hex(8)}{_PARTIAL}"
        try:
            with partial.open("xb") as stream:
                while piece := file.file.read(_COPY_BYTES):
                    stream.write(piece)
                stream.flush()
                os.fsync(stream.fileno())
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)

    def clean(self) -> None:
        """Remove what a server that was killed left half written."""
        for partial in self._home.glob(f"*{_PARTIAL}"):
            partial.unlink(missing_ok=True)

    def at(self, location: str) -> Path | None:
        """Give the folder of ours that lies at a place; None if none does."""
        return next((folder for folder in self.folders if str(folder.resolve()) == location), None)

    def forget(self, location: str) -> None:
        """Delete the files of a source that is a folder of ours. Others are left alone."""
        folder = self.at(location)
        if folder is not None:
            for file in folder.iterdir():
                file.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # somebody has just sent another file
                folder.rmdir()

    def remove(self, folder: Path, name: str) -> None:
        """Delete one file of a folder of ours, by the name that `keep` gave it.

        Raises:
            RequestRefusedError: It cannot be deleted.
        """
        try:
            (folder / Path(name).name).unlink(missing_ok=True)
        except OSError as exc:
            raise RequestRefusedError(
                500, f"the file cannot be deleted: {exc.strerror}", hint="whoever runs the server can"
            ) from exc


def name_sent(name: str) -> str:
    """Give what people see of a name that `keep` gave.

    Example:
        >>> name_sent("0a1b2c3d-notes.md")
        'notes.md'
    """
    return name[2 * _PREFIX_BYTES + 1 :]


def safe_name(name: str) -> str:
    r"""Make of what a browser calls a file a name that is no path, hides nothing, and keeps its ending.

    Example:
        >>> safe_name("../../etc/pass<wd>.md"), safe_name("C:\\notes\\Prüfung 2.txt"), safe_name("..")
        ('pass_wd_.md', 'Prüfung 2.txt', 'file')
    """
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    clean = _UNSAFE.sub("_", last).strip().rstrip(". ")
    stem, dot, suffix = clean.rpartition(".")
    if not dot or len(suffix) >= _NAME_CHARS:
        return clean[:_NAME_CHARS] or "file"
    return f"{stem[: _NAME_CHARS - len(suffix) - 1]}.{suffix}"
