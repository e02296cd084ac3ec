"""Who uploaded which file, so that nobody fills the disk of all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_FILE = "owners.json"


class UploadOwners:
    """The owners of uploaded files, kept in a file beside them. Not thread-safe."""

    def __init__(self, home: Path) -> None:
        """Take the folder that holds all uploads. Files that nobody is known of count for nobody."""
        self._home = home
        self._file = home / _FILE

    def used_bytes(self, owner: str) -> int:
        """Return how many bytes an owner keeps there."""
        return sum(self._size(path) for path, of in self._read().items() if of == owner)

    def add(self, owner: str, files: Iterable[Path]) -> None:
        """Remember files as an owner's. What has another owner already stays theirs.

        Raises:
            OSError: It cannot be written.
        """
        owners = {path: of for path, of in self._read().items() if (self._home / path).is_file()}
        for file in files:
            owners.setdefault(file.relative_to(self._home).as_posix(), owner)
        partial = self._file.with_suffix(".new")
        partial.write_text(json.dumps(owners), encoding="utf-8")
        os.replace(partial, self._file)  # noqa: PTH105 - at once, whatever happens

    def _read(self) -> dict[str, str]:
        with suppress(OSError, ValueError):
            found = json.loads(self._file.read_text(encoding="utf-8"))
            return found if isinstance(found, dict) else {}
        return {}

    def _size(self, path: str) -> int:
        with suppress(OSError):
            return (self._home / path).stat().st_size
        return 0
