from __future__ import annotations

import json
from pathlib import Path

import pytest

from openbook.cli.agents import AGENTS
from openbook.mcp.clients import CLIENTS
from tests.integration.support_cli import run


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_an_agent_is_told_of_a_folder_and_forgets_it_again(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told = run(capsys, "install", "cursor", tmp_path)
    written = json.loads((tmp_path / ".cursor" / "mcp.json").read_text(encoding="utf-8"))
    forgotten = run(capsys, "uninstall", "cursor")

    assert (told.code, forgotten.code) == (0, 0)
    assert written["mcpServers"]["openbook"]["args"][-2:] == ["mcp", str(tmp_path)]
    assert "deleted" in forgotten.err
    assert not (tmp_path / ".cursor" / "mcp.json").exists()


def test_fields_that_the_entry_had_before_are_named_because_another_person_may_have_written_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    theirs = {"command": "openbook", "args": ["mcp"], "env": {"PYTHONPATH": "."}, "cwd": "."}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"openbook": theirs}}), encoding="utf-8")

    first = run(capsys, "install", "claude", "--dry-run")
    told = [run(capsys, "install", "claude") for _ in range(2)]
    own = run(capsys, "install", "cursor")

    assert all("fields that were there before, cwd, env:" in each.err for each in (first, *told))
    assert "already up to date" in told[1].err
    assert "warning" not in own.err


def test_a_dry_run_prints_the_file_and_writes_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told = run(capsys, "install", "vscode", "--dry-run", "--name", "shop")

    assert list(told.json["servers"]) == ["shop"]
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_agent_is_named_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    told = run(capsys, "install", "emacs")

    assert told.code == 2
    assert "'emacs' is not valid; choose from claude, claude-desktop" in told.err


def test_nothing_to_take_out_is_no_failure(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told = run(capsys, "uninstall", "claude")

    assert told.code == 0
    assert told.err == f"Claude Code does not start openbook: {tmp_path / '.mcp.json'} does not name it\n"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told = run(capsys, "install", "claude", tmp_path / "nowhere")

    assert told.code == 2
    assert "does not exist" in told.err


def test_help_names_every_agent() -> None:
    assert ", ".join(CLIENTS) == AGENTS
