"""How often the kind of a question is told: for a whole, small talk, arithmetic, or something specific.

    python -m benchmarks.kinds [--data DATA] [--write]

`cases/question_kinds.jsonl` has questions in English, German, French and Spanish on some seventy projects and courses,
real and invented, by three people who saw neither the rules nor the model. Those of `set` "last" were written
in wordings that the first do not have, and are only measured. Our questions and topics on repositories are added,
all of them specific. `--data` names a folder with `real-questions`, all
of which are specific. Prints the shares by leaving out a quarter of the projects in turn, then those of the last
set; `--write` trains on all but that one and writes `openbook/questions/kinds.json`.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import openbook.questions
from benchmarks.works import read_json
from openbook.questions.kinds import LEAST_SHARE, MOST_UNKNOWN, UNKNOWN_SHARE, Kind, features

CASES = Path(__file__).parent / "cases" / "question_kinds.jsonl"
OVERVIEW = CASES.parent.with_name("overview.json")
MODEL = Path(openbook.questions.__file__).with_name("kinds.json")

KINDS: tuple[Kind, ...] = ("whole", "small talk", "arithmetic", "specific")
_FOLDS = 4
# A word that one question has tells nothing of others.
_FEWEST = 2
_RIDGE, _STEPS = 0.3, 400

Case = dict[str, Any]


class Trained:
    """A softmax regression over the features of questions."""

    def __init__(self, cases: Sequence[Case]) -> None:
        """Train by gradient steps with momentum, from zero: the same cases give the same weights."""
        counted: Counter[str] = Counter()
        for case in cases:
            counted.update(features(case["question"], _Everything()).keys())
        self.names = sorted(name for name, count in counted.items() if count >= _FEWEST)
        self._place = {name: n for n, name in enumerate(self.names)}
        rows = self._rows(cases)
        wanted = np.array([[case["kind"] == kind for kind in KINDS] for case in cases], float)
        self.weights = np.zeros((len(self.names) + 1, len(KINDS)))
        ahead, before = self.weights, self.weights
        step = 2.0 / (float(np.linalg.norm(rows, 2)) ** 2 + 2 * _RIDGE)
        ridge = _RIDGE * np.append(np.ones(len(self.names)), 0.0)[:, None]
        for n in range(_STEPS):
            slope = rows.T @ (_softmax(rows @ ahead) - wanted) + ridge * ahead
            before, self.weights = self.weights, ahead - step * slope
            ahead = self.weights + n / (n + 3) * (self.weights - before)

    def kinds_of(self, cases: Sequence[Case]) -> list[str]:
        """Return the kind of each as `kind_of` does."""
        rows = self._rows(cases)
        strange = rows[:, self._place[UNKNOWN_SHARE]] > MOST_UNKNOWN
        best = [(KINDS[int(row.argmax())], row.max()) for row in _softmax(rows @ self.weights)]
        return [
            kind if odds > LEAST_SHARE[kind] and not is_strange else "specific"
            for (kind, odds), is_strange in zip(best, strange, strict=True)
        ]

    def write(self, path: Path) -> None:
        """Write weights in hundredths."""
        rows = dict(zip(self.names, _hundredths(self.weights[:-1]), strict=True))
        model = {"kinds": KINDS, "bias": _hundredths(self.weights[-1:])[0], "weights": rows}
        path.write_text(json.dumps(model, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")

    def _rows(self, cases: Sequence[Case]) -> np.ndarray:
        rows = np.zeros((len(cases), len(self.names) + 1))
        rows[:, -1] = 1.0
        for row, case in zip(rows, cases, strict=True):
            for name, value in features(case["question"], self._place.keys()).items():
                if name in self._place:
                    row[self._place[name]] = value
        return rows


class _Everything(frozenset[str]):
    def __contains__(self, _: object) -> bool:
        return True


def _softmax(scores: np.ndarray) -> np.ndarray:
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: np.ndarray = odds / odds.sum(axis=1, keepdims=True)
    return shares


def _hundredths(weights: np.ndarray) -> list[list[int]]:
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
    """Return the kinds of cases by models that were trained without the projects of a quarter of them."""
    found = [""] * len(cases)
    projects = sorted({case["project"] for case in cases})
    for fold in range(_FOLDS):
        held = set(projects[fold::_FOLDS])
        trained = Trained([case for case in cases if case["project"] not in held])
        places = [n for n, case in enumerate(cases) if case["project"] in held]
        for n, kind in zip(places, trained.kinds_of([cases[n] for n in places]), strict=True):
            found[n] = kind
    return found


def _lines(file: Path) -> list[Case]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


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


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with real-questions")
    parser.add_argument("--write", action="store_true", help="write the model that ships")
    asked = parser.parse_args()
    cases = _lines(CASES)
    training = [*(case for case in cases if case["set"] != "last"), *_of_repositories()]
    trained = Trained(training)
    last = [case for case in cases if case["set"] == "last"]
    print(f"fitted\n\n{table(training, trained.kinds_of(training))}")
    print(f"\nprojects left out\n\n{table(training, left_out(training))}")
    print(f"\nlast, other wordings\n\n{table(last, trained.kinds_of(last))}")
    whole = read_json(OVERVIEW)["questions"]
    wordings = [{"question": text, "kind": "whole"} for texts in whole.values() for text in texts]
    asked_there = {case["question"] for case in wordings}
    without = Trained([case for case in training if case["question"] not in asked_there])
    print(f"\nwordings of `benchmarks.overview`, left out\n\n{table(wordings, without.kinds_of(wordings))}")
    if asked.data:
        real = [case | {"kind": "specific"} for case in _lines(asked.data / "real-questions" / "questions.jsonl")]
        print(f"\nreal questions\n\n{table(real, trained.kinds_of(real))}")
    if asked.write:
        trained.write(MODEL)


if __name__ == "__main__":
    main()
