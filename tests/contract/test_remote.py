"""What every way to reach a repository does, over real HTTP and with real hashes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from openbook.errors import FetchError
from openbook.sources.git import GitRemote
from openbook.sources.github import GitHubRemote
from openbook.sources.network_policy import NetworkPolicy
from openbook.sources.remote import Patience, Remote
from openbook.sources.repository_urls import read_repository_url
from openbook.testing.git_server import GitServer
from openbook.testing.github_server import GitHubServer
from tests.repositories import Repository

Commit = Callable[..., str]
"""Makes a branch hold some files, and gives the commit."""

FILES = {"README.md": "# Shop\n", "src/till.py": "TILL = 1\r\n", "ä b.md": "", "same.md": "# Shop\n"}


class Way:
    """A repository, and how to reach it."""

    def __init__(self, commit: Commit, reach: Callable[[str], Remote]) -> None:
        self.commit = commit
        self.reach = reach


@pytest.fixture(params=["github", "git"])
def way(
    request: pytest.FixtureRequest, github_server: GitHubServer, git_server: GitServer, tmp_path: Path
) -> Iterator[Way]:
    limits: dict[str, Any] = {"reach": NetworkPolicy(), "patience": Patience(60.0), "max_bytes": 1 << 24}
    with ExitStack() as stack:
        if request.param == "github":
            served = github_server.add("octo/shop", default_branch="trunk")

            def reach(rest: str) -> Remote:
                url = read_repository_url(f"octo/shop{rest}")
                return stack.enter_context(GitHubRemote(url, api_url=github_server.api_url, **limits))

            yield Way(served.commit, reach)
        else:
            repository = Repository(git_server.folder / "octo" / "shop")
            repository.git("checkout", "-q", "-b", "trunk")

            def commit(files: dict[str, str], branch: str = "trunk") -> str:
                if branch != "trunk":
                    repository.git("checkout", "-q", "-b", branch)
                made = repository.commit(files)
                repository.git("checkout", "-q", "trunk")
                return made

            def reach_by_git(rest: str) -> Remote:
                url = read_repository_url(f"{git_server.url}/octo/shop{rest}")
                return GitRemote(url, tmp_path / "objects", **limits)

            yield Way(commit, reach_by_git)


def test_the_newest_commit_of_the_default_branch_is_listed_and_read(way: Way) -> None:
    commit = way.commit(FILES)
    remote = way.reach("")

    head = remote.newest(None)
    assert head is not None
    listing = remote.listing(head)
    contents = dict(remote.contents(head, listing, {entry.sha for entry in listing.entries}))

    assert (head.commit, head.ref, head.folder, head.default_branch) == (commit, "", "", "trunk")
    assert {entry.path: contents[entry.sha].decode() for entry in listing.entries} == FILES
    assert [entry.size_bytes for entry in listing.entries] == [len(contents[entry.sha]) for entry in listing.entries]
    assert [entry.path for entry in listing.entries] == sorted(FILES)


def test_what_is_known_already_is_nothing_new(way: Way) -> None:
    way.commit(FILES)
    head = way.reach("").newest(None)

    same = way.reach("").newest(head)
    commit = way.commit({**FILES, "README.md": "# Another\n"})
    other = way.reach("").newest(head)

    assert same is None
    assert other is not None
    assert other.commit == commit


def test_only_what_is_wanted_is_read(way: Way) -> None:
    way.commit(FILES)
    remote = way.reach("")
    head = remote.newest(None)
    assert head is not None
    listing = remote.listing(head)
    wanted = next(entry.sha for entry in listing.entries if entry.path == "src/till.py")

    assert list(remote.contents(head, listing, {wanted})) == [(wanted, b"TILL = 1\r\n")]


def test_a_branch_with_slashes_ends_where_the_repository_says(way: Way) -> None:
    way.commit(FILES)
    commit = way.commit({"docs/api/a.md": "new\n"}, "feature/x/y")

    head = way.reach("@feature/x/y/docs/api").newest(None)

    assert head is not None
    assert (head.commit, head.folder) == (commit, "docs/api")


def test_a_repository_without_a_commit_and_a_branch_that_is_not_there_say_so(way: Way) -> None:
    with pytest.raises(FetchError, match="is empty"):
        way.reach("").newest(None)

    way.commit(FILES)
    with pytest.raises(FetchError, match="no branch, tag or commit 'nope'"):
        way.reach("@nope").newest(None)
