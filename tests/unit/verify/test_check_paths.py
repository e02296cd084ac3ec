"""What a path of a citation leads to decides what can be said of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repositories import Repository, write
from tests.unit.verify.checks import CODE, checked, drifted, only, told


def test_lines_behind_a_symbolic_link_are_followed(repository: Repository) -> None:
    (repository.folder / "lib").symlink_to("src")

    finding = drifted(repository, "See [retry](../lib/app.py#L14-L16).\n")

    assert told(finding) == ("moved", "history", "src/app.py:16-18")


@pytest.mark.parametrize(
    ("written", "verdict"),
    [("/api/none.py:3", "foreign"), ("<dir>/none.py:3", "foreign"), ("/src/app.py:99", "out of range")],
)
def test_a_path_that_begins_with_a_slash_is_one_from_the_top(
    repository: Repository, written: str, verdict: str
) -> None:
    repository.commit({"src/app.py": CODE})

    assert only(repository.folder, f"See `{written}`.\n").verdict == verdict


@pytest.mark.slow
def test_lines_in_a_submodule_that_is_not_checked_out_cannot_be_told(repository: Repository, tmp_path: Path) -> None:
    library = Repository(tmp_path / "library")
    library.commit({"b.py": "one\n"})
    repository.git("-c", "protocol.file.allow=always", "submodule", "-q", "add", str(library.folder), "vendor/lib")
    repository.commit()
    page = "[b](../vendor/lib/b.py#L1), vendor/lib/b.py:1 and [c](../vendor/lib/c.py#L1)\n"

    with_it = [finding.verdict for finding in checked(repository.folder, page)]
    repository.git("submodule", "-q", "deinit", "-f", "vendor/lib")
    without = [(finding.verdict, finding.reason) for finding in checked(repository.folder, page)]

    assert with_it[-1] == "missing file"
    assert without == [("unknown", "its file is not checked out")] * 3


def test_lines_that_a_sparse_checkout_leaves_out_are_not_missing(repository: Repository) -> None:
    commit = repository.commit({"src/app.py": CODE, "docs/a.md": "See src/app.py:14-16.\n"})
    repository.git("sparse-checkout", "set", "docs")
    page = f"See src/app.py:14-16 and https://github.com/acme/shop/blob/{commit}/src/app.py#L14.\n"

    assert [finding.verdict for finding in checked(repository.folder, page)] == ["unknown"] * 2


@pytest.fixture
def shallow(repository: Repository, tmp_path: Path) -> Path:
    """Return a clone without history, where a file is gone that was there, and another that never was is cited."""
    repository.commit({"src/app.py": CODE, "src/gone.py": "rows = [1, 2, 3]\n", "docs/a.md": "Nothing.\n"})
    repository.git("rm", "-q", "src/gone.py")
    repository.commit()
    repository.git("clone", "-q", "--depth=1", f"file://{repository.folder}", str(tmp_path / "clone"))
    repository.git("-C", str(tmp_path / "clone"), "remote", "set-url", "origin", "https://github.com/acme/shop.git")
    return tmp_path / "clone"


PERMALINK = "https://github.com/acme/shop/blob"


@pytest.mark.parametrize(
    ("page", "verdict", "reason"),
    [
        pytest.param("[it](../src/gone.py#L1)", "missing file", "", id="link"),
        pytest.param("[it](../src/apps.py#L1)", "missing file", "perhaps src/app.py", id="typo-in-a-link"),
        pytest.param("`src/apps.py:1`", "missing file", "perhaps src/app.py", id="typo"),
        pytest.param(f"{PERMALINK}/main/src/gone.py#L1", "missing file", "", id="permalink-to-the-branch-that-is-here"),
        pytest.param(
            f"{PERMALINK}/v1/src/gone.py#L1", "unknown", "its commit or branch is not in this clone", id="other-branch"
        ),
        pytest.param("`src/gone.py:1`", "unknown", "there is no such file", id="was-there"),
        pytest.param("`lib/other.py:1`", "unknown", "there is no such file", id="never-was"),
    ],
)
def test_a_shallow_clone_calls_missing_what_is_so_whatever_there_was_before(
    shallow: Path, page: str, verdict: str, reason: str
) -> None:
    finding = only(shallow, page + "\n")

    assert (finding.verdict, finding.reason) == (verdict, reason)


def test_a_shallow_clone_knows_that_a_file_was_there_which_its_own_commits_have(shallow: Path) -> None:
    (shallow / "src/app.py").unlink()

    assert only(shallow, "`src/app.py:1`\n").verdict == "missing file"


def test_a_file_without_history_is_compared_with_those_that_are_spelled_like_it(tmp_path: Path) -> None:
    write(tmp_path, {"src/app.py": CODE})

    assert only(tmp_path, "See src/apps.py:3.\n").reason == "perhaps src/app.py"


def test_lines_are_counted_from_1(tmp_path: Path) -> None:
    write(tmp_path, {"src/app.py": CODE})

    assert only(tmp_path, "See src/app.py:0.\n").reason == "lines are counted from 1"
