"""Fetches the newest commit of a repository with git, without history. Nothing is checked out or executed."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from openbook.errors import FetchError, MissingExtraError
from openbook.settings import Secret
from openbook.sources.git_environment import environment_of_git
from openbook.sources.network_policy import NetworkPolicy
from openbook.sources.repository_urls import COMMIT, RepositoryUrl


def _config(*settings: str) -> tuple[str, ...]:
    return tuple(word for setting in settings for word in ("-c", setting))


_SAFE = _config(
    *("core.hooksPath=/dev/null", "core.fsmonitor=false", "core.askPass=", "core.quotePath=false"),
    *("protocol.allow=never", "protocol.https.allow=always"),
    *("fetch.recurseSubmodules=false", "fetch.unpackLimit=1", "gc.autoDetach=false", "advice.detachedHead=false"),
)
# Protocols for the command line, where private hosts are allowed. Never `file` and `ext`, which access this machine.
_OPEN = _config("protocol.http.allow=always", "protocol.ssh.allow=always")
_CONFINED = _config(
    *("http.followRedirects=false", "http.proxy=", "credential.helper=", "http.emptyAuth=false"),
    *("http.cookieFile=", "http.sslVerify=true"),
)

# Git's credential helper for GitHub. The token is in the environment, because other users of the machine can read
# command lines. Git asks for credentials per host, so redirects do not leak it.
_TOKEN = "GITHUB_TOKEN"
_ASK_FOR_TOKEN = f'!f() {{ echo username=x-access-token; echo "password=${_TOKEN}"; }}; f'

# Variables that tell programs where the user's configuration is.
_HOMES = ("HOME", "USERPROFILE", "XDG_CONFIG_HOME")

# Polling interval of a fetch, to check for its end, its timeout and its size.
_POLL_S = 0.1

_REF = "refs/openbook/kept"

# Messages of git and of hosts, in English, about errors that users can fix.
_MESSAGES = (
    (
        r"could not resolve host|name or service not known",
        "the host name cannot be resolved",
        "check its name and the network",
    ),
    (
        # Hosts answer both cases alike, so that nobody can probe which names exist.
        r"could not read username|permission denied|access denied|not found|does not exist|does not appear to be a git",
        "it does not exist, or is private",
        "check the name; if it is private, set GITHUB_TOKEN to a token that can read it, or use git's credential "
        "helper or an SSH key on other hosts",
    ),
    (
        r"authentication failed",
        "its host does not accept the token or password",
        "create a new GITHUB_TOKEN, or correct git's credential helper or .netrc",
    ),
    (r"saml sso", "its organisation requires single sign-on", "authorize the token for the organisation at its host"),
    (r"error: 403", "its host forbids it", "the token needs the right to read contents; without one, try again later"),
    (r"error: 429", "its host is limiting requests", "try again in a few minutes"),
    (r"error: 5\d\d", "its host has an internal error", "try again later"),
    (r"host key verification failed", "its host is not known to SSH", "connect once with ssh, or use https"),
    (r"redirect|error: 30\d", "the host redirects", "use the address that it redirects to"),
    (r"transport '\w+' not allowed", "the protocol is not allowed", "use https"),
    (r"timed out|could not connect|failed to connect|refused", "no connection to its host", "check the network"),
    (r"not our ref|unadvertised object", "its host does not serve single commits", "name a branch or tag"),
    (
        r"unexpected disconnect|early eof|hung up|transfer closed|empty reply|rpc failed",
        "the host closed the connection",
        "try again",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitHead:
    """The current commit of an address."""

    commit: str
    web_url: str
    """URL of the page, without branch or folder."""
    ref: str = ""
    """Requested branch, tag or commit; empty for the default branch."""
    folder: str = ""
    """Requested folder or file of the repository; empty for everything."""
    default_branch: str = ""

    def holds(self, path: str) -> bool:
        """Return whether a path is the requested one, or below it."""
        return not self.folder or path == self.folder or path.startswith(f"{self.folder}/")


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A file of a commit."""

    path: str
    sha: str
    """Git's hash of the content."""
    size_bytes: int


@dataclass(frozen=True, slots=True)
class TreeListing:
    """All files of a commit, and its entries that are not files."""

    entries: tuple[TreeEntry, ...]
    """Sorted, each path once."""
    skipped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Paths of skipped entries, by reason."""


# Git's modes of links, submodules and folders. All others are files.
_SKIPPED_MODES = {"120000": "link", "160000": "submodule", "040000": "folder"}


def list_files(found: Iterable[tuple[str, str, int, str]]) -> TreeListing:
    """Split the entries of a commit (mode, hash, size in bytes, path) into files and skipped entries.

    Links are not followed, and submodules are other repositories. Paths that could lead outside the folder are refused.
    """
    entries: dict[str, TreeEntry] = {}
    skipped: dict[str, list[str]] = {}
    for mode, sha, size_bytes, path in found:
        reason = _SKIPPED_MODES.get(mode, "") or ("" if is_safe_path(path) else "name is not safe")
        if reason:
            skipped.setdefault(reason, []).append(path)
        else:
            entries.setdefault(path, TreeEntry(path, sha, size_bytes))
    ordered = tuple(entries[path] for path in sorted(entries))
    return TreeListing(ordered, {reason: tuple(sorted(paths)) for reason, paths in sorted(skipped.items())})


def is_safe_path(path: str) -> bool:
    r"""Return whether a relative path stays below its folder on every operating system.

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
    # Git itself allows none of these; a malicious host might.
    return not any(part in ("", ".", "..") or part.lower().rstrip(". ") == ".git" for part in parts)


