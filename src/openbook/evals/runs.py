"""Evaluation runs: their metrics, and whether one run is significantly better than another."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from openbook.errors import QueryError
from openbook.evals.metrics import mean
from openbook.text import counted

_FORMAT = 1
_HOW_TO_RUN = "make one with: openbook eval QUESTIONS.jsonl --json > RUN.json"


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of a question. For a run, it is the mean over the questions it applies to."""

    name: str
    meaning: str
    less_is_better: bool = False


METRICS = (
    Metric("file_recall", "expected files among the results"),
    Metric("file_ndcg", "NDCG of the expected files among the results"),
    Metric("line_recall", "expected lines that some result shows"),
    Metric("line_ndcg", "NDCG of the expected lines among the results"),
    Metric("citation_precision", "cited lines that are expected"),
    Metric("citation_recall", "expected lines that are cited"),
    Metric("confirmed", "decided claims of the answer that are exact or confirmed"),
    Metric("conflicts", "claims of the answer in conflict with what they cite", less_is_better=True),
    Metric("facts", "expected facts that stand in the answer"),
    Metric("right_refusals", "unanswerable questions that were refused"),
    Metric("wrong_refusals", "answerable questions that were refused", less_is_better=True),
    Metric("tokens", "tokens read and written", less_is_better=True),
    Metric("cost_usd", "price in US dollars", less_is_better=True),
    Metric("seconds", "time to retrieve and answer", less_is_better=True),
)
"""In the order of the table."""

_BY_NAME = {metric.name: metric for metric in METRICS}

Figures = Mapping[str, float | None]
"""By metric name. Missing: does not apply. None: unknown, as prices can be."""


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """The outcome of one question."""

    question: str
    refused: bool
    figures: Figures
    fault: str = ""
    """What is wrong with the answer, such as `found at 4, not cited`; empty if nothing is wrong or expected."""
    expected: tuple[str, ...] = ()
    """Places with the answer, as `path:start-end`; after `source/` if the library has several sources."""
    found: tuple[str, ...] = ()
    """The first places found, in the same format."""


