"""Query expansion: what other searches, written by a model, find for real questions.

    python -m benchmarks.expansion QUESTIONS.jsonl CHECKOUTS --prompts PROMPTS.jsonl
    python -m benchmarks.expansion QUESTIONS.jsonl CHECKOUTS --replies REPLIES.jsonl

`CHECKOUTS` has a folder for each project, with the files of the commit that its questions name; what is not there is
left out. A question is a JSON object as in `benchmarks.context_use`. The first form writes what a model is sent, one
JSON object with `id` and `prompt` a line; the second reads what it replied, with `id` and `reply`.

`other questions`: each question gets the searches of another question of its project, as the worst that a model can do.
`at 1` and the like: a place that answers is among so many results, for those that need several their share. `needed`:
the context that the answer is written from holds all lines that the question needs.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.context_use import judge_context
from openbook.answering.evidence import EvidenceFinder
from openbook.answering.expansion import build_expansion_prompt, is_expandable, read_searches
from openbook.embedding.static import load_embedder
from openbook.evals.metrics import mean
from openbook.extractive.context import build_context
from openbook.library import Library
from openbook.questions.question import read_question
from openbook.retrieval.search import EVERYTHING
from openbook.settings import Settings
from openbook.types import RetrievalResult

_TOP_K = 20
_FIGURES = ("at 1", "in 3", "in 10", "in 20", "MRR", "needed")


def main() -> None:
    """Write the prompts, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("checkouts", type=Path)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--prompts", type=Path, help="where to write the prompts")
    what.add_argument("--replies", type=Path, help="what a model replied to them")
    arguments = parser.parse_args()
    asked = [each for each in _read(arguments.questions) if each["answerable"]]
    by_project: defaultdict[Path, list[dict[str, Any]]] = defaultdict(list)
    for each in asked:
        by_project[arguments.checkouts / each["repo"].rpartition("/")[2]].append(each)
    projects = {folder: questions for folder, questions in by_project.items() if folder.is_dir()}
    if arguments.prompts:
        with arguments.prompts.open("w", encoding="utf-8") as file:
            for folder, questions in projects.items():
                file.writelines(json.dumps(row) + "\n" for row in _prompts(folder, questions))
    else:
        replies = {each["id"]: each["reply"] for each in _read(arguments.replies)}
        _print_table(projects, replies)


def _read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@contextmanager
def _finder(folder: Path) -> Iterator[EvidenceFinder]:
    with (
        tempfile.TemporaryDirectory() as scratch,
        Library.of(folder, settings=Settings(home=Path(scratch))) as library,
    ):
        yield EvidenceFinder(library.index, load_embedder(), library.text_now, library.retriever)


def _prompts(folder: Path, questions: Sequence[dict[str, Any]]) -> Iterator[dict[str, str]]:
    with _finder(folder) as finder:
        for asked in questions:
            found = finder.find(read_question(asked["question"]), _TOP_K, EVERYTHING)
            yield {"id": asked["id"], "prompt": build_expansion_prompt(asked["question"], found)}


def _print_table(projects: Mapping[Path, Sequence[dict[str, Any]]], replies: Mapping[str, str]) -> None:
    rows: defaultdict[tuple[str, str], list[list[float]]] = defaultdict(list)
    for folder, questions in projects.items():
        answered = [each for each in questions if each["id"] in replies]
        with _finder(folder) as finder:
            for position, asked in enumerate(answered):
                stranger = answered[(position + len(answered) // 2) % len(answered)]
                for name, reply in (
                    ("first search", ""),
                    ("expanded", replies[asked["id"]]),
                    ("other questions", replies[stranger["id"]]),
                ):
                    figures = _figures(folder, finder, asked, reply)
                    rows["every one", name].append(figures)
                    rows[asked["type"], name].append(figures)
    print(f"| questions | number | searches | {' | '.join(_FIGURES)} |")
    print("|---|---|---|" + "---|" * len(_FIGURES))
    for (kind, name), found in sorted(rows.items(), key=lambda item: item[0][0] != "every one"):
        row = " | ".join(f"{mean(each):.3f}" for each in zip(*found, strict=True))
        print(f"| {kind} | {len(found)} | {name} | {row} |")


def _figures(folder: Path, finder: EvidenceFinder, asked: dict[str, Any], reply: str) -> list[float]:
    """Measure what is found with a reply; without one, what the question alone finds."""
    question = read_question(asked["question"])
    results = finder.find(question, _TOP_K, EVERYTHING)
    if reply and is_expandable(question, results, _TOP_K):
        results = finder.expand(results, read_searches(reply), _TOP_K, EVERYTHING)
    right = [_places(asked, result) for result in results]
    rank = next((rank for rank, found in enumerate(right[:10], 1) if found), 0)
    tokens = Settings().context_tokens
    context = build_context(finder.fill_context(results, tokens, EVERYTHING), tokens)
    return [
        float(rank == 1),
        float(0 < rank <= 3),
        _share(asked, right[:10]),
        _share(asked, right[:20]),
        1 / rank if rank else 0.0,
        float(judge_context(folder, asked, context).needed),
    ]


def _places(asked: dict[str, Any], result: RetrievalResult) -> set[int]:
    span = result.chunk.span
    return {
        number
        for number, place in enumerate(asked["gold"])
        if place["path"] == span.path and span.start_line <= place["lines"][1] and span.end_line >= place["lines"][0]
    }


def _share(asked: dict[str, Any], found: Sequence[set[int]]) -> float:
    places = set().union(*found)
    return len(places) / len(asked["gold"]) if asked["needs_all"] else float(bool(places))


if __name__ == "__main__":
    main()
