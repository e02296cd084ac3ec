"""`openbook eval`: drafts a question set, or runs one and prints the metrics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from openbook.answering.options import AnswerOptions
from openbook.answering.verifiers import open_verifier
from openbook.cli import printing
from openbook.cli.asking import open_writer
from openbook.cli.opening import settings
from openbook.cli.options import read_text_file
from openbook.evals.drafting import draft
from openbook.evals.questions import EvalQuestion, read_questions
from openbook.evals.running import LibraryFiles, run_questions
from openbook.evals.runs import (
    METRICS,
    RESAMPLES,
    SEED,
    EvalRun,
    Metric,
    MetricChange,
    Threshold,
    compare_runs,
    read_run,
    read_thresholds,
)
from openbook.library import Library
from openbook.sources.formats import own_output
from openbook.text import counted
from openbook.types import SkipReason

# Paths named in one note; the rest are in the set itself.
_MAX_PATHS = 3

# Failed questions to print, with two lines each: about a screen.
_MAX_FAULTS = 20


class EvalCommand:
    """The checked arguments of `openbook eval`."""

    def __init__(
        self, set_file: Path, model: str, verifier: str, fail_under: Sequence[str], against: Path | None
    ) -> None:
        self._writing = AnswerOptions(
            model=open_writer(model),
            verifier=open_verifier(verifier or settings().verifier, settings()),
        )
        try:
            self._thresholds = read_thresholds(fail_under)
        except ValueError as exc:
            raise typer.BadParameter(str(exc), param_hint="--fail-under") from exc
        self._questions = read_questions(read_text_file(set_file, "QUESTIONS.jsonl"), repr(str(set_file)))
        self._before = read_run(read_text_file(against, "--against"), repr(str(against))) if against else None

    def __call__(self, assistant: Library, *, limit: int, as_json: bool) -> bool:
        """Run the questions, print the results, and return whether every threshold was reached."""
        _note_unknown(assistant, self._questions)
        now = run_questions(assistant, self._questions, limit=limit, options=self._writing)
        changes = compare_runs(now, self._before) if self._before else None
        faults = [fault for threshold in self._thresholds if (fault := threshold.fault(now))]
        if as_json:
            printing.print_json(_as_dict(now, changes, self._thresholds, faults))
        else:
            _print_table(now, changes)
            _print_faults(now)
        for fault in faults:
            printing.note(f"failed: {fault}")
        return not faults


def check_draftable(words: Sequence[str]) -> None:
    """Raise an error if a question set is given instead of folders to draft from."""
    for word in words:
        if own_output(Path(word).read_bytes() if Path(word).is_file() else b"") is SkipReason.QUESTION_SET:
            raise typer.BadParameter(f"{word!r} is a question set, and --draft proposes one", param_hint="PATH")


def print_draft(assistant: Library, count: int) -> int:
    """Print proposed questions as JSON lines, and return their number; without any, explain why."""
    questions = draft(assistant, count)
    for question in questions:
        printing.print_json(question.to_dict())
    if not questions:
        printing.advise(
            "nothing to propose: no value, function, task or lesson that could be asked for",
            'write questions yourself, such as {"question": "...", "files": ["a.md"]}',
        )
    return len(questions)


def _note_unknown(assistant: Library, questions: Sequence[EvalQuestion]) -> None:
    unknown = LibraryFiles(assistant).unknown(questions)
    if unknown:
        more = f" and {len(unknown) - _MAX_PATHS} more" if len(unknown) > _MAX_PATHS else ""
        printing.note(f"warning: these paths are not in the library: {', '.join(unknown[:_MAX_PATHS])}{more}")


def _as_dict(
    now: EvalRun, changes: Sequence[MetricChange] | None, thresholds: Sequence[Threshold], faults: Sequence[str]
) -> dict[str, object]:
    printed: dict[str, object] = dict(now.to_dict())
    if changes is not None:
        printed["comparison"] = {
            "resamples": RESAMPLES,
            "seed": SEED,
            "changes": {
                change.name: {
                    "questions": change.questions,
                    "before": change.before,
                    "now": change.now,
                    "difference": change.difference,
                    "interval_95": [change.low, change.high],
                }
                for change in changes
            },
        }
    if thresholds:
        printed["failed"] = list(faults)
    return printed


def _print_table(now: EvalRun, changes: Sequence[MetricChange] | None) -> None:
    asked, found = counted(len(now.outcomes), "question"), counted(now.limit, "result")
    printing.say(f"{asked}, {found} each, model {now.model}")
    rows = [["metric", "mean", "questions", "of"]]
    for metric in METRICS:
        values = now.values(metric.name)
        if values:
            rows.append([metric.name, _figure(metric, now.figure(metric.name)), str(len(values)), metric.meaning])
    _print_rows(rows)
    if changes is None:
        return
    printing.say()
    printing.say(f"Against the earlier run; 95 % intervals from {RESAMPLES} paired resamples, seed {SEED}")
    rows = [["metric", "before", "now", "change", "interval", "questions", ""]]
    by_name = {metric.name: metric for metric in METRICS}
    for change in changes:
        metric = by_name[change.name]
        numbers = [_figure(metric, change.before), _figure(metric, change.now), _signed(metric, change.difference)]
        ends = f"{_signed(metric, change.low)} to {_signed(metric, change.high)}"
        rows.append([metric.name, *numbers, ends, str(change.questions), _verdict(metric, change)])
    _print_rows(rows)


def _print_faults(now: EvalRun) -> None:
    """Print the first failed questions with the reason; JSON contains them all."""
    failed = [outcome for outcome in now.outcomes if outcome.fault]
    if not failed:
        return
    printing.say()
    printing.say(f"Failed ({len(failed)} of {counted(len(now.outcomes), 'question')}):")
    for outcome in failed[:_MAX_FAULTS]:
        printing.say(f"  {printing.one_line(outcome.question)}")
        places = f"; expected {', '.join(outcome.expected[:_MAX_PATHS])}" if outcome.expected else ""
        first = f"; first found {outcome.found[0]}" if outcome.found else ""
        printing.say(printing.one_line(f"      {outcome.fault}{places}{first}"), style={"dim": True})
    if len(failed) > _MAX_FAULTS:
        printing.say(f"  ... and {len(failed) - _MAX_FAULTS} more; --json lists all")


def _print_rows(rows: Sequence[Sequence[str]]) -> None:
    """Print a table with all columns but the first and the last aligned right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    printing.say()
    for first, *middle, last in rows:
        cells = [cell.rjust(width) for cell, width in zip(middle, widths[1:-1], strict=True)]
        printing.say("  ".join((first.ljust(widths[0]), *cells, last)).rstrip())


def _verdict(metric: Metric, change: MetricChange) -> str:
    if not change.is_certain:
        return ""
    return "better" if (change.difference > 0) != metric.less_is_better else "worse"


def _figure(metric: Metric, value: float | None) -> str:
    return "unknown" if value is None else f"{value:.{_digits(metric)}f}"


def _signed(metric: Metric, value: float) -> str:
    return f"{value:+.{_digits(metric)}f}"


def _digits(metric: Metric) -> int:
    return {"tokens": 0, "cost_usd": 5}.get(metric.name, 3)
