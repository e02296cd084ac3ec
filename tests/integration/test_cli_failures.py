"""Full disks, homes that cannot be written and damaged libraries: a clear answer, and nothing is lost."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.support_cli import (
    Outcome,
    assert_fails_clearly,
    copy_sample,
    library_files,
    only_library,
    run,
    run_alone,
    settled,
)

Captured = pytest.CaptureFixture[str]

QUESTION = "When does a parcel count as lost?"


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = copy_sample(tmp_path)
    monkeypatch.chdir(root)
    return root


def write_many(folder: Path, count: int = 120) -> None:
    folder.mkdir()
    for number in range(count):
        paragraphs = [f"Gull {number} was seen on rock {number + rock}, with {rock} eggs.\n" for rock in range(120)]
        (folder / f"gull{number}.md").write_text(f"# Gull {number}\n\n" + "\n".join(paragraphs), encoding="utf-8")


def assert_answered(outcome: Outcome) -> None:
    assert outcome.code == 0, outcome.err
    assert "LOST_AFTER_DAYS" in outcome.out
    assert "Traceback" not in outcome.err


@pytest.mark.slow
def test_a_full_disk_is_a_failure_and_the_next_run_goes_on(sample: Path, capsys: Captured) -> None:
    write_many(sample / "birds")

    full = run_alone("search", "parcel", cwd=sample, largest_file_bytes=500_000)
    held = run(capsys, "status")
    room = run(capsys, "search", "gull 7 rock", "--json")

    assert_fails_clearly(full, 3, "cannot use the library")
    assert held.code == 0
    assert room.code == 0
    assert room.json["results"][0]["path"].startswith("birds/gull")
    assert "up to date" in run(capsys, "status").out


@pytest.mark.slow
def test_a_full_disk_keeps_the_answers_that_were_there(sample: Path, capsys: Captured) -> None:
    run(capsys, "ask", QUESTION)
    write_many(sample / "birds", 240)

    full = run_alone("ask", QUESTION, cwd=sample, largest_file_bytes=1_000_000)

    assert_answered(full)
    assert "warning: the library was not updated: cannot use the library" in full.err


@pytest.mark.parametrize("home", ["/dev/null/home", "/proc/home"])
def test_an_impossible_home_is_a_failure(
    sample: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    monkeypatch.setenv("OPENBOOK_HOME", home)

    outcome = run(capsys, "ask", QUESTION)

    assert_fails_clearly(outcome, 3, home, "hint: set OPENBOOK_HOME to a folder that you can write to")


@pytest.mark.slow
def test_a_home_that_is_read_only_is_a_failure(sample: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o555)

    outcome = run_alone("ask", QUESTION, cwd=sample, env={"OPENBOOK_HOME": str(home)}, unprivileged=True)

    assert_fails_clearly(outcome, 3, str(home), "ermission denied", "hint: set OPENBOOK_HOME")


@pytest.mark.slow
def test_a_library_that_became_read_only_still_answers(sample: Path, capsys: Captured) -> None:
    settled(sample)
    run(capsys, "ask", QUESTION)
    library = only_library()
    library.chmod(0o444)
    library.parent.chmod(0o555)
    unchanged = run_alone("ask", QUESTION, cwd=sample, unprivileged=True)
    (sample / "docs" / "new.md").write_text("# New\n\nA new page on seals.\n", encoding="utf-8")

    changed = run_alone("ask", QUESTION, cwd=sample, unprivileged=True)
    library.parent.chmod(0o755)

    assert_answered(unchanged)
    assert unchanged.err == ""
    assert_answered(changed)
    assert "warning: the library was not updated" in changed.err
    assert "read-only" in changed.err


def _as_text(library: Path) -> None:
    library.write_text("This is a letter to the harbour master, and no database.\n" * 100, encoding="utf-8")


def _headless(library: Path) -> None:
    content = library.read_bytes()
    library.write_bytes(b"\0" * 100 + content[100:])


def _shortened(library: Path) -> None:
    library.write_bytes(library.read_bytes()[: 3 * 4096 + 17])


def _garbled(library: Path) -> None:
    content = bytearray(library.read_bytes())
    for page in range(1, len(content) // 4096):
        content[page * 4096 : page * 4096 + 64] = b"\xa5" * 64
    library.write_bytes(content)


def _of_the_future(library: Path) -> None:
    with contextlib.closing(sqlite3.connect(library)) as connection:
        connection.execute("PRAGMA user_version = 99")


def _of_another_embedder(library: Path) -> None:
    with contextlib.closing(sqlite3.connect(library)) as connection, connection:
        connection.execute("UPDATE meta SET value = 'other-7' WHERE key = 'embedder'")


DAMAGES = [_as_text, _headless, _shortened, _garbled]


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES, ids=[damage.__name__.strip("_") for damage in DAMAGES])
def test_a_library_that_cannot_be_used_names_the_very_command_that_repairs_it(
    sample: Path, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[Path], None]
) -> None:
    run(capsys, "ask", QUESTION)
    damage(only_library())

    failed = run(capsys, "ask", QUESTION)
    monkeypatch.chdir(tmp_path)  # the hint holds anywhere
    repaired = run(capsys, *failed.hinted_command())
    monkeypatch.chdir(sample)
    again = run(capsys, "ask", QUESTION)

    assert_fails_clearly(failed, 3, "hint: make it again with: openbook add --rebuild --library harbour-")
    assert repaired.code == 0, repaired.err
    assert_answered(again)
    assert again.err == ""


@pytest.mark.slow
@pytest.mark.parametrize("change", [_of_the_future, _of_another_embedder])
def test_a_library_of_a_folder_that_another_version_made_is_made_again(
    sample: Path, capsys: Captured, change: Callable[[Path], None]
) -> None:
    run(capsys, "ask", QUESTION)
    change(only_library())

    again = run(capsys, "ask", QUESTION)

    assert_answered(again)
    assert ": rebuilding it\nindexed harbour: " in again.err
    assert run(capsys, "ask", QUESTION).err == ""


@pytest.mark.slow
def test_a_library_of_a_folder_is_not_made_again_by_an_embedder_that_costs(
    sample: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(capsys, "ask", QUESTION)
    monkeypatch.setenv("OPENBOOK_EMBEDDER", "http://127.0.0.1:9/v1#other")

    failed = run(capsys, "ask", QUESTION)

    assert_fails_clearly(failed, 3, "hint: make it again with: openbook add --rebuild --library harbour-")


@pytest.mark.slow
def test_a_library_of_several_sources_is_made_again_with_all_of_them(sample: Path, capsys: Captured) -> None:
    run(capsys, "add", "docs", "scanner", "--library", "island")
    _of_another_embedder(only_library())

    failed = run(capsys, "ask", QUESTION, "docs", "--library", "island")
    repaired = run(capsys, *failed.hinted_command())

    assert_fails_clearly(failed, 3, "made with embedder 'other-7'")
    assert repaired.code == 0
    assert [line.split()[0] for line in run(capsys, "sources").out.splitlines()] == ["island:", "docs", "scanner"]


@pytest.mark.slow
def test_a_library_can_be_made_again_without_naming_its_folders(sample: Path, capsys: Captured) -> None:
    run(capsys, "add", "docs", "--library", "island")
    _of_the_future(only_library())

    repaired = run(capsys, "add", "--rebuild", "--library", "island")

    assert repaired.code == 0
    assert run(capsys, "search", "backup", "--library", "island").code == 0


@pytest.mark.slow
def test_a_damaged_library_without_known_folders_asks_for_them(sample: Path, capsys: Captured) -> None:
    run(capsys, "add", "docs", "--library", "island")
    _as_text(only_library())

    outcome = run(capsys, "add", "--rebuild", "--library", "island")

    assert_fails_clearly(outcome, 3, "hint: name the folders to make it from")


@pytest.mark.slow
def test_a_database_of_somebody_else_is_left_as_it_is(sample: Path, capsys: Captured) -> None:
    run(capsys, "ask", QUESTION)
    library = only_library()
    for file in library_files():
        file.unlink()
    with contextlib.closing(sqlite3.connect(library)) as connection, connection:
        connection.execute("CREATE TABLE letters (text TEXT)")
    before = library.read_bytes()

    failed = run(capsys, "ask", QUESTION)
    after = library.read_bytes()
    shutil.move(library, sample.parent / "letters.sqlite")
    again = run(capsys, "ask", QUESTION)

    assert_fails_clearly(failed, 3, "not an Openbook library", "move it away")
    assert before == after
    assert_answered(again)


@pytest.mark.slow
def test_an_empty_library_file_is_filled(sample: Path, capsys: Captured) -> None:
    run(capsys, "ask", QUESTION)
    library = only_library()
    for file in library_files():
        file.unlink()
    library.touch()

    assert_answered(run(capsys, "ask", QUESTION))


def test_a_folder_in_the_place_of_a_library_is_a_failure(sample: Path, capsys: Captured) -> None:
    (Path(os.environ["OPENBOOK_HOME"]) / "libraries" / "island.sqlite").mkdir(parents=True)

    outcome = run(capsys, "add", "docs", "--library", "island")

    assert_fails_clearly(outcome, 3, "island.sqlite")


@pytest.mark.slow
def test_one_damaged_library_does_not_hide_the_others(sample: Path, capsys: Captured) -> None:
    run(capsys, "add", "docs", "--library", "broken")
    _as_text(only_library())
    run(capsys, "add", "scanner", "--library", "island")

    outcome = run(capsys, "sources")

    assert outcome.code == 0
    assert "broken: " in outcome.out
    assert "is damaged or not an index" in outcome.out
    assert "island: 1 document, " in outcome.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("OPENBOOK_WORKERS", "many"),
        ("OPENBOOK_WORKERS", "0"),
        ("OPENBOOK_MAX_FILE_BYTES", "1 MB"),
        ("OPENBOOK_CONTEXT_TOKENS", "-5"),
        ("OPENBOOK_LOCK_TIMEOUT_S", "nan"),
        ("OPENBOOK_LOCK_TIMEOUT_S", "soon"),
        ("OPENBOOK_CHUNK_STRATEGY", "clever"),
        ("OPENBOOK_HOME", "~nobody-of-that-name/home"),
    ],
)
@pytest.mark.parametrize("command", [["ask", "parcel"], ["sources"], ["doctor"]])
def test_a_setting_that_does_not_parse_is_wrong_usage(
    sample: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, command: list[str]
) -> None:
    monkeypatch.setenv(variable, value)

    outcome = run(capsys, *command)

    assert_fails_clearly(outcome, 2)
    assert variable in outcome.err or variable.removeprefix("OPENBOOK_").lower() in outcome.err
    assert value in outcome.err
