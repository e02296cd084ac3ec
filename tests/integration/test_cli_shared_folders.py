"""A folder that a library has already is asked there, and nothing is indexed twice."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.integration.support_cli import assert_fails_clearly, run
from tests.support import write_tree

Captured = pytest.CaptureFixture[str]

FILES = {
    "README.md": "# Harbour\n\nThe harbour opens at six.\n",
    "docs/ferry.md": "# Ferry\n\nThe ferry sails at nine.\n",
    "docs/tides.md": "# Tides\n\nThe ferry waits for the tide.\n",
    ".gitignore": "drafts/\n",
    "drafts/ferry.md": "# Draft\n\nThe ferry sails at noon, perhaps.\n",
}


@pytest.fixture
def harbour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write_tree(tmp_path / "harbour", FILES)
    monkeypatch.chdir(folder)
    return folder


def libraries() -> list[str]:
    return sorted(file.name for file in (Path(os.environ["OPENBOOK_HOME"]) / "libraries").glob("*.sqlite"))


def found(capsys: Captured, *arguments: str | Path) -> set[str]:
    return {result["path"] for result in run(capsys, "search", *arguments, "--json").json["results"]}


@pytest.mark.slow
def test_a_subfolder_is_asked_in_the_library_of_the_folder_above(harbour: Path, capsys: Captured) -> None:
    run(capsys, "search", "ferry")
    before = libraries()

    paths = found(capsys, "ferry harbour", "docs")
    one_file = found(capsys, "ferry", "docs/tides.md")
    answer = run(capsys, "ask", "When does the ferry sail?", "docs")

    assert paths == {"docs/ferry.md", "docs/tides.md"}
    assert one_file == {"docs/tides.md"}
    assert "docs/ferry.md:3" in answer.out
    assert libraries() == before


@pytest.mark.slow
def test_the_library_of_the_folder_above_is_brought_up_to_date(harbour: Path, capsys: Captured) -> None:
    run(capsys, "search", "ferry")
    (harbour / "docs" / "fares.md").write_text("# Fares\n\nThe ferry costs two coins.\n", encoding="utf-8")

    assert "docs/fares.md" in found(capsys, "coins", "docs")


@pytest.mark.slow
def test_a_folder_that_a_rule_leaves_out_gets_a_library_of_its_own(harbour: Path, capsys: Captured) -> None:
    run(capsys, "search", "ferry")

    paths = found(capsys, "noon", "drafts")

    assert paths == {"ferry.md"}
    assert len(libraries()) == 2


@pytest.mark.slow
def test_a_library_of_its_own_is_kept(harbour: Path, capsys: Captured) -> None:
    run(capsys, "search", "ferry", "docs")
    run(capsys, "search", "ferry")

    assert found(capsys, "ferry", "docs") == {"ferry.md", "tides.md"}


@pytest.mark.slow
def test_a_folder_that_was_added_is_asked_where_it_was_added(harbour: Path, capsys: Captured) -> None:
    run(capsys, "add", ".")
    run(capsys, "add", "drafts", "--library", "plans")

    assert "README.md" in found(capsys, "harbour")
    assert found(capsys, "ferry", "drafts") == {"ferry.md"}
    assert libraries() == ["default.sqlite", "plans.sqlite"]


@pytest.mark.slow
def test_one_of_several_sources_is_asked_alone(harbour: Path, capsys: Captured, tmp_path: Path) -> None:
    other = write_tree(tmp_path / "island", {"ferry.md": "# Ferry\n\nThe ferry of the island sails at ten.\n"})
    run(capsys, "add", harbour / "docs", other)

    asked = run(capsys, "search", "ferry", other, "--json").json["results"]

    assert {result["source"] for result in asked} == {"island"}


def test_status_of_a_subfolder_is_that_of_its_library(harbour: Path, capsys: Captured) -> None:
    run(capsys, "search", "ferry")

    assert "documents  4\n" in run(capsys, "status", "docs").out


@pytest.mark.slow
def test_a_library_is_deleted_by_name(harbour: Path, capsys: Captured) -> None:
    run(capsys, "add", "docs", "--library", "island")

    deleted = run(capsys, "remove", "--library", "island")

    assert (deleted.code, deleted.err) == (0, "deleted the library island\n")
    assert libraries() == []
    assert (harbour / "docs" / "ferry.md").exists()
    assert_fails_clearly(run(capsys, "remove", "--library", "island"), 2, "there is no library 'island'")
    assert run(capsys, "remove").code == 2


@pytest.mark.slow
def test_pruning_deletes_libraries_whose_folders_are_gone(harbour: Path, capsys: Captured) -> None:
    run(capsys, "search", "noon", "drafts")
    run(capsys, "search", "ferry")
    (harbour / "drafts" / "ferry.md").unlink()
    (harbour / "drafts").rmdir()

    planned = run(capsys, "prune", "--dry-run").out
    kept = libraries()
    pruned = run(capsys, "prune").out

    assert planned.startswith("would delete drafts-")
    assert len(kept) == 2
    assert pruned.startswith("deleted drafts-")
    assert [name.partition("-")[0] for name in libraries()] == ["harbour"]
    assert run(capsys, "prune").err == "nothing to delete: every library has an existing folder\n"


@pytest.mark.slow
def test_a_library_on_a_disk_that_is_away_is_not_pruned(harbour: Path, capsys: Captured, tmp_path: Path) -> None:
    disk = write_tree(tmp_path / "disk" / "notes", {"a.md": "# Notes\n\nThe lamp is lit.\n"})
    run(capsys, "search", "lamp", disk)
    (tmp_path / "disk").rename(tmp_path / "away")

    run(capsys, "prune")

    assert [name.partition("-")[0] for name in libraries()] == ["notes"]


@pytest.mark.slow
def test_the_list_of_libraries_names_size_age_and_what_is_gone(harbour: Path, capsys: Captured) -> None:
    run(capsys, "add", "docs", "drafts", "--library", "island")
    (harbour / "drafts").rename(harbour / "old")

    lines = run(capsys, "sources").out.splitlines()

    assert lines[0].startswith("island: 3 documents, 0.1 MB, updated just now")
    assert lines[1:] == [f"  docs  {harbour / 'docs'}", f"  drafts  {harbour / 'drafts'}  (gone)"]


@pytest.mark.slow
def test_a_large_folder_is_indexed_only_if_it_is_meant(
    harbour: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBOOK_MAX_FILE_BYTES", "2000000000")
    with (harbour / "log.txt").open("w", encoding="utf-8") as file:
        file.truncate(1_100_000_000)  # takes no room

    refused = run(capsys, "ask", "When does the ferry sail?")
    nothing = libraries()
    (harbour / "log.txt").unlink()
    meant = run(capsys, *refused.hinted_command())
    answered = run(capsys, "ask", "When does the ferry sail?")

    assert_fails_clearly(refused, 3, "is large (5 files, 1.1 GB)", "if you mean all of it: openbook add --yes")
    assert nothing == []
    assert meant.code == 0
    assert answered.code == 0
    assert libraries() == ["default.sqlite"]


@pytest.mark.slow
def test_a_folder_that_was_added_is_measured_without_another_index(tmp_path: Path, capsys: Captured) -> None:
    folder = write_tree(tmp_path / "island", {"whales.md": "Whales sing below the ferry.\n"})
    (tmp_path / "q.jsonl").write_text('{"question": "Do whales sing?", "files": ["whales.md"]}\n', encoding="utf-8")
    run(capsys, "add", folder)

    measured = run(capsys, "eval", tmp_path / "q.jsonl", folder)

    assert measured.code == 0, measured.err
    assert libraries() == ["default.sqlite"]
