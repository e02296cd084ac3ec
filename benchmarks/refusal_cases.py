"""Whether questions that a library does not answer are refused: on its subject, off it, and in nine languages.

    python -m benchmarks.refusal_cases --data DATA --checkouts FOLDER --texts FOLDER --home FOLDER

Asks real-questions and these of `benchmarks/cases`, all written before any was asked:

- `yes_no_questions.jsonl`, 46 to the same repositories, which can be answered;
- `paraphrased_questions.jsonl`, 240 to 24 repositories in other words than their answers, a fifth without one;
- `same_subject.jsonl`, 120 to six repositories, half of them without an answer;
- `refusal_questions.jsonl`, 96 to eight repositories, half of them without an answer;
- `near_questions.jsonl`, 120 to ten repositories, half of them without an answer; five repositories are kept aside;
- `refusal_languages.jsonl`, eight off-subject questions in each of nine languages, and answerable ones to manual pages.

Questions of the first, second and fourth set are also asked of other repositories, which do not answer them.
Nothing is trained on `near_questions.jsonl`.

`--checkouts` holds a folder for each repository, by its name; libraries are made in `--home` as `benchmarks.answers`
makes them. `--texts` holds one for each language: the manual pages of Debian in `fr` and `ja`, and
`xquad-LANGUAGE.json` beside them, of whose questions every thirtieth is asked.

Prints the share that is refused by the odds in force; then by weights that were trained without the project, or the
language, that is asked, where the threshold refuses four in a hundred of the answerable questions of the first set to
other projects, by weights that know neither of both; then the weights that all of them give.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.corpora import Asked, xquad_articles
from benchmarks.ours import folder_library_at, signs_and_odds
from openbook.answering.answerability import ANSWERABLE_FLOOR, AnswerabilityFeatures

CASES = Path(__file__).parent / "cases"

# A question is asked of every so many-th of the other repositories.
_EVERY_NTH = 80
_EVERY_NTH_OF_XQUAD = 30
_WRONGLY_REFUSED = 0.04

REAL, OTHERS, LANGUAGES = "real", "other repositories", "languages"
_NEAR = {"fit": "near", "aside": "near, kept aside"}

# What the answerable questions of each group count in training, and the others: refusing wrongly is worst.
_COUNTS = {
    REAL: (300.0, 300.0),
    "paraphrased": (150.0, 300.0),
    "same subject": (100.0, 100.0),
    "repositories": (100.0, 100.0),
    OTHERS: (0.0, 180.0),
    LANGUAGES: (150.0, 300.0),
}
_RIDGE, _STEPS = 3.0, 12


@dataclass(frozen=True, slots=True)
class Measured:
    """A question, and what the gate made of it."""

    group: str
    project: str
    is_answerable: bool
    signs: tuple[float, ...]
    odds: float


class Weights(NamedTuple):
    """Of the signs, and the bias."""

    of_signs: np.ndarray
    bias: float

    def odds(self, signs: np.ndarray) -> np.ndarray:
        """Return the log odds of each row."""
        odds: np.ndarray = signs @ self.of_signs + self.bias
        return odds


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


def read_cases(data: Path) -> dict[str, list[tuple[str, str, bool]]]:
    """Return the questions of each group: the name of the repository, the text, and whether it is answerable."""
    files = {
        REAL: (data / "real-questions" / "questions.jsonl", CASES / "yes_no_questions.jsonl"),
        "paraphrased": (CASES / "paraphrased_questions.jsonl",),
        "same subject": (CASES / "same_subject.jsonl",),
        "repositories": (CASES / "refusal_questions.jsonl",),
    }
    cases = {group: [_case(one) for file in some for one in _lines(file)] for group, some in files.items()}
    for one in _lines(CASES / "near_questions.jsonl"):
        cases.setdefault(_NEAR[one["set"]], []).append(_case(one))
    return cases


def _case(one: dict[str, Any]) -> tuple[str, str, bool]:
    return one["repo"].rpartition("/")[2], one["question"], one["answerable"]


def measure_repositories(data: Path, checkouts: Path, home: Path) -> Iterator[Measured]:
    """Ask each repository its own questions, and some of the others."""
    cases = read_cases(data)
    asked = [(group, *each) for group, some in cases.items() for each in some]
    foreign = [each for group in (REAL, "paraphrased", "repositories") for each in cases[group]]
    trained = sorted({each[1] for each in asked if each[0] in _COUNTS})
    for repository in sorted({each[1] for each in asked}):
        others = [each for each in foreign if each[0] != repository] if repository in trained else []
        number = trained.index(repository) if repository in trained else 0
        others = others[number % _EVERY_NTH :: _EVERY_NTH]
        own = [each for each in asked if each[1] == repository]
        with folder_library_at(checkouts / repository, home / repository) as finder:
            for group, _, text, is_answerable in (*own, *((OTHERS, *each[:2], False) for each in others)):
                yield Measured(group, repository, is_answerable, *signs_and_odds(finder, text))


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
                yield Measured(LANGUAGES, language, is_answerable, *signs_and_odds(finder, question))


def train(measured: Iterable[Measured]) -> Weights:
    """Return the weights of a logistic regression, by Newton's method, on standardised signs."""
    some = [one for one in measured if one.group in _COUNTS]
    signs = np.array([one.signs for one in some])
    answers = np.array([float(one.is_answerable) for one in some])
    kinds = [(one.group, one.is_answerable) for one in some]
    share = {kind: _COUNTS[kind[0]][not kind[1]] / kinds.count(kind) for kind in set(kinds)}
    counts = np.array([share[kind] for kind in kinds])
    mean, spread = signs.mean(axis=0), signs.std(axis=0) + 1e-9
    rows = np.column_stack([np.ones(len(some)), (signs - mean) / spread])
    found, ridge = np.zeros(rows.shape[1]), np.diag([0.0, *[_RIDGE] * signs.shape[1]])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (counts * (likely - answers)) + ridge @ found
        found -= np.linalg.solve((rows.T * (counts * likely * (1 - likely))) @ rows + ridge, slope)
    weights = found[1:] / spread
    return Weights(weights, float(found[0] - mean @ weights))


