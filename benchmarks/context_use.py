"""How much of its room a model's context uses, and how often what answers a question is in it.

    python -m benchmarks.context_use QUESTIONS.jsonl CHECKOUTS PROJECT... [--fitted ...] [--results N] [--tokens N]

`CHECKOUTS` has a folder for each project, with the files of the commit that its questions name. A
question is a JSON object with `repo`, `question`, `answerable`, `needs_all`, and `gold`: places that
answer it, each a `path` with its first and last of `lines`. A place is shown if all of its lines that are
not blank are. `needed`: any place is shown, or all where the question needs all. `seen`: any line is.

`found` is a context of the results as search gives them, `filled` the one that a model is shown. Constants
were chosen on the projects that are `fitted`; the others are reported as left out. `ratio` is the time for
searching and building, as a part of that without filling.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openbook.answering.evidence import EvidenceFinder
from openbook.embedding.static import load_embedder
from openbook.extractive.context import Context, build_context
from openbook.library import Library
from openbook.questions.question import read_question
from openbook.retrieval.search import EVERYTHING
from openbook.settings import Settings


@dataclass(frozen=True, slots=True)
class Room:
    """What a context may hold."""

    results: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one context holds of one question."""

    tokens: int
    any_shown: bool
    all_shown: bool
    needed: bool
    seen: bool
    took_s: float


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("projects", nargs="+")
    parser.add_argument("--fitted", nargs="*", default=[], help="those that constants were chosen on")
    parser.add_argument("--results", type=int, default=20, help="most results, as `--limit`")
    parser.add_argument("--tokens", type=int, default=Settings().context_tokens, help="as OPENBOOK_CONTEXT_TOKENS")
    arguments = parser.parse_args()
    room = Room(arguments.results, arguments.tokens)
    asked = [json.loads(line) for line in arguments.questions.read_text(encoding="utf-8").splitlines()]
    outcomes: defaultdict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for project in arguments.projects:
        half = "fitted" if project in arguments.fitted else "left out"
        questions = [each for each in asked if each["answerable"] and each["repo"].rpartition("/")[2] == project]
        for found, filled in _outcomes(arguments.checkouts / project, questions, room):
            outcomes[half, "found"].append(found)
            outcomes[half, "filled"].append(filled)
    print("| projects | context | questions | tokens | any % | all % | needed % | seen % | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    for (half, name), each in sorted(outcomes.items(), key=lambda pair: (pair[0][0], pair[0][1] == "filled")):
        ratio = sum(one.took_s for one in each) / sum(one.took_s for one in outcomes[half, "found"])
        print(f"| {half} | {name} | {_row(each)} | {ratio:.2f} |")


def _outcomes(folder: Path, questions: Sequence[dict[str, Any]], room: Room) -> list[tuple[Outcome, Outcome]]:
    with (
        tempfile.TemporaryDirectory() as scratch,
        Library.of(folder, settings=Settings(home=Path(scratch))) as assistant,
    ):
        finder = EvidenceFinder(assistant.index, load_embedder(), assistant.text_now, assistant.retriever)
        for question in questions:  # once unmeasured: what is read the first time is kept
            _contexts(finder, question["question"], room)
        return [_outcome(folder, finder, question, room) for question in questions]


def _outcome(folder: Path, finder: EvidenceFinder, asked: dict[str, Any], room: Room) -> tuple[Outcome, Outcome]:
    found, filled, found_s, filled_s = _contexts(finder, asked["question"], room)
    return judge_context(folder, asked, found, found_s), judge_context(folder, asked, filled, filled_s)


def _contexts(finder: EvidenceFinder, question: str, room: Room) -> tuple[Context, Context, float, float]:
    started = time.perf_counter()
    asked = read_question(question)
    results = finder.find(asked, room.results, EVERYTHING)
    searched_s = time.perf_counter() - started
    started = time.perf_counter()
    found = build_context(results, room.tokens, for_model=False)
    found_s = time.perf_counter() - started
    started = time.perf_counter()
    filled = build_context(finder.fill_context(results, room.tokens, EVERYTHING), room.tokens)
    return found, filled, searched_s + found_s, searched_s + time.perf_counter() - started


def judge_context(folder: Path, asked: dict[str, Any], context: Context, took_s: float = 0.0) -> Outcome:
    """Judge whether a context holds the places that answer a question."""
    shown: defaultdict[str, set[int]] = defaultdict(set)
    for entry in context.shown:
        for unit in entry.units:
            shown[unit.span.path].update(range(unit.span.start_line, unit.span.end_line + 1))
    whole, seen = [], []
    for gold in asked["gold"]:
        lines = (folder / gold["path"]).read_text(encoding="utf-8", errors="replace").split("\n")
        first, last = gold["lines"]
        wanted = {number for number in range(first, min(last, len(lines)) + 1) if lines[number - 1].strip()}
        whole.append(wanted <= shown[gold["path"]])
        seen.append(not wanted.isdisjoint(shown[gold["path"]]))
    needed = all(whole) if asked["needs_all"] else any(whole)
    return Outcome(context.tokens, any(whole), all(whole), needed, any(seen), took_s)


def _row(outcomes: Sequence[Outcome]) -> str:
    def percent(name: str) -> str:
        return f"{100 * sum(getattr(one, name) for one in outcomes) / len(outcomes):.1f}"

    tokens = sum(one.tokens for one in outcomes) / len(outcomes)
    shares = " | ".join(percent(name) for name in ("any_shown", "all_shown", "needed", "seen"))
    return f"{len(outcomes)} | {tokens:.0f} | {shares}"


if __name__ == "__main__":
    main()
