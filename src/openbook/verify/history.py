"""What git remembers: who wrote a citation when, and what its lines were then. Only reads, and never waits long.

The repository is not trusted: nothing that its configuration names is run (hooks, filters, drivers, pagers,
monitors), and nothing is fetched.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from openbook.errors import SkippedFileError
from openbook.sources.decode import decode
from openbook.sources.git_environment import environment_of_git
from openbook.verify.mentions import words_before
from openbook.verify.relocation import ComparedText

# A command that takes longer has met a repository of a size where one citation is not worth it.
_TIMEOUT_S = 20.0

_SAFE = (
    *("--no-pager", "--no-optional-locks", "--literal-pathspecs"),
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=", "-c", "core.quotePath=false"),
    *("-c", "log.showSignature=false", "-c", "log.mailmap=false", "-c", "protocol.allow=never"),
    *("-c", "log.showRoot=true", "-c", "diff.relative=false"),  # else changes or parts of their names are left out
)
_QUIET_LOG = ("--no-textconv", "--no-ext-diff", "--no-color", "--no-show-signature")

# Versions of a citing file that are looked at, newest first. Older citations count from the last of them.
_MOST_REVISIONS = 200
_AT_ONCE = 25

# Renames of one file that are followed.
_MOST_RENAMES = 10

_COMMIT = re.compile(r"[0-9a-f]{7,40}")
# With `ssh` the port, and a host that only answers there, say nothing of where people read the files.
_REMOTE = re.compile(
    r"(?:(?:ssh://(?:[^@/\s]+@)?(?:(?:alt)?ssh\.)?(?P<ssh>[\w.\-]+)(?::\d+)?/)"
    r"|(?:[a-z+]+://)?(?:[^@/\s]+@)?(?P<host>[\w.\-]+(?::\d+)?)[/:]+)(?P<name>[\w.\-]+/[\w.\-]+?)(?:\.git)?/?"
)


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit, and what a file was called in it."""

    commit: str
    path: str
    """Relative to the top of the repository."""


class _Failed(Exception):  # noqa: N818 - it never leaves this module
    """Git gave no answer, so that nothing follows from what is not there."""


