"""Each condition and pattern is forced in the questions in which that can matter."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

_PAGE = "# Mooring\n\nA harbour moors ships.\n\n## What is a bollard?\n\nA bollard is a post that a ship is tied to.\n"
_ASKED = "What is a bollard?"
_MODULES = ("questions.definitions", "retrieval.excerpts")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    folder = tmp_path_factory.mktemp("measured")
    (folder / "checkouts" / "harbour").mkdir(parents=True)
    (folder / "checkouts" / "harbour" / "README.md").write_text(_PAGE, encoding="utf-8")
    gold = [{"path": "README.md", "lines": [7, 7]}]
    item = {"repo": "sea/harbour", "question": _ASKED, "type": "definition", "answerable": True, "gold": gold}
    (folder / "real-questions").mkdir()
    (folder / "real-questions" / "questions.jsonl").write_text(json.dumps(item) + "\n", encoding="utf-8")
    arguments = ("--data", folder, "--checkouts", folder / "checkouts", "--home", folder / "home")
    command = (sys.executable, "-m", "benchmarks.conditions", *arguments, "--all", "--modules", *_MODULES)
    root = Path(__file__).parents[3]
    printed = subprocess.run(
        list(map(str, command)), cwd=root, check=True, capture_output=True, encoding="utf-8"
    ).stdout
    return [[cell.strip() for cell in line.split(" | ")] for line in printed.splitlines()[2:]]


def _shares(rows: list[list[str]], prefix: str) -> set[tuple[str, ...]]:
    """Return in how many questions something matters, how many asked again, changed and were right only without."""
    return {tuple(row[3:7]) for row in rows if row[1].startswith(prefix)}


def test_a_pattern_that_an_answer_needs_changes_it(rows: list[list[str]]) -> None:
    assert ("1", "1", "1", "+1") in _shares(rows, "`re.compile(")


def test_a_condition_that_an_answer_needs_changes_it(rows: list[list[str]]) -> None:
    assert ("1", "1", "1", "+1") in _shares([row for row in rows if "re.compile" not in row[1]], "`")


def test_a_condition_that_changes_nothing_is_the_same(rows: list[list[str]]) -> None:
    assert {row[-1] for row in rows if row[3:6] == ["1", "1", "0"]} == {"same |"}


def test_a_condition_that_never_has_another_value_asks_nothing_again(rows: list[list[str]]) -> None:
    assert {(*row[4:6], row[-1]) for row in rows if row[3] == "0"} == {("0", "0", "never |")}
