"""Repositories on the command line: `add` fetches them, everything else takes what is there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from openbook.cli import EXIT_FAILURE, EXIT_USAGE, main
from tests.fakes.git_server import GitServer
from tests.repositories import Repository

FILES = {"README.md": "# Shop\n\nRefunds are booked by the till.\n", "src/till.py": "def book_refund(): ...\n"}

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return command


@pytest.mark.slow
def test_a_repository_is_fetched_by_add_and_asked_without_the_network(
    run: Run, github: Path, git_server: GitServer
) -> None:
    commit = Repository(github / "octo" / "shop").commit(FILES)

    added = run("add", "https://github.com/octo/shop")
    git_server.requests.clear()
    answered = run("ask", "By what are refunds booked?", "octo/shop")
    listed = run("sources")

    assert added[0] == 0
    assert f"fetched https://github.com/octo/shop at {commit[:12]}" in added[2]
    assert "indexed shop: 2 added" in added[2]
    assert answered[0] == 0
    assert f"https://github.com/octo/shop/blob/{commit}/README.md?plain=1#L3" in answered[1]
    assert f"  shop  https://github.com/octo/shop at {commit[:12]}\n" in listed[1]
    assert git_server.requests == []


@pytest.mark.slow
def test_adding_it_again_brings_what_has_changed(run: Run, github: Path) -> None:
    served = Repository(github / "octo" / "shop")
    served.commit(FILES)
    run("add", "octo/shop")
    served.commit({**FILES, "README.md": "# Shop\n\nRefunds are booked by nobody.\n"})

    code, _, err = run("add", "octo/shop")

    assert code == 0
    assert "indexed shop: 1 changed" in err


def test_a_repository_that_was_not_fetched_is_not_asked_for(run: Run, github: Path, git_server: GitServer) -> None:
    code, _, err = run("ask", "Who books refunds?", "https://github.com/octo/shop")

    assert code == EXIT_USAGE
    assert "hint: openbook add https://github.com/octo/shop" in err
    assert git_server.requests == []


@pytest.mark.slow
def test_a_path_wins_over_a_repository(run: Run, github: Path, git_server: GitServer, tmp_path: Path) -> None:
    (tmp_path / "octo" / "shop").mkdir(parents=True)
    (tmp_path / "octo" / "shop" / "a.md").write_text("Refunds are booked here.\n", encoding="utf-8")

    there = run("add", "octo/shop")
    missing = run("add", "octo/none")

    assert there[0] == 0
    assert "indexed shop: 1 added" in there[2]
    assert missing[0] == EXIT_USAGE
    assert "does not exist" in missing[2]
    assert git_server.requests == []


@pytest.mark.slow
def test_a_library_is_made_again_from_what_was_fetched(run: Run, github: Path, git_server: GitServer) -> None:
    Repository(github / "octo" / "shop").commit(FILES)
    run("add", "octo/shop")
    git_server.requests.clear()

    code, _, err = run("add", "--rebuild")

    assert code == 0
    assert "indexed shop: 2 added" in err
    assert "https://github.com/octo/shop at " in run("sources")[1]
    assert git_server.requests == []


def test_a_failure_is_one_line_and_a_hint(run: Run, github: Path) -> None:
    code, _, err = run("add", "octo/shop")

    assert code == EXIT_FAILURE
    assert err.splitlines()[0] == (
        "error: cannot read 'https://github.com/octo/shop': it does not exist, or is private"
    )
    assert err.splitlines()[1].startswith("hint: check the name; if it is private, set GITHUB_TOKEN")


def test_an_address_that_is_too_long_for_a_path_is_none(run: Run, github: Path) -> None:
    code, _, err = run("add", f"https://github.com/octo/{'x' * 5000}")

    assert code == EXIT_FAILURE
    assert "no name of a repository" in err