class History:
    """The git history of a folder, if it has one. Everything is empty or None where git cannot tell.

    The repository is the one that the folder lies in: git sets `GIT_DIR` and `GIT_INDEX_FILE` for hooks,
    and the hook may belong to another one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._texts: dict[Revision, str | None] = {}
        self._logs: dict[str, Sequence[Revision]] = {}
        self._modules: dict[str, History] = {}

    def _run(self, *arguments: str, asked: bytes | None = None) -> bytes | None:
        try:
            done = subprocess.run(
                ["git", *_SAFE, *arguments],
                cwd=self._folder,
                env=environment_of_git(),
                input=asked if asked is not None else b"",
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired, ValueError):  # ValueError: a NUL in a path
            return None
        return done.stdout if done.returncode == 0 else None

    def _said(self, *arguments: str) -> str:
        return _decoded(self._run(*arguments) or b"").removesuffix("\n")

    def _lines(self, *arguments: str) -> list[str]:
        said = self._said(*arguments)
        return said.split("\n") if said else []

    def _changes(self, *arguments: str) -> Iterator[tuple[str, str, str]]:
        """Yield commit, old and new name of each file that a log lists.

        Raises:
            _Failed: There is no log.
        """
        log = self._run("log", "-z", "--format=>%H", "--name-status", *_QUIET_LOG, *arguments)
        if log is None:
            raise _Failed
        words = iter(_decoded(log).split("\0"))
        commit = ""
        for word in words:
            done = word.lstrip("\n")
            if done.startswith(">"):
                commit = done[1:]
            elif done:  # such as `M`, then the file; with `R` and `C` both its names
                old = next(words, "")
                yield commit, old, next(words, "") if done[0] in "RC" else old

    @cached_property
    def head(self) -> str:
        """The commit that is checked out; empty without a repository or a commit."""
        return self._said("rev-parse", "--verify", "--quiet", "HEAD^{commit}")

    @cached_property
    def _prefix(self) -> str:
        """Path of the folder within its repository, empty at the top, ending in a slash elsewhere."""
        return self._said("rev-parse", "--show-prefix")

    @cached_property
    def cut_at(self) -> frozenset[str]:
        """Commits at which a shallow clone ends: in them, all is as if it had just been written."""
        if self._said("rev-parse", "--is-shallow-repository") != "true":
            return frozenset()
        return frozenset(self._lines("rev-list", "--max-parents=0", "HEAD"))

    @cached_property
    def repositories(self) -> frozenset[str]:
        """What its remotes are called, in lower case: `github.com/owner/name`."""
        lines = self._lines("config", "--get-regexp", r"^remote\..*\.url$")
        found = (_REMOTE.fullmatch(line.partition(" ")[2].strip()) for line in lines)
        return frozenset(f"{match['ssh'] or match['host']}/{match['name']}".lower() for match in found if match)

    @cached_property
    def names(self) -> frozenset[str]:
        """What branches and tags are called, also those of remotes."""
        lines = (line.split("/", 3) for line in self._lines("for-each-ref", "--format=%(refname)"))
        found = {("/".join(parts[2:]) if parts[1] != "remotes" else parts[-1]) for parts in lines if len(parts) > 2}
        return frozenset(found - {"HEAD"})

    def is_commit(self, revision: str) -> bool:
        """Return whether a revision is the name of a commit that is here."""
        return is_commit_name(revision) and bool(self.pin(revision))

    def page(self, commit: str, path: str) -> ComparedText | None:
        """Return a file, by its path relative to the folder, as it was; None if it was not there."""
        text = None
        with suppress(_Failed):
            text = self._read([Revision(commit, self._prefix + path)])[0]
        if text is not None:
            return _page(text)
        parts = path.split("/")
        for count in range(1, len(parts)):
            folder = "/".join(parts[:count])
            if (self._folder / folder / ".git").exists():
                return self._page_of_module(commit, folder, "/".join(parts[count:]))
        return None

    def _page_of_module(self, commit: str, folder: str, path: str) -> ComparedText | None:
        """Return a file of a submodule as it was in the commit that a commit of this repository has of it."""
        if folder not in self._modules:
            self._modules[folder] = History(self._folder / folder)
        pinned = self._said("rev-parse", "--verify", "--quiet", f"{commit}:{self._prefix}{folder}")
        return self._modules[folder].page(pinned, path) if pinned else None

    def pin(self, revision: str) -> str:
        """Return the commit that a commit's name or a tag stands for; empty for a branch, and for what is not here."""
        name = revision if _COMMIT.fullmatch(revision) else f"refs/tags/{revision}"
        return self._said("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")

    def written(self, path: str, words: str) -> Revision | None:
        """Find the version of a file in which words came to stand that it holds without a break since.

        Args:
            path: The file, relative to the folder.
            words: What is looked for, white space aside.

        Returns:
            None if they are not committed, or if what git keeps, or gives in time, does not reach back to when
            they were written.
        """
        found = self._since(path, words)
        return found[0] if found else None

    def written_first(self, path: str, words: str) -> tuple[Revision, str] | None:
        """Find when a citation was written, and as what, behind changes of nothing but its path.

        Whoever renames a file and rewrites all paths to it has not looked at the lines.
        """
        return self._since(path, words, words_before)

    def _since(
        self, path: str, words: str, before: Callable[[str, str, str], str] | None = None
    ) -> tuple[Revision, str] | None:
        """Go back while words stand in a file; `before` may name what stood in their place."""
        found, newer = None, ""
        try:
            for revision, text in self._versions(path):
                if text is None:
                    break
                if not _stands_in("".join(words.split()), _squeezed(text)):
                    words_then = before(newer, text, words) if before else ""
                    if not words_then:
                        break
                    words = words_then
                found, newer = revision, text
        except _Failed:
            return None
        return None if found is None or found.commit in self.cut_at else (found, words)

    def holding(self, path: str, is_it: Callable[[str], bool]) -> Revision | None:
        """Find the newest version of a file of which something holds, also of a file that is gone."""
        with suppress(_Failed):
            for revision, text in self._versions(path):
                if text is not None and is_it(text):
                    return revision
        return None

    def _versions(self, path: str) -> Iterator[tuple[Revision, str | None]]:
        """Yield a file as it was after each commit that changed it, newest first, its old names followed.

        Raises:
            _Failed: There are more, and git does not give them.
        """
        full = self._prefix + path
        if not self.head:
            return
        yield Revision(self.head, full), self._read([Revision(self.head, full)])[0]
        revisions = self._log(path)
        for start in range(0, len(revisions), _AT_ONCE):
            some = revisions[start : start + _AT_ONCE]
            yield from zip(some, self._read(some), strict=True)

    def _log(self, path: str) -> Sequence[Revision]:
        if path not in self._logs:
            self._logs[path] = ()  # what took too long is not asked again
            changes = self._changes("--follow", f"--max-count={_MOST_REVISIONS}", "HEAD", "--", path)
            self._logs[path] = [Revision(commit, new) for commit, _, new in changes]
        if not self._logs[path]:  # some commit has brought the file, so that the log is not all
            raise _Failed
        return self._logs[path]

    def _read(self, revisions: Sequence[Revision]) -> Sequence[str | None]:
        """Return the texts of files as they were, None for those that were not there or are no UTF-8.

        Raises:
            _Failed: Git does not give them, or a name has a line feed, which ends a question to git.
        """
        new = [revision for revision in revisions if revision not in self._texts]
        if any("\n" in revision.path for revision in new):
            raise _Failed
        if new:
            names = "".join(f"{revision.commit}:{revision.path}\n" for revision in new)
            answer = self._run("cat-file", "--batch", asked=names.encode("utf-8", "surrogateescape"))
            if answer is None:
                raise _Failed
            self._texts.update(zip(new, _blobs(answer, len(new)), strict=True))
        return [self._texts[revision] for revision in revisions]

    def renamed(self, commit: str, path: str) -> str:
        """Name what a file of an older commit is called today; empty if that is not known.

        Args:
            commit: One in which the file was there.
            path: Its path then, relative to the folder.
        """
        now = self._prefix + path
        for _ in range(_MOST_RENAMES):
            gone = self._lines(
                *("log", "-1", "--diff-filter=D", "--no-renames", "--format=%H", *_QUIET_LOG),
                *(f"{commit}..HEAD", "--", _from_folder(now, self._prefix)),
            )
            if not gone:
                break
            commit = gone[0]
            now = self._new_name(commit, now)
            if not now:
                return ""
        inside = now.removeprefix(self._prefix) if now.startswith(self._prefix) else ""
        return "" if inside == path else inside

    def _new_name(self, commit: str, path: str) -> str:
        with suppress(_Failed):
            for _, old, new in self._changes("-1", "-m", "--first-parent", "-M", "--diff-filter=R", commit):
                if old == path:
                    return new
        return ""


