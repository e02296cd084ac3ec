"""A repository comes through real git over real HTTP: its newest commit, byte by byte, and nothing of it runs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from openbook.errors import FetchError, MissingExtraError
from openbook.settings import Secret
from openbook.sources.git import GitRemote
from openbook.sources.loading import LoadOptions
from openbook.sources.mirrors import Mirror
from openbook.sources.network_policy import NetworkPolicy
from openbook.sources.repository_urls import read_repository_url
from tests.fakes.git_server import GitServer
from tests.repositories import Repository

FILES = {"README.md": "# Shop\n", "src/till.py": "TILL = 1\r\n", ".gitattributes": "*.py text eol=lf filter=evil\n"}

Fetch = Callable[..., Mirror]


@pytest.fixture
def shop(git_server: GitServer) -> Repository:
    repository = Repository(git_server.folder / "octo" / "shop")
    repository.git("config", "core.autocrlf", "false")
    repository.git("checkout", "-q", "-b", "trunk")
    (repository.folder / ".git" / "info" / "attributes").write_text("*.py -text\n", encoding="utf-8")
    repository.commit(FILES)
    return repository


@pytest.fixture
def fetch(git_server: GitServer, tmp_path: Path) -> Fetch:
    def run(
        rest: str = "",
        *,
        reach: NetworkPolicy | None = None,
        host: str = git_server.host,
        timeout_s: float = 60,
        token: str = "",
    ) -> Mirror:
        address = f"http://{host}/octo/shop{rest}"
        url = read_repository_url(address)
        mirror = Mirror.of(tmp_path, url, LoadOptions())
        key = Secret(token) if token else None
        most = 1 << 24
        with mirror.locked(1.0):
            remote = GitRemote(
                url, mirror.objects, token=key, reach=reach or NetworkPolicy(), timeout_s=timeout_s, max_bytes=most
            )
            mirror.update(address, remote, LoadOptions(), max_bytes=most, now=lambda: 0.0)
        return mirror

    return run


def held(mirror: Mirror) -> dict[str, str]:
    files = (path for path in mirror.files.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(mirror.files).as_posix(): path.read_bytes().decode() for path in files}


@pytest.mark.slow
def test_the_default_branch_comes_byte_by_byte_past_filters_and_line_ends(shop: Repository, fetch: Fetch) -> None:
    mirror = fetch()

    assert held(mirror) == FILES
    assert mirror.state is not None
    assert mirror.state.head is not None
    assert (mirror.state.head.commit, mirror.state.head.default_branch) == (shop.git("rev-parse", "HEAD"), "trunk")


@pytest.mark.slow
def test_an_unchanged_repository_is_asked_for_its_branches_and_no_more(
    shop: Repository, fetch: Fetch, git_server: GitServer
) -> None:
    fetch()
    git_server.requests.clear()

    fetch()

    assert [path.partition("?")[0] for path in git_server.requests] == [
        "/octo/shop/info/refs",
        "/octo/shop/git-upload-pack",
    ]


@pytest.mark.slow
def test_a_changed_repository_brings_the_changes_even_where_history_was_rewritten(
    shop: Repository, fetch: Fetch
) -> None:
    fetch()
    shop.git("checkout", "-q", "--orphan", "other")
    shop.git("rm", "-q", "-r", "--cached", "src")
    (shop.folder / "src" / "till.py").unlink()
    shop.commit({"README.md": "# Another\n"})
    shop.git("branch", "-f", "trunk", "other")

    mirror = fetch()

    assert held(mirror) == {".gitattributes": FILES[".gitattributes"], "README.md": "# Another\n"}
    count = subprocess.run(
        ["git", "-C", str(mirror.objects), "rev-list", "--count", "refs/openbook/kept"], capture_output=True, check=True
    )
    assert count.stdout == b"1\n"


@pytest.mark.slow
@pytest.mark.parametrize("rest", ["@feature/x", "/-/tree/feature/x/docs", "@v1", "@{commit}"])
def test_branches_with_slashes_tags_and_commits_are_found(shop: Repository, fetch: Fetch, rest: str) -> None:
    shop.git("checkout", "-q", "-b", "feature/x")
    commit = shop.commit({"docs/new.md": "new\n"})
    shop.git("tag", "-a", "v1", "-m", "one")
    shop.git("checkout", "-q", "trunk")

    mirror = fetch(rest.format(commit=commit))

    assert held(mirror) == ({"docs/new.md": "new\n"} if "docs" in rest else {**FILES, "docs/new.md": "new\n"})
    assert mirror.state is not None
    assert mirror.state.head is not None
    assert mirror.state.head.commit == commit


@pytest.mark.slow
def test_links_and_submodules_are_named_and_not_followed(shop: Repository, fetch: Fetch) -> None:
    (shop.folder / "out").symlink_to("/etc/passwd")
    shop.git("update-index", "--add", "--cacheinfo", f"160000,{'a' * 40},sub")
    shop.git("add", "out")
    shop.git("commit", "-q", "-m", "odd")

    mirror = fetch()

    assert held(mirror) == FILES
    assert mirror.state is not None
    assert mirror.state.skipped == {"link": ("out",), "submodule": ("sub",)}


@pytest.mark.parametrize(
    ("rest", "status", "reason"),
    [
        pytest.param("-none", None, "does not exist, or is private", id="missing"),
        pytest.param("", 401, "does not exist, or is private", id="private"),
        pytest.param("", 403, "forbids it", id="forbidden"),
        pytest.param("", 418, "git says: ", id="anything"),
        pytest.param("", 429, "limiting requests", id="too-many-requests"),
        pytest.param("", 503, "an internal error", id="broken"),
        pytest.param("@nope", None, "no branch, tag or commit 'nope'", id="branch"),
        pytest.param("/-/tree/no/such/branch", None, "no branch, tag or commit", id="branch-with-slashes"),
        pytest.param("/-/tree/trunk/nowhere", None, "no readable files in 'nowhere'", id="folder"),
        pytest.param(f"@{'b' * 40}", None, "does not serve single commits", id="commit"),
    ],
)
def test_a_refusal_says_what_the_answer_can_tell(
    shop: Repository, fetch: Fetch, git_server: GitServer, rest: str, status: int | None, reason: str
) -> None:
    git_server.status = status

    with pytest.raises(FetchError) as caught:
        fetch(rest)

    assert reason in caught.value.reason


@pytest.mark.slow
def test_the_address_of_a_file_brings_that_file(shop: Repository, fetch: Fetch) -> None:
    shop.commit({"README.md.bak": "no\n"})

    assert held(fetch("/-/blob/trunk/README.md")) == {"README.md": FILES["README.md"]}


def test_an_empty_repository_says_so(git_server: GitServer, fetch: Fetch) -> None:
    Repository(git_server.folder / "octo" / "shop")

    with pytest.raises(FetchError, match="is empty"):
        fetch()


def test_a_host_that_does_not_answer_is_given_up_at_the_deadline(fetch: Fetch, git_server: GitServer) -> None:
    git_server.silent = True

    with pytest.raises(FetchError, match=r"took longer than 0\.2 s"):
        fetch(timeout_s=0.2)


def test_a_host_that_nobody_answers_at_is_said_to_be_out_of_reach(fetch: Fetch) -> None:
    with pytest.raises(FetchError, match="no connection") as caught:
        fetch(host="127.0.0.1:1")

    assert caught.value.hint == "check the network"


def test_a_fetch_that_grows_beyond_the_limit_is_ended(git_server: GitServer, tmp_path: Path) -> None:
    git_server.silent = True
    (tmp_path / "git" / "objects" / "pack").mkdir(parents=True)
    (tmp_path / "git" / "objects" / "pack" / "tmp_pack_1").write_bytes(b"x" * 101)
    url = read_repository_url(f"{git_server.url}/octo/shop")
    remote = GitRemote(url, tmp_path / "git", reach=NetworkPolicy(), timeout_s=9.0, max_bytes=100)

    with pytest.raises(FetchError, match="exceeds OPENBOOK_MAX_REPOSITORY_BYTES"):
        remote.newest(None)


def test_an_object_that_is_not_there_is_not_taken_for_an_empty_file(shop: Repository, fetch: Fetch) -> None:
    url = read_repository_url("http://127.0.0.1/octo/shop")
    remote = GitRemote(url, fetch().objects, reach=NetworkPolicy(), timeout_s=9.0, max_bytes=1 << 24)

    with pytest.raises(FetchError, match="damaged"):
        list(remote.contents({"d" * 40}))


def test_a_confined_fetch_connects_to_the_address_that_was_checked(
    shop: Repository, fetch: Fetch, git_server: GitServer
) -> None:
    host = git_server.host.replace("127.0.0.1", "git.corp")
    reach = NetworkPolicy(confined=True, hosts=(host,), resolve_host=lambda name, port: ["127.0.0.1"])

    assert held(fetch(reach=reach, host=host)) == FILES


def test_a_confined_fetch_asks_no_host_that_is_not_listed(
    shop: Repository, fetch: Fetch, git_server: GitServer
) -> None:
    with pytest.raises(FetchError, match="not allowed here"):
        fetch(reach=NetworkPolicy(confined=True))

    assert git_server.requests == []


def test_a_machine_without_git_is_told_what_to_install(
    fetch: Fetch, git_server: GitServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")

    with pytest.raises(MissingExtraError, match="git is not installed"):
        fetch()


def test_a_short_commit_is_found_if_it_is_the_newest_of_a_branch(shop: Repository, fetch: Fetch) -> None:
    commit = shop.git("rev-parse", "HEAD")

    assert held(fetch(f"@{commit[:9]}")) == FILES


@pytest.mark.parametrize("confined", [True, False])
def test_a_confined_fetch_sends_no_password_of_the_operator(
    fetch: Fetch, git_server: GitServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, confined: bool
) -> None:
    git_server.token = "another"
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login ada password secret\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))

    with pytest.raises(FetchError):
        fetch(reach=NetworkPolicy(confined=confined, hosts=(git_server.host,)))

    assert git_server.credentials == ([] if confined else ["ada:secret"])


@pytest.mark.slow
@pytest.mark.parametrize("confined", [True, False])
def test_a_private_repository_is_there_for_its_token(
    shop: Repository, fetch: Fetch, git_server: GitServer, confined: bool
) -> None:
    git_server.token = "ghp_s3cret"

    mirror = fetch(token="ghp_s3cret", reach=NetworkPolicy(confined=confined, hosts=(git_server.host,)))

    assert held(mirror) == FILES
    kept = [file for file in mirror.folder.rglob("*") if file.is_file() and b"s3cret" in file.read_bytes()]
    assert kept == []


@pytest.mark.slow
def test_a_token_is_never_on_a_command_line(
    shop: Repository, fetch: Fetch, git_server: GitServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git_server.token = "ghp_s3cret"
    written = tmp_path / "bin" / "git"
    written.parent.mkdir()
    written.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/said\nexec {shutil.which("git")} "$@"\n', encoding="utf-8")
    written.chmod(0o700)
    monkeypatch.setenv("PATH", f"{written.parent}{os.pathsep}{os.environ['PATH']}")

    fetch(token="ghp_s3cret")

    said = (tmp_path / "said").read_text(encoding="utf-8")
    assert "ls-remote" in said
    assert "s3cret" not in said


def test_a_token_that_is_not_accepted_is_said_and_not_shown(
    shop: Repository, fetch: Fetch, git_server: GitServer
) -> None:
    git_server.token = "another"

    with pytest.raises(FetchError, match="does not accept the token") as caught:
        fetch(token="ghp_wrong")

    assert "GITHUB_TOKEN" in caught.value.hint
    assert "ghp_wrong" not in f"{caught.value}{caught.value.hint}"


def test_a_public_repository_is_not_sent_the_token(shop: Repository, fetch: Fetch, git_server: GitServer) -> None:
    assert held(fetch(token="ghp_s3cret")) == FILES
    assert git_server.credentials == []


def test_a_host_that_leads_elsewhere_is_followed_without_the_token(
    shop: Repository, fetch: Fetch, git_server: GitServer
) -> None:
    with GitServer(git_server.folder) as other:
        git_server.leads_to = other.url
        assert held(fetch()) == FILES

        other.token = "ghp_s3cret"
        with pytest.raises(FetchError, match="does not exist, or is private"):
            fetch(token="ghp_s3cret")

        assert other.credentials == []


def test_a_confined_fetch_is_not_led_elsewhere(shop: Repository, fetch: Fetch, git_server: GitServer) -> None:
    with GitServer(git_server.folder) as other:
        git_server.leads_to = other.url
        with pytest.raises(FetchError, match="redirects"):
            fetch(reach=NetworkPolicy(confined=True, hosts=(git_server.host,)))

        assert other.requests == []


def test_a_confined_fetch_refuses_a_public_host_that_leads_into_this_machine(tmp_path: Path) -> None:
    url = read_repository_url("octo/shop")
    reach = NetworkPolicy(confined=True, resolve_host=lambda host, port: ["127.0.0.1"])
    remote = GitRemote(url, tmp_path / "git", reach=reach, timeout_s=9.0, max_bytes=100)

    with pytest.raises(FetchError, match="private address"):
        remote.newest(None)


def test_confined_only_https_is_spoken(fetch: Fetch, git_server: GitServer, tmp_path: Path) -> None:
    url = read_repository_url("git@github.com:octo/shop.git")
    remote = GitRemote(url, tmp_path / "git", reach=NetworkPolicy(confined=True), timeout_s=9.0, max_bytes=100)

    with pytest.raises(FetchError, match="only https"):
        remote.newest(None)


def test_variables_of_git_that_are_set_for_another_repository_lead_nowhere(
    shop: Repository, fetch: Fetch, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))

    mirror = fetch()

    assert held(mirror) == FILES


def test_the_configuration_of_the_working_folder_says_nothing(
    shop: Repository, fetch: Fetch, git_server: GitServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trap, sprung = Repository(tmp_path / "trap"), tmp_path / "sprung"
    trap.git("config", "protocol.ext.allow", "always")
    trap.git("config", f"url.ext::touch {sprung} .insteadOf", "http://")
    monkeypatch.chdir(trap.folder)

    assert held(fetch()) == FILES
    assert not sprung.exists()

    with pytest.raises(subprocess.CalledProcessError):
        trap.git("ls-remote", git_server.url)
    assert sprung.exists()  # so there was a trap


def test_a_user_who_lets_git_find_no_bare_repositories_can_fetch(
    shop: Repository, fetch: Fetch, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = tmp_path / "gitconfig"
    settings.write_text("[safe]\n\tbareRepository = explicit\n", encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))

    assert held(fetch()) == FILES
