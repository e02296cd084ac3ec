"""Local mirrors of repositories: one folder each, updated file by file."""

from __future__ import annotations

import errno
import json
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from openbook.errors import FetchError
from openbook.permissions import make_private_folder
from openbook.sources.git import CommitHead, GitRemote, TreeEntry, TreeListing
from openbook.sources.loading import LoadOptions
from openbook.sources.repository_urls import RepositoryUrl
from openbook.sources.tracked_files import MIRROR_MARK
from openbook.sources.walk import DEFAULT_MAX_DOCUMENT_BYTES

_VERSION = 1

# 40 bits suffice to avoid collisions: a repository has few mirrored branches.
_DIGEST_CHARS = 10

# Errors for names that an operating system does not allow. A repository may contain some from another system.
_BAD_NAMES = frozenset({errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ})

Progress = Callable[[int, int], None]
"""Called with the number of fetched files and the total."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorState:
    """The stored state of a mirror."""

    asked: str
    """URL of the repository's page. The address as given may contain a secret."""
    head: CommitHead | None = None
    """None during an update, while the files belong to no single commit."""
    blobs: Mapping[str, str] = field(default_factory=dict)
    """Content hashes of the files, by path."""
    skipped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Selected paths of the commit that could not be mirrored, by reason."""
    fetched_at: float = 0.0
    """Unix seconds of the last request to the host."""


class Mirror:
    """A repository, or a part of it, as last fetched. Processes may share it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def of(cls, home: Path, url: RepositoryUrl, options: LoadOptions) -> Mirror:
        """Return the mirror for an address and options, fetched or not."""
        asked = json.dumps([url.identity, options.to_dict()])
        digest = sha256(asked.encode()).hexdigest()[:_DIGEST_CHARS]
        path = url.path.lower() if url.host == "github.com" else url.path
        return cls(_repositories(home).joinpath(url.host.replace(":", "_"), *path.split("/"), digest))

    @classmethod
    def at(cls, home: Path, files: Path) -> Mirror | None:
        """Return the mirror whose files are in a folder; None if there is none."""
        mirror = cls(files.parent)
        if files.name != "files" or not files.is_relative_to(_repositories(home)):
            return None
        return mirror if mirror.state is not None else None

    @property
    def files(self) -> Path:
        """The folder with the files, at their paths in the repository."""
        return self.folder / "files"

    @property
    def objects(self) -> Path:
        """The folder with git's objects."""
        return self.folder / "git"

    @property
    def _incoming(self) -> Path:
        return self.folder / "incoming"

    @property
    def state(self) -> MirrorState | None:
        """Read the stored state; None if nothing was fetched yet, or the state cannot be read."""
        try:
            found = json.loads((self.folder / "state.json").read_text(encoding="utf-8"))
            if found.pop("version") != _VERSION or not self.files.is_dir():
                return None
            head = CommitHead(**found["head"]) if found["head"] else None
            skipped = {reason: tuple(paths) for reason, paths in found["skipped"].items()}
            return MirrorState(**{**found, "head": head, "skipped": skipped})
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    @property
    def name(self) -> str:
        return self.folder.parent.name

    @contextmanager
    def locked(self, timeout_s: float) -> Iterator[None]:
        """Lock the mirror against other processes. The lock of a killed process is released."""
        try:
            make_private_folder(self.folder)
            with closing(sqlite3.connect(self.folder / "lock", timeout=timeout_s, isolation_level=None)) as lock:
                lock.execute("BEGIN EXCLUSIVE")
                yield
        except sqlite3.OperationalError as exc:
            hint = "another process may be fetching it; wait for that"
            raise FetchError(str(self.folder), f"it cannot be locked: {exc}", hint=hint) from exc
        except OSError as exc:
            hint = "free some space, or set OPENBOOK_HOME to another folder"
            raise FetchError(str(self.folder), f"it cannot be written: {exc.strerror}", hint=hint) from exc

    def update(
        self,
        asked: str,
        remote: GitRemote,
        options: LoadOptions,
        *,
        max_bytes: int,
        max_document_bytes: int = DEFAULT_MAX_DOCUMENT_BYTES,
        progress: Progress | None = None,
        now: Callable[[], float] = time.time,
    ) -> bool:
        """Update the files to the newest commit. Everything is fetched before the first file changes.

        Returns:
            Whether the commit changed.
        """
        known = self.state
        head = remote.newest(known.head if known else None)
        if head is None and known is not None:
            self._write(replace(known, asked=asked, fetched_at=now()))
            return False
        assert head is not None
        listing = remote.listing(head)
        case_blind = self._is_case_blind()
        wanted, skipped = _choose(head, listing, options, max_document_bytes, case_blind=case_blind)
        _check(head, wanted, max_bytes)
        blobs = known.blobs if known else {}
        todo = [entry for entry in wanted if blobs.get(entry.path) != entry.sha]
        self._read(remote, {entry.sha for entry in todo}, progress)
        shas = {entry.path: entry.sha for entry in wanted}
        self._apply(MirrorState(asked=asked, head=head, blobs=shas, skipped=skipped, fetched_at=now()), blobs, todo)
        return True

    def _apply(self, state: MirrorState, blobs: Mapping[str, str], todo: list[TreeEntry]) -> None:
        """Apply the fetched changes to the files. After a kill, the state names possibly incomplete files."""
        gone = blobs.keys() - state.blobs.keys()
        changing = gone.union(entry.path for entry in todo)
        if not blobs:
            shutil.rmtree(self.files, ignore_errors=True)
        # Make it a checkout of its own, so that ignore rules of folders above do not apply. It has no index, but git
        # tracks all that was fetched.
        (self.files / ".git").mkdir(parents=True, exist_ok=True)
        (self.files / ".git" / MIRROR_MARK).touch()
        self._write(MirrorState(asked=state.asked, blobs={**blobs, **dict.fromkeys(changing, "")}))
        for path in sorted(gone):
            self._remove(path)
        refused = self._place(todo)
        kept = {path: sha for path, sha in state.blobs.items() if path not in refused}
        more = {"name not allowed on this system": tuple(sorted(refused))} if refused else {}
        self._write(replace(state, blobs=kept, skipped={**state.skipped, **more}))
        shutil.rmtree(self._incoming, ignore_errors=True)

    def _read(self, remote: GitRemote, wanted: set[str], progress: Progress | None) -> None:
        """Write each content into a file named by its hash, so that a read error changes nothing."""
        shutil.rmtree(self._incoming, ignore_errors=True)
        self._incoming.mkdir()
        for done, (sha, raw) in enumerate(remote.contents(wanted), start=1):
            (self._incoming / sha).write_bytes(raw)
            if progress:
                progress(done, len(wanted))

    def _place(self, todo: list[TreeEntry]) -> set[str]:
        """Move fetched files into place. Returns the paths that this operating system rejects."""
        incoming, refused = self._incoming, set()
        for entry in todo:
            place = self.files / entry.path
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                # Replace atomically: readers see the old or the new file. Copy, since another path may have the same
                # content.
                shutil.copyfile(incoming / entry.sha, incoming / "next")
                Path(incoming / "next").replace(place)
            except OSError as exc:
                if exc.errno not in _BAD_NAMES:
                    raise
                refused.add(entry.path)
        return refused

    def _remove(self, path: str) -> None:
        place = self.files / path
        if place.is_file():  # after a kill, it may be a folder by now, or below a file
            place.unlink()
        for folder in place.parents:
            if folder == self.files:
                return
            try:
                folder.rmdir()
            except OSError:  # not empty
                return

    def _write(self, state: MirrorState) -> None:
        text = json.dumps({"version": _VERSION, **asdict(state)})
        (self.folder / "state.new").write_text(text, encoding="utf-8")
        Path(self.folder / "state.new").replace(self.folder / "state.json")

    def _is_case_blind(self) -> bool:
        return (self.folder / "LOCK").exists()


