"""Fetches repositories into folders of the home, and tells libraries where their files come from.

Nothing here runs unless somebody asks for a repository by its address: searching and asking never do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from openbook.answers import Answered, AnswerEvent
from openbook.errors import FetchError, SourceError
from openbook.index.protocol import Index, Source
from openbook.settings import Secret, Settings, read_secrets
from openbook.types import Filter, Kind, Span

# Libraries without repositories, which also ask this module, pay for nothing of these.
if TYPE_CHECKING:
    from openbook.sources.loading import DocumentType, LoadOptions
    from openbook.sources.mirrors import Mirror, MirrorState, Progress
    from openbook.sources.repository_urls import RepositoryUrl

_TOKEN = "GITHUB_TOKEN"
# Only these have names for places within what one chunk holds.
_PAGES = (".htm", ".html", ".xhtml")


@dataclass(frozen=True, slots=True)
class RepositoryDocument:
    """A document of a repository, by what it is for."""

    path: str
    type: DocumentType
    kind: Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A repository in a library."""

    source: str
    """Its name in the library, as `Filter.sources` takes it."""
    url: str
    """Of its page."""
    owner: str
    name: str
    branch: str
    """Branch, tag or commit that was asked for, else the default branch."""
    commit: str
    loaded_at: float
    """Unix seconds when the host was asked last."""
    documents: tuple[RepositoryDocument, ...]
    """What is indexed, in order of paths."""
    total_bytes: int
    """Of the files that are indexed."""
    language: str
    """The programming language of most of its code files, as `python`; empty if it has no code."""
    skipped: Mapping[str, tuple[str, ...]]
    """What was asked for and not fetched: paths by reason."""

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
    """Fetch a repository, or what has changed in it since it was fetched last.

    Args:
        address: As people write it, such as `owner/repo` or `https://HOST/owner/repo`.
        settings: Where it goes, how long it may take, and how large it may be.
        options: Which files are wanted; all that can be read if not given.
        confined: Whether only hosts may be asked that the settings of the server name.
        progress: Told how many files are there.

    Raises:
        SourceError: The address names no repository.
        FetchError: It cannot be fetched. What was fetched before stays.
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
    """Return the token of GitHub for its own addresses over https; no other host, and nobody on the way, may see it."""
    from openbook.sources.repository_urls import GITHUB

    return read_secrets([_TOKEN]).get(_TOKEN) if url.clone_url.startswith(f"https://{GITHUB}/") else None


def fetched_files(address: str, settings: Settings) -> Path:
    """Return the folder with the files of a repository that was fetched. Asks nobody.

    Raises:
        SourceError: The address names no repository, or one that was not fetched yet.
    """
    from openbook.sources.loading import LoadOptions
    from openbook.sources.mirrors import Mirror
    from openbook.sources.repository_urls import read_repository_url, without_secrets

    mirror = Mirror.of(settings.home, read_repository_url(address), LoadOptions())
    if mirror.state is None:
        shown = without_secrets(address)
        raise SourceError(shown, "it has not been fetched yet", hint=f"openbook add {shown}")
    return mirror.files


def source_of(location: Path, home: Path) -> Source:
    """Describe what a library remembers of a folder or file: also where it comes from, if it was fetched."""
    mirror = _mirror_at(location, home)
    state = mirror.state if mirror else None
    if mirror is None or state is None:
        return Source(location.name or "root", "folder" if location.is_dir() else "file", str(location))
    return _told(Source(mirror.name, "git", str(location)), state)


def refreshed(root: Source, home: Path) -> Source:
    """Return what a library remembers of a source with the commit that its files are of now. Asks nobody."""
    mirror = _mirror_at(Path(root.location), home) if root.url else None
    state = mirror.state if mirror else None
    return root if state is None else _told(root, state)


def _mirror_at(location: Path, home: Path) -> Mirror | None:
    if location.name != "files":  # which is what most folders are not called
        return None
    from openbook.sources.mirrors import Mirror

    return Mirror.at(home, location)


def _told(root: Source, state: MirrorState) -> Source:
    from openbook.sources.repository_urls import read_repository_url

    url = state.head.web_url if state.head else root.url or read_repository_url(state.asked).web_url
    return replace(root, url=url, commit=state.head.commit if state.head else "")


def link_to(root: Source, span: Span, anchor: str | None = None) -> str:
    """Return the permanent address of a place; empty where there is none, as in folders of this machine.

    Of what has an anchor in the place of lines, and of notebooks, it is the address of the file.
    """
    if not root.url:
        return ""
    from openbook.sources.repository_urls import permanent_link

    if anchor is not None or span.path.lower().endswith(".ipynb"):
        return permanent_link(root.url, root.commit, span.path)
    return permanent_link(root.url, root.commit, span.path, span.start_line, span.end_line)


def with_permalinks(event: AnswerEvent, index: Index) -> AnswerEvent:
    """Add permanent addresses and places in pages to the citations of an answer. Other events stay as they are."""
    if not isinstance(event, Answered):
        return event
    roots = {root.name: root for root in index.roots() if root.commit}
    citations = []
    for each in event.answer.citations:
        page = index.document(each.source, each.span.path) if each.span.path.lower().endswith(_PAGES) else None
        placed = each.at_own_anchor(page) if page else each
        root = roots.get(each.source)
        citations.append(replace(placed, url=link_to(root, each.span, each.anchor)) if root else placed)
    return replace(event, answer=replace(event.answer, citations=tuple(citations)))


def repositories_in(index: Index, home: Path) -> list[Repository]:
    """Describe the repositories of a library, in order of names. Those that were removed from the home are left out."""
    found = ((root, _mirror_at(Path(root.location), home)) for root in index.roots() if root.url)
    described = (_describe(mirror, root.name, index) for root, mirror in found if mirror)
    return [repository for repository in described if repository is not None]


def repository_of(mirror: Mirror, source: str, index: Index) -> Repository:
    """Describe a repository of a library, as it was fetched last."""
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
    """Return the language of most files, by their suffixes; of several, the first in the alphabet. Empty if none."""
    from openbook.sources.languages import BY_SUFFIX

    formats = (BY_SUFFIX.get(path.rpartition(".")[2].lower()) for path in paths)
    counted = Counter(found[1] for found in formats if found is not None)
    return min(counted, key=lambda name: (-counted[name], name), default="")


def _branch(ref: str) -> str:
    return ref.removeprefix("refs/").removeprefix("heads/").removeprefix("tags/")
