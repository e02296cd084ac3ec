"""The files that lie beside the one of an embedded library."""

from __future__ import annotations

import contextlib
import glob
from collections.abc import Iterable
from pathlib import Path

_LOGS = ("-wal", "-shm")


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


def remove_library_file(library: Path) -> None:
    """Delete a library and what is beside it. None there is no error."""
    delete_files(column_files(library))
    for suffix in (*_LOGS, ""):
        library.with_name(library.name + suffix).unlink(missing_ok=True)
