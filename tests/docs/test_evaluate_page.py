"""The example in `docs/evaluate.md` is run again, in the same folder."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.integration.support_cli import Outcome, copy_sample, run

Captured = pytest.CaptureFixture[str]

PAGE = (Path(__file__).parents[2] / "docs" / "evaluate.md").read_text("utf-8")
SET = "".join(f"{line}\n" for line in re.findall(r'^    (\{"question": .*\})$', PAGE, re.MULTILINE))
SESSION = re.search(r"^    \$ openbook (?P<line>eval .*)\n(?P<printed>(?:    .*\n|\n)+)", PAGE, re.MULTILINE)
COMPARED = re.findall(r"^    openbook (eval .*before\.json)$", PAGE, re.MULTILINE)
CHECKED = re.findall(r"^    openbook (eval .*--fail-under .*)$", PAGE, re.MULTILINE)


@pytest.fixture
def harbour(tmp_path: Path) -> Path:
    root = copy_sample(tmp_path)
    (root / "questions.jsonl").write_text(SET, "utf-8")
    return root


def typed(capsys: Captured, line: str, folder: Path) -> Outcome:
    """Run a line of the page like a shell, including `>`."""
    command, _, target = line.partition(" > ")
    outcome = run(capsys, *shlex.split(command), cwd=folder)
    if target:
        (folder / target).write_text(outcome.out, "utf-8")
    return outcome


def without_seconds(table: str) -> str:
    return re.sub(r"^(seconds +)\S+", r"\1-", re.sub("^    ", "", table, flags=re.MULTILINE), flags=re.MULTILINE)


@pytest.mark.slow
def test_the_table_of_the_page_is_what_its_command_prints(harbour: Path, capsys: Captured) -> None:
    assert SESSION is not None

    outcome = typed(capsys, SESSION["line"], harbour)

    printed = without_seconds(outcome.out)
    assert printed.strip() == without_seconds(SESSION["printed"]).strip(), f"the page should show:\n{outcome.out}"
    assert "questions.jsonl: not indexed: question set\n" in outcome.err


@pytest.mark.slow
def test_a_run_and_a_saved_answer_in_the_folder_change_no_figure(harbour: Path, capsys: Captured) -> None:
    before, against = COMPARED

    typed(capsys, before, harbour)
    typed(capsys, "ask 'Which port does the server listen on?' --json > answer.json", harbour)
    compared = typed(capsys, f"{against} --json", harbour)

    changes = compared.json["comparison"]["changes"]
    assert len(changes) > 10
    assert {name for name, change in changes.items() if change["before"] != change["now"]} <= {"seconds"}
    assert "answer.json: not indexed: answer of openbook ask\n" in compared.err
    assert "added" not in compared.err


@pytest.mark.slow
def test_the_check_of_the_page_passes_on_the_sample(harbour: Path, capsys: Captured) -> None:
    (line,) = CHECKED

    outcome = typed(capsys, line, harbour)

    assert outcome.code == 0, outcome.err
