"""How well the judge tells supported claims from others: WiCE, claims of Wikipedia against the pages they cite.

    python -m benchmarks.claim_support --data DATA [--fit]

The judge is given the whole page, every sentence as one unit, and finds the sentences itself. Words are
weighed by the pages that hold them. Weights and thresholds were learned on the one half (`--fit` learns
and prints them again), and nothing else was looked at: the held half is reported.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from openbook.embedding.static import load_embedder
from openbook.generation import Verdict
from openbook.grounding.judge import LEAST_PARTIAL, LEAST_SUPPORTED, Judge, Judgement
from openbook.grounding.support import Measures, score_of
from openbook.index.bm25 import inverse_frequency
from openbook.retrieval.tokens import tokenize

HALVES = ("fit", "held")
LABELS = ("not_supported", "partially_supported", "supported")
VERDICTS: tuple[Verdict, ...] = ("unsupported", "partial", "supported")

# Keeps weights small where 176 claims say little; chosen by five-fold cross-validation on the fit half.
_RIDGE = 3.0
_NEWTON_STEPS = 25


@dataclass(frozen=True, slots=True)
class Case:
    """One claim, the page that it cites, and what annotators say."""

    claim: str
    page: tuple[str, ...]
    label: int
    """Position in `LABELS`."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What the judge made of one claim."""

    case: Case
    measures: Measures
    judgement: Judgement
    took_ms: float
    lacks_facts: bool = False
    """Whether a fact of the claim is missing or contradicted."""


