"""What a second stage is worth on questions that people ask of whole repositories, and what it costs.

    python -m benchmarks.second_stage --questions FILE ... --checkouts FOLDER --home FOLDER --reranker R
    python -m benchmarks.second_stage --questions FILE ... --checkouts FOLDER --home FOLDER --encoder FOLDER

A file has a question a line, with the lines that answer it; `--checkouts` has a checkout of each repository under its
last name, and libraries are made in `--home`, and used again.

The same 20 results are taken in the order of the first stage; in that of the second one; in the order of both ranks
added; and with what the second one says added to the scores of the first, by weights that are fitted on the other
repositories of all files. The error is that of the mean over repositories. A reranker gives one number for each text.
An encoder (see `benchmarks.sentence_encoder`) gives two, the cosine and that of the nearest tokens: the order of the
cosine is shown, and either or both are added.
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
from benchmarks.sentence_encoder import Nearness, SentenceEncoder
from openbook.evals.metrics import mean
from openbook.opening import open_reranker
from openbook.retrieval.fields import embedding_text
from openbook.retrieval.reranking import RERANKED, Reranker
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

Said = Sequence[Mapping[str, float]]
"""What the second stage says of each text, by name."""

Second = Callable[[str, Sequence[str]], tuple[Said, bool]]
"""Takes a question and texts, and returns with what it says whether it had to read them."""

Cost = tuple[float, float]
"""Seconds that passed, and those of computing."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, what the first stage scored, what the second one says, and which results are right."""

    set: str
    repository: str
    scores: Sequence[float]
    said: Said
    right: Sequence[bool]

    def case(self, names: Sequence[str]) -> Case:
        """Return what weights are fitted on."""
        signals = [
            {"score": score, **{name: _SCALE * said[name] for name in names}}
            for score, said in zip(self.scores, self.said, strict=True)
        ]
        return Case(signals, np.array(self.right), 1.0)


def main() -> None:
    """Measure, and print a table for each file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=Path, nargs="+", required=True)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--home", type=Path, required=True, help="where the libraries are kept")
    second = parser.add_mutually_exclusive_group(required=True)
    second.add_argument("--reranker", help="as `--reranker` of `openbook search` takes it")
    second.add_argument("--encoder", type=Path, help="folder of a sentence encoder")
    parser.add_argument("--tokens", type=int, default=128, help="tokens that an encoder reads of a text")
    parser.add_argument("--threads", type=int, default=1, help="threads that an encoder uses")
    parser.add_argument("--cache", type=Path, help="file that keeps what an encoder has read")
    arguments = parser.parse_args()
    repositories = {name for file in arguments.questions for name in _by_repository(file)}
    if sum((arguments.checkouts / name).is_dir() for name in repositories) <= 1:
        parser.error(
            "weights are fitted on the other repositories: name checkouts of two or more that questions ask about"
        )
    if arguments.encoder:
        encoder = SentenceEncoder(arguments.encoder, arguments.tokens, arguments.threads, arguments.cache)
        asked, taken_ms = _ask(arguments, lambda *each: _near(encoder, *each), encoder.save)
        names: Sequence[str] = Nearness._fields
    else:
        reranker = open_reranker(arguments.reranker, Settings.from_env())
        if reranker is None:
            parser.error("name a reranker")
        names = ("reranker",)
        asked, taken_ms = _ask(arguments, lambda *each: _scored(reranker, *each), lambda: None)
    _print_costs(taken_ms)
    _print(asked, names)


def _ask(arguments: argparse.Namespace, second: Second, save: Callable[[], None]) -> tuple[list[Asked], list[Cost]]:
    """Ask all questions, and return what was found, with what the second stage cost where it had to read."""
    asked: list[Asked] = []
    costs: list[Cost] = []
    for file in arguments.questions:
        for name, questions in _by_repository(file).items():
            if not (arguments.checkouts / name).is_dir():
                continue
            with open_library(arguments.checkouts / name, arguments.home / name) as library:
                for each in questions:
                    found = library.search(each["question"], limit=RERANKED)
                    started = time.perf_counter(), time.process_time()
                    said, is_read = second(each["question"], [embedding_text(result.chunk) for result in found])
                    if is_read:
                        costs.append((time.perf_counter() - started[0], time.process_time() - started[1]))
                    right = [_rank([result], each["gold"]) == 1 for result in found]
                    asked.append(Asked(file.stem, name, [result.score for result in found], said, right))
            save()
            print(f"read {file.stem}: {name}", flush=True)
    return asked, costs


def _near(encoder: SentenceEncoder, question: str, texts: Sequence[str]) -> tuple[Said, bool]:
    is_read = not encoder.is_known(question, texts)
    return [each._asdict() for each in encoder.nearness(question, texts)], is_read


def _scored(reranker: Reranker, question: str, texts: Sequence[str]) -> tuple[Said, bool]:
    return [{"reranker": score} for score in reranker.scores(question, texts)], True


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


def _added(asked: Sequence[Asked], names: Sequence[str]) -> list[list[int]]:
    """Return the order of each question's results with more in their scores, weighed without its repository."""
    cases = [each.case(names) for each in asked]
    weights = {
        name: fit([case for case, other in zip(cases, asked, strict=True) if other.repository != name])
        for name in {each.repository for each in asked}
    }
    return [
        _best_first(
            [sum(weights[each.repository][name] * value for name, value in one.items()) for one in case.signals]
        )
        for case, each in zip(cases, asked, strict=True)
    ]


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


def _print(asked: Sequence[Asked], names: Sequence[str]) -> None:
    ways: dict[str, list[list[int]]] = {}
    for each in asked:
        for way, order in _orders([said[names[0]] for said in each.said]).items():
            ways.setdefault(way, []).append(order)
    parts = [*((name,) for name in names), *([tuple(names)] if len(names) > 1 else [])]
    for some in parts:
        ways[f"{' and '.join(some)} added, left out"] = _added(asked, some)
    for name in dict.fromkeys(each.set for each in asked):
        _print_table([n for n, each in enumerate(asked) if each.set == name], asked, ways)


def _print_table(members: Sequence[int], asked: Sequence[Asked], ways: Mapping[str, Sequence[Sequence[int]]]) -> None:
    repositories = list(dict.fromkeys(asked[n].repository for n in members))
    print(f"\n{asked[members[0]].set}: {len(members)} questions, {len(repositories)} repositories\n")
    print(f"| | {' | '.join(_MEASURES)} |\n|---|{'---|' * len(_MEASURES)}")
    before: dict[str, list[float]] = {}
    for way, orders in ways.items():
        cells = []
        for name, measure in _MEASURES.items():
            values = [measure(_place(orders[n], asked[n].right)) for n in members]
            first = before.setdefault(name, values)
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
