"""What git says of a repository: the commit that an address stands for, and the files of it by their hashes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitHead:
    """The commit that an address stands for now."""

    commit: str
    web_url: str
    """Address of the page, without branch or folder."""
    ref: str = ""
    """Branch, tag or commit that was asked for; empty for the default branch."""
    folder: str = ""
    """Path in the repository that was asked for: a folder or file. Empty for all."""
    default_branch: str = ""

    def holds(self, path: str) -> bool:
        """Whether a path is, or is below, what was asked for."""
        return not self.folder or path == self.folder or path.startswith(f"{self.folder}/")


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A file of a commit."""

    path: str
    sha: str
    """Hash of the content, as git makes it."""
    size_bytes: int


@dataclass(frozen=True, slots=True)
class TreeListing:
    """All files of a commit, and what is none."""

    entries: tuple[TreeEntry, ...]
    """Each path once, in order."""
    skipped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Paths by reason."""


# How git marks what is no file of its own. Everything else is one, whether it can be run or not.
_NO_FILES = {"120000": "link", "160000": "submodule", "040000": "folder"}


def list_files(found: Iterable[tuple[str, str, int, str]]) -> TreeListing:
    """Sort what a commit holds, as mode, hash, size in bytes and path, into files and what is none.

    Links are not followed, and submodules are other repositories. Paths that could lead out of a folder are refused.
    """
    entries: dict[str, TreeEntry] = {}
    skipped: dict[str, list[str]] = {}
    for mode, sha, size_bytes, path in found:
        reason = _NO_FILES.get(mode, "") or ("" if is_safe_path(path) else "name is not safe")
        if reason:
            skipped.setdefault(reason, []).append(path)
        else:
            entries.setdefault(path, TreeEntry(path, sha, size_bytes))
    ordered = tuple(entries[path] for path in sorted(entries))
    return TreeListing(ordered, {reason: tuple(sorted(paths)) for reason, paths in sorted(skipped.items())})


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
