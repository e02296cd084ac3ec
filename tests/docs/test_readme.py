"""The conversation that the README opens with is a real one."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from openbook.cli import main

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_answer_in_the_readme_is_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    monkeypatch.chdir(tmp_path)
    block = re.search(
        r"^    \$ openbook (.+)\n((?:    .*\n|\n)+)", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE
    )
    assert block is not None

    assert main(shlex.split(block[1])) == 0

    expected = "".join(line.removeprefix("    ") for line in block[2].splitlines(keepends=True))
    assert capsys.readouterr().out.strip() == expected.strip()


@pytest.mark.slow
def test_the_question_to_try_is_not_answered_by_the_readme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    question = re.search(r'^    make ask Q="(.+)"$', readme, re.MULTILINE)
    assert question is not None
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "README.md", tmp_path)
    monkeypatch.chdir(tmp_path)

    assert main(["ask", "--", question[1], "."]) == 0

    first = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("  [1] "))
    assert "docs/server.md" in first
