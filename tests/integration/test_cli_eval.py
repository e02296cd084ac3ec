"""`openbook eval`, as a team uses it: draft, edit, measure, compare, fail."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.integration.support_cli import assert_fails_clearly, copy_sample, environment, run, run_alone

Captured = pytest.CaptureFixture[str]

QUESTIONS: list[dict[str, Any]] = [
    {"question": "Which port does the server listen on?", "files": ["README.md"], "facts": ["port 8420"]},
    {"question": "May I send a dog?", "lines": ["docs/faq.md:3-3"], "facts": ["with a person"]},
    {"question": "Who painted the Mona Lisa?", "unanswerable": True},
]


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = copy_sample(tmp_path)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "questions.jsonl", *map(json.dumps, QUESTIONS))


def write_lines(file: Path, *lines: str) -> Path:
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return file


def keep(file: Path, text: str) -> Path:
    file.write_text(text, encoding="utf-8")
    return file


def test_the_table_has_a_line_for_each_metric_that_applies(sample: Path, questions: Path, capsys: Captured) -> None:
    outcome = run(capsys, "eval", questions)

    rows = {line.split()[0]: line.split()[1:3] for line in outcome.out.splitlines()[3:]}
    assert outcome.code == 0
    assert outcome.out.startswith("3 questions, 10 results each, model extractive\n")
    assert "Failed" not in outcome.out
    assert rows["file_recall"] == ["1.000", "2"]
    assert rows["facts"] == ["1.000", "2"]
    assert rows["right_refusals"] == ["1.000", "1"]
    assert rows["wrong_refusals"] == ["0.000", "2"]
    assert list(rows)[-3:] == ["tokens", "cost_usd", "seconds"]


@pytest.mark.slow
def test_questions_that_failed_are_listed_with_what_was_expected(
    sample: Path, tmp_path: Path, capsys: Captured
) -> None:
    wrong = [{"question": f"Which port does the server {n} listen on?", "facts": [f"pier {n}"]} for n in range(22)]
    lost = {"question": "May I send a dog?", "files": ["gone.md"]}

    outcome = run(capsys, "eval", write_lines(tmp_path / "q.jsonl", *map(json.dumps, [lost, *wrong])))
    listed = run(capsys, "eval", tmp_path / "q.jsonl", "--json").json["questions"]

    assert "\nFailed (23 of 23 questions):\n  May I send a dog?\n" in outcome.out
    assert "      not among the first 10 results; expected gone.md; first found docs/faq.md:" in outcome.out
    assert outcome.out.endswith("  ... and 3 more; --json lists all\n")
    assert [each["fault"] for each in listed[1:3]] == ["does not say 'pier 0'", "does not say 'pier 1'"]


@pytest.mark.slow
def test_json_is_a_run_that_a_later_one_is_compared_with(
    sample: Path, questions: Path, tmp_path: Path, capsys: Captured
) -> None:
    before = keep(tmp_path / "run.json", run(capsys, "eval", questions, "--json").out)

    table = run(capsys, "eval", questions, "--against", before)
    compared = run(capsys, "eval", questions, "--against", before, "--json").json

    assert "Against the earlier run; 95 % intervals from 2000 paired resamples, seed 20" in table.out
    changes = compared["comparison"]["changes"]
    assert changes["facts"] == {
        "questions": 2, "before": 1.0, "now": 1.0, "difference": 0.0, "interval_95": [0.0, 0.0],
    }  # fmt: skip
    assert [question["refused"] for question in compared["questions"]] == [False, False, True]


@pytest.mark.slow
def test_a_change_for_the_better_is_called_so(sample: Path, tmp_path: Path, capsys: Captured) -> None:
    lines = [json.dumps(QUESTIONS[0] | {"question": f"Which port does server {n} listen on?"}) for n in range(10)]
    questions = write_lines(tmp_path / "questions.jsonl", *lines)
    printed = run(capsys, "eval", questions, "--json").out
    worse = keep(tmp_path / "worse.json", printed.replace('"facts": 1.0', '"facts": 0.0'))
    dearer = keep(tmp_path / "dearer.json", printed.replace('"tokens": 0.0', '"tokens": -5.0'))

    better = run(capsys, "eval", questions, "--against", worse).out
    more_tokens = run(capsys, "eval", questions, "--against", dearer).out

    assert [line.split()[-1] for line in better.splitlines() if "+1.000 to" in line] == ["better"]
    assert [line.split()[-1] for line in more_tokens.splitlines() if "+5 to +5" in line] == ["worse"]


@pytest.mark.slow
def test_a_run_below_a_threshold_ends_with_exit_code_1(sample: Path, questions: Path, capsys: Captured) -> None:
    passed = run(capsys, "eval", questions, "--fail-under", "facts=1", "--fail-under", "wrong_refusals=0")
    failed = run(capsys, "eval", questions, "--fail-under", "facts=1.1", "--fail-under", "seconds=-1", "--json")

    assert passed.code == 0
    assert failed.code == 1
    assert "failed: facts is 1, below 1.1\nfailed: seconds is " in failed.err
    assert len(failed.json["failed"]) == 2


@pytest.mark.slow
def test_a_draft_can_be_measured_as_it_is(sample: Path, tmp_path: Path, capsys: Captured) -> None:
    drafted = run(capsys, "eval", "--draft", "--count", "9")
    questions = keep(tmp_path / "draft.jsonl", drafted.out)

    outcome = run(capsys, "eval", questions, "--json")

    assert drafted.code == outcome.code == 0
    assert len(drafted.lines) == len(outcome.json["questions"]) == 9
    assert outcome.json["figures"]["file_recall"] == 1.0


@pytest.mark.slow
def test_the_draft_that_the_help_shows_can_be_made(sample: Path, capsys: Captured) -> None:
    (sample / "harbour").rename(sample / "src")
    _, _, examples = run(capsys, "eval", "--help").out.partition("Examples:\n")
    (shown,) = (line.split() for line in examples.splitlines() if "--draft" in line)

    drafted = run(capsys, *shown[1:])

    assert drafted.code == 0
    assert 1 <= len(drafted.lines) <= int(shown[-1])


def test_a_draft_is_made_of_the_folders_that_are_named(sample: Path, capsys: Captured) -> None:
    drafted = run(capsys, "eval", "--draft", "harbour", "--count", "1")

    assert [line["lines"][0].partition(":")[0] for line in drafted.lines] == ["ferries.py"]


@pytest.mark.slow
def test_a_named_library_is_measured_with_all_its_sources(sample: Path, tmp_path: Path, capsys: Captured) -> None:
    line = json.dumps({"question": "May I send a dog?", "lines": ["docs/faq.md:3-3"]})
    run(capsys, "add", "docs", "harbour", "--library", "quay")

    outcome = run(capsys, "eval", write_lines(tmp_path / "q.jsonl", line), "--library", "quay", "--json")

    assert outcome.json["figures"]["line_recall"] == 1.0


@pytest.mark.slow
def test_paths_that_are_not_in_the_library_are_told(sample: Path, tmp_path: Path, capsys: Captured) -> None:
    files = [f"gone-{number}.md" for number in range(5)]
    line = json.dumps({"question": "May I send a dog?", "files": files})

    outcome = run(capsys, "eval", write_lines(tmp_path / "q.jsonl", line))

    assert "warning: these paths are not in the library: gone-0.md, gone-1.md, gone-2.md and 2 more\n" in outcome.err


@pytest.mark.slow
def test_every_bad_line_of_a_set_is_named_before_anything_is_indexed(
    sample: Path, tmp_path: Path, capsys: Captured
) -> None:
    questions = write_lines(tmp_path / "q.jsonl", "port", '{"question": "Which port?"}', '{"question": "?"}')

    outcome = run(capsys, "eval", questions)

    assert_fails_clearly(outcome, 2, f"{str(questions)!r} cannot be used: line 1: not JSON; line 3: the question '?'")
    assert run(capsys, "sources").out == ""


@pytest.mark.parametrize("content", ["", "\n"])
def test_an_empty_set_is_wrong_usage(sample: Path, tmp_path: Path, capsys: Captured, content: str) -> None:
    outcome = run(capsys, "eval", keep(tmp_path / "q.jsonl", content))

    assert_fails_clearly(outcome, 2, "contains no questions")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param([], "name a question set", id="no-set"),
        pytest.param(["missing.jsonl"], "cannot read 'missing.jsonl'", id="missing-set"),
        pytest.param(["SET", "--model", "gpt"], "unknown provider 'gpt'", id="model"),
        pytest.param(["SET", "--fail-under", "ndcg=1"], "'ndcg' is not a metric; metrics are file_recall", id="metric"),
        pytest.param(["SET", "--fail-under", "facts"], "is not of the form METRIC=VALUE", id="no-value"),
        pytest.param(["SET", "--against", "missing.json"], "cannot read 'missing.json'", id="missing-run"),
        pytest.param(["SET", "--against", "README.md"], "'README.md' is not a run", id="no-run"),
        pytest.param(["SET", "missing"], "cannot read 'missing': does not exist", id="missing-folder"),
        pytest.param(["--draft", "--count", "0"], "--count", id="count-of-none"),
        pytest.param(["SET", "--draft", "docs"], "is a question set, and --draft proposes one", id="draft-of-a-set"),
    ],
)
def test_what_cannot_be_done_is_wrong_usage(
    sample: Path, questions: Path, capsys: Captured, arguments: list[str], words: str
) -> None:
    outcome = run(capsys, "eval", *[str(questions) if word == "SET" else word for word in arguments])

    assert_fails_clearly(outcome, 2, words)


def test_an_empty_folder_has_nothing_to_draft_from(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "empty").mkdir()

    outcome = run(capsys, "eval", "--draft", tmp_path / "empty")

    assert (outcome.code, outcome.out) == (1, "")


def test_a_folder_of_short_sections_says_why_nothing_is_proposed(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "a.md").write_text("# Ports\n\nIt is 8420.\n", encoding="utf-8")

    outcome = run(capsys, "eval", "--draft", tmp_path)

    assert (outcome.code, outcome.out) == (1, "")
    assert "nothing to propose: no value, function, task or lesson that could be asked for\n" in outcome.err
    assert "hint: write questions yourself" in outcome.err


@pytest.mark.slow
def test_one_question_and_one_result_are_not_many(sample: Path, tmp_path: Path, capsys: Captured) -> None:
    questions = write_lines(tmp_path / "q.jsonl", '{"question": "May I send a dog?"}')

    outcome = run(capsys, "eval", questions, "--limit", "1")

    assert outcome.out.startswith("1 question, 1 result each, model extractive\n")


@pytest.mark.slow
def test_the_command_runs_in_a_process_of_its_own(sample: Path, questions: Path) -> None:
    outcome = run_alone("eval", questions, cwd=sample)

    assert outcome.code == 0, outcome.err
    assert "file_recall" in outcome.out


@pytest.mark.slow
def test_help_does_not_load_what_measures() -> None:
    script = (
        "import sys; from openbook.cli import main; main(['eval', '--help']); print('openbook.evals' in sys.modules)"
    )

    printed = subprocess.run(
        [sys.executable, "-c", script], env=environment(), capture_output=True, check=True, encoding="utf-8"
    )

    assert printed.stdout.startswith("Usage: openbook eval")
    assert printed.stdout.endswith("False\n")
