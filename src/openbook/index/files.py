"""The files that belong to an embedded library besides its database."""

from __future__ import annotations

import contextlib
import glob
from collections.abc import Iterable
from itertools import count
from pathlib import Path

# Suffixes of the logs that SQLite applies to any file with the matching name.
_LOGS = ("-journal", "-wal")


def columns_path(library: Path, token: str) -> Path:
    """Return the path of the column file with a token."""
    return library.with_name(f"{library.name}-columns-{token}")


def column_files(library: Path) -> list[Path]:
    """Return the column files of a library: one, or more after a writer was killed."""
    return sorted(library.parent.glob(f"{glob.escape(library.name)}-columns-*"))


def delete_files(paths: Iterable[Path]) -> None:
    """Delete files that exist. On Windows, files that are mapped stay."""
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink()


def library_bytes(library: Path) -> int:
    """Return the size of a library, including its log and column file."""
    files = (library, library.with_name(library.name + "-wal"), *column_files(library))
    return sum(file.stat().st_size for file in files if file.exists())


def file_identity(path: Path) -> tuple[int, int] | None:
    """Return an identity that changes when a file or folder is replaced; None if it is missing or unreachable."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def set_aside(file: Path) -> Path:
    """Rename a file that is not a library, together with its logs, and return the new path.

    Raises:
        OSError: It cannot be renamed.
    """
    places = (file.with_name(f"{file.name}.aside-{number}") for number in count(1))
    aside = next(place for place in places if not place.exists())
    for suffix in (*_LOGS, ""):  # logs first: SQLite would apply them to a new file of the same name
        with contextlib.suppress(FileNotFoundError):
            file.with_name(file.name + suffix).rename(aside.with_name(aside.name + suffix))
    return aside


def remove_library_file(library: Path) -> None:
    """Delete a library and the files beside it. A missing one is not an error."""
    delete_files(column_files(library))
    for suffix in (*_LOGS, "-shm", ""):
        library.with_name(library.name + suffix).unlink(missing_ok=True)
