"""What a repository looks like from afar, whichever way it is reached: a head, files by their hashes, contents."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from openbook.errors import FetchError


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The commit that an address stands for now, and what its host says of the repository."""

    commit: str
    web_url: str
    """Address of the page, without branch or folder."""
    ref: str = ""
    """Branch, tag or commit that was asked for; empty for the default branch."""
    folder: str = ""
    """Path in the repository that was asked for: a folder or file. Empty for all."""
    etag: str = ""
    """What the host wants to hear to say that nothing has changed; empty if it knows no such thing."""
    default_branch: str = ""
    description: str = ""
    language: str = ""
    """The one that most of it is written in, as the host has it."""
    private: bool | None = None
    """None if it is not known."""

    def holds(self, path: str) -> bool:
        """Whether a path is, or is below, what was asked for."""
        return not self.folder or path == self.folder or path.startswith(f"{self.folder}/")


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a commit."""

    path: str
    sha: str
    """Hash of the content, as git makes it."""
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Listing:
    """All files of a commit, and what is none."""

    entries: tuple[Entry, ...]
    """Each path once, in order."""
    skipped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Paths by reason."""


class Remote(Protocol):
    """A repository that can be asked. Everything may raise `FetchError`."""

    def newest(self, known: Head | None) -> Head | None:
        """Return what the address stands for now; None if that is the commit that is known."""
        ...

    def listing(self, head: Head) -> Listing: ...

    def contents(self, head: Head, listing: Listing, wanted: Collection[str]) -> Iterator[tuple[str, bytes]]:
        """Return the contents of files by their hashes, each once, in any order, and checked."""
        ...


@dataclass(slots=True)
class Patience:
    """How long a whole fetch may take; what waits asks it, and waits through it."""

    timeout_s: float
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _end: float = field(init=False)

    def __post_init__(self) -> None:
        self._end = self.clock() + self.timeout_s

    @property
    def left_s(self) -> float:
        return max(0.0, self._end - self.clock())

    def check(self, location: str) -> None:
        """Give up if the time is over.

        Raises:
            FetchError: It is.
        """
        if not self.left_s:
            hint = "try again, or raise OPENBOOK_FETCH_TIMEOUT_S"
            raise FetchError(location, f"it was not there within {self.timeout_s:g} s", hint=hint)


# How git marks what is no file of its own. Everything else is one, whether it can be run or not.
_NO_FILES = {"120000": "link", "160000": "submodule", "040000": "folder"}


def list_files(found: Iterable[tuple[str, str, int, str]]) -> Listing:
    """Sort what a commit holds, as mode, hash, size in bytes and path, into files and what is none.

    Links are not followed, and submodules are other repositories. Paths that could lead out of a folder are refused.
    """
    entries: dict[str, Entry] = {}
    skipped: dict[str, list[str]] = {}
    for mode, sha, size_bytes, path in found:
        reason = _NO_FILES.get(mode, "") or ("" if is_safe_path(path) else "name is not safe")
        if reason:
            skipped.setdefault(reason, []).append(path)
        else:
            entries.setdefault(path, Entry(path, sha, size_bytes))
    ordered = tuple(entries[path] for path in sorted(entries))
    return Listing(ordered, {reason: tuple(sorted(paths)) for reason, paths in sorted(skipped.items())})


def is_safe_path(path: str) -> bool:
    r"""Return whether a path can only lie below the folder that it is put in, on every system.

    Example:
        >>> [is_safe_path(path) for path in ("a/b.py", "../a", "/a", "a\\..\\b", "C:a", ".git/config", "a//b")]
        [True, False, False, False, False, False, False]
    """
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    parts = path.split("/")
    if "\\" in path or "\0" in path or "\ufffd" in path or path[1:2] == ":":
        return False
    # Git itself allows none of these; an evil host might.
    return not any(part in ("", ".", "..") or part.lower().rstrip(". ") == ".git" for part in parts)


def git_hash(raw: bytes, like: str) -> str:
    """Return the name that git has for a content, with the hash that `like` was made with."""
    algorithm = hashlib.sha256 if len(like) == 64 else hashlib.sha1
    return algorithm(b"blob %d\0" % len(raw) + raw).hexdigest()
