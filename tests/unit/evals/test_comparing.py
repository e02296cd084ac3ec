"""Two runs side by side: paired by question, with intervals that are the same everywhere."""

from __future__ import annotations

import pytest

from openbook.errors import QueryError
from openbook.evals.runs import EvalRun, Figures, QuestionOutcome, compare_runs, interval


def run_of(*figures: Figures, first: int = 0) -> EvalRun:
    outcomes = (
        QuestionOutcome(f"question {number}", refused=False, figures=each) for number, each in enumerate(figures, first)
    )
    return EvalRun("extractive", 10, tuple(outcomes))


def test_runs_are_compared_over_the_questions_that_both_have() -> None:
    before = run_of({"facts": 0.0}, {"facts": 0.0}, {"facts": 1.0})
    now = run_of({"facts": 1.0}, {"facts": 1.0}, {"facts": 0.5}, first=1)

    (change,) = compare_runs(now, before)

    assert (change.name, change.questions, change.before, change.now) == ("facts", 2, 0.5, 1.0)
    assert change.difference == 0.5


def test_figures_that_one_run_does_not_know_are_left_out() -> None:
    before = run_of({"cost_usd": None, "tokens": 5.0}, {"facts": 1.0})
    now = run_of({"cost_usd": 0.1, "tokens": 7.0}, {"confirmed": 1.0})

    assert [change.name for change in compare_runs(now, before)] == ["tokens"]


def test_changes_come_in_the_order_of_the_table() -> None:
    run = run_of({"seconds": 1.0, "file_recall": 1.0})

    assert [change.name for change in compare_runs(run, run)] == ["file_recall", "seconds"]


def test_a_change_of_every_question_is_certain_and_one_of_a_single_question_is_not() -> None:
    before = run_of(*[{"facts": 0.0, "confirmed": 0.0}] * 20)
    now = run_of({"facts": 1.0, "confirmed": 1.0}, *[{"facts": 1.0, "confirmed": 0.0}] * 19)

    certain = {change.name: change.is_certain for change in compare_runs(now, before)}

    assert certain == {"facts": True, "confirmed": False}


@pytest.mark.parametrize(("questions", "is_certain"), [(9, False), (10, True)])
def test_a_few_questions_make_nothing_certain(questions: int, is_certain: bool) -> None:
    (change,) = compare_runs(run_of(*[{"facts": 1.0}] * questions), run_of(*[{"facts": 0.0}] * questions))

    assert change.is_certain is is_certain


def test_runs_without_a_common_question_cannot_be_compared() -> None:
    with pytest.raises(QueryError, match="share no questions"):
        compare_runs(run_of({"facts": 1.0}), run_of({"facts": 1.0}, first=1))


def test_an_interval_is_the_same_each_time_and_holds_the_mean() -> None:
    differences = [0.0, 0.25, 0.5, -0.25, 1.0] * 8

    low, high = interval(differences)

    assert (low, high) == interval(differences)
    assert low < sum(differences) / len(differences) < high
    assert high - low < 0.5


def test_no_change_at_all_has_no_width() -> None:
    assert interval([0.0] * 9) == (0.0, 0.0)
