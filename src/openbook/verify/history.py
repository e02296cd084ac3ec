"""What git remembers: who wrote a citation when, and what its lines were then. Only reads, and never waits long."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain
from pathlib import Path, PurePosixPath

from openbook.verify.citing_lines import Dating, has_citation, line_before
from openbook.verify.copies import with_likely_originals
from openbook.verify.git import Git, GitFailedError, decoded
from openbook.verify.meant_paths import is_short_for
from openbook.verify.past_pages import PastPages, Revision
from openbook.verify.relocation import ComparedText, shape

_QUIET_DIFF = ("--no-textconv", "--no-ext-diff", "--no-color")
_QUIET_LOG = (*_QUIET_DIFF, "--no-show-signature")

_RENAMES = ("--stdin", "--no-walk=unsorted", "-m", "--first-parent", "--diff-filter=R")

# Versions of a citing file that are looked at, newest first. Nobody can tell when older citations were written.
_MAX_REVISIONS = 2_000

# Files whose history one walk reads: a command line has room for that many paths.
_AT_ONCE = 100

# Renames of one file that are followed, and copies.
_MAX_RENAMES = 10

_COMMIT = re.compile(r"[0-9a-f]{7,40}")


# A page and a citation in it: path and lines as written, the whole line, and `keeps_path` of `Dating`.
_Question = tuple[str, str, str, bool]


class History:
    """The git history of a folder, if it has one. Everything is empty or None where git cannot tell.

    The repository is the one that the folder lies in: git sets `GIT_DIR` and `GIT_INDEX_FILE` for hooks,
    and the hook may belong to another one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._git = Git(folder)
        self._pages = PastPages(self._git)
        self._expected: dict[str, list[_Question]] = {}
        self._dates: dict[_Question, tuple[Revision, str] | None] = {}
        self._logs: dict[str, Sequence[Revision]] = {}
        self._modules: dict[str, History] = {}
        self._new_names: dict[str, dict[str, str]] = {}
        self._originals: dict[Revision, Sequence[Revision]] = {}
        self._partly_known: set[str] = set()
        self._apart: dict[str, str] = {}
        self._trees: dict[str, frozenset[str]] = {}

    @property
    def gap(self) -> str:
        """Why the history cannot tell about all citations, for people; empty if it can."""
        if self._git.failure:
            return f"git failed ({self._git.failure})"
        if self.cut_at:
            return "the git history is incomplete (a shallow clone)"
        return "" if self.head else "there is no git history"

    def _lines(self, *arguments: str) -> list[str]:
        said = self._git.ask(*arguments)
        return said.split("\n") if said else []

    def _changes(self, *arguments: str, asked: str = "", is_try: bool = False) -> Iterator[tuple[str, str, str, str]]:
        """Yield commit, kind of change, old and new name of each file that a log lists, newest first."""
        log = self._git.run(
            "log", "-z", "--format=>%H", "--name-status", *_QUIET_LOG, *arguments, asked=asked, is_try=is_try
        )
        words = iter(decoded(log).split("\0"))
        commit = ""
        for word in words:
            done = word.lstrip("\n")
            if done.startswith(">"):
                commit = done[1:]
            elif done:  # such as `M`, then the file; with `R` and `C` both its names
                old = next(words, "")
                yield commit, done[0], old, next(words, "") if done[0] in "RC" else old

    @cached_property
    def head(self) -> str:
        """The commit that is checked out; empty without a repository or a commit."""
        head = self._git.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if not head and self._git.ask("rev-parse", "--verify", "--quiet", "HEAD"):
            self._git.failure = self._git.failure or "its objects cannot be read"
        return head

    @cached_property
    def _prefix(self) -> str:
        """Path of the folder within its repository, empty at the top, ending in a slash elsewhere."""
        return self._git.ask("rev-parse", "--show-prefix")

    @cached_property
    def cut_at(self) -> frozenset[str]:
        """Commits at which a shallow clone ends: in them, all is as if it had just been written."""
        if self._git.ask("rev-parse", "--is-shallow-repository") != "true":
            return frozenset()
        return frozenset(self._lines("rev-list", "--max-parents=0", "HEAD"))

    @cached_property
    def names(self) -> frozenset[str]:
        """What branches and tags are called, also those of remotes."""
        return frozenset(self._refs)

    @cached_property
    def _refs(self) -> dict[str, str]:
        """Full names of branches and tags by their short ones."""
        found = {}
        for line in self._lines("for-each-ref", "--format=%(refname)"):
            parts = line.split("/", 3)
            if len(parts) > 2:
                found["/".join(parts[2:]) if parts[1] != "remotes" else parts[-1]] = line
        found.pop("HEAD", None)
        return found

    def is_apart(self, branch: str, path: str) -> bool:
        """Return whether a file of a branch differs from that of the commit here, and neither came from the other.

        A request to merge, and the branch that it is for, are not apart.
        """
        if branch not in self._apart:
            tip = self._git.ask("rev-parse", "--verify", "--quiet", f"{self._refs.get(branch, '')}^{{commit}}")
            ahead, behind = ((tip, f"^{self.head}"), (self.head, f"^{tip}"))
            self._apart[branch] = tip if tip and all(map(self._is_more, (ahead, behind))) else ""
        tip = self._apart[branch]
        if not tip:
            return False
        there, here = self.page(tip, path), self.page(self.head, path)
        return there is None or here is None or there.text != here.text

    def _is_more(self, commits: tuple[str, str]) -> bool:
        return bool(self._git.ask("rev-list", "--max-count=1", *commits))

    def is_commit(self, revision: str) -> bool:
        """Return whether a revision is a commit that exists here."""
        return is_commit_name(revision) and bool(self.pin(revision))

    def page(self, commit: str, path: str) -> ComparedText | None:
        """Return a file of a commit by its path relative to the folder; None if it did not exist."""
        with suppress(GitFailedError):
            page = self._pages.read(Revision(commit, self._prefix + path))
            if page is not None:
                return page
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
        pinned = self._git.ask("rev-parse", "--verify", "--quiet", f"{commit}:{self._prefix}{folder}")
        return self._modules[folder].page(pinned, path) if pinned else None

    def pin(self, revision: str) -> str:
        """Resolve a commit name or tag to a commit; empty for a branch, and for unknown revisions."""
        name = revision if _COMMIT.fullmatch(revision) else f"refs/tags/{revision}"
        with suppress(GitFailedError):
            found = self._git.read(f"{name}^{{commit}}") if self.head else None
            return found[0] if found else ""
        return ""

    def had_form(self, commit: str, path: str, line: str) -> bool:
        """Return whether a file of a commit had a line that differed in nothing but numbers."""
        page = self.page(commit, path)
        return page is not None and shape(line) in page.shapes

    def expect(self, path: str, citations: Iterable[tuple[str, str]]) -> None:
        """Announce the citations of a file, as words and lines, so that its versions are read once for all of them."""
        page, asked = self._newest(path), list[_Question]()
        for words, line in citations:
            asked.append((path, words, line, False))
            if page is not None and (before := line_before(line, page.text, words)):
                asked.append((path, before, "", True))
        self._expected[path] = asked

    def _newest(self, path: str) -> ComparedText | None:
        """Return the committed version of a file; None if there is none."""
        with suppress(GitFailedError):
            return self._pages.read(Revision(self.head, self._prefix + path)) if self.head else None
        return None

    def is_new(self, path: str, words: str, line: str = "") -> bool:
        """Return whether words are not committed yet, so that they refer to the present lines."""
        page = self._newest(path)
        return self._is_new_file(path) if page is None else not has_citation(page, words, line)

    def _is_new_file(self, path: str) -> bool:
        """Return whether a file is about to be committed for the first time, and not only under another name."""
        if self._prefix + path in self._added:
            return True
        # A file that is missing may be the same one.
        suffix = PurePosixPath(path).suffix
        is_beside = self._git.ask("ls-files", "--others", "--exclude-standard", "-z", "--", path) != ""
        return is_beside and bool(self.head) and not any(each.endswith(suffix) for each in self._missing)

    @cached_property
    def _added(self) -> frozenset[str]:
        """The new files of the index, from the top of the repository; those that were renamed are not among them."""
        how = ("--cached", "--name-only", "-M", "--diff-filter=A", "-z", *_QUIET_DIFF)
        with suppress(GitFailedError):  # as in a clone that lacks contents
            listed = self._git.run("diff", *how, self.head, is_try=True) if self.head else b""
            return frozenset(decoded(listed).split("\0"))
        return frozenset()

    @cached_property
    def _missing(self) -> Sequence[str]:
        return self._git.ask("ls-files", "--deleted", "-z").split("\0")[:-1]

    def line_written(self, path: str, words: str, line: str) -> Revision | None:
        """Find the version of a file in which a line came to stand, but for what was done to its other citations.

        If only these are not committed, such as those that were rewritten just now, it is the line without that.
        """
        page = self._newest(path)
        before = line_before(line, page.text, words) if page is not None else ""
        return self.written(path, before) if before else None

    def written(self, path: str, words: str, line: str = "") -> Revision | None:
        """Find the version of a file in which words came to stand that it holds without a break since.

        Args:
            path: The file, relative to the folder.
            words: What is looked for, white space aside.
            line: The line that holds them today; a version that has it with other numbers does not hold them.

        Returns:
            None if they are not committed, or if what git keeps, or gives in time, does not reach back to when
            they were written.
        """
        found = self._since((path, words, line, True))
        return found[0] if found else None

    def written_first(self, path: str, words: str, line: str = "") -> tuple[Revision, str] | None:
        """Find when a citation was written, and as what, behind changes of nothing but its path.

        Whoever renames a file and rewrites all paths to it has not looked at the lines.
        """
        return self._since((path, words, line, False))

    def _since(self, question: _Question) -> tuple[Revision, str] | None:
        if question not in self._dates:
            asked = (question, *self._expected.pop(question[0], ()))
            self._date({each: Dating(*each[1:3], keeps_path=each[3]) for each in asked if each not in self._dates})
        found = self._dates[question]
        if found is not None and found[0].commit in self._partly_known:
            self._git.failure = self._git.failure or "the clone lacks contents of its history"
            return None  # the file may have had another name before
        return None if found is None or found[0].commit in self.cut_at else found

    def _date(self, datings: dict[_Question, Dating]) -> None:
        """Go back through the versions of a page until all its citations are dated."""
        left, seen, path = [*datings.values()], list[Revision](), next(iter(datings))[0]
        try:
            for revision, page in chain(self._versions(path), self._versions_of_original(path)):
                seen.append(revision)
                left = [each for each in left if each.goes_on(page)]
                if not left:
                    break
        except GitFailedError:
            for each in left:
                each.age = 0
        for question, it in datings.items():
            self._dates[question] = (seen[it.age - 1], it.words) if it.age else None
            if not it.is_followed:  # no path was changed, so both questions have one answer
                self._dates[*question[:3], True] = self._dates[question]

    def holding(self, path: str, is_it: Callable[[str], bool]) -> Revision | None:
        """Find the newest version of a file with a property, also of a deleted file."""
        with suppress(GitFailedError):
            for revision, page in self._versions(path):
                if page is not None and is_it(page.text):
                    return revision
        return None

    def _versions(self, path: str) -> Iterator[tuple[Revision, ComparedText | None]]:
        """Yield a file after each commit that changed it, newest first, following renames."""
        if not self.head:
            return
        newest = Revision(self.head, self._prefix + path)
        yield newest, self._pages.read(newest)
        self.prepare([path])
        revisions = self._logs[path]
        if not revisions:  # some commit has brought the file, so that the log is not all
            raise GitFailedError(path)
        for revision in revisions[:_MAX_REVISIONS]:
            yield revision, self._pages.read(revision)
        if len(revisions) > _MAX_REVISIONS:
            raise GitFailedError(path)

    def _versions_of_original(self, path: str) -> Iterator[tuple[Revision, ComparedText | None]]:
        """Yield the versions of what a file was copied from. Whoever copies a page has not looked at its citations."""
        log = self._logs.get(path, ())
        for _ in range(_MAX_RENAMES):
            log = self._log_of_original(log[-1]) if log else ()
            for revision in log[:_MAX_REVISIONS]:
                yield revision, self._pages.read(revision)

    def _log_of_original(self, brought: Revision) -> Sequence[Revision]:
        """Return the log of what a file is a copy of, by the revision that brought it; empty if it is none.

        Others that the commit brought are looked at with it, twice as many each time: not all of them have citations.
        """
        if brought not in self._originals:
            logs = chain(self._logs.values(), self._originals.values())
            known = dict.fromkeys(log[-1] for log in logs if log and log[-1].commit == brought.commit)
            others = [each for each in known if each not in self._originals and each != brought]
            done = sum(each in self._originals for each in known)
            batch = [brought, *others[: min(done, _AT_ONCE - 1)]]
            found = self._logs_of_originals(brought.commit, [each.path for each in batch])
            self._originals.update((each, found.get(each.path, ())) for each in batch)
        return self._originals[brought]

    def _logs_of_originals(self, commit: str, paths: Sequence[str]) -> dict[str, list[Revision]]:
        """Return the logs of what files that a commit brought are copies of, by their paths."""
        before = self._git.read(f"{commit}^") if commit not in self.cut_at else None
        if before is None:
            return {}
        # Each path ends in a NUL, also the last one.
        listed = self._git.ask("ls-tree", "-r", "-z", "--name-only", "--full-tree", before[0]).split("\0")[:-1]
        how = ("--no-walk", "-m", "--first-parent", "--diff-filter=C", "--find-copies-harder")
        originals: dict[str, str] = {}
        for brought, like in with_likely_originals(paths, listed):
            among = [_from_folder(each, self._prefix) for each in (*brought, *like)]
            with suppress(GitFailedError):
                changes = self._changes(*how, commit, "--", *among, is_try=True)
                originals.update((new, old) for _, _, old, new in changes if new in brought)
        return self._logs_of(originals, f"{commit}^@") if originals else {}

    def prepare(self, paths: Sequence[str]) -> None:
        """Read which commits changed files, in one walk of the history for all of them and one for each rename.

        Without this, the walk is made for each file when it is first asked for.
        """
        new = [path for path in dict.fromkeys(paths) if path not in self._logs]
        self._logs.update(dict.fromkeys(new, ()))  # what failed is not asked again
        if not new or not self.head:
            return
        for at in range(0, len(new), _AT_ONCE):
            with suppress(GitFailedError):
                names = {path: self._prefix + path for path in new[at : at + _AT_ONCE]}
                self._logs.update(self._logs_of(names, "HEAD"))

    def _logs_of(self, names: dict[str, str], start: str, depth: int = 0) -> dict[str, list[Revision]]:
        """Read the logs of files, by what they are called today, from a commit on.

        Args:
            names: What each file is called at the start, relative to the top of the repository.
            start: A revision, or several in the notation of git.
            depth: Renames that were followed so far.
        """
        found: dict[str, list[Revision]] = {name: [] for name in names.values()}
        below = [_from_folder(name, self._prefix) for name in names.values()]
        for commit, _, _, name in self._changes("--no-renames", start, "--", *below):
            if name in found:
                found[name].append(Revision(commit, name))
        logs = {path: found[name] for path, name in names.items()}
        self._read_renames({log[-1].commit for log in logs.values() if log})
        older: dict[str, dict[str, str]] = defaultdict(dict)
        for path, log in logs.items():
            old = self._old_name(log[-1]) if log and depth < _MAX_RENAMES else ""
            if old:
                older[log[-1].commit][path] = old
        for commit, old_names in older.items():
            for path, log in self._logs_of(old_names, f"{commit}^@", depth + 1).items():
                logs[path] = [*logs[path], *log]
        return logs

    def _old_name(self, brought: Revision) -> str:
        """Return the name of a file before the commit that renamed it; empty if it was new."""
        for old, new in self._renames(brought.commit).items():
            if new == brought.path:
                return old
        return ""

    def _renames(self, commit: str) -> dict[str, str]:
        """Return the files that a commit renamed, old name to new one."""
        self._read_renames({commit})
        if commit not in self._new_names:  # a clone without some contents; what was not edited is found without them
            self._partly_known.add(commit)
            changes = self._changes(*_RENAMES, "-M100%", asked=f"{commit}\n")
            self._new_names[commit] = {old: new for _, _, old, new in changes}
        return self._new_names[commit]

    def _read_renames(self, commits: set[str]) -> None:
        """Read what commits renamed, all at once; nothing if git cannot."""
        new = sorted(commits.difference(self._new_names))
        asked = "".join(f"{commit}\n" for commit in new)
        with suppress(GitFailedError):
            changes = list(self._changes(*_RENAMES, "-M", asked=asked, is_try=True)) if new else []
            self._new_names.update({commit: {} for commit in new})
            for commit, _, old, name in changes:
                self._new_names[commit][old] = name

    @cached_property
    def _gone(self) -> dict[str, tuple[int, str]] | None:
        """Every path that there ever was: how many changes ago, and by which commit, it was last removed.

        For files that were not removed, both are empty. None if git cannot tell.
        """
        found: dict[str, tuple[int, str]] = {}
        try:
            for age, (commit, kind, _, path) in enumerate(self._changes("--no-renames", "--diff-filter=AD", "HEAD")):
                if path not in found or (kind == "D" and not found[path][1]):
                    found[path] = (age, commit) if kind == "D" else (0, "")
        except GitFailedError:
            return None
        return found

    def had(self, ending: str) -> bool | None:
        """Return whether a file whose path is or ends with this ever existed; None if unknown."""
        if not self.head or self._gone is None:
            return None
        is_known = any(path == ending or path.endswith("/" + ending) for path in self._gone)
        return None if self.cut_at and not is_known else is_known

    def ending(self, commit: str, ending: str) -> list[str]:
        """List the files of a commit that a path is short for, relative to the folder, in order."""
        if commit not in self._trees:
            listed = self._git.ask("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
            inside = (path.removeprefix(self._prefix) for path in listed.split("\0") if path.startswith(self._prefix))
            self._trees[commit] = frozenset(inside)
        return sorted(path for path in self._trees[commit] if is_short_for(ending, path))

    def renamed(self, commit: str, path: str) -> str:
        """Return the present name of a file of an older commit; empty if unknown.

        Args:
            commit: One in which the file was there; empty if it is not known when the file was there.
            path: Its path then, relative to the folder.
        """
        now, before = self._prefix + path, -1
        for _ in range(_MAX_RENAMES):
            age, removed_by = (self._gone or {}).get(now, (0, ""))
            if not self.head or not removed_by or removed_by == commit or (before >= 0 and age >= before):
                break
            before = age
            with suppress(GitFailedError):
                now = self._renames(removed_by).get(now, "")
            if not now:
                return ""
        inside = self.below_folder(now) or ""
        return "" if inside == path else inside

    def commits_since(self, commit: str, path: str) -> list[str]:
        """List the commits that changed a file after an older commit, oldest first; none if git cannot tell."""
        with suppress(GitFailedError):
            changes = self._changes("--no-renames", f"{commit}..HEAD", "--", path)
            return [each for each, *_ in changes][::-1]
        return []

    def written_by(self, commit: str) -> list[str]:
        """List the files that a commit added or edited, relative to the folder, in order."""
        how = ("--no-walk", "-m", "--first-parent", "--no-renames", "--diff-filter=AM")
        with suppress(GitFailedError):
            names = (self.below_folder(name) for *_, name in self._changes(*how, commit))
            return sorted(filter(None, names))
        return []

    def below_folder(self, path: str) -> str | None:
        """Return a path of the repository relative to the folder; None if it lies elsewhere."""
        return path.removeprefix(self._prefix) if path.startswith(self._prefix) else None


def is_commit_name(revision: str) -> bool:
    """Return whether a revision looks like the name of a commit, whole or cut."""
    return _COMMIT.fullmatch(revision) is not None


def _from_folder(path: str, prefix: str) -> str:
    """Write a path of the repository as git takes it in a folder of it."""
    return path.removeprefix(prefix) if path.startswith(prefix) else "../" * prefix.count("/") + path