@dataclass(frozen=True, slots=True)
class EvalRun:
    """The outcomes of a question set."""

    model: str
    limit: int
    """Number of results requested per question."""
    outcomes: tuple[QuestionOutcome, ...]
    """In the order of the questions."""

    def values(self, name: str) -> list[float | None]:
        """Return the values of a metric for the questions it applies to."""
        return [outcome.figures[name] for outcome in self.outcomes if name in outcome.figures]

    def figure(self, name: str) -> float | None:
        """Return the mean of a metric; None if it applies to no question or is unknown for one."""
        values = self.values(name)
        known = [value for value in values if value is not None]
        return mean(known) if known and len(known) == len(values) else None

    def __str__(self) -> str:
        """Return the metrics that apply, one per line."""
        lines = [f"{self.model}: {counted(len(self.outcomes), 'question')}, {counted(self.limit, 'result')} each"]
        for metric in METRICS:
            if self.values(metric.name):
                figure = self.figure(metric.name)
                shown = "unknown" if figure is None else f"{figure:.3f}"
                lines.append(f"{metric.name:18} {shown:>9}  {metric.meaning}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the run as JSON values in the format of `read_run`."""
        return {
            "openbook_eval": _FORMAT,
            "model": self.model,
            "limit": self.limit,
            "figures": {metric.name: self.figure(metric.name) for metric in METRICS},
            "questions": [
                {
                    "question": outcome.question,
                    "refused": outcome.refused,
                    "figures": dict(outcome.figures),
                    "fault": outcome.fault,
                    "expected": list(outcome.expected),
                    "found": list(outcome.found),
                }
                for outcome in self.outcomes
            ],
        }


def read_run(text: str, name: str = "the run") -> EvalRun:
    """Parse the output of `openbook eval --json`.

    Raises:
        QueryError: The text is something else.
    """
    try:
        entry = json.loads(text)
        outcomes = tuple(
            QuestionOutcome(
                str(one["question"]), bool(one["refused"]), _figures(one["figures"]), str(one.get("fault", ""))
            )
            for one in entry["questions"]
        )
        run, version = EvalRun(str(entry["model"]), int(entry["limit"]), outcomes), entry["openbook_eval"]
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as exc:
        raise QueryError(f"{name} is not a run", hint=_HOW_TO_RUN) from exc
    if version != _FORMAT:
        raise QueryError(f"{name} was printed by another version", hint=_HOW_TO_RUN)
    return run


def _figures(entry: Mapping[str, Any]) -> Figures:
    return {name: None if value is None else _finite(value) for name, value in entry.items() if name in _BY_NAME}


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{number} is not a number")
    return number


@dataclass(frozen=True, slots=True)
class Threshold:
    """A bound for a metric: a minimum or, for metrics where less is better, a maximum."""

    metric: Metric
    value: float

    def fault(self, run: EvalRun) -> str:
        """Return how a run fails the threshold; empty if it passes. An unknown value fails."""
        name, figure = self.metric.name, run.figure(self.metric.name)
        if figure is None:
            return f"{name} is not known" if run.values(name) else f"{name} applies to no question"
        if self.metric.less_is_better:
            return f"{name} is {figure:.4g}, above {self.value:.4g}" if figure > self.value else ""
        return f"{name} is {figure:.4g}, below {self.value:.4g}" if figure < self.value else ""


def read_thresholds(texts: Sequence[str]) -> list[Threshold]:
    """Parse thresholds of the form `METRIC=VALUE`.

    Raises:
        ValueError: The form is wrong or the metric is unknown.

    Example:
        >>> read_thresholds(["file_recall=0.8"])[0].value
        0.8
    """
    thresholds = []
    for text in texts:
        name, _, number = text.partition("=")
        metric = _BY_NAME.get(name.strip())
        if metric is None:
            raise ValueError(f"{name.strip()!r} is not a metric; metrics are {', '.join(_BY_NAME)}")
        try:
            thresholds.append(Threshold(metric, _finite(number)))
        except ValueError as exc:
            raise ValueError(f"{text!r} is not of the form METRIC=VALUE") from exc
    return thresholds


# Efron and Tibshirani (1993) use 1,000 to 2,000 for the bounds of an interval.
RESAMPLES = 2000

# With fewer questions, resampling says little about the population: two equal differences give an interval of width 0.
_MIN_QUESTIONS = 10

# Fixed, so that everyone who compares the same runs gets the same interval.
SEED = 20


@dataclass(frozen=True, slots=True)
class MetricChange:
    """The change of a metric between two runs, over the questions that both have a value for."""

    name: str
    questions: int
    before: float
    now: float
    low: float
    """Lower bound of the 95 % confidence interval of the difference."""
    high: float

    @property
    def difference(self) -> float:
        """The new mean minus the old one."""
        return self.now - self.before

    @property
    def is_certain(self) -> bool:
        """Whether the change is significant: at least ten questions, and an interval that excludes 0."""
        return self.questions >= _MIN_QUESTIONS and not self.low <= 0 <= self.high


def compare_runs(run: EvalRun, before: EvalRun) -> list[MetricChange]:
    """Compare two runs question by question, in the order of the table.

    Metrics that no question has in both runs are left out.

    Raises:
        QueryError: The runs have no question in common.
    """
    earlier = {outcome.question: outcome.figures for outcome in before.outcomes}
    pairs = [(outcome.figures, earlier[outcome.question]) for outcome in run.outcomes if outcome.question in earlier]
    if not pairs:
        raise QueryError("the two runs share no questions", hint="compare runs of one question set")
    changes = []
    for metric in METRICS:
        both = [
            (now, old)
            for new_figures, old_figures in pairs
            if (now := new_figures.get(metric.name)) is not None and (old := old_figures.get(metric.name)) is not None
        ]
        if both:
            low, high = interval([now - old for now, old in both])
            before_mean, now_mean = mean([old for _, old in both]), mean([now for now, _ in both])
            changes.append(MetricChange(metric.name, len(both), before_mean, now_mean, low, high))
    return changes


def interval(differences: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean of paired differences. Deterministic.

    Example:
        >>> interval([0.5, 0.5])
        (0.5, 0.5)
    """
    import numpy as np

    generator, values = np.random.default_rng(SEED), np.asarray(differences)
    means = [values[generator.integers(0, len(values), len(values))].mean() for _ in range(RESAMPLES)]
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)
