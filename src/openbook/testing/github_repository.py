"""A repository in memory, with the hashes that git gives: what the GitHub server of the tests serves."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_MODES = {"file": "100644", "link": "120000", "tree": "040000", "commit": "160000"}


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link in a repository."""

    target: str


@dataclass(frozen=True, slots=True)
class Submodule:
    """Another repository in a repository."""

    commit: str


Content = str | bytes | Link | Submodule
"""What a path of a repository holds."""


@dataclass(slots=True)
class GitHubRepository:
    """A repository that changes by commits."""

    full_name: str
    """Owner and name."""
    default_branch: str = "main"
    description: str | None = None
    language: str | None = None
    private: bool = False
    id: int = 1
    refs: dict[str, str] = field(default_factory=dict)
    """Commits by full names, such as `refs/heads/main`. Empty: the repository has no commit."""
    trees: dict[str, list[tuple[str, str, str]]] = field(default_factory=dict)
    """Name, mode and hash of what each tree holds, by its hash and by that of its commits."""
    blobs: dict[str, bytes] = field(default_factory=dict)
    most_entries: int = 100_000
    """Longer lists of a tree are cut short."""

    def commit(self, files: Mapping[str, Content], branch: str = "") -> str:
        """Make all of a branch these files, and give the commit. Without a name, it is the default branch."""
        branch = branch or self.default_branch
        tree = self._tree(dict(files))
        sha = hashlib.sha1(f"commit {tree} {self.refs.get(f'refs/heads/{branch}')}".encode()).hexdigest()
        self.trees[sha] = self.trees[tree]
        self.refs[f"refs/heads/{branch}"] = sha
        return sha

    def resolve(self, ref: str) -> str | None:
        """Return the commit that GitHub's `commits/REF` means."""
        if ref == "HEAD":
            ref = self.default_branch
        names = (f"refs/{ref}", f"refs/heads/{ref}", f"refs/tags/{ref}")
        return next((self.refs[name] for name in names if name in self.refs), ref if ref in self.trees else None)

    def entries(self, sha: str, *, recursive: bool, prefix: str = "") -> list[dict[str, Any]]:
        """List a tree as the API does: folders before what is in them."""
        found: list[dict[str, Any]] = []
        for name, mode, inner in self.trees[sha]:
            kind = {"040000": "tree", "160000": "commit"}.get(mode, "blob")
            entry: dict[str, Any] = {"path": prefix + name, "mode": mode, "type": kind, "sha": inner}
            if kind == "blob":
                entry["size"] = len(self.blobs[inner])
            found.append(entry)
            if recursive and kind == "tree":
                found += self.entries(inner, recursive=True, prefix=f"{prefix}{name}/")
        return found

    def tarball(self, sha: str) -> bytes:
        """Pack a commit as GitHub does: in a folder, without what `.gitattributes` leaves out of archives."""
        packed = io.BytesIO()
        attributes = next((e["sha"] for e in self.entries(sha, recursive=False) if e["path"] == ".gitattributes"), "")
        lines = self.blobs.get(attributes, b"").decode().splitlines()
        left_out = {line.split()[0] for line in lines if "export-ignore" in line.split()}
        top = f"{self.full_name.replace('/', '-')}-{sha[:7]}"
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT, pax_headers={"comment": sha}) as archive:
            for entry in self.entries(sha, recursive=True):
                if entry["path"] in left_out or entry["type"] == "commit":
                    continue
                member = tarfile.TarInfo(f"{top}/{entry['path']}")
                content = self.blobs.get(entry["sha"], b"")
                if entry["type"] == "tree":
                    member.type = tarfile.DIRTYPE
                elif entry["mode"] == _MODES["link"]:
                    member.type, member.linkname, content = tarfile.SYMTYPE, content.decode(), b""
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        return gzip.compress(packed.getvalue(), mtime=0)

    def about(self) -> dict[str, Any]:
        """Describe the repository as the API does."""
        return {
            "id": self.id,
            "full_name": self.full_name,
            "name": self.full_name.partition("/")[2],
            "private": self.private,
            "html_url": f"https://github.com/{self.full_name}",
            "default_branch": self.default_branch,
            "description": self.description,
            "language": self.language,
        }

    def _tree(self, files: dict[str, Content]) -> str:
        folders: dict[str, dict[str, Content]] = {}
        entries: list[tuple[str, str, str]] = []
        for path, content in files.items():
            name, slash, rest = path.partition("/")
            if slash:
                folders.setdefault(name, {})[rest] = content
            else:
                entries.append((name, *self._leaf(content)))
        entries += [(name, _MODES["tree"], self._tree(inner)) for name, inner in folders.items()]
        # Git orders folders as if their names ended with a slash.
        entries.sort(key=lambda entry: (entry[0] + "/" if entry[1] == _MODES["tree"] else entry[0]).encode())
        raw = b"".join(f"{mode.lstrip('0')} {name}\0".encode() + bytes.fromhex(sha) for name, mode, sha in entries)
        sha = _hash("tree", raw)
        self.trees[sha] = entries
        return sha

    def _leaf(self, content: Content) -> tuple[str, str]:
        if isinstance(content, Submodule):
            return _MODES["commit"], content.commit
        mode = _MODES["link" if isinstance(content, Link) else "file"]
        content = content.target if isinstance(content, Link) else content
        raw = content.encode() if isinstance(content, str) else content
        sha = _hash("blob", raw)
        self.blobs[sha] = raw
        return mode, sha


def _hash(kind: str, raw: bytes) -> str:
    return hashlib.sha1(f"{kind} {len(raw)}\0".encode() + raw).hexdigest()
