"""Parses addresses of repositories, and builds links from them. No network access."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from openbook.errors import SourceError

GITHUB = "github.com"

PUBLIC_HOSTS = (GITHUB, "gitlab.com", "codeberg.org", "bitbucket.org")
"""The public hosts."""

_HINT = "write owner/repo, 'https://HOST/owner/repo', or git@HOST:owner/repo.git"

# GitHub's rules; in practice, other hosts allow no more.
_OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}")
_NAME = re.compile(r"[\w.-]{1,100}", re.ASCII)
_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?")

# `git@host:path`. The user name is required, because `C:path` is a Windows drive.
_SCP = re.compile(r"(?P<user>[\w.-]+)@(?P<host>[\w.-]+):(?!//)(?P<path>.+)")

# A user name is followed by an @; an unescaped password may contain anything.
_SECRET = re.compile(r"\A(\w*://)?+(?!git@)(?:[^:]*:.*|[^/@]*)@", re.DOTALL)

# Prose that hosts render without line numbers unless told otherwise.
_RENDERED = (".md", ".markdown", ".rst", ".adoc", ".org")

COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
"""A full commit hash, SHA-1 or SHA-256."""


@dataclass(frozen=True, slots=True)
class PageForm:
    """How hosts of one kind write the URL of lines in a file.

    Without the query it is `REPOSITORY/VIEW/KIND REVISION BELOW PATH#FIRST 3 UNTIL 9`, joined.
    """

    hosts: tuple[str, ...]
    """Their names, or what these begin with, which ends in a dot."""
    views: tuple[str, ...]
    """Pages that show the lines, first that of the source."""
    kinds: tuple[str, ...] = ("",)
    """What says whether the revision is a commit, a branch or a tag, first that of a commit."""
    below: str = "/"
    first: str = "L"
    until: str = "-"
    plain: str = ""
    """Query for the lines of prose."""
    has_groups: bool = False
    """Whether the path of a repository may have more than two parts."""
    others: tuple[str, ...] = ()
    """Further pages of a revision, which show no lines."""


PAGE_FORMS = (
    PageForm(
        ("gitlab.",),
        ("-/blob", "-/blame", "-/raw"),
        plain="?plain=1",
        has_groups=True,
        others=("-/tree", "-/commit", "-/commits"),
    ),
    PageForm(
        ("codeberg.org", "gitea.", "forgejo."),
        ("src", "blame", "raw"),
        ("commit/", "branch/", "tag/"),
        until="-L",
        plain="?display=source",
    ),
    PageForm(("bitbucket.org",), ("src", "annotate"), first="lines-", until=":"),
    PageForm(("git.sr.ht",), ("tree",), below="/item/"),
    # GitHub shows a file behind `tree` as well.
    PageForm((GITHUB,), ("blob", "blame", "raw", "tree"), until="-L", plain="?plain=1", others=("commit", "commits")),
)
"""The kinds of hosts. A URL that has the form of several is of the first."""

_GITLAB, _GITEA, *_, _GITHUB = PAGE_FORMS


@dataclass(frozen=True, slots=True)
class RepositoryUrl:
    """A repository, optionally with a branch, tag or commit, and a folder or file in it."""

    host: str
    """In lower case, with the port if one was given."""
    path: str
    """Owner and name; more parts on hosts with groups."""
    clone_url: str
    """The address passed to git."""
    rest: str = ""
    """A branch, tag or commit, and optionally a path in it. Only the repository knows where the branch ends."""

    @property
    def web_url(self) -> str:
        """URL of its page."""
        return f"{'http' if self.clone_url.startswith('http://') else 'https'}://{self.host}/{self.path}"

    @property
    def identity(self) -> str:
        """Equal for different spellings of the same repository. GitHub ignores case."""
        path = self.path.lower() if self.host == GITHUB else self.path
        return hashlib.sha256("\0".join((self.host, path, self.rest)).encode()).hexdigest()

    def splits(self) -> list[tuple[str, str]]:
        """List possible splits of `rest` into branch and path, the longest branch first."""
        parts = self.rest.split("/")
        return [("/".join(parts[:end]), "/".join(parts[end:])) for end in range(len(parts), 0, -1)]


def read_repository_url(text: str) -> RepositoryUrl:
    """Parse an address of a repository.

    Raises:
        SourceError: It is invalid, or of a kind that is refused.

    Example:
        >>> read_repository_url("octo/shop").clone_url
        'https://github.com/octo/shop.git'
        >>> read_repository_url("https://github.com/octo/shop/tree/v1/docs").rest
        'v1/docs'
    """
    written = text.strip()
    text = without_secrets(written)  # errors show this text
    if not written.isprintable() or " " in written or written.startswith("-") or "::" in written:
        raise _bad(text, "not the address of a repository")
    match = _SCP.fullmatch(written)
    if match:
        path, rest = _split(text, match["host"].lower(), match["path"])
        clone_url = f"{match['user']}@{match['host']}:{path}"
        return _checked(text, match["host"].lower(), path, clone_url, rest)
    if "://" in written:
        return _read_url(text, written)
    first, _, others = written.partition("/")
    if "." in first and others.count("/") >= 1:
        return _read_url(text, f"https://{written}")
    if not _OWNER.fullmatch(first):
        raise _bad(text, "not the address of a repository")
    return _read_url(text, f"https://{GITHUB}/{written}")


def without_secrets(text: str) -> str:
    """Remove from a URL what may be a user name, password or key, even in a malformed one.

    Example:
        >>> without_secrets("https://me:pa/ss@host/o/r?key=1"), without_secrets("o/r@v1")
        ('https://...@host/o/r', 'o/r@v1')
    """
    return re.split(r"[?#]", _SECRET.sub(r"\1...@", text))[0]


def names_repository(text: str) -> bool:
    """Return whether text looks like a repository address, valid or not, rather than a path.

    Example:
        >>> [names_repository(text) for text in ("octo/shop", "docs", "./a/b", "https://x", "git@h:o/r")]
        [True, False, False, True, True]
    """
    if "://" in text or _SCP.fullmatch(text):
        return True
    first, _, others = text.partition("/")
    if first.startswith((".", "~", "-")) or not others:
        return False
    if _HOST.fullmatch(first.lower()) and "." in first:
        return "/" in others
    name = others.partition("@")[0]
    return bool(_OWNER.fullmatch(first) and _NAME.fullmatch(name) and name.strip("."))


def permanent_link(web_url: str, commit: str, path: str, start_line: int = 0, end_line: int = 0) -> str:
    """Return the permanent URL of lines or of a file at a commit; empty for hosts with unknown page URLs.

    Example:
        >>> permanent_link("https://github.com/octo/shop", "c0ffee", "a b.py", 3, 5)
        'https://github.com/octo/shop/blob/c0ffee/a%20b.py#L3-L5'
    """
    host = urlsplit(web_url).netloc
    form = next((form for form in PAGE_FORMS if any(_is_named(host, name) for name in form.hosts)), None)
    if not commit or form is None:
        return ""
    file = f"{web_url}/{form.views[0]}/{form.kinds[0]}{commit}{form.below}{quote(path)}"
    if start_line <= 0:
        return file
    plain = form.plain if path.lower().endswith(_RENDERED) else ""
    return f"{file}{plain}#{form.first}{start_line}" + (f"{form.until}{end_line}" if end_line > start_line else "")


def _is_named(host: str, name: str) -> bool:
    return host == name or (name.endswith(".") and host.startswith(name))


def _read_url(text: str, url: str) -> RepositoryUrl:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as exc:
        raise _bad(text, "not the address of a repository") from exc
    if parts.scheme not in ("https", "http", "ssh"):
        raise SourceError(text, f"addresses with {parts.scheme}: are not fetched", hint=_HINT)
    if parts.password is not None:
        hint = "remove it, because it would be stored; use GITHUB_TOKEN or git's credential helper instead"
        raise SourceError(f"{parts.scheme}://{parts.hostname}", "the address contains a password", hint=hint)
    if (parts.username or "").startswith("-"):  # SSH would read it as an option
        raise _bad(text, "not the address of a repository")
    host = (parts.hostname or "").removeprefix("www.")
    host = f"[{host}]" if ":" in host else host
    if port is not None:
        host = f"{host}:{port}"
    path, rest = _split(text, host, unquote(parts.path))
    user = f"{parts.username}@" if parts.scheme == "ssh" and parts.username else ""
    return _checked(text, host, path, f"{parts.scheme}://{user}{host}/{quote(path)}", rest)


def _split(text: str, host: str, path: str) -> tuple[str, str]:
    """Split the path of an address into repository and rest."""
    path = path.strip("/")
    for word, kind in ((word, kind) for form in (_GITLAB, _GITEA) for word in _pages(form) for kind in form.kinds):
        before, found, rest = path.partition(f"/{word}/{kind}")
        if found:
            return before.removesuffix(".git"), rest
    parts = path.split("/")
    if host == "bitbucket.org" and len(parts) > 3 and parts[2] == "src":
        return "/".join(parts[:2]), "/".join(parts[3:])
    if host == GITHUB and len(parts) > 2 and "@" not in parts[1]:
        return _split_github(text, parts)
    before, at, rest = path.partition("@")
    if at and not rest:
        raise _bad(text, "nothing follows the @")
    return before.removesuffix(".git"), rest


def _pages(form: PageForm) -> tuple[str, ...]:
    return form.views + form.others


def _split_github(text: str, parts: Sequence[str]) -> tuple[str, str]:
    owner, name, word, *rest = parts
    if word not in _pages(_GITHUB) or not rest:
        reason = "the page is not a repository, branch, folder, file or commit"
        raise SourceError(text, reason, hint=f"name the repository: {owner}/{name}")
    return f"{owner}/{name.removesuffix('.git')}", "/".join(rest)


def _checked(text: str, host: str, path: str, clone_url: str, rest: str) -> RepositoryUrl:
    parts = path.split("/")
    if not _HOST.fullmatch(host):
        raise _bad(text, "not the address of a repository")
    if len(parts) < 2 or (host == GITHUB and (len(parts) > 2 or not _OWNER.fullmatch(parts[0]))):
        raise _bad(text, "no owner and repository")
    names = (parts[0].removeprefix("~"), *parts[1:])  # sourcehut writes `~owner`
    if any(not _NAME.fullmatch(name) or not name.strip(".") or name.startswith("-") for name in names):
        raise _bad(text, "no name of a repository")
    if (any(part in ("", ".", "..") for part in rest.split("/")) and rest) or rest.startswith("-"):
        raise _bad(text, "no branch, tag or commit")
    if not rest.isprintable() or "\\" in rest:
        raise _bad(text, "no branch, tag or commit")
    return RepositoryUrl(host, path, clone_url + (".git" if host in PUBLIC_HOSTS or ".git" in text else ""), rest)


def _bad(text: str, reason: str) -> SourceError:
    return SourceError(text, reason, hint=_HINT)
