"""The owners of uploaded files, for uploads in a folder."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

_FILE = "owners.json"

# Writing the file takes milliseconds.
_WRITING_S, _PAUSE_S = 5.0, 0.01


class UploadOwners:
    """The owners of uploaded files, stored in a file beside them. Not thread-safe."""

    def __init__(self, home: Path, *, writing_s: float = _WRITING_S) -> None:
        """Take the folder of all uploads. Files without a known owner count for nobody.

        Args:
            home: The folder.
            writing_s: Age in seconds from which another server's lock counts as stale.
        """
        self._home = home
        self._writing_s = writing_s
        self._file = home / _FILE

    def used_bytes(self, owner: str) -> int:
        """Return the bytes that an owner stores."""
        return sum(self._size(path) for path, of in self._read().items() if of == owner)

    def add(self, owner: str, files: Iterable[Path]) -> None:
        """Record the owner of files. Files with an owner keep it.

        Raises:
            OSError: It cannot be written.
        """
        with self._alone():
            owners = {path: of for path, of in self._read().items() if (self._home / path).is_file()}
            for file in files:
                owners.setdefault(file.relative_to(self._home).as_posix(), owner)
            partial = self._file.with_suffix(".new")
            partial.write_text(json.dumps(owners), encoding="utf-8")
            os.replace(partial, self._file)  # noqa: PTH105 - at once, whatever happens

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Lock the file against other servers with the same folder, because concurrent writes would lose entries."""
        lock, until = self._file.with_suffix(".lock"), time.monotonic() + self._writing_s
        while True:
            try:
                lock.touch(exist_ok=False)
                break
            except FileExistsError:
                if time.monotonic() > until:  # left by a killed server
                    lock.unlink(missing_ok=True)
                time.sleep(_PAUSE_S)
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)

    def _read(self) -> dict[str, str]:
        with contextlib.suppress(OSError, ValueError):
            found = json.loads(self._file.read_text(encoding="utf-8"))
            return found if isinstance(found, dict) else {}
        return {}

    def _size(self, path: str) -> int:
        with contextlib.suppress(OSError):
            return (self._home / path).stat().st_size
        return 0
