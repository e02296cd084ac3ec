"""Fits the weights by which answers without a model choose their quotes, and measures them on projects left out.

    python -m benchmarks.quotes --data DATA --checkouts FOLDER

`FOLDER` has a checkout of each repository of real-questions, and of the questions of newcomers, under its last name.
Prints the weights of `openbook.extractive.scoring`, and how often the best passage, or one of the best three, is the
right place.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import works
from benchmarks.fit import Case, fit
from benchmarks.ours import folder_library
from openbook.answering.evidence import EvidenceFinder
from openbook.embedding.static import load_embedder
from openbook.evals.metrics import ExpectedSpan
from openbook.extractive.context import build_context
from openbook.extractive.passages import Passage, overlap, passages_of
from openbook.extractive.scoring import PassageSignals, read_passage, signals_of
from openbook.questions.question import read_question
from openbook.types import Filter

_RESULTS, _CONTEXT_TOKENS = 10, 6_000
_MAX_QUOTES = 3

Asked = tuple[str, Case, Sequence[Passage]]
"""The project, the question with its passages measured, and these passages."""


def main() -> None:
    """Print weights and figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with real-questions")
    parser.add_argument("--checkouts", type=Path, required=True, help="folder with checkouts of the repositories")
    arguments = parser.parse_args()
    newcomer = works.CASES / "newcomer_questions.jsonl"
    sets = (
        works.real_questions(arguments.data, arguments.checkouts),
        works.repository_questions("newcomer", newcomer, arguments.checkouts),
    )
    measured = {work.name: list(_asked(work)) for work in sets}
    asked = [each for some in measured.values() for each in some]
    weights = fit([case for _, case, _ in asked])
    print("| signal | weight |\n|---|---|")
    for name, weight in weights.items():
        print(f"| {name} | {weight:.2f} |")
    projects = dict.fromkeys(project for project, _, _ in asked)
    outside = {name: fit([case for project, case, _ in asked if project != name]) for name in projects}
    print("\n| set | right | fitted | left out |\n|---|---|---|---|")
    for name, some in measured.items():
        for right, depth in (("first", 1), ("any of three", _MAX_QUOTES)):
            inside = np.mean([is_right(each, weights, depth) for each in some])
            left_out = np.mean([is_right(each, outside[each[0]], depth) for each in some])
            print(f"| {name} | {right} | {inside:.3f} | {left_out:.3f} |")


def _asked(work: works.Work) -> Iterator[Asked]:
    for collection in work.collections:
        with tempfile.TemporaryDirectory() as scratch, folder_library(collection.folder, Path(scratch)) as assistant:
            finder = EvidenceFinder(assistant.index, load_embedder(), assistant.text_now, assistant.retriever)
            for question in collection.questions:
                passages, signals, right = passages_with_signals(finder, question)
                if passages:
                    yield collection.name, Case([each._asdict() for each in signals], right, 1.0), passages


def passages_with_signals(
    finder: EvidenceFinder, question: works.Question
) -> tuple[list[Passage], list[PassageSignals], NDArray[np.bool_]]:
    """Return the passages that may be quoted, what is known of each, and which are right."""
    query = read_question(question.text)
    results = finder.find(query, _RESULTS, Filter())
    context = build_context(results, _CONTEXT_TOKENS, for_model=False)
    passages = [passage for shown in context.shown for passage in passages_of(shown)]
    scores = {passage.shown.number: passage.shown.result.score for passage in passages}
    read = list(map(read_passage, passages))
    signals = signals_of(query, read, scores, load_embedder(), finder.weigh(query).rarity) if passages else []
    return passages, signals, np.array([question.is_answered_by(_place(passage)) for passage in passages])


def _place(passage: Passage) -> ExpectedSpan:
    return ExpectedSpan(passage.first.span.path, passage.first.span.start_line, passage.last.span.end_line)


def is_right(asked: Asked, weights: dict[str, float], depth: int) -> bool:
    """Return whether one of the best passages, of which no two overlap, is a right place."""
    _, case, passages = asked
    scores = [sum(weights.get(name, 0.0) * value for name, value in each.items()) for each in case.signals]
    taken: list[int] = []
    for number in sorted(range(len(scores)), key=lambda n: (-scores[n], n)):
        if len(taken) < depth and not any(overlap(passages[number], passages[other]) for other in taken):
            taken.append(number)
    return any(case.right[number] for number in taken)


if __name__ == "__main__":
    main()
