"""Texts that a program adds to a library, kept as files in the home, so that citations can be checked against them."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from openbook.errors import InvalidArgumentError, LibraryWriteError, SourceError
from openbook.permissions import make_private_folder
from openbook.sources.walk import refuse_by_name

# No backslashes, which are separators on Windows, and no control characters.
_NAME = re.compile(r"[^\\\0-\x1f]+")

# Writing two small files takes milliseconds.
_LOCK_TIMEOUT_S = 60.0

_HINT = "name it like a file, such as `notes/2026-03-02.md`"


class TextStore:
    """The added texts of one library: files in one folder, with their metadata in a file beside it."""

    def __init__(self, home: Path, library: str) -> None:
        """Take the folders. They are created with the first text."""
        self._base = home / "texts" / library
        self.folder: Path = self._base / "texts"
        """Folder of the texts. The source has the same name."""
        self._metadata = self._base / "metadata.json"
        self._libraries = self._base / "libraries.json"

    def write(self, text: str, name: str, metadata: Mapping[str, Any]) -> None:
        """Store a text under a name, replacing an earlier one. If it fails, the earlier one stays.

        Raises:
            SourceError: The name is not valid for a file, or leads outside of the folder.
            ValueError: The text is blank.
            TypeError: The text is no string, or the metadata cannot be serialized to JSON.
            LibraryWriteError: It cannot be written to disk.
        """
        path = PurePosixPath(name)
        if (
            not name
            or path.is_absolute()
            or any(part.startswith(".") for part in path.parts)
            or not _NAME.fullmatch(name)
        ):
            raise SourceError(name, "is not a valid name for a text", hint=_HINT)
        if reason := refuse_by_name(str(path)):
            raise SourceError(name, f"is not a valid name for a text: {reason}", hint=_HINT)
        if not isinstance(text, str):
            raise TypeError(f"the text of {name!r} is of type {type(text).__name__}; give a string")
        if not text.strip():
            raise InvalidArgumentError(f"the text of {name!r} is blank", hint="add a text with words")
        try:
            json.dumps(dict(metadata), sort_keys=True)
        except (TypeError, ValueError) as exc:
            raise TypeError(f"the metadata of {name!r} cannot be written as JSON: {exc}") from exc
        try:
            raw = text.encode("utf-8")
            make_private_folder(self._base)
            with self._alone():
                known = {**self._known(), str(path): dict(metadata)}
                if not metadata:
                    del known[str(path)]
                self._replace(self.folder / path, raw)
                self._replace(self._metadata, json.dumps(known, sort_keys=True).encode())
        except (OSError, UnicodeEncodeError, sqlite3.Error) as exc:
            raise LibraryWriteError(f"cannot store the text {name!r}: {exc}", hint=_HINT) from exc

    def delete(self) -> None:
        """Delete all texts with their metadata.

        Raises:
            LibraryWriteError: They cannot be deleted.
        """
        try:
            shutil.rmtree(self._base)
        except OSError as exc:
            hint = "delete the folder, or its texts come back with the next one that is added"
            raise LibraryWriteError(f"cannot delete {str(self._base)!r}: {exc.strerror}", hint=hint) from exc

    def share(self, *locations: str) -> None:
        """Store that the libraries at these locations, one of which is a copy, both cite the texts, if there are any.

        Raises:
            LibraryWriteError: It cannot be stored.
        """
        if self._base.is_dir():
            self._store_libraries({*self._known_libraries(), *locations})

    def release(self, location: str) -> Path | None:
        """Delete the texts of a deleted library. If a copy of it cites them, return their folder instead.

        Raises:
            LibraryWriteError: They cannot be deleted.
        """
        if not self._base.is_dir():
            return None
        others = self._known_libraries() - {location}
        if others:
            self._store_libraries(others)
            return self._base
        self.delete()
        return None

    def _known_libraries(self) -> set[str]:
        return set(json.loads(self._libraries.read_text(encoding="utf-8"))) if self._libraries.is_file() else set()

    def _store_libraries(self, locations: set[str]) -> None:
        try:
            with self._alone():
                self._replace(self._libraries, json.dumps(sorted(locations)).encode())
        except (OSError, sqlite3.Error) as exc:
            raise LibraryWriteError(f"cannot write {str(self._libraries)!r}: {exc}") from exc

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Lock the texts against other threads and processes, whose metadata would be lost."""
        lock = sqlite3.connect(self._base / "lock", timeout=_LOCK_TIMEOUT_S, isolation_level=None)
        with contextlib.closing(lock):
            lock.execute("BEGIN EXCLUSIVE")
            yield

    def _replace(self, file: Path, raw: bytes) -> None:
        """Write a file at once: readers, and a killed process, leave the old or the new one."""
        file.parent.mkdir(parents=True, exist_ok=True)
        (self._base / "new").write_bytes(raw)
        (self._base / "new").replace(file)

    def metadata(self, path: str) -> dict[str, Any]:
        """Return the metadata of a text; {} for anything else."""
        return self._known().get(path, {})

    def _known(self) -> dict[str, dict[str, Any]]:
        try:
            found: dict[str, dict[str, Any]] = json.loads(self._metadata.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as exc:
            raise LibraryWriteError(
                f"cannot read {str(self._metadata)!r}: {exc}", hint="delete the file, and add the texts again"
            ) from exc
        return found
