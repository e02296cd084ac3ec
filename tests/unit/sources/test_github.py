"""GitHub over real HTTP: what is wanted is fetched once, byte by byte, whichever way is shorter."""

from __future__ import annotations

import pytest

from openbook.settings import Secret
from openbook.testing.github_repository import Content, Link, Submodule
from tests.unit.sources.fetching import FILES, MANY, Fetching, held, refusal


def test_the_default_branch_is_asked_for_and_its_files_come_byte_by_byte(fetch: Fetching) -> None:
    commit = fetch.server.add("octo/shop", FILES, default_branch="trunk", description="A shop").refs["refs/heads/trunk"]

    mirror = fetch()

    assert held(mirror) == FILES
    assert mirror.state is not None
    assert mirror.state.head is not None
    assert (mirror.state.head.commit, mirror.state.head.default_branch) == (commit, "trunk")
    assert mirror.state.head.description == "A shop"


def test_an_unchanged_repository_costs_exactly_one_conditional_request(fetch: Fetching) -> None:
    fetch.server.add("octo/shop", FILES)
    fetch("octo/shop@main")
    fetch.server.requests.clear()

    fetch("octo/shop@main")

    (request,) = fetch.server.requests
    assert (request.path, request.status) == ("/repos/octo/shop/commits/main", 304)


def test_an_unchanged_repository_costs_one_request_where_nobody_knows_etags(fetch: Fetching) -> None:
    fetch.server.add("octo/shop", FILES)
    fetch.server.etags = False
    fetch()
    fetch.server.requests.clear()

    fetch()

    assert [request.status for request in fetch.server.requests] == [200]


def test_of_a_changed_repository_only_new_contents_are_fetched(fetch: Fetching) -> None:
    repository = fetch.server.add("octo/shop", FILES)
    before = fetch().files / "docs/api.md"
    stamp = before.stat().st_mtime_ns
    fetch.server.requests.clear()
    repository.commit({"README.md": "# Shop 2\n", "lib/moved.py": FILES["src/till.py"], "docs/api.md": "# API\n"})

    mirror = fetch()

    assert held(mirror) == {"README.md": "# Shop 2\n", "lib/moved.py": "TILL = 1\r\n", "docs/api.md": "# API\n"}
    assert [path.split("/")[2] for path in fetch.server.paths() if "blobs" in path] == ["blobs"]
    assert len(fetch.server.requests) == 4
    assert before.stat().st_mtime_ns == stamp
    assert not (mirror.files / "src").exists()


def test_a_tree_that_is_cut_short_is_walked(fetch: Fetching) -> None:
    files = {f"{top}/{inner}/f.md": f"{top}{inner}" for top in "abc" for inner in "xyz"}
    fetch.server.add("octo/shop", files, most_entries=7)

    assert held(fetch()) == files


def test_a_folder_that_cannot_be_listed_is_an_error_and_no_short_list(fetch: Fetching) -> None:
    fetch.server.add("octo/shop", MANY, most_entries=20)

    assert "more than GitHub lists" in refusal(fetch).reason


@pytest.mark.parametrize("private", [False, True])
def test_most_of_a_repository_comes_as_a_tarball_and_the_rest_as_blobs(fetch: Fetching, private: bool) -> None:
    extra = {
        ".gitattributes": "NOTES.md export-ignore\n",
        "NOTES.md": "left out of archives\n",
        "copy.py": "VALUE = 1\n",
    }
    fetch.server.add("octo/shop", {**MANY, **extra, "out": Link("/etc/passwd")}, private=private)
    fetch.token = Secret(fetch.server.token)

    mirror = fetch()

    assert held(mirror) == {**MANY, **extra}
    assert sum("blobs" in path for path in fetch.server.paths()) == 1
    (archive,) = [request for request in fetch.server.requests if request.codeload]
    assert "authorization" not in archive.headers
    assert all(request.headers["authorization"] for request in fetch.server.requests if not request.codeload)


def test_few_of_many_bytes_come_as_blobs(fetch: Fetching) -> None:
    fetch.server.add("octo/shop", {**MANY, "large.md": "x" * 10_000})
    fetch.token = Secret(fetch.server.token)

    fetch(file_patterns=("*.py",))

    assert not any(request.codeload for request in fetch.server.requests)


def test_a_branch_with_slashes_is_told_from_a_folder_by_asking(fetch: Fetching) -> None:
    repository = fetch.server.add("octo/shop", FILES)
    for number in range(40):  # more than one page
        repository.commit(FILES, f"feature/{number:02}")
    commit = repository.commit({**FILES, "docs/new/a.md": "new"}, "feature/zz/top")

    mirror = fetch("https://github.com/octo/shop/tree/feature/zz/top/docs/new")

    assert held(mirror) == {"docs/new/a.md": "new"}
    assert mirror.state is not None
    assert mirror.state.head is not None
    assert (mirror.state.head.commit, mirror.state.head.folder) == (commit, "docs/new")


@pytest.mark.parametrize("form", ["octo/shop@{tag}", "https://github.com/octo/shop/commit/{commit}"])
def test_a_tag_and_a_commit_stay_what_they_are(fetch: Fetching, form: str) -> None:
    repository = fetch.server.add("octo/shop", FILES)
    commit = repository.refs["refs/tags/v1"] = repository.refs["refs/heads/main"]
    repository.commit({"README.md": "later\n"})

    assert held(fetch(form.format(tag="v1", commit=commit))) == FILES


def test_the_address_of_a_file_brings_that_file(fetch: Fetching) -> None:
    fetch.server.add("octo/shop", {**FILES, "docs/api.md.bak": "no"})

    assert held(fetch("https://github.com/octo/shop/blob/main/docs/api.md")) == {"docs/api.md": "# API\n"}


def test_a_renamed_repository_is_followed_and_called_by_its_new_name(fetch: Fetching) -> None:
    repository = fetch.server.add("octo/shop", MANY)
    fetch.server.rename(repository, "acme/store")

    mirror = fetch()

    assert held(mirror) == MANY
    assert mirror.state is not None
    assert mirror.state.head is not None
    assert mirror.state.head.web_url == "https://github.com/acme/store"


def test_links_submodules_and_secrets_are_named_and_not_fetched(fetch: Fetching) -> None:
    odd: dict[str, Content] = {
        "a": Link("../../etc/passwd"),
        "b": Submodule("c" * 40),
        ".env": "KEY=1",
        "logo.png": b"\x89PNG",
    }
    fetch.server.add("octo/shop", {**FILES, **odd})

    mirror = fetch()

    assert held(mirror) == FILES
    assert mirror.state is not None
    expected = {"binary by name": ("logo.png",), "link": ("a",), "secret": (".env",), "submodule": ("b",)}
    assert mirror.state.skipped == expected
