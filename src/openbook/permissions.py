"""Folders and files that only their owner can read, because libraries contain the text of private files."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_private_folder(folder: Path) -> None:
    """Create a folder that only its owner can access, with its parents; restrict an existing one.

    Existing parents are not changed.

    Raises:
        OSError: It cannot be created.
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(exist_ok=True)  # raises if the path is not a folder
    narrow(folder)


def make_private_file(path: Path) -> None:
    """Create an empty file that only its owner can access; restrict an existing one.

    Raises:
        OSError: It cannot be created.
    """
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        return
    narrow(path)


def check_writable(folder: Path) -> None:
    """Write a temporary file.

    Raises:
        OSError: The folder cannot be written, or its disk is full.
    """
    import tempfile  # lazy: few commands need it, and it takes 10 ms

    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(4096))  # an empty file would fit on a full disk


def narrow(path: Path) -> None:
    """Remove the permissions of group and others. Missing files, and files of other users, are left alone."""
    with contextlib.suppress(OSError):
        mode = path.stat().st_mode
        if mode & _OTHERS:
            path.chmod(stat.S_IMODE(mode) & ~_OTHERS)


def is_open_to_others(path: Path) -> bool:
    """Return whether group or others have any permission; always False on systems without permissions."""
    try:
        return os.name == "posix" and bool(path.stat().st_mode & _OTHERS)
    except OSError:
        return False