def _repositories(home: Path) -> Path:
    return home.expanduser().resolve() / "repositories"


def _check(head: CommitHead, wanted: list[TreeEntry], max_bytes: int) -> None:
    """Refuse a repository that is too large, and a path that does not exist."""
    if sum(entry.size_bytes for entry in wanted) > max_bytes:
        hint = "fetch only a folder of it, or raise OPENBOOK_MAX_REPOSITORY_BYTES"
        raise FetchError(head.web_url, "it exceeds OPENBOOK_MAX_REPOSITORY_BYTES", hint=hint)
    if not wanted and head.folder:
        raise FetchError(head.web_url, f"there are no readable files in {head.folder!r}", hint="check the path")


def _choose(
    head: CommitHead, listing: TreeListing, options: LoadOptions, max_document_bytes: int, *, case_blind: bool
) -> tuple[list[TreeEntry], dict[str, tuple[str, ...]]]:
    """Split a commit into files to load and selected paths that cannot be loaded."""
    wanted: list[TreeEntry] = []
    found = {reason: [path for path in paths if head.holds(path)] for reason, paths in listing.skipped.items()}
    refused = {reason: paths for reason, paths in found.items() if paths}
    taken: set[str] = set()
    for entry in listing.entries:
        if not head.holds(entry.path):
            continue
        reason = options.refusal(entry.path, entry.size_bytes, max_document_bytes=max_document_bytes)
        if reason is None and case_blind and entry.path.casefold() in taken:
            reason = "differs only in case"
        if reason is None:
            wanted.append(entry)
            taken.add(entry.path.casefold())
        elif reason:
            refused.setdefault(reason, []).append(entry.path)
    return wanted, {reason: tuple(paths) for reason, paths in sorted(refused.items())}
