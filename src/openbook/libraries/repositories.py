"""Fetches repositories into folders of the home, and records in libraries where their files come from.

The network is only used when a user requests a repository by its address, never for searches and answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from openbook.answers import Answered, AnswerEvent
from openbook.errors import FetchError, SourceNotFoundError
from openbook.index.protocol import Index, Source
from openbook.settings import Secret, Settings, read_secrets
from openbook.types import Filter, Kind, Span

# Lazy imports, because libraries without repositories call this module too.
if TYPE_CHECKING:
    from openbook.sources.loading import DocumentType, LoadOptions
    from openbook.sources.mirrors import Mirror, MirrorState, Progress
    from openbook.sources.repository_urls import RepositoryUrl

_TOKEN = "GITHUB_TOKEN"


@dataclass(frozen=True, slots=True)
class RepositoryDocument:
    """A document of a repository, with its role."""

    path: str
    type: DocumentType
    kind: Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A repository in a library."""

    source: str
    """Its name in the library, as used in `Filter.sources`."""
    url: str
    """URL of its page."""
    owner: str
    name: str
    branch: str
    """The requested branch, tag or commit, or else the default branch."""
    commit: str
    loaded_at: float
    """Unix seconds of the last request to the host."""
    documents: tuple[RepositoryDocument, ...]
    """The indexed documents, in the order of paths."""
    total_bytes: int
    """Size of the indexed files."""
    language: str
    """The language of most of its code files, such as `python`; empty if it has no code."""
    skipped: Mapping[str, tuple[str, ...]]
    """Requested files that were not fetched: paths by reason."""

    @property
    def total_files(self) -> int:
        return len(self.documents)


def fetch_repository(
    address: str,
    settings: Settings,
    options: LoadOptions | None = None,
    *,
    confined: bool = False,
    progress: Progress | None = None,
) -> Mirror:
    """Fetch a repository, or its changes since the last fetch.

    Args:
        address: As users write it, such as `owner/repo` or `https://HOST/owner/repo`.
        settings: Home, time limit and size limit.
        options: Which files to fetch; default: all that can be read.
        confined: Whether to allow only the hosts in the server's settings.
        progress: Called with the number of files fetched so far.

    Raises:
        SourceError: The address is not that of a repository.
        FetchError: The fetch failed. Previously fetched files stay.
        MissingExtraError: git is not installed.
    """
    from openbook.sources.git import GitRemote
    from openbook.sources.loading import LoadOptions
    from openbook.sources.mirrors import Mirror
    from openbook.sources.network_policy import NetworkPolicy
    from openbook.sources.repository_urls import read_repository_url

    url = read_repository_url(address)
    options = options or LoadOptions()
    mirror = Mirror.of(settings.home, url, options)
    wanted = replace(options, max_file_bytes=options.max_file_bytes or settings.max_file_bytes)
    remote = GitRemote(
        url,
        mirror.objects,
        token=_token_for(url),
        reach=NetworkPolicy(confined=True, hosts=settings.server_git_hosts) if confined else NetworkPolicy(),
        timeout_s=settings.fetch_timeout_s,
        max_bytes=settings.max_repository_bytes,
    )
    with mirror.locked(settings.lock_timeout_s):
        mirror.update(
            url.web_url,
            remote,
            wanted,
            max_bytes=settings.max_repository_bytes,
            max_document_bytes=settings.max_document_bytes,
            progress=progress,
        )
    return mirror


def _token_for(url: RepositoryUrl) -> Secret | None:
    """Return the GitHub token, only for GitHub's own https URLs, so that no other host or proxy can see it."""
    from openbook.sources.repository_urls import GITHUB

    return read_secrets([_TOKEN]).get(_TOKEN) if url.clone_url.startswith(f"https://{GITHUB}/") else None


def fetched_files(address: str, settings: Settings) -> Path:
    """Return the folder with the files of a fetched repository. Uses no network.

    Raises:
        SourceError: The address is not that of a repository, or the repository was not fetched yet.
    """
    from openbook.sources.loading import LoadOptions
    from openbook.sources.mirrors import Mirror
    from openbook.sources.repository_urls import read_repository_url, without_secrets

    mirror = Mirror.of(settings.home, read_repository_url(address), LoadOptions())
    if mirror.state is None:
        shown = without_secrets(address)
        is_word = "://" not in address  # which may be meant as a path
        what = "there is no such path, and a repository of that name" if is_word else "it"
        reason = f"{what} has not been fetched yet"
        raise SourceNotFoundError(shown, reason, hint=f"openbook add {shown}")
    return mirror.files


