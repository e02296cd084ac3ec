"""What a second stage is worth on questions that people ask of whole repositories, and what it costs.

    python -m benchmarks.second_stage --questions FILE ... --checkouts FOLDER --home FOLDER --reranker R

A file has a question a line, with the lines that answer it; `--checkouts` has a checkout of each repository under its
last name, and libraries are made in `--home`, and used again.

The same 20 results are ranked by the first stage; by the reranker; by both ranks added; and by the sum of both scores,
as `openbook search` does with a weight: of the first ten, unless the first result is far ahead. The weight of the
reranker is fitted on all repositories of all files, or without the one that is asked. The error is that of the mean
over repositories.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.answers import open_library
from benchmarks.fit import Case, fit
from openbook.evals.metrics import mean
from openbook.opening import open_reranker
from openbook.retrieval.fields import embedding_text
from openbook.retrieval.reranking import ADDED, RERANKED, Reranker, is_sure
from openbook.settings import Settings
from openbook.types import RetrievalResult

# As the questions are scored elsewhere: what stands further down counts for nothing.
_DEPTH = 10

# Added to each rank before ranks are summed as 1 / rank: the constant of reciprocal rank fusion (Cormack et al., 2009).
_RANK_OFFSET = 60

# What is added is scaled up, so that the penalty of large weights hardly weighs.
_SCALE = 10.0

_MEASURES: Mapping[str, Callable[[int], float]] = {
    "at 1": lambda rank: float(rank == 1),
    "in 3": lambda rank: float(0 < rank <= 3),
    "in 10": lambda rank: float(rank > 0),
    "MRR": lambda rank: 1 / rank if rank else 0.0,
}

Cost = tuple[float, float]
"""Seconds that passed, and those of computing."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, what the first stage scored, what the second one says, and which results are right."""

    set: str
    repository: str
    scores: Sequence[float]
    said: Sequence[float]
    right: Sequence[bool]

    def case(self) -> Case:
        """Return what weights are fitted on: the results that are scored."""
        pairs = zip(self.scores[:ADDED], self.said[:ADDED], strict=True)
        signals = [{"score": score, "said": _SCALE * said} for score, said in pairs]
        return Case(signals, np.array(self.right[:ADDED]), 1.0)


def main() -> None:
    """Measure, and print a table for each file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=Path, nargs="+", required=True)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--home", type=Path, required=True, help="where the libraries are kept")
    parser.add_argument("--reranker", required=True, help="as `--reranker` of `openbook search` takes it")
    arguments = parser.parse_args()
    repositories = {name for file in arguments.questions for name in _by_repository(file)}
    if sum((arguments.checkouts / name).is_dir() for name in repositories) <= 1:
        parser.error(
            "weights are fitted on the other repositories: name checkouts of two or more that questions ask about"
        )
    reranker = open_reranker(arguments.reranker, Settings.from_env())
    if reranker is None:
        parser.error("name a reranker")
    asked, taken_ms = _ask(arguments, reranker)
    _print_costs(taken_ms)
    _print(asked)


def _ask(arguments: argparse.Namespace, reranker: Reranker) -> tuple[list[Asked], list[Cost]]:
    """Ask all questions, and return what was found, with what the second stage cost."""
    asked: list[Asked] = []
    costs: list[Cost] = []
    for file in arguments.questions:
        for name, questions in _by_repository(file).items():
            if not (arguments.checkouts / name).is_dir():
                continue
            with open_library(arguments.checkouts / name, arguments.home / name) as library:
                for each in questions:
                    found = library.search(each["question"], limit=RERANKED)
                    right = [_rank([result], each["gold"]) == 1 for result in found]
                    said: Sequence[float] = [0.0] * len(found)
                    if any(right) and not all(right):  # else no order is better than another
                        started = time.perf_counter(), time.process_time()
                        said = reranker.scores(each["question"], [embedding_text(result.chunk) for result in found])
                        costs.append((time.perf_counter() - started[0], time.process_time() - started[1]))
                    asked.append(Asked(file.stem, name, [result.score for result in found], said, right))
            print(f"read {file.stem}: {name}", flush=True)
    return asked, costs


def _by_repository(path: Path) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        asked = json.loads(line)
        if asked["answerable"]:
            found.setdefault(asked["repo"].rpartition("/")[2], []).append(asked)
    return found


def _orders(scores: Sequence[float]) -> dict[str, list[int]]:
    """Return the three orders, as places of the first one."""
    places = list(range(len(scores)))
    anew = _best_first(scores)
    ranks = {place: rank for rank, place in enumerate(anew)}
    joint = [sum(1 / (_RANK_OFFSET + rank) for rank in (place, ranks[place])) for place in places]
    return {"first stage": places, "second stage": anew, "both ranks": _best_first(joint)}


def _best_first(scores: Sequence[float]) -> list[int]:
    return sorted(range(len(scores)), key=lambda place: (-scores[place], place))


def _added(asked: Sequence[Asked], weights: Mapping[str, Mapping[str, float]]) -> list[list[int]]:
    """Return the order of each question's results by the sum of both scores, with the weights for its repository."""
    return [_order(each, weights[each.repository]) for each in asked]


