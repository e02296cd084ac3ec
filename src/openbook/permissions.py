"""Folders and files that nobody but their owner may read: libraries hold the text of private files."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_private_folder(folder: Path) -> None:
    """Create a folder that only its owner can read, with its parents; narrow the rights of an existing one.

    Folders above that are there stay as they are.

    Raises:
        OSError: It cannot be made.
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(exist_ok=True)  # says what is wrong if this is no folder
    narrow(folder)


def make_private_file(path: Path) -> None:
    """Build an empty file for its owner alone, unless it is there; narrow it if it is.

    Raises:
        OSError: It cannot be made.
    """
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        return
    narrow(path)


def narrow(path: Path) -> None:
    """Take the rights of group and others from what is ours; what is not there or not ours stays as it is."""
    with contextlib.suppress(OSError):
        mode = path.stat().st_mode
        if mode & _OTHERS:
            path.chmod(stat.S_IMODE(mode) & ~_OTHERS)


def is_open_to_others(path: Path) -> bool:
    """Check whether group or others may do anything with a file or folder; where files have no such rights, never."""
    try:
        return os.name == "posix" and bool(path.stat().st_mode & _OTHERS)
    except OSError:
        return False
