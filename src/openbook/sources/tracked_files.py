"""The files that git tracks, which it reads whatever its ignore rules say."""

from __future__ import annotations

import os
from pathlib import Path

from openbook.sources.git_environment import LOCAL_GIT, environment_of_local_git

# Reading an index of 100,000 files takes 0.1 s.
_TIMEOUT_S = 10.0

# Calls of git per scan, 3 ms each. A folder of projects has fewer repositories; only a forged one has thousands.
_MAX_CALLS = 64

# The index alone is read: without options about ignored files, no ignore file is opened, which could be a pipe.
_COMMAND = (*LOCAL_GIT, "ls-files", "-z", "--cached")


MIRROR_MARK = "openbook-mirror"
"""Name of a file in `.git` of a fetched repository, which has no index, and whose files are all tracked."""


class GitCalls:
    """Lists tracked files, up to a number of calls per scan. A call that hangs is the last one."""

    def __init__(self) -> None:
        self._left = _MAX_CALLS

    def list_tracked(self, folder: str) -> list[str]:
        """Return the tracked paths below a folder, relative to it; empty without git or a repository."""
        if not self._left:
            return []
        self._left -= 1
        # Lazy: needed only for folders whose rules match something.
        import subprocess

        try:
            done = subprocess.run(
                _COMMAND,
                cwd=folder,
                env=environment_of_local_git(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            self._left = 0
            return []
        except OSError:  # git is not installed
            return []
        return os.fsdecode(done.stdout).split("\0")[:-1] if done.returncode == 0 else []


class TrackedFiles:
    """The tracked files of one repository below a folder. Git is called for the first question only."""

    def __init__(self, calls: GitCalls, folder: str, prefix: str, *, is_repository: bool = True) -> None:
        """Take a folder and its path from the root of the scan, which is empty or has a final slash.

        Outside of any repository, git is not called.
        """
        self._calls = calls
        self._folder = folder
        self._prefix = prefix
        self._is_mirror = False
        self._paths: set[str] | None = None if is_repository else set()

    def holds(self, path: str) -> bool:
        """Return whether a path from the root of the scan is tracked, or a folder with tracked files.

        Folders end with a slash. The folder of a submodule is tracked, but nothing in it.
        """
        if self._paths is None:
            self._is_mirror = Path(self._folder, ".git", MIRROR_MARK).is_file()
            self._paths = set() if self._is_mirror else _with_folders(self._calls.list_tracked(self._folder))
        return self._is_mirror or path.removeprefix(self._prefix).rstrip("/") in self._paths


def _with_folders(paths: list[str]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        place = path
        while place and place not in found:
            found.add(place)
            place = place.rpartition("/")[0]
    return found