def is_commit_name(revision: str) -> bool:
    """Return whether a revision looks like the name of a commit, whole or cut."""
    return _COMMIT.fullmatch(revision) is not None


def _from_folder(path: str, prefix: str) -> str:
    """Write a path of the repository as git takes it in a folder of it."""
    return path.removeprefix(prefix) if path.startswith(prefix) else "../" * prefix.count("/") + path


def _decoded(output: bytes) -> str:
    return output.decode("utf-8", "surrogateescape")


def _blobs(answer: bytes, count: int) -> Iterator[str | None]:
    at = 0
    for _ in range(count):
        end = answer.find(b"\n", at)
        words = answer[at:end].split(b" ") if end >= 0 else []
        at = end + 1 if end >= 0 else len(answer)
        if len(words) == 3 and words[1] == b"blob" and words[2].isdigit():
            content = answer[at : at + int(words[2])]
            at += int(words[2]) + 1
            yield _text(content)
        else:
            yield None


def _text(content: bytes) -> str | None:
    try:
        return decode(content)
    except SkippedFileError:
        return None


def _stands_in(words: str, text: str) -> bool:
    """Return whether a text holds words, and not only the beginning of a longer number."""
    at = text.find(words)
    while at >= 0 and text[at + len(words) : at + len(words) + 1].isdecimal():
        at = text.find(words, at + 1)
    return at >= 0


@lru_cache(maxsize=_MOST_REVISIONS)
def _squeezed(text: str) -> str:
    return "".join(text.split())


@lru_cache(maxsize=_MOST_REVISIONS)
def _page(text: str) -> ComparedText:
    return ComparedText(text)
