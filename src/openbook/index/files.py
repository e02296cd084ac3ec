"""The files that lie beside the one of an embedded library."""

from __future__ import annotations

import contextlib
import glob
from collections.abc import Iterable
from itertools import count
from pathlib import Path

# What SQLite reads into whatever has the name of the file: the changes of a transaction, to undo or to make.
_LOGS = ("-journal", "-wal")


def columns_path(library: Path, token: str) -> Path:
    """Return the file of columns with a name."""
    return library.with_name(f"{library.name}-columns-{token}")


def column_files(library: Path) -> list[Path]:
    """Return the files of columns of a library: one, or some more after a writer was killed."""
    return sorted(library.parent.glob(f"{glob.escape(library.name)}-columns-*"))


def delete_files(paths: Iterable[Path]) -> None:
    """Delete what is there. On Windows, what somebody has mapped stays."""
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink()


def library_bytes(library: Path) -> int:
    """Return the size of a library with the log and the columns beside it."""
    files = (library, library.with_name(library.name + "-wal"), *column_files(library))
    return sum(file.stat().st_size for file in files if file.exists())


def file_identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file or folder from another in its place; None if it is gone, or cannot be reached."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def set_aside(file: Path) -> Path:
    """Rename a file that is no library, with the logs beside it, and return where it is now.

    Raises:
        OSError: It cannot be renamed.
    """
    places = (file.with_name(f"{file.name}.aside-{number}") for number in count(1))
    aside = next(place for place in places if not place.exists())
    for suffix in (*_LOGS, ""):  # the file last: its logs would change another one in its place
        with contextlib.suppress(FileNotFoundError):
            file.with_name(file.name + suffix).rename(aside.with_name(aside.name + suffix))
    return aside


def remove_library_file(library: Path) -> None:
    """Delete a library and what is beside it. None there is no error."""
    delete_files(column_files(library))
    for suffix in (*_LOGS, "-shm", ""):
        library.with_name(library.name + suffix).unlink(missing_ok=True)
