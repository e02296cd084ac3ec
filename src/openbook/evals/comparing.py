"""Whether one run is better than another, or only luckier: paired bootstrap intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from openbook.errors import QueryError
from openbook.evals.metrics import mean
from openbook.evals.runs import METRICS, EvalRun

# Efron and Tibshirani (1993) take 1,000 to 2,000 for the ends of an interval.
RESAMPLES = 2000

# Resampling fewer says little of the questions that were not asked: two that moved alike have no width.
_FEWEST_QUESTIONS = 10

# Any will do, as long as two people who compare the same runs read the same figures.
SEED = 20


@dataclass(frozen=True, slots=True)
class MetricChange:
    """How a metric moved between two runs, over the questions that both know it of."""

    name: str
    questions: int
    before: float
    now: float
    low: float
    """Lower end of the 95 % interval of the difference."""
    high: float

    @property
    def difference(self) -> float:
        """By how much it grew."""
        return self.now - self.before

    @property
    def is_certain(self) -> bool:
        """Whether the interval of ten questions or more leaves out no change at all."""
        return self.questions >= _FEWEST_QUESTIONS and not self.low <= 0 <= self.high


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
    """Return the 95 % bootstrap interval of the mean of paired differences, the same on every machine.

    Example:
        >>> interval([0.5, 0.5])
        (0.5, 0.5)
    """
    import numpy as np

    generator, values = np.random.default_rng(SEED), np.asarray(differences)
    means = [values[generator.integers(0, len(values), len(values))].mean() for _ in range(RESAMPLES)]
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)
