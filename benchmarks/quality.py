"""How well Openbook finds what is wanted, and semble beside it where it can be asked the same."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks import given, works
from benchmarks.ours import Answers, piece_library, search_folder
from benchmarks.peer import Asker
from benchmarks.works import Collection, Work
from openbook.evals.metrics import ExpectedSpan

FOLDER_WORKS = ("code-search", "code-search-mixed", "cases", "cases-mixed", "swe-qa")
GIVEN_WORKS = ("codebase-qa", "docs-qa", "span-qa")

# What semble gives back are chunks; of each file the first counts. As many are asked for as of
# Openbook. With 30, from which ten files could be filled, code-search is .854 in place of .861 and
# code-search, mixed .718 in place of .706: its ranking depends on the number.
_PEER_CHUNKS = 10


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one tool on one part of one work."""

    work: str
    tool: str
    part: str
    """`all`, `tuning` (every second question, which constants were chosen on) or `held` (the others)."""
    questions: int
    figures: dict[str, float]
    """By name of the metric, from 0 to 1."""
    query_ms: float = 0.0
    """Median of the warm searches of the work; 0 if not measured."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure, with what."""

    data: Path
    cache: Path
    checkouts: Path | None = None
    only: tuple[str, ...] = FOLDER_WORKS + GIVEN_WORKS
    collections: tuple[str, ...] = ()
    """Names of packages; empty for all."""
    options: dict[str, Any] = field(default_factory=dict)
    """For `Library.search`."""
    details: bool = False
    """Whether there is a row for each package, too."""


def measure(plan: Plan, asker: Asker | None) -> Iterator[Row]:
    """Yield rows as they come: for each work, each tool, all questions and both halves."""
    for work in folder_works(plan):
        chosen = [c for c in work.collections if not plan.collections or c.name in plan.collections]
        if chosen:
            yield from _measure_folders(replace(work, collections=tuple(chosen)), plan, asker)
    if not plan.collections:
        for task in given_works(plan):
            yield from _measure_pieces(task, plan)


def folder_works(plan: Plan) -> Iterator[Work]:
    """Yield the works on folders that are planned."""
    if "code-search" in plan.only:
        yield works.code_search(plan.data, plan.cache, mixed=False)
    if "code-search-mixed" in plan.only:
        yield works.code_search(plan.data, plan.cache, mixed=True)
    if "cases" in plan.only:
        yield works.own_cases(plan.cache, mixed=False)
    if "cases-mixed" in plan.only:
        yield works.own_cases(plan.cache, mixed=True)
    if "swe-qa" in plan.only:
        if plan.checkouts is None:
            print("skipped: swe-qa needs --checkouts", flush=True)
        else:
            yield works.swe_qa(plan.data, plan.checkouts)


def given_works(plan: Plan) -> Iterator[given.GivenWork]:
    """Yield the works on texts as they are given that are planned."""
    if "codebase-qa" in plan.only:
        yield given.codebase_qa(plan.data)
    if "docs-qa" in plan.only:
        yield given.docs_qa(plan.data)
    if "span-qa" in plan.only:
        for language in ("en", "de", "zh"):
            yield given.span_qa(plan.data, language)


def _measure_folders(work: Work, plan: Plan, asker: Asker | None) -> Iterator[Row]:
    ours = [_ask_ours(collection, plan) for collection in work.collections]
    yield from _rows(work, "openbook", ours, plan)
    if asker:
        theirs = [_ask_peer(collection, work, asker) for collection in work.collections]
        yield from _rows(work, "semble", theirs, plan)


def _ask_ours(collection: Collection, plan: Plan) -> Answers:
    texts = [question.text for question in collection.questions]
    with tempfile.TemporaryDirectory() as scratch:
        return search_folder(collection.folder, texts, Path(scratch), **plan.options)


def _ask_peer(collection: Collection, work: Work, asker: Asker) -> Answers:
    texts = [question.text for question in collection.questions]
    answers = asker.search_folder(collection.folder, collection.content, texts, limit=_PEER_CHUNKS)
    if work.score is not works.file_figures:
        return answers
    # Each file once: a second chunk of a file must not push other files down.
    ranked = tuple(replace(one, places=files_of(one.places)) for one in answers.ranked)
    return replace(answers, ranked=ranked)


def files_of(places: Iterable[ExpectedSpan]) -> tuple[ExpectedSpan, ...]:
    """Keep of each file only the first place."""
    first: dict[str, ExpectedSpan] = {}
    for place in places:
        first.setdefault(place.path, place)
    return tuple(first.values())


def _rows(work: Work, tool: str, answers: Sequence[Answers], plan: Plan) -> Iterator[Row]:
    answered = [
        [(question, one.places) for question, one in zip(collection.questions, answer.ranked, strict=True)]
        for collection, answer in zip(work.collections, answers, strict=True)
    ]
    query_ms = 1000 * statistics.median(one.seconds for answer in answers for one in answer.ranked)
    for part, some in works.halves(answered):
        yield Row(work.name, tool, part, sum(map(len, some)), work.score(some), query_ms)
    if plan.details:
        for collection, one in zip(work.collections, answered, strict=True):
            yield Row(f"{work.name}: {collection.name}", tool, "all", len(one), work.score([one]))


def _measure_pieces(task: given.GivenWork, plan: Plan) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as scratch, piece_library(task.pieces, Path(scratch)) as search:
        found = [search(question, limit=task.depth, **plan.options) for question in task.questions]
    asked = list(zip(found, task.wanted, strict=True))
    for part, some in (("all", asked), ("tuning", asked[0::2]), ("held", asked[1::2])):
        yield Row(task.name, "openbook", part, len(some), task.score(some))


def table(rows: Iterable[Row]) -> str:
    """Write one line of Markdown per work and metric; the columns are tools and parts."""
    kept = list(rows)
    tools = list(dict.fromkeys(row.tool for row in kept))
    columns = [(tool, part) for tool in tools for part in ("all", "tuning", "held")]
    values = {(row.work, row.tool, row.part): row for row in kept}
    lines = [
        "| work | questions | figure | " + " | ".join(f"{tool}, {part}" for tool, part in columns) + " |",
        "|---" * (3 + len(columns)) + "|",
    ]
    for work in dict.fromkeys(row.work for row in kept):
        first = next(row for row in kept if row.work == work)
        for name in first.figures:
            cells = [values.get((work, *column)) for column in columns]
            shown = (f"{cell.figures[name]:.3f}" if cell else "" for cell in cells)
            lines.append(f"| {work} | {first.questions} | {name} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def to_json(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return rows as JSON values."""
    return [asdict(row) for row in rows]
