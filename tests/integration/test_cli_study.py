"""The command that makes study guides."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.support_cli import run
from tests.support import write_tree

Captured = pytest.CaptureFixture[str]
DOUGH = "# Dough\n\nA levain is a piece of dough that is kept. The levain rests for 12 hours in a cool place.\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write_tree(tmp_path / "bread", {"dough.md": DOUGH, "rye/empty.md": "# Rye\n"})
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.slow
def test_a_guide_is_printed_or_written_in_each_format(here: Path, capsys: Captured) -> None:
    shown = run(capsys, "study", "dough.md")
    cards = run(capsys, "study", "dough.md", "--format", "anki", "--output", "cards.txt")
    values = run(capsys, "study", "dough.md", "--format", "json")

    assert (shown.code, cards.code, values.code) == (0, 0, 0)
    assert "- **levain**: A levain is a piece of dough that is kept. [1]" in shown.out
    assert "- [1] dough.md:3" in shown.out
    assert (cards.out, "wrote cards.txt" in cards.err) == ("", True)
    assert (here / "cards.txt").read_text(encoding="utf-8").startswith("#separator:tab\n")
    assert [term["prompt"] for term in json.loads(values.out)["terms"]] == ["levain"]


def test_a_guide_is_not_made_for_a_folder_that_does_not_exist(here: Path, capsys: Captured) -> None:
    outcome = run(capsys, "study", "dough.md", "--output", "gone/guide.md", env={"COLUMNS": "200"})

    assert outcome.code == 2
    assert "there is no folder 'gone'" in outcome.err
    assert run(capsys, "sources").out == ""


@pytest.mark.slow
def test_nothing_to_study_is_said_with_its_exit_code(here: Path, capsys: Captured) -> None:
    outcome = run(capsys, "study", "rye")

    assert outcome.code == 1
    assert "nothing to study was found" in outcome.err
    assert run(capsys, "study", "dough.md", "--format", "pdf").code == 2
