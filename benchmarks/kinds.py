"""How often the kind of a question is told: for a whole, small talk, arithmetic, or something specific.

    python -m benchmarks.kinds [--data DATA] [--write]

`cases/question_kinds.jsonl` has questions in English, German, French and Spanish on some seventy projects and courses,
real and invented, by three people who saw neither the rules nor the model. Those of `set` "last" were written
in wordings that the first do not have, and are only measured. `cases/question_kinds_named.jsonl` has questions that
name the project that they ask of, and are read with "this project" in its place, as answering reads them; eight
projects in other wordings are only measured. Our questions and topics on repositories are added, all of them specific.
Training has each question without its mark as well. `--data` names a folder with `real-questions`, all of which are
specific. Prints the shares by leaving out a quarter of the projects in turn, then those of the last sets; `--write`
trains on all others and writes `openbook/questions/kinds.json`.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import openbook.questions
from benchmarks.works import read_json
from openbook.questions.kinds import MIN_SHARE, Kind, without_names
from openbook.questions.linear_model import MAX_UNKNOWN, UNKNOWN_SHARE, features

CASES = Path(__file__).parent / "cases" / "question_kinds.jsonl"
NAMED = CASES.with_name("question_kinds_named.jsonl")
OVERVIEW = CASES.parent.with_name("overview.json")
MODEL = Path(openbook.questions.__file__).with_name("kinds.json")

KINDS: tuple[Kind, ...] = ("whole", "small talk", "arithmetic", "specific")
_FOLDS = 4
# A word that one question has tells nothing of others.
_MIN_COUNT = 2
_RIDGE, _STEPS, _POWERS = 0.3, 400, 40

Case = dict[str, Any]


class Trained:
    """A softmax regression over the features of questions."""

    def __init__(
        self,
        cases: Sequence[Case],
        kinds: Sequence[str] = KINDS,
        names: Sequence[str] | None = None,
        ridge: float = _RIDGE,
    ) -> None:
        """Train by gradient steps with momentum, from zero: the same cases give the same weights.

        Args:
            cases: Questions with their `kind`, and a `weight` of at most 1 if it is another.
            kinds: All kinds, in the order of the scores.
            names: The features to weigh; by default those of `vocabulary`.
            ridge: How much large weights cost.
        """
        self.names = vocabulary(cases) if names is None else names
        self._place = {name: n for n, name in enumerate(self.names)}
        rows = self._rows(cases)
        wanted = np.array([[case["kind"] == kind for kind in kinds] for case in cases], float)
        weight = np.array([[case.get("weight", 1.0)] for case in cases])
        self.weights = np.zeros((len(self.names) + 1, len(kinds)))
        ahead, before = self.weights, self.weights
        step = 2.0 / (rows.steepest() + 2 * ridge)
        slopes = ridge * np.append(np.ones(len(self.names)), 0.0)[:, None]
        for n in range(_STEPS):
            slope = rows.back(weight * (_softmax(rows.times(ahead)) - wanted)) + slopes * ahead
            before, self.weights = self.weights, ahead - step * slope
            ahead = self.weights + n / (n + 3) * (self.weights - before)

    def scores(self, cases: Sequence[Case]) -> np.ndarray:
        """Return a row of scores for each case, one for each kind."""
        return self._rows(cases).times(self.weights)

    def kinds_of(self, cases: Sequence[Case]) -> list[str]:
        """Return the kind of each as `kind_of` does."""
        found = [features(case["question"], self._place.keys()) for case in cases]
        strange = [each.get(UNKNOWN_SHARE, 1.0) > MAX_UNKNOWN for each in found]
        best = [(KINDS[int(row.argmax())], row.max()) for row in _softmax(self.scores(cases))]
        return [
            kind if odds > MIN_SHARE[kind] and not is_strange else "specific"
            for (kind, odds), is_strange in zip(best, strange, strict=True)
        ]

    def write(self, path: Path) -> None:
        """Write weights in hundredths."""
        rows = dict(zip(self.names, hundredths(self.weights[:-1]), strict=True))
        model = {"names": KINDS, "bias": hundredths(self.weights[-1:])[0], "weights": rows}
        path.write_text(json.dumps(model, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")

    def _rows(self, cases: Sequence[Case]) -> _Rows:
        cells = []
        for row, case in enumerate(cases):
            found = features(case["question"], self._place.keys())
            cells += [(row, self._place[name], value) for name, value in found.items() if name in self._place]
            cells.append((row, len(self.names), 1.0))
        return _Rows(cells, (len(cases), len(self.names) + 1))


class _Rows:
    """A matrix of which only the cells that are not zero are kept: a question has thirty of ten thousand features."""

    def __init__(self, cells: Sequence[tuple[int, int, float]], shape: tuple[int, int]) -> None:
        """Take cells as row, column and value."""
        self._rows, self._columns = (np.array([cell[n] for cell in cells], np.intp) for n in (0, 1))
        self._values = np.array([cell[2] for cell in cells])
        self._shape = shape

    def times(self, right: np.ndarray) -> np.ndarray:
        """Multiply by a matrix on the right."""
        return self._sums(self._rows, right[self._columns], self._shape[0])

    def back(self, right: np.ndarray) -> np.ndarray:
        """Multiply the transposed matrix by one on the right."""
        return self._sums(self._columns, right[self._rows], self._shape[1])

    def steepest(self) -> float:
        """Return the largest eigenvalue of the squared matrix, by power iteration, rounded up by a twentieth."""
        ahead = np.ones((self._shape[1], 1))
        size = 0.0
        for _ in range(_POWERS):
            ahead = self.back(self.times(ahead / np.linalg.norm(ahead)))
            size = float(np.linalg.norm(ahead))
        return 1.05 * size

    def _sums(self, places: np.ndarray, right: np.ndarray, count: int) -> np.ndarray:
        columns = (np.bincount(places, self._values * column, count) for column in right.T)
        return np.stack(list(columns), axis=1)


def vocabulary(cases: Iterable[Case], min_count: int = _MIN_COUNT) -> list[str]:
    """Return the features that several cases have, in order."""
    counted: Counter[str] = Counter()
    for case in cases:
        counted.update(features(case["question"], _Everything()).keys())
    return sorted(name for name, count in counted.items() if count >= min_count)


class _Everything(frozenset[str]):
    def __contains__(self, _: object) -> bool:
        return True


def _softmax(scores: np.ndarray) -> np.ndarray:
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: np.ndarray = odds / odds.sum(axis=1, keepdims=True)
    return shares


def hundredths(weights: np.ndarray) -> list[list[int]]:
    """Return weights as JSON keeps them."""
    return [[int(one) for one in row] for row in np.round(100 * weights)]


def table(cases: Sequence[Case], found: Sequence[str]) -> str:
    """Write how many of each kind are told, and how many others are taken for it."""
    lines = ["| kind | questions | told % | others taken for it % |", "|---|---|---|---|"]
    for kind in KINDS:
        told = [one == kind for case, one in zip(cases, found, strict=True) if case["kind"] == kind]
        taken = [one == kind for case, one in zip(cases, found, strict=True) if case["kind"] != kind]
        shares = " | ".join(f"{100 * sum(some) / len(some):.1f}" if some else "-" for some in (told, taken))
        lines.append(f"| {kind} | {len(told)} | {shares} |")
    return "\n".join(lines)


def left_out(cases: Sequence[Case]) -> list[str]:
    """Return the kinds of cases by models that were trained without the projects of a quarter of them.

    Projects that are named are divided apart, so that others stay with those that they were with.
    """
    found = [""] * len(cases)
    projects = [sorted({case["project"] for case in cases if _is_named(case) is named}) for named in (True, False)]
    for fold in range(_FOLDS):
        held = {name for some in projects for name in some[fold::_FOLDS]}
        trained = Trained([case for case in cases if case["project"] not in held])
        places = [n for n, case in enumerate(cases) if case["project"] in held]
        for n, kind in zip(places, trained.kinds_of([cases[n] for n in places]), strict=True):
            found[n] = kind
    return found


def _lines(file: Path) -> list[Case]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _is_named(case: Case) -> bool:
    return str(case.get("set", "")).startswith("named")


def _of_named() -> list[Case]:
    return [case | {"question": without_names(case["question"], [case["project"]])} for case in _lines(NAMED)]


def _of_repositories() -> list[Case]:
    """Return our questions and topics on repositories, which are all specific."""
    asked = [
        {"question": case["question"], "project": case["repo"]}
        for case in _lines(CASES.with_name("refusal_questions.jsonl"))
    ]
    for file in sorted(CASES.parent.glob("*.json")):
        found = json.loads(file.read_text(encoding="utf-8"))
        asked += [{"question": case["query"], "project": found["name"]} for case in found["questions"]]
    return [case | {"kind": "specific", "set": "repositories"} for case in asked]


def with_unmarked(cases: Sequence[Case]) -> list[Case]:
    """Add the questions without their question marks, which many people leave out."""
    unmarked = [case | {"question": case["question"].rstrip(" ?")} for case in cases if case["question"].endswith("?")]
    return [*cases, *unmarked]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with real-questions")
    parser.add_argument("--write", action="store_true", help="write the model that ships")
    asked = parser.parse_args()
    cases = [*_lines(CASES), *_of_named(), *_of_repositories()]
    training = with_unmarked([case for case in cases if not case["set"].endswith("last")])
    trained = Trained(training)
    print(f"fitted\n\n{table(training, trained.kinds_of(training))}")
    without = left_out(training)
    print(f"\nprojects left out\n\n{table(training, without)}")
    by_name = [(case, kind) for case, kind in zip(training, without, strict=True) if _is_named(case)]
    print(f"\nof these, named\n\n{table(*zip(*by_name, strict=True))}")
    for name, heading in (("last", "last, other wordings"), ("named last", "named, other projects and wordings")):
        last = [case for case in cases if case["set"] == name]
        print(f"\n{heading}\n\n{table(last, trained.kinds_of(last))}")
    whole = read_json(OVERVIEW)["questions"]
    wordings = [{"question": text, "kind": "whole"} for texts in whole.values() for text in texts]
    asked_there = {case["question"] for case in wordings}
    unseen = Trained([case for case in training if case["question"] not in asked_there])
    print(f"\nwordings of `benchmarks.overview`, left out\n\n{table(wordings, unseen.kinds_of(wordings))}")
    if asked.data:
        real = [case | {"kind": "specific"} for case in _lines(asked.data / "real-questions" / "questions.jsonl")]
        print(f"\nreal questions\n\n{table(real, trained.kinds_of(real))}")
    if asked.write:
        trained.write(MODEL)


if __name__ == "__main__":
    main()
