"""What a path of a citation leads to decides what can be said of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repositories import Repository
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