class GitRemote:
    """A remote repository. Objects are kept, so that the next fetch transfers only new ones."""

    def __init__(
        self,
        url: RepositoryUrl,
        folder: Path,
        *,
        token: Secret | None = None,
        reach: NetworkPolicy,
        timeout_s: float,
        max_bytes: int,
    ) -> None:
        """Prepare a fetch, without a request.

        Args:
            url: The repository.
            folder: Where objects are kept; created if missing.
            token: Password for the host of the address, sent to no other host.
            reach: Which hosts may be contacted.
            timeout_s: Limit for all commands together.
            max_bytes: Limit for the packed objects.
        """
        self._url = url
        self._folder = folder
        self._token = token
        self._timeout_s = timeout_s
        self._end = time.monotonic() + timeout_s
        self._max_bytes = max_bytes
        self._reach = reach
        reach.check_host(url.host)

    def newest(self, known: CommitHead | None) -> CommitHead | None:
        """List branches and tags in one connection, and return the head; None if it is `known`."""
        said = self._run_online("ls-remote", "--symref", "--", self._url.clone_url).decode("utf-8", "replace")
        refs: dict[str, str] = {}
        default = ""
        for line in said.splitlines():
            sha, _, name = line.partition("\t")
            if sha.startswith("ref: ") and name == "HEAD":
                default = sha.removeprefix("ref: refs/heads/")
            elif COMMIT.fullmatch(sha):
                refs[name] = sha
        if not refs:
            raise FetchError(self._url.web_url, "the repository is empty")
        ref, folder, commit = self._choose(refs)
        if known and commit == known.commit:
            return None
        return CommitHead(commit=commit, web_url=self._url.web_url, ref=ref, folder=folder, default_branch=default)

    def _choose(self, refs: dict[str, str]) -> tuple[str, str, str]:
        """Resolve an address into its ref, the folder after it, and the commit."""
        if not self._url.rest and "HEAD" in refs:
            return "", "", refs["HEAD"]
        for kind in ("heads", "tags"):
            for ref, folder in self._url.splits():
                full = f"refs/{kind}/{ref}"
                if full in refs:
                    return full, folder, refs.get(f"{full}^{{}}", refs[full])  # the commit behind a tag
        first, _, folder = self._url.rest.partition("/")
        if re.fullmatch(r"[0-9a-f]{7,64}", first):
            short = sorted({sha for sha in refs.values() if sha.startswith(first)})
            if COMMIT.fullmatch(first) or len(short) == 1:
                return first, folder, (first if COMMIT.fullmatch(first) else short[0])
        reason = f"it has no branch, tag or commit {self._url.rest!r}" if first else "it has no default branch"
        raise FetchError(self._url.web_url, reason, hint="name a branch, or the full commit hash")

    def listing(self, head: CommitHead) -> TreeListing:
        """Fetch the commit if it is missing locally, and list its files."""
        if not (self._folder / "HEAD").exists():
            self._run("init", "--quiet", "--bare", "--", str(self._folder))
        if self._run("cat-file", "-t", head.commit, fails=True) != b"commit\n":
            options = "--quiet --depth=1 --no-tags --no-recurse-submodules --no-write-fetch-head --force".split()
            wanted = head.ref if head.ref.startswith("refs/") else head.commit
            self._run_online("fetch", *options, "--", self._url.clone_url, f"{wanted}:{_REF}")
            if self._run("rev-parse", f"{_REF}^{{commit}}").decode().strip() != head.commit:
                raise FetchError(self._url.web_url, "it changed while it was fetched", hint="try again")
        return list_files(self._listed(head.commit))

    def _listed(self, commit: str) -> Iterator[tuple[str, str, int, str]]:
        for line in self._run("ls-tree", "-r", "-z", "--long", commit).split(b"\0")[:-1]:
            about, _, path = line.partition(b"\t")
            mode, _, sha, size = about.decode().split()
            # Invalid UTF-8 becomes characters that no safe path contains.
            yield mode, sha, int(size) if size.isdigit() else 0, path.decode("utf-8", "replace")

    def contents(self, wanted: Collection[str]) -> Iterator[tuple[str, bytes]]:
        """Read files by hash, each once, as committed: without filters or line-end conversion."""
        command = self._command("cat-file", "--batch")
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self._environment()
        ) as git:
            assert git.stdin is not None
            assert git.stdout is not None
            for sha in sorted(wanted):
                git.stdin.write(f"{sha}\n".encode())
                git.stdin.flush()
                yield sha, self._read_object(git.stdout, sha)

    def _read_object(self, stream: IO[bytes], sha: str) -> bytes:
        # No check is needed: git verified the hash of every object when fetching.
        size = stream.readline().rpartition(b" ")[2].strip()
        raw = stream.read(int(size) + 1) if size.isdigit() else b""
        if not size.isdigit() or len(raw) != int(size) + 1:
            raise FetchError(self._url.web_url, f"the object {sha} is damaged", hint=f"delete {self._folder}")
        return raw[:-1]

    def _command(self, *arguments: str) -> list[str]:
        return ["git", *_SAFE, *(() if self._reach.confined else _OPEN), *arguments]

    def _environment(self) -> dict[str, str]:
        """Return an environment in which git reads the objects kept here, and the configuration of no other repository.

        Otherwise that of the working folder, which may be a checkout from somebody else, could name commands to run.
        """
        return environment_of_git() | {"GIT_DIR": str(self._folder.absolute())}

    def _run(self, *arguments: str, fails: bool = False) -> bytes:
        """Run a command without network access."""
        done = self._started(self._command(*arguments))
        if done[0] and not fails:
            raise self._explain(done[2])
        return done[1]

    def _run_online(self, *arguments: str) -> bytes:
        """Run a command that connects to the host."""
        confined = [*_CONFINED, *self._pinning_options()] if self._reach.confined else []
        command = self._command(*arguments)
        code, out, err = self._started([command[0], *confined, *self._credential_options(), *command[1:]])
        if code:
            raise self._explain(err)
        return out

    def _credential_options(self) -> list[str]:
        """Return the git options that send the token to the host of the address."""
        if self._token is None:
            return []
        parts = urlsplit(self._url.clone_url)
        helper = f"credential.{parts.scheme}://{parts.netloc}.helper"
        return list(_config(f"{helper}=", f"{helper}={_ASK_FOR_TOKEN}"))

    def _pinning_options(self) -> list[str]:
        """Pin git's connection to the checked IP address, which prevents SSRF by DNS rebinding."""
        parts = urlsplit(self._url.clone_url)
        if parts.scheme != "https" and not (parts.scheme == "http" and self._reach.is_own(self._url.host)):
            raise FetchError(self._url.web_url, "only https is allowed here", hint="use its https address")
        port = parts.port or (443 if parts.scheme == "https" else 80)
        address = self._reach.address_of(parts.hostname or "", port, listed=self._url.host)
        allowed = ["-c", "protocol.http.allow=always"] if parts.scheme == "http" else []
        return [*allowed, "-c", f"http.curloptResolve={parts.hostname}:{port}:{address}"]

    def _started(self, command: list[str]) -> tuple[int, bytes, bytes]:
        environ = self._environment()
        if self._token is not None:
            environ[_TOKEN] = self._token.reveal()
        if self._reach.confined:
            environ |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "NO_PROXY": "*", "no_proxy": "*"}
            environ |= dict.fromkeys(_HOMES, str(self._folder))  # otherwise git would read passwords from its `.netrc`
        try:
            git = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ
            )
        except FileNotFoundError as exc:
            raise MissingExtraError("git is not installed", hint="install it: https://git-scm.com/downloads") from exc
        with git:
            while True:
                try:
                    out, err = git.communicate(timeout=_POLL_S)
                except subprocess.TimeoutExpired:
                    try:
                        self._check()
                    except FetchError:
                        git.terminate()  # so that git removes its temporary files
                        raise
                else:
                    return git.returncode, out, err

    def _check(self) -> None:
        """Raise an error if the fetch takes too long, or is too large."""
        if time.monotonic() > self._end:
            hint = "try again, or raise OPENBOOK_FETCH_TIMEOUT_S"
            raise FetchError(self._url.web_url, f"the fetch took longer than {self._timeout_s:g} s", hint=hint)
        if _size(self._folder) > self._max_bytes:
            hint = "raise OPENBOOK_MAX_REPOSITORY_BYTES if it is meant to be that large"
            raise FetchError(self._url.web_url, "it exceeds OPENBOOK_MAX_REPOSITORY_BYTES", hint=hint)

    def _explain(self, err: bytes) -> FetchError:
        said = " ".join(err.decode("utf-8", "replace").split())
        for pattern, reason, hint in _MESSAGES:
            if re.search(pattern, said, re.IGNORECASE):
                return FetchError(self._url.web_url, reason, hint=hint)
        return FetchError(self._url.web_url, f"git says: {said[-200:]}")


def _size(folder: Path) -> int:
    """Return the size of the fetched packs; git packs all objects, however few."""
    total = 0
    for file in folder.glob("objects/pack/*"):
        try:
            total += file.stat().st_size
        except OSError:  # renamed by git meanwhile
            continue
    return total
