"""Which permalinks are of a repository, its remotes tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from openbook.verify.remotes import repositories
from tests.repositories import Repository


@pytest.mark.parametrize(
    ("remote", "name"),
    [
        ("git@github.com:Acme/Shop.git", "github.com/acme/shop"),
        ("https://github.com/acme/shop", "github.com/acme/shop"),
        ("https://someone:token@github.com/acme/shop.git", "github.com/acme/shop"),
        ("ssh://git@github.com/acme/shop.git", "github.com/acme/shop"),
        ("ssh://git@github.com:22/acme/shop.git", "github.com/acme/shop"),
        ("ssh://git@ssh.github.com:443/acme/shop.git", "github.com/acme/shop"),
        ("https://git.example.org:8443/acme/shop.git", "git.example.org:8443/acme/shop"),
        ("git@gitlab.example.org:group/sub/shop.git", "gitlab.example.org/group/sub/shop"),
        ("ssh://git@gitlab.example.org:2222/group/sub/shop.git/", "gitlab.example.org/group/sub/shop"),
        ("git@git.sr.ht:~acme/shop", "git.sr.ht/~acme/shop"),
        ("gh:acme/shop", "github.com/acme/shop"),
    ],
)
def test_a_repository_is_called_what_its_remotes_are(tmp_path: Path, remote: str, name: str) -> None:
    repository = Repository(tmp_path)
    repository.git("remote", "add", "origin", remote)
    repository.git("config", "url.https://github.com/.insteadOf", "gh:")

    assert repositories(tmp_path) == {name}


def test_a_folder_without_git_or_remotes_is_no_repository_of_any_host(tmp_path: Path) -> None:
    assert repositories(tmp_path) == frozenset()
    Repository(tmp_path).git("remote", "add", "origin", "/srv/shop")
    assert repositories(tmp_path) == frozenset()