def _order(asked: Asked, weights: Mapping[str, float]) -> list[int]:
    places = list(range(len(asked.scores)))
    if is_sure(asked.scores):
        return places
    sums = [sum(weights[name] * value for name, value in one.items()) for one in asked.case().signals]
    return [*_best_first(sums), *places[ADDED:]]


def _fit(asked: Sequence[Asked]) -> dict[str, float]:
    cases = [each.case() for each in asked if not is_sure(each.scores)]
    # Without a question that tells, nothing is added.
    is_told = any(case.right.any() and not case.right.all() for case in cases)
    return fit(cases) if is_told else {"score": 1.0, "said": 0.0}


def _left_out(asked: Sequence[Asked]) -> dict[str, dict[str, float]]:
    """Fit weights for each repository on all others."""
    return {
        name: _fit([each for each in asked if each.repository != name]) for name in {each.repository for each in asked}
    }


def _rank(results: Sequence[RetrievalResult], gold: Sequence[Mapping[str, Any]]) -> int:
    """Return the rank of the first result that overlaps a place of the answer; 0 if none of ten does."""
    for rank, result in enumerate(results[:_DEPTH], start=1):
        span = result.chunk.span
        for place in gold:
            first, last = place["lines"]
            if span.path == place["path"] and span.start_line <= last and span.end_line >= first:
                return rank
    return 0


def _print_costs(costs: Sequence[Cost]) -> None:
    if costs:
        passed, computing = (sorted(1000 * each for each in column) for column in zip(*costs, strict=True))
        middle, late = len(costs) // 2, int(0.95 * len(costs))
        print(f"\n{RERANKED} texts: {passed[middle]:.0f} ms at the median, {computing[middle]:.0f} of them computing;")
        print(f"95 of 100 within {passed[late]:.0f} ms, {computing[late]:.0f} of them computing")


def _print(asked: Sequence[Asked]) -> None:
    ways: dict[str, list[list[int]]] = {}
    for each in asked:
        for way, order in _orders(each.said).items():
            ways.setdefault(way, []).append(order)
    left_out, fitted = _left_out(asked), _fit(asked)
    ways["added, fitted"] = _added(asked, dict.fromkeys(left_out, fitted))
    ways["added, left out"] = _added(asked, left_out)
    lowest, *_, highest = sorted(map(_weight, left_out.values()))
    print(f"fitted weight beside the first stage: {_weight(fitted):.1f}; left out, {lowest:.1f} to {highest:.1f}")
    for name in dict.fromkeys(each.set for each in asked):
        _print_table(name, [n for n, each in enumerate(asked) if each.set == name], asked, ways)
    _print_table("all", range(len(asked)), asked, ways)


def _weight(weights: Mapping[str, float]) -> float:
    return _SCALE * weights["said"] / weights["score"]


def _print_table(
    name: str, members: Sequence[int], asked: Sequence[Asked], ways: Mapping[str, Sequence[Sequence[int]]]
) -> None:
    repositories = list(dict.fromkeys(asked[n].repository for n in members))
    print(f"\n{name}: {len(members)} questions, {len(repositories)} repositories\n")
    print(f"| | {' | '.join(_MEASURES)} |\n|---|{'---|' * len(_MEASURES)}")
    before: dict[str, list[float]] = {}
    for way, orders in ways.items():
        cells = []
        for figure, measure in _MEASURES.items():
            values = [measure(_place(orders[n], asked[n].right)) for n in members]
            first = before.setdefault(figure, values)
            gains = [
                mean([a - b for n, a, b in zip(members, values, first, strict=True) if asked[n].repository == each])
                for each in repositories
            ]
            gain = f" ({mean(gains):+.3f} ± {standard_error(gains):.3f})" if way != "first stage" else ""
            cells.append(f"{mean(values):.3f}{gain}")
        print(f"| {way} | {' | '.join(cells)} |")


def _place(order: Sequence[int], right: Sequence[bool]) -> int:
    return next((rank for rank, place in enumerate(order[:_DEPTH], start=1) if right[place]), 0)


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of the mean."""
    middle = mean(values)
    return math.sqrt(sum((value - middle) ** 2 for value in values) / (len(values) - 1) / len(values))


if __name__ == "__main__":
    main()