def read_halves(data: Path) -> dict[str, list[Case]]:
    """Read WiCE dev as two halves with equal shares of each label, by the hash of the claim."""
    lines = (data / "claim-support" / "wice-dev.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    cases = [Case(row["claim"], tuple(row["evidence"]), LABELS.index(row["label"])) for row in rows]
    cases.sort(key=lambda case: (case.label, hashlib.sha256(case.claim.encode()).hexdigest()))
    return {
        half: [case for label in range(3) for case in _of(cases, label)[start::2]] for start, half in enumerate(HALVES)
    }


def _of(cases: Sequence[Case], label: int) -> list[Case]:
    return [case for case in cases if case.label == label]


def judge_of(cases: Sequence[Case]) -> Judge:
    """Make a judge that weighs words as a library of all these pages would."""
    pages = Counter(token for case in cases for token in set(tokenize(" ".join(case.page))))
    return Judge(load_embedder(), lambda token: inverse_frequency(pages[token], len(cases)))


def measure(judge: Judge, cases: Sequence[Case]) -> list[Measured]:
    """Judge every claim."""
    found = []
    for case in cases:
        started = time.process_time()  # of all threads; other work on the machine does not count
        judgement = judge.judge(case.claim, case.page)
        took_ms = (time.process_time() - started) * 1000
        measures, literal = judge.measure(case.claim, case.page)
        lacks = bool(literal.missing or literal.contradicted)
        found.append(Measured(case, measures, judgement, took_ms, lacks))
    return found


def random_halves(measured: Sequence[Measured], times: int = 100) -> tuple[tuple[float, float], tuple[float, float]]:
    """Learn on a random half and measure the other, many times: one half of 43 unsupported claims says little.

    Returns:
        Mean areas of supported against not supported and against the rest: of the judge, and of cover alone.
    """
    draw = np.random.default_rng(0)
    areas, plain = [], []
    for _ in range(times):
        learning: list[Measured] = []
        others: list[Measured] = []
        for label in range(len(LABELS)):
            those = [one for one in measured if one.case.label == label]
            order = draw.permutation(len(those))
            learning += [those[place] for place in order[: len(those) // 2]]
            others += [those[place] for place in order[len(those) // 2 :]]
        weights, _, _ = fit(learning)
        areas.append(areas_of(others, lambda one, weights=weights: float(np.dot(weights, one.measures))))  # type: ignore[misc]
        plain.append(areas_of(others, lambda one: one.measures.cover))
    return _mean(areas), _mean(plain)


def _mean(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return sum(first for first, _ in pairs) / len(pairs), sum(second for _, second in pairs) / len(pairs)


def areas_of(measured: Sequence[Measured], score: Callable[[Measured], float]) -> tuple[float, float]:
    """Give the areas of supported against not supported, and of supported against the rest."""
    none, part, full = ([score(one) for one in measured if one.case.label == label] for label in range(len(LABELS)))
    return area(full, none), area(full, none + part)


def area(better: Sequence[float], worse: Sequence[float]) -> float:
    """Give the area under the curve: how often a score of `better` is above one of `worse`, ties half."""
    difference = np.subtract.outer(np.asarray(better), np.asarray(worse))
    return float(((difference > 0) + 0.5 * (difference == 0)).mean())


def fit(measured: Sequence[Measured]) -> tuple[NDArray[np.float64], float, float]:
    """Learn one direction with two borders: not supported, in part, in full.

    Returns:
        The weights of `Measures`, the bias of "in full" and that of "at least in part".
    """
    measures = np.array([one.measures for one in measured], dtype=np.float64)
    labels = np.array([one.case.label for one in measured])
    mean, deviation = measures.mean(axis=0), measures.std(axis=0) + 1e-9
    scaled, ones, zeros = (measures - mean) / deviation, np.ones((len(labels), 1)), np.zeros((len(labels), 1))
    rows = np.vstack((np.hstack((scaled, ones, zeros)), np.hstack((scaled, zeros, ones))))
    truth = np.concatenate((labels >= 2, labels >= 1)).astype(np.float64)
    penalty = np.diag([2 * _RIDGE] * scaled.shape[1] + [1e-6] * 2)
    found = np.zeros(rows.shape[1])
    for _ in range(_NEWTON_STEPS):
        likely = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (likely - truth) + penalty @ found
        found -= np.linalg.solve((rows * (likely * (1 - likely))[:, None]).T @ rows + penalty, slope)
    weights = found[:-2] / deviation
    shift = float(weights @ mean)
    return weights, float(found[-2]) - shift, float(found[-1]) - shift


def thresholds(measured: Sequence[Measured], scores: Sequence[float]) -> tuple[float, float]:
    """Choose the two scores that divide the labels best: mean share right of both sides."""
    labels = np.array([one.case.label for one in measured])
    values = np.array(scores)
    found = []
    for border in (1, 2):
        worth = [
            (float((values[labels >= border] >= step).mean() + (values[labels < border] < step).mean()), -step)
            for step in np.arange(0.01, 1.0, 0.01)
        ]
        found.append(-max(worth)[1])
    return found[0], found[1]


def learned(measured: Sequence[Measured]) -> str:
    """Learn weights and thresholds, and write them as `support.py` and `judge.py` hold them."""
    weights, full, part = fit(measured)
    scores = [float(1 / (1 + np.exp(-full - np.dot(weights, one.measures)))) for one in measured]
    least = thresholds(measured, scores)
    written = ", ".join(f"{name}={value:.2f}" for name, value in zip(Measures._fields, weights, strict=True))
    return (
        f"WEIGHTS = Measures({written})\nBIAS = {full:.2f}  (at least in part: {part:.2f})\n"
        f"LEAST_PARTIAL, LEAST_SUPPORTED = {least[0]:.2f}, {least[1]:.2f}"
    )


def table(halves: dict[str, list[Measured]]) -> str:
    """Write areas, verdicts and cost of each half."""
    lines = ["| half | claims | supported vs not supported | the same, cover alone | supported vs the rest |"]
    lines[0] += " the same, cover alone | CPU ms per claim |"
    lines += ["|---|---|---|---|---|---|---|"]
    rows = [
        (
            half,
            len(those),
            areas_of(those, lambda one: score_of(one.measures)),
            areas_of(those, lambda one: one.measures.cover),
        )
        for half, those in halves.items()
    ]
    everything = [one for those in halves.values() for one in those]
    rows.append(("100 random halves, mean", len(everything) // 2, *random_halves(everything)))
    took = sum(one.took_ms for one in everything) / len(everything)
    lines += [
        f"| {half} | {count} | {ours[0]:.3f} | {plain[0]:.3f} | {ours[1]:.3f} | {plain[1]:.3f} | {took:.1f} |"
        for half, count, ours, plain in rows
    ]
    return "\n".join(lines)


def verdicts(measured: Sequence[Measured]) -> str:
    """Write which label got which verdict."""
    lines = [f"| label | {' | '.join(VERDICTS)} | a fact is missing |", "|---|---|---|---|---|"]
    for label, name in enumerate(LABELS):
        counted = Counter(one.judgement.verdict for one in measured if one.case.label == label)
        lacking = sum(one.lacks_facts for one in measured if one.case.label == label)
        row = " | ".join(str(counted[verdict]) for verdict in VERDICTS)
        lines.append(f"| {name.replace('_', ' ')} | {row} | {lacking} |")
    return "\n".join(lines)


def main() -> None:
    """Print the tables, or learn the constants again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with claim-support")
    parser.add_argument("--fit", action="store_true", help="learn weights and thresholds again, and print them")
    arguments = parser.parse_args()
    cases = read_halves(arguments.data)
    judge = judge_of([case for half in HALVES for case in cases[half]])
    if arguments.fit:
        print(learned(measure(judge, cases["fit"])))
        return
    halves = {half: measure(judge, cases[half]) for half in HALVES}
    print(table(halves))
    for half, measured in halves.items():
        print(f"\n{half}: thresholds {LEAST_PARTIAL} and {LEAST_SUPPORTED}\n\n{verdicts(measured)}")


if __name__ == "__main__":
    main()
