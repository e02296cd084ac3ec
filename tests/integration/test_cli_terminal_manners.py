"""What people expect of a command in a terminal: help, short options, colours, wrapped lines, words without quotes."""

from __future__ import annotations

import re
import signal
import time
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from openbook.cli.app import app
from tests.integration.support_cli import run, run_alone, run_on_terminal, start
from tests.support import write_tree

Captured = pytest.CaptureFixture[str]

COMMANDS = sorted(getattr(get_command(app), "commands", {}))
STYLE = re.compile(r"\x1b\[[0-9;]*m")

WHALES = (
    "# Whales\n\nWhales sing below the ferry at night, and the engineers who keep the ferry running have\n"
    "learned to tell a humpback from a blue whale by the rhythm of the song alone.\n"
)


@pytest.fixture
def island(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write_tree(tmp_path / "island", {"whales.md": WHALES, "docs/ferry.md": "# Ferry\n\nThe ferry runs.\n"})
    monkeypatch.chdir(folder)
    return folder


def on_terminal(*arguments: str, cwd: Path, columns: int, **env: str) -> str:
    """Return what a command shows on a terminal of so many columns, styles included."""
    return run_on_terminal(*arguments, cwd=cwd, columns=columns, errors=False, **env).out.replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [60, 80, 160])
def test_help_is_never_cut_off(columns: int) -> None:
    shown = CliRunner().invoke(app, ["-h"], terminal_width=columns, prog_name="openbook").output

    assert "..." not in shown.replace("COMMAND [ARGS]...", "")
    assert max(map(len, shown.splitlines())) <= columns


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_fits_80_columns(command: str) -> None:
    shown = CliRunner().invoke(app, [command, "-h"], terminal_width=80, prog_name="openbook").output

    assert shown.startswith(f"Usage: openbook {command}")
    assert [line for line in shown.splitlines() if len(line) > 80] == []


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_every_example_in_the_help_can_be_parsed(command: str) -> None:
    import shlex

    group = get_command(app)
    shown = CliRunner().invoke(app, [command, "-h"], terminal_width=200, prog_name="openbook").output
    _, _, examples = shown.partition("Examples:\n")
    for line in examples.splitlines():
        words = shlex.split(line)
        assert words[:2] == ["openbook", command]
        with group.commands[command].make_context(command, words[2:], resilient_parsing=True):  # type: ignore[attr-defined]
            pass


@pytest.mark.slow
def test_version_has_a_short_option(capsys: Captured) -> None:
    assert run(capsys, "-V").out == run(capsys, "--version").out


def test_words_without_quotes_are_one_question(island: Path, capsys: Captured) -> None:
    asked = run(capsys, "ask", "do", "whales", "sing", "below", "the", "ferry")
    found = run(capsys, "search", "whale", "song", "docs", "--json")

    assert (asked.code, "whales.md:3" in asked.out) == (0, True)
    assert found.json["query"] == "whale song"
    assert {result["path"] for result in found.json["results"]} == {"docs/ferry.md"}


def test_short_options_are_those_of_the_long_ones(island: Path, capsys: Captured) -> None:
    short = run(capsys, "search", "ferry", "-n", "1", "-k", "docs", "-g", "docs/*", "--json")
    long = run(capsys, "search", "ferry", "--limit", "1", "--kind", "docs", "--glob", "docs/*", "--json")

    assert [result["path"] for result in short.json["results"]] == ["docs/ferry.md"]
    assert short.out == long.out


def test_files_are_listed_once_each_and_nothing_else(island: Path, capsys: Captured) -> None:
    assert sorted(run(capsys, "search", "ferry", "--files").out.splitlines()) == ["docs/ferry.md", "whales.md"]


@pytest.mark.slow
@pytest.mark.parametrize("columns", [60, 100])
def test_prose_is_wrapped_by_words_on_a_terminal_and_whole_in_a_pipe(
    island: Path, capsys: Captured, columns: int
) -> None:
    question = ("ask", "How do engineers tell a humpback from a blue whale?", ".")
    shown = STYLE.sub("", on_terminal(*question, cwd=island, columns=columns))
    quote = [line for line in shown.splitlines() if line.startswith("> ")]

    assert max(map(len, quote)) <= columns
    assert re.sub(r"\n> ", " ", "\n".join(quote)).endswith("rhythm of the song alone. [1]")
    assert "running have\n> learned" in run(capsys, *question).out


