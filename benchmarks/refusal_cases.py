"""Whether questions that a library does not answer are refused: on its subject, off it, and in nine languages.

    python -m benchmarks.refusal_cases --checkouts FOLDER --texts FOLDER --home FOLDER [--questions FILE]

`cases/refusal_questions.jsonl` has 48 questions that eight repositories answer and 48 on their subjects that they
do not, written from their sources before any was asked. `cases/refusal_languages.jsonl` has eight off-subject
questions in each of nine languages, and answerable ones to manual pages. `--checkouts` holds a folder for each
repository, by its name in lower case; `--texts` one for each language: the manual pages of Debian in `fr` and `ja`,
and `xquad-LANGUAGE.json` beside them, of whose questions every thirtieth is asked. `--questions` adds a file
with `repo`, `question` and `answerable` a line. All are also asked of another repository, which does not answer them.

Prints the share that is refused by the weights in force, then by weights that were trained without the project,
or the language, that is asked; then the weights that all of them give.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.corpora import Asked, xquad_articles
from benchmarks.ours import folder_library_at, signs_and_odds
from openbook.answering.answerability import ANSWERABLE_FLOOR

CASES = Path(__file__).parent / "cases"

# Of the questions of other repositories, so many are asked of each.
_EVERY_NTH = 14
_EVERY_NTH_OF_XQUAD = 30

# What each group counts in training, answerable and not each: refusing wrongly where sources do answer is worst.
_WEIGHT = {"repositories": 300.0, "languages": 150.0, "other repositories": 180.0}
_RIDGE, _STEPS = 3.0, 30


@dataclass(frozen=True, slots=True)
class Measured:
    """A question, and what the gate made of it."""

    group: str
    project: str
    is_answerable: bool
    signs: tuple[float, ...]
    odds: float


def _lines(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


def _folder_of(repository: str) -> str:
    return repository.rpartition("/")[2].lower()


def measure_repositories(checkouts: Path, home: Path, extra: Path | None) -> Iterator[Measured]:
    """Ask each repository its own questions, and some of the others."""
    asked = _lines(CASES / "refusal_questions.jsonl") + (_lines(extra) if extra else [])
    for number, repository in enumerate(sorted({str(one["repo"]) for one in asked})):
        own = [one for one in asked if one["repo"] == repository]
        others = [one for one in asked if one["repo"] != repository][number % _EVERY_NTH :: _EVERY_NTH]
        with folder_library_at(checkouts / _folder_of(repository), home / _folder_of(repository)) as finder:
            for group, some in (("repositories", own), ("other repositories", others)):
                for one in some:
                    is_answerable = bool(one["answerable"]) and group == "repositories"
                    signs, odds = signs_and_odds(finder, str(one["question"]))
                    yield Measured(group, repository, is_answerable, signs, odds)


def measure_languages(texts: Path, home: Path) -> Iterator[Measured]:
    """Ask a library in each language."""
    cases = _lines(CASES / "refusal_languages.jsonl")
    for language in dict.fromkeys(str(one["language"]) for one in cases):
        folder, questions = texts / language, texts / f"xquad-{language}.json"
        own: list[Asked] = xquad_articles(questions, folder) if questions.exists() else []
        asked = [(one.text, True) for one in own[::_EVERY_NTH_OF_XQUAD]]
        asked += [(str(one["question"]), bool(one["answerable"])) for one in cases if one["language"] == language]
        with folder_library_at(folder, home / language) as finder:
            for question, is_answerable in asked:
                yield Measured("languages", language, is_answerable, *signs_and_odds(finder, question))


def train(measured: Iterable[Measured]) -> tuple[np.ndarray, float]:
    """Return the weights and the bias of a logistic regression, by Newton's method, on standardised signs."""
    some = list(measured)
    signs = np.array([one.signs for one in some])
    answers = np.array([float(one.is_answerable) for one in some])
    kinds = [(one.group, one.is_answerable) for one in some]
    counts = np.array([_WEIGHT[kind[0]] / kinds.count(kind) for kind in kinds])
    mean, spread = signs.mean(axis=0), signs.std(axis=0) + 1e-9
    rows = np.column_stack([np.ones(len(some)), (signs - mean) / spread])
    found, ridge = np.zeros(rows.shape[1]), np.diag([0.0, *[_RIDGE] * signs.shape[1]])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (counts * (likely - answers)) + ridge @ found
        found -= np.linalg.solve((rows.T * (counts * likely * (1 - likely))) @ rows + ridge, slope)
    weights = found[1:] / spread
    return weights, float(found[0] - mean @ weights)


def left_out(measured: list[Measured]) -> list[float]:
    """Return the odds of each question by weights that were trained without its project."""
    trained = {
        project: train(one for one in measured if one.project != project)
        for project in {one.project for one in measured}
    }
    return [float(trained[one.project][0] @ np.array(one.signs)) + trained[one.project][1] for one in measured]


def table(measured: list[Measured]) -> str:
    """Write the share that is refused, by group and by language."""
    lines = ["| asked | questions | answerable refused | unanswerable refused |", "|---|---|---|---|"]
    for name, odds in (("in force", [one.odds for one in measured]), ("left out", left_out(measured))):
        for part in dict.fromkeys([*_WEIGHT, *(one.project for one in measured if one.group == "languages")]):
            shares = [
                [value < ANSWERABLE_FLOOR for one, value in zip(measured, odds, strict=True)
                 if part in (one.group, one.project) and one.is_answerable is is_answerable]
                for is_answerable in (True, False)
            ]  # fmt: skip
            told = " | ".join(f"{sum(some) / len(some):.3f}" if some else "-" for some in shares)
            lines.append(f"| {part}, {name} | {sum(map(len, shares))} | {told} |")
    return "\n".join(lines)


def main() -> None:
    """Print the tables and the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkouts", type=Path, required=True, help="folder with a checkout of each repository")
    parser.add_argument("--texts", type=Path, required=True, help="folder with texts of each language")
    parser.add_argument("--home", type=Path, required=True, help="where the libraries are kept")
    parser.add_argument("--questions", type=Path, help="more questions to repositories")
    asked = parser.parse_args()
    measured = [
        *measure_repositories(asked.checkouts, asked.home, asked.questions),
        *measure_languages(asked.texts, asked.home),
    ]
    print(table(measured))
    weights, bias = train(measured)
    print(f"\nweights {np.round(weights, 2).tolist()}, bias {bias:.2f}")


if __name__ == "__main__":
    main()
