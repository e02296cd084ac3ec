"""What a reranker is worth on questions that people ask of whole repositories, and what it costs.

python -m benchmarks.second_stage --questions FILE --checkouts FOLDER --reranker R

FILE has a question a line, with the lines that answer it; FOLDER has a checkout for each repository, by its name.
The same 20 results are scored in the order of the first stage, in that of the reranker, and in the order of both ranks
added. The error is that of the mean over repositories, of which none is fitted to anything here.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from openbook.evals.metrics import mean
from openbook.library import Library
from openbook.opening import open_reranker
from openbook.retrieval.fields import embedding_text
from openbook.retrieval.reranking import RERANKED
from openbook.settings import Settings
from openbook.types import RetrievalResult

# As the questions are scored elsewhere: what stands further down counts for nothing.
_DEPTH = 10

# Added to each rank before ranks are summed as 1 / rank: the constant of reciprocal rank fusion (Cormack et al., 2009).
_RANK_OFFSET = 60

_MEASURES: Mapping[str, Callable[[int], float]] = {
    "at 1": lambda rank: float(rank == 1),
    "in 3": lambda rank: float(0 < rank <= 3),
    "in 10": lambda rank: float(rank > 0),
    "MRR": lambda rank: 1 / rank if rank else 0.0,
}


def main() -> None:
    """Measure, and print one table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--reranker", required=True, help="as `--reranker` of `openbook search` takes it")
    arguments = parser.parse_args()
    settings = Settings.from_env()
    reranker = open_reranker(arguments.reranker, settings)
    if reranker is None:
        parser.error("name a reranker")
    ranks: dict[str, dict[str, list[int]]] = {}
    taken_ms = []
    for name, questions in _by_repository(arguments.questions).items():
        with Library.of(arguments.checkouts / name, settings=settings) as assistant:
            for asked in questions:
                found = assistant.search(asked["question"], limit=RERANKED)
                started = time.perf_counter()
                scores = reranker.scores(asked["question"], [embedding_text(result.chunk) for result in found])
                taken_ms.append(1000 * (time.perf_counter() - started))
                for way, order in _orders(scores).items():
                    place = _rank([found[each] for each in order], asked["gold"])
                    ranks.setdefault(way, {}).setdefault(name, []).append(place)
    _print(ranks, sorted(taken_ms))


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
    anew = sorted(places, key=lambda place: (-scores[place], place))
    ranks = {place: rank for rank, place in enumerate(anew)}
    joint = {place: sum(1 / (_RANK_OFFSET + rank) for rank in (place, ranks[place])) for place in places}
    return {
        "first stage": places,
        "reranker": anew,
        "both": sorted(places, key=lambda place: (-joint[place], place)),
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


def _print(ranks: Mapping[str, Mapping[str, Sequence[int]]], taken_ms: Sequence[float]) -> None:
    first = ranks["first stage"]
    count = sum(map(len, first.values()))
    print(
        f"{count} questions, {len(first)} repositories; {RERANKED} candidates in {taken_ms[len(taken_ms) // 2]:.0f} ms"
    )
    print(f"(median; 95 of 100 within {taken_ms[int(0.95 * len(taken_ms))]:.0f} ms)\n")
    print(f"| | {' | '.join(_MEASURES)} |\n|---|{'---|' * len(_MEASURES)}")
    for way, found in ranks.items():
        cells = []
        for measure in _MEASURES.values():
            value = mean([measure(rank) for each in found.values() for rank in each])
            gains = [
                mean([measure(rank) for rank in found[name]]) - mean([measure(rank) for rank in first[name]])
                for name in first
            ]
            cells.append(
                f"{value:.3f}" + (f" ({mean(gains):+.3f} ± {_error(gains):.3f})" if way != "first stage" else "")
            )
        print(f"| {way} | {' | '.join(cells)} |")


def _error(values: Sequence[float]) -> float:
    middle = mean(values)
    return math.sqrt(sum((value - middle) ** 2 for value in values) / (len(values) - 1) / len(values))


if __name__ == "__main__":
    main()