def left_out(measured: Sequence[Measured], signs: Sequence[int]) -> tuple[list[float], list[float]]:
    """Return the odds of each question without its project, and how far they are above the threshold of the others.

    Args:
        measured: All questions.
        signs: The positions of those that are used.
    """
    used = [Measured(*(one.group, one.project, one.is_answerable), tuple(one.signs[n] for n in signs), one.odds)
            for one in measured]  # fmt: skip
    projects = sorted({one.project for one in used})
    trained = {
        frozenset(pair): train(one for one in used if one.project not in pair)
        for pair in combinations_with_replacement(projects, 2)
    }

    @cache
    def threshold(project: str) -> float:
        others = sorted(
            float(trained[frozenset((project, one.project))].odds(np.array(one.signs)))
            for one in used
            if one.group == REAL and one.is_answerable and one.project != project
        )
        return others[int(_WRONGLY_REFUSED * len(others))]

    odds = [float(trained[frozenset((one.project,))].odds(np.array(one.signs))) for one in used]
    return odds, [each - threshold(one.project) for each, one in zip(odds, used, strict=True)]


def table(measured: Sequence[Measured]) -> str:
    """Write the share that is refused, by group and by language, and how well the odds tell both apart."""
    lines = ["| odds | asked | answerable refused | unanswerable refused | AUC |", "|---|---|---|---|---|"]
    in_force = [one.odds for one in measured]
    every = range(len(AnswerabilityFeatures._fields))
    columns = {
        "in force": (in_force, [odds - ANSWERABLE_FLOOR for odds in in_force]),
        "left out": left_out(measured, every),
        "left out, without `agreement` and `best_coverage`": left_out(measured, every[:-2]),
    }
    for name, (odds, above) in columns.items():
        for part in dict.fromkeys(
            [*_COUNTS, *_NEAR.values(), *(one.project for one in measured if one.group == LANGUAGES)]
        ):
            own, foreign = (
                [n for n, one in enumerate(measured)
                 if part in (one.group, one.project) and one.is_answerable is is_answerable]
                for is_answerable in (True, False)
            )  # fmt: skip
            shares = [
                f"{sum(above[n] < 0 for n in some) / len(some):.3f} of {len(some)}" if some else "-"
                for some in (own, foreign)
            ]
            apart = [odds[a] > odds[b] for a in own for b in foreign]
            lines.append(f"| {name} | {part} | {' | '.join(shares)} | {f'{np.mean(apart):.3f}' if apart else '-'} |")
    return "\n".join(lines)


def main() -> None:
    """Print the tables and the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with real-questions")
    parser.add_argument("--checkouts", type=Path, required=True, help="folder with a checkout of each repository")
    parser.add_argument("--texts", type=Path, required=True, help="folder with texts of each language")
    parser.add_argument("--home", type=Path, required=True, help="where the libraries are kept")
    asked = parser.parse_args()
    measured = [
        *measure_repositories(asked.data, asked.checkouts, asked.home),
        *measure_languages(asked.texts, asked.home),
    ]
    print(table(measured), flush=True)
    weights = train(measured)
    print(f"\nweights {np.round(weights.of_signs, 2).tolist()}, bias {weights.bias:.2f}")
    real = sorted(
        float(weights.odds(np.array(one.signs))) for one in measured if one.group == REAL and one.is_answerable
    )
    print(f"Of answerable questions of {REAL!r}, 4 in 100 are below {real[int(_WRONGLY_REFUSED * len(real))]:.2f}")


if __name__ == "__main__":
    main()
