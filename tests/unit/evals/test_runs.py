"""Runs as values: means, what is not known, thresholds, and reading what was printed."""

from __future__ import annotations

import json

import pytest

from openbook.errors import QueryError
from openbook.evals.runs import METRICS, EvalRun, QuestionOutcome, read_run, read_thresholds

RUN = EvalRun(
    "extractive",
    10,
    (
        QuestionOutcome(
            "Which port?", refused=False, figures={"file_recall": 1.0, "cost_usd": 0.1, "wrong_refusals": 0.0}
        ),
        QuestionOutcome(
            "Which host?", refused=True, figures={"file_recall": 0.5, "cost_usd": None, "wrong_refusals": 1.0}
        ),
        QuestionOutcome("Who won?", refused=True, figures={"right_refusals": 1.0, "cost_usd": 0.1}),
    ),
)


def test_a_printed_run_is_a_table_of_the_figures_that_apply() -> None:
    first, *lines = str(RUN).splitlines()

    assert first == "extractive: 3 questions, 10 results each"
    assert [line.split()[:2] for line in lines] == [
        ["file_recall", "0.750"],
        ["right_refusals", "1.000"],
        ["wrong_refusals", "0.500"],
        ["cost_usd", "unknown"],
    ]


def test_a_figure_is_the_mean_over_the_questions_that_have_it() -> None:
    assert (RUN.figure("file_recall"), RUN.figure("right_refusals")) == (0.75, 1.0)


def test_a_price_that_is_not_known_of_one_question_is_not_known_of_all() -> None:
    assert RUN.figure("cost_usd") is None


def test_a_metric_that_applies_to_no_question_has_no_figure() -> None:
    assert RUN.figure("facts") is None
    assert RUN.values("facts") == []


def test_a_run_is_read_as_it_was_written() -> None:
    assert read_run(json.dumps(RUN.to_dict())) == RUN


def test_a_figure_that_is_measured_no_more_is_left_out_of_an_old_run() -> None:
    printed = RUN.to_dict()
    printed["questions"][0]["figures"]["supported"] = 1.0

    assert read_run(json.dumps(printed)) == RUN


def test_the_figures_of_all_are_printed_beside_those_of_each() -> None:
    printed = RUN.to_dict()

    assert list(printed["figures"]) == [metric.name for metric in METRICS]
    assert printed["figures"]["file_recall"] == 0.75


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "[]",
        "3",
        "null",
        "{}",
        "[" * 100_000,
        '{"openbook_eval": 1, "model": "m", "limit": 1e999, "questions": []}',
    ],
    ids=["empty", "no-json", "a-list", "a-number", "null", "another-object", "deep", "endless"],
)
def test_what_is_no_run_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match=r"'run\.json' is not a run"):
        read_run(text, "'run.json'")


def test_a_run_with_a_figure_that_is_no_number_is_refused() -> None:
    text = json.dumps(RUN.to_dict()).replace('"file_recall": 0.5', '"file_recall": NaN')

    with pytest.raises(QueryError, match="is not a run"):
        read_run(text)


def test_a_run_of_another_version_is_refused() -> None:
    text = json.dumps(RUN.to_dict() | {"openbook_eval": 2})

    with pytest.raises(QueryError, match="another version"):
        read_run(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param("file_recall=0.75", "", id="reached"),
        pytest.param("file_recall=0.8", "file_recall is 0.75, below 0.8", id="below"),
        pytest.param("wrong_refusals=0.5", "", id="not-exceeded"),
        pytest.param("wrong_refusals=0.1", "wrong_refusals is 0.5, above 0.1", id="above-where-less-is-better"),
        pytest.param("cost_usd=9", "cost_usd is not known", id="unknown"),
        pytest.param("facts=0.1", "facts applies to no question", id="does-not-apply"),
    ],
)
def test_a_threshold_says_how_a_run_fails(text: str, fault: str) -> None:
    (threshold,) = read_thresholds([text])

    assert threshold.fault(RUN) == fault


def test_an_unknown_metric_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"'ndcg' is not a metric; metrics are file_recall, file_ndcg, .*, seconds$"):
        read_thresholds(["ndcg=1"])


@pytest.mark.parametrize("text", ["facts", "facts=", "facts=high", "facts=nan", "facts=inf"])
def test_a_threshold_without_a_number_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=f"'{text}' is not of the form METRIC=VALUE"):
        read_thresholds([text])
