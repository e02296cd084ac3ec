"""What tells questions on the subject of a library that it does not answer from those that it does.

    python -m benchmarks.same_subject --data DATA --checkouts FOLDER --home FOLDER

`cases/same_subject.jsonl` has 20 questions to each of six repositories, half of which these answer, written before any
was asked; three were looked at, three are of `set` "kept". Questions of real-questions are added, and the yes-or-no
questions of `benchmarks.answers`. Libraries are made in `--home` as `benchmarks.answers` makes them.

The odds are those without `unnamed`; then those with it, weighted without the project that is asked, at the threshold
that refuses four in a hundred answerable questions of the others; then those in force.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.answers import YES_NO, read_questions
from benchmarks.ours import folder_library_at, signs_and_odds
from openbook.answering.answerability import _WEIGHTS, ANSWERABLE_FLOOR

CASES = Path(__file__).parent / "cases" / "same_subject.jsonl"
_WRONGLY_REFUSED = 0.04
_RIDGE, _STEPS = 1.0, 30


@dataclass(frozen=True, slots=True)
class Measured:
    """A question, the odds without the sign that is tried, that sign, and the odds in force."""

    group: str
    project: str
    is_answerable: bool
    odds: float
    sign: float
    in_force: float


def measure(data: Path, checkouts: Path, home: Path) -> Iterator[Measured]:
    """Ask each repository its questions."""
    lines = [json.loads(line) for file in (YES_NO, CASES) for line in file.read_text(encoding="utf-8").splitlines()]
    asked = [("real", each.project, each.text, each.is_answerable) for each in read_questions(data)]
    asked += [
        (one.get("set", "real"), one["repo"].rpartition("/")[2], one["question"], one.get("answerable", True))
        for one in lines
    ]
    for project in sorted({each[1] for each in asked if (checkouts / each[1]).is_dir()}):
        with folder_library_at(checkouts / project, home / project) as finder:
            for group, _, text, is_answerable in (each for each in asked if each[1] == project):
                signs, odds = signs_and_odds(finder, text)
                yield Measured(group, project, is_answerable, odds - _WEIGHTS[-1] * signs[-1], signs[-1], odds)


def fitted(some: list[Measured], *, with_sign: bool) -> np.ndarray:
    """Return bias, weight of the odds and of the sign, by logistic regression; groups and answers count the same."""
    rows = np.array([[1.0, one.odds, one.sign * with_sign] for one in some])
    answers = np.array([float(one.is_answerable) for one in some])
    kinds = [(one.group == "real", one.is_answerable) for one in some]
    counts = np.array([100 / kinds.count(kind) for kind in kinds])
    found, ridge = np.zeros(3), np.diag([0.0, _RIDGE, _RIDGE])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (counts * (likely - answers)) + ridge @ found
        found -= np.linalg.solve((rows.T * (counts * likely * (1 - likely))) @ rows + ridge, slope)
    return found


def left_out(measured: list[Measured], *, with_sign: bool) -> list[float]:
    """Return how far each question is above the threshold, by weights and a threshold from all other projects."""
    above: dict[str, tuple[np.ndarray, float]] = {}
    for project in {one.project for one in measured}:
        others = [one for one in measured if one.project != project]
        found = fitted(others, with_sign=with_sign)
        odds = sorted(_odds(one, found) for one in others if one.is_answerable)
        above[project] = found, odds[int(_WRONGLY_REFUSED * len(odds))]
    return [_odds(one, above[one.project][0]) - above[one.project][1] for one in measured]


def _odds(one: Measured, weights: np.ndarray) -> float:
    return float(weights @ [1.0, one.odds, one.sign])


def main() -> None:
    """Print the table and the weight."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with real-questions")
    parser.add_argument("--checkouts", type=Path, required=True, help="folder with checkouts of the repositories")
    parser.add_argument("--home", type=Path, required=True, help="where the libraries are kept")
    asked = parser.parse_args()
    measured = list(measure(asked.data, asked.checkouts, asked.home))
    columns = {
        "odds before, left out": left_out(measured, with_sign=False),
        "with `unnamed`, left out": left_out(measured, with_sign=True),
        "in force": [one.in_force - ANSWERABLE_FLOOR for one in measured],
    }
    print("| odds | questions | answerable refused | unanswerable refused | AUC |\n|---|---|---|---|---|")
    for name, above in columns.items():
        for group in dict.fromkeys(one.group for one in measured):
            own, foreign = (
                np.array([value for one, value in zip(measured, above, strict=True)
                          if one.group == group and one.is_answerable is is_answerable])
                for is_answerable in (True, False)
            )  # fmt: skip
            auc = np.mean(own[:, None] > foreign[None, :])
            shares = f"{np.mean(own < 0):.3f} of {len(own)} | {np.mean(foreign < 0):.3f} of {len(foreign)}"
            print(f"| {name} | {group} | {shares} | {auc:.3f} |")
    found = fitted(measured, with_sign=True)
    print(f"\nWeight of `unnamed` beside odds of weight 1: {found[2] / found[1]:.2f}")


if __name__ == "__main__":
    main()
