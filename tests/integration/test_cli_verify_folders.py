"""`openbook verify`: the folder that paths are relative to, and folders that nobody means."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.support_cli import assert_fails_clearly, run
from tests.repositories import Repository, write

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Return a repository whose page cites code by a path and a link, as the working folder."""
    repository = Repository(tmp_path / "shop")
    code = "import os\nimport re\n\n\ndef retry(times):\n    for each in range(times):\n        yield each\n\n"
    page = "The loop (src/app.py:6-7) is short; see [it](../src/app.py#L5).\n"
    repository.commit({"src/app.py": code, "docs/a.md": page})
    monkeypatch.chdir(repository.folder)
    return repository


def test_the_root_may_be_another_folder(shop: Repository, capsys: Captured, tmp_path: Path) -> None:
    write(tmp_path, {"notes.txt": "see src/app.py:900\n"})

    outcome = run(capsys, "verify", tmp_path / "notes.txt", "--root", shop.folder)

    assert "out of range: src/app.py:900 (the file has 8 lines)" in outcome.out


def test_a_check_below_the_folder_that_paths_are_relative_to_says_how_to_name_it(
    shop: Repository, capsys: Captured
) -> None:
    outcome = run(capsys, "verify", ".", cwd=shop.folder / "docs")
    write(shop.folder, {"docs/b.md": "See src/no.py:3.\n"})

    assert "refused: ../src/app.py#L5 (it leads out of the root)" in outcome.out
    assert "next: the cited files are in another folder: try --root ..;" in outcome.err
    assert "try --root" not in run(capsys, "verify", "b.md", cwd=shop.folder / "docs").err


def test_the_folder_that_paths_are_relative_to_is_named_though_other_citations_are_right_or_of_no_file(
    shop: Repository, capsys: Captured
) -> None:
    page = "See src/app.py:6, lib/other.py:3, src/no.py:2 and [above](a.md#L1).\n"
    shop.commit({"docs/b.md": page})

    outcome = run(capsys, "verify", "b.md", cwd=shop.folder / "docs")

    assert outcome.err.startswith("4 citations in 1 file: 1 ok, 1 missing file, 2 foreign\n")
    assert "try --root ..;" in outcome.err


def test_a_root_that_has_as_many_of_the_cited_files_is_the_right_one(shop: Repository, capsys: Captured) -> None:
    shop.commit({"docs/b.md": "See app.py:6 and src/app.py:6.\n"})

    outcome = run(capsys, "verify", "docs/b.md", "--root", "src")

    assert "src/app.py:6" in outcome.out
    assert "try --root" not in outcome.err


@pytest.mark.parametrize(("home", "files"), [(".", "docs/a.md"), (".", "."), (".", "docs"), ("docs", ".")])
def test_a_repository_is_checked_also_if_it_is_the_home_folder_or_contains_it(
    shop: Repository, capsys: Captured, home: str, files: str
) -> None:
    outcome = run(capsys, "verify", files, env={"HOME": str(shop.folder / home)})

    assert (outcome.code, outcome.err) == (0, "2 citations in 1 file: 2 ok\n")


def test_a_home_folder_that_is_no_repository_is_not_walked(tmp_path: Path, capsys: Captured) -> None:
    write(tmp_path, {"notes/a.md": "See src/app.py:1.\n"})

    outcome = run(capsys, "verify", ".", cwd=tmp_path, env={"HOME": str(tmp_path)})

    assert_fails_clearly(outcome, 3, "cannot read '.': is your home folder", "name a folder in it")
    assert run(capsys, "verify", ".", cwd=tmp_path / "notes", env={"HOME": str(tmp_path)}).code == 1


def test_a_path_that_no_file_can_have_hinders_no_advice(shop: Repository, capsys: Captured) -> None:
    write(shop.folder, {"docs/b.md": f"See src/app.py:6 and {'x' * 300}/src/a.py:1.\n"})

    assert "try --root ..;" in run(capsys, "verify", "b.md", cwd=shop.folder / "docs").err