def source_of(location: Path, home: Path) -> Source:
    """Describe a folder or file for a library, including its origin if it was fetched."""
    mirror = _mirror_at(location, home)
    state = mirror.state if mirror else None
    if mirror is None or state is None:
        return Source(location.name or "root", "folder" if location.is_dir() else "file", str(location))
    return _told(Source(mirror.name, "git", str(location)), state)


def refreshed(root: Source, home: Path) -> Source:
    """Return a source with the current commit of its files. Uses no network."""
    mirror = _mirror_at(Path(root.location), home) if root.url else None
    state = mirror.state if mirror else None
    return root if state is None else _told(root, state)


def _mirror_at(location: Path, home: Path) -> Mirror | None:
    if location.name != "files":  # cheap test that rules out most folders
        return None
    from openbook.sources.mirrors import Mirror

    return Mirror.at(home, location)


def _told(root: Source, state: MirrorState) -> Source:
    from openbook.sources.repository_urls import read_repository_url

    url = state.head.web_url if state.head else root.url or read_repository_url(state.asked).web_url
    return replace(root, url=url, commit=state.head.commit if state.head else "")


def link_to(root: Source, span: Span, anchor: str | None = None) -> str:
    """Return the permalink of a place; empty if there is none, as for local folders.

    For places with an anchor instead of lines, and for notebooks, it links to the file.
    """
    if not root.url:
        return ""
    from openbook.sources.repository_urls import permanent_link

    if anchor is not None or span.path.lower().endswith(".ipynb"):
        return permanent_link(root.url, root.commit, span.path)
    return permanent_link(root.url, root.commit, span.path, span.start_line, span.end_line)


def with_permalinks(event: AnswerEvent, index: Index) -> AnswerEvent:
    """Add permalinks and anchors in pages to the citations of an answer. Other events pass unchanged."""
    if not isinstance(event, Answered):
        return event
    from openbook.extractive.citations import at_own_anchors

    roots = {root.name: root for root in index.roots() if root.commit}
    citations = tuple(
        replace(each, url=link_to(root, each.span, each.anchor)) if (root := roots.get(each.source)) else each
        for each in at_own_anchors(event.answer.citations, index)
    )
    return replace(event, answer=replace(event.answer, citations=citations))


def repositories_in(index: Index, home: Path) -> list[Repository]:
    """Describe the repositories of a library, by name. Those deleted from the home are left out."""
    found = ((root, _mirror_at(Path(root.location), home)) for root in index.roots() if root.url)
    described = (_describe(mirror, root.name, index) for root, mirror in found if mirror)
    return [repository for repository in described if repository is not None]


def repository_of(mirror: Mirror, source: str, index: Index) -> Repository:
    """Describe a repository of a library, as of its last fetch."""
    repository = _describe(mirror, source, index)
    if repository is None:
        raise FetchError(str(mirror.folder), "another process is changing it", hint="try again")
    return repository


def _describe(mirror: Mirror, source: str, index: Index) -> Repository | None:
    state = mirror.state
    if state is None or state.head is None:
        return None
    from openbook.sources.loading import document_type

    head = state.head
    owner, _, name = head.web_url.partition("://")[2].partition("/")[2].rpartition("/")
    listed = index.documents(Filter(sources=frozenset({source})))
    return Repository(
        source=source,
        url=head.web_url,
        owner=owner,
        name=name,
        branch=_branch(head.ref) or head.default_branch,
        commit=head.commit,
        loaded_at=state.fetched_at,
        documents=tuple(
            RepositoryDocument(each.path, document_type(each.path, each.kind), each.kind) for each in listed
        ),
        language=_most_used(each.path for each in listed if each.kind == "code"),
        total_bytes=sum(r.stamp.size_bytes for r in index.records(source).values() if not r.skipped),
        skipped=state.skipped,
    )


def _most_used(paths: Iterable[str]) -> str:
    """Return the language of most files, by suffix; ties go to the first in alphabetical order. Empty if none."""
    from openbook.sources.languages import BY_SUFFIX

    formats = (BY_SUFFIX.get(path.rpartition(".")[2].lower()) for path in paths)
    counted = Counter(found[1] for found in formats if found is not None)
    return min(counted, key=lambda name: (-counted[name], name), default="")


def _branch(ref: str) -> str:
    return ref.removeprefix("refs/").removeprefix("heads/").removeprefix("tags/")
