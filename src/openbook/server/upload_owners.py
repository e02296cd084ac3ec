"""Who uploaded which file, where uploads are in a folder."""

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
    """The owners of uploaded files, kept in a file beside them. Not thread-safe."""

    def __init__(self, home: Path, *, writing_s: float = _WRITING_S) -> None:
        """Take the folder that holds all uploads. Files that nobody is known of count for nobody.

        Args:
            home: The folder.
            writing_s: Seconds after which another server that writes is taken for one that was killed.
        """
        self._home = home
        self._writing_s = writing_s
        self._file = home / _FILE

    def used_bytes(self, owner: str) -> int:
        """Return how many bytes an owner keeps there."""
        return sum(self._size(path) for path, of in self._read().items() if of == owner)

    def add(self, owner: str, files: Iterable[Path]) -> None:
        """Remember files as an owner's. What has another owner already stays theirs.

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
        """Keep other servers with the same folder from writing meanwhile: what one adds, another would drop."""
        lock, until = self._file.with_suffix(".lock"), time.monotonic() + self._writing_s
        while True:
            try:
                lock.touch(exist_ok=False)
                break
            except FileExistsError:
                if time.monotonic() > until:  # of a server that was killed
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
