"""The GitHub server of the tests is strict, and its hashes are git's."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from openbook.testing.github_repository import GitHubRepository
from openbook.testing.github_server import GitHubServer
from tests.repositories import Repository

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def get(server: GitHubServer, path: str, **headers: str) -> tuple[int, Any]:
    headers = {"User-Agent": "test", "X-GitHub-Api-Version": "2022-11-28", **headers}
    request = urllib.request.Request(server.api_url + path, headers=headers)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as exc:
        with exc:
            return exc.code, json.loads(exc.read())


def test_trees_have_the_hashes_and_the_order_of_git(tmp_path: Path) -> None:
    files = {"a.md": "1", "a/b.md": "2", "a0.md": "3", "deep/er/f.py": "4"}
    real = Repository(tmp_path)
    real.commit(files)

    served = GitHubRepository("octo/shop")
    sha = served.commit(files)

    listed = "\n".join(
        f"{entry['mode']} {entry['type']} {entry['sha']}\t{entry['path']}"
        for entry in served.entries(sha, recursive=True)
    )
    assert listed == real.git("ls-tree", "-r", "-t", "HEAD")


def test_what_github_does_not_know_is_not_found_and_remembered() -> None:
    with GitHubServer() as server:
        server.add("octo/shop", {"a.md": "1"})

        found = [get(server, path) for path in ("/repos/octo/shop/contents/a.md", "/search", "/repos/octo/none")]

    assert [status for status, _ in found] == [404, 404, 404]
    assert server.refused == ["Not Found: /repos/octo/shop/contents/a.md", "Not Found: /search"]


def test_a_blob_is_json_unless_its_bytes_are_asked_for() -> None:
    with GitHubServer() as server:
        repository = server.add("octo/shop", {"a.md": "1"})
        (sha,) = repository.blobs

        status, blob = get(server, f"/repos/octo/shop/git/blobs/{sha}")

    assert status == 200
    assert (blob["encoding"], blob["content"], blob["size"]) == ("base64", "MQ==\n", 1)


def test_a_client_that_does_not_say_who_it_is_is_refused() -> None:
    with GitHubServer() as server:
        request = urllib.request.Request(f"{server.api_url}/repos/octo/shop")

        with pytest.raises(urllib.error.HTTPError) as caught, urllib.request.urlopen(request):
            pass
        caught.value.close()

    assert caught.value.code == 403
