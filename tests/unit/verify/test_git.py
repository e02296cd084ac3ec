"""Git is asked, and failures are told apart from an answer that is no."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from openbook.verify.git import Git, GitFailedError
from tests.repositories import Repository


def test_git_in_a_folder_that_is_gone_fails_and_says_why(tmp_path: Path) -> None:
    git = Git(tmp_path / "gone")

    with pytest.raises(GitFailedError, match="git cannot be run"):
        git.run("status")
    with pytest.raises(GitFailedError, match="git cannot be run"):
        git.read("HEAD:a.md")
    assert git.ask("status") == ""
    assert git.failure == "git cannot be run"


def test_a_path_that_no_system_takes_fails_and_asks_nothing_else(tmp_path: Path) -> None:
    git = Git(tmp_path)

    assert git.ask("log", "a\0b") == ""
    assert git.failure == "git cannot be run"
    with pytest.raises(GitFailedError):
        git.read("HEAD:two\nlines")


def test_a_command_that_fails_says_what_git_says_unless_there_is_another_way(tmp_path: Path) -> None:
    tried, asked = Git(tmp_path), Git(tmp_path)

    with pytest.raises(GitFailedError):
        tried.run("log", is_try=True)
    with pytest.raises(GitFailedError, match="not a git repository"):
        asked.run("log")

    assert tried.failure == ""
    assert "not a git repository" in asked.failure


def test_that_a_folder_is_no_repository_is_an_answer(tmp_path: Path) -> None:
    git = Git(tmp_path)

    assert git.ask("rev-parse", "HEAD") == ""
    assert git.failure == ""


def test_what_a_repository_lacks_is_not_fetched_by_the_command_that_it_names(tmp_path: Path) -> None:
    repository, sprung = Repository(tmp_path / "shop"), tmp_path / "sprung"
    repository.commit({"a.md": "text\n"})
    repository.set_trap("HEAD:a.md", sprung)
    git = Git(repository.folder)

    assert git.read("HEAD:a.md") is None
    git.ask("log", "-p")
    assert not sprung.exists()

    with pytest.raises(subprocess.CalledProcessError):
        repository.git("show", "HEAD:a.md")
    assert sprung.exists()  # so there was a trap


def test_a_folder_of_a_checkout_that_looks_like_a_repository_is_none(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "shop")
    repository.commit({"a.md": "text\n"})
    (repository.folder / ".git").rename(tmp_path / "docs")

    git = Git(tmp_path / "docs")

    assert git.ask("rev-parse", "HEAD") == ""
    assert "bare repository" in git.failure