@pytest.mark.slow
def test_colours_follow_the_terminal_and_the_environment_variables(island: Path, capsys: Captured) -> None:
    search = ("search", "whale", ".")

    assert STYLE.search(on_terminal(*search, cwd=island, columns=80))
    assert not STYLE.search(on_terminal(*search, cwd=island, columns=80, NO_COLOR="1"))
    assert not STYLE.search(on_terminal(*search, cwd=island, columns=80, TERM="dumb"))
    assert not STYLE.search(on_terminal("search", "whale", "./none", cwd=island, columns=80, NO_COLOR="1"))
    assert not STYLE.search(run(capsys, *search).out)
    assert STYLE.search(run(capsys, *search, env={"FORCE_COLOR": "1"}).out)


@pytest.mark.slow
def test_matches_stand_out(island: Path) -> None:
    assert "\x1b[1msing\x1b[0m" in on_terminal("search", "sing", ".", cwd=island, columns=80)


def test_a_place_of_one_line_is_written_as_one_line(island: Path, capsys: Captured) -> None:
    assert "docs/ferry.md:3" in run(capsys, "ask", "Does the ferry run?", "docs").out
    assert ":3-3" not in run(capsys, "ask", "Does the ferry run?", "docs").out


@pytest.mark.slow
def test_a_mistyped_library_is_answered_with_the_one_that_is_meant(island: Path, capsys: Captured) -> None:
    run(capsys, "add", ".", "--library", "whale-watching")

    assert "did you mean 'whale-watching'?" in run(capsys, "search", "x", "--library", "whale-wtching").err
    assert "did you mean 'whale-watching'?" in run(capsys, "search", "x", "--library", "whale").err


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_names_of_libraries_are_completed(island: Path, capsys: Captured, shell: str) -> None:
    run(capsys, "add", ".", "--library", "lighthouse")
    line = "openbook search x --library light"
    asked = {
        "bash": {"COMP_WORDS": line, "COMP_CWORD": "4"},
        "zsh": {"_TYPER_COMPLETE_ARGS": line},
        "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]

    shown = run_alone(env={"_OPENBOOK_COMPLETE": f"complete_{shell}", **asked}, cwd=island)

    assert "lighthouse" in shown.out


def wait_for(words: str, log: Path) -> None:
    deadline = time.monotonic() + 60
    while words not in log.read_text(encoding="utf-8"):
        assert time.monotonic() < deadline, log.read_text(encoding="utf-8")
        time.sleep(0.05)


@pytest.mark.slow
def test_watch_keeps_up_with_the_files_until_it_is_interrupted(island: Path, tmp_path: Path, capsys: Captured) -> None:
    log = tmp_path / "watch.log"
    with log.open("wb") as target:
        process = start("watch", ".", cwd=island, interrupted=True, stdout=target, stderr=target)
    try:
        wait_for(f"watching {island}", log)
        (island / "seals.md").write_text("# Seals\n\nSeals bark at the harbour pilot.\n", encoding="utf-8")
        wait_for("1 added", log)
        process.send_signal(signal.SIGINT)
        code = process.wait(timeout=60)
    finally:
        process.kill()
        process.wait(timeout=60)

    assert "2 added" in log.read_text(encoding="utf-8")
    assert code == 130
    assert "seals.md" in run(capsys, "search", "harbour pilot", "--files").out


@pytest.mark.slow
def test_watch_goes_on_without_a_folder_that_is_gone_and_follows_a_file_that_editors_replace(
    island: Path, tmp_path: Path
) -> None:
    log, page, gone = tmp_path / "watch.log", tmp_path / "page.md", tmp_path / "gone"
    page.write_text("# One\n", encoding="utf-8")
    gone.mkdir()
    with log.open("ab") as target:
        process = start("watch", island, page, gone, "--library", "sea", interrupted=True, stdout=target, stderr=target)
    try:
        wait_for("watching", log)
        gone.rmdir()
        wait_for("the folder of gone is gone", log)
        for number, told in ((1, "indexed page.md: 1 changed"), (2, "indexed page.md: 1 changed")):
            log.write_bytes(b"")
            page.with_suffix(".tmp").write_text(f"# Number {number}\n", encoding="utf-8")
            page.with_suffix(".tmp").replace(page)
            wait_for(told, log)
        assert process.poll() is None
    finally:
        process.kill()
        process.wait(timeout=60)
