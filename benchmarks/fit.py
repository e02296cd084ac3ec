"""Fits the weights of the ranking, and measures them on projects that they were not fitted on.

    python -m benchmarks.fit --data DATA --checkouts FOLDER [--cache FOLDER] [--view VIEW] [--without SIGNAL ...]
        [--write]

`FOLDER` has a checkout of each repository of real-questions, our own questions, swe-qa and code-search-wide, under its
last name; what is not there is left out. Weights maximise the likelihood of a right candidate among all of its question
(a softmax over them, ridge penalty 1), and are shifted so that no role counts below zero. Figures are those of real
searches: once with all projects, once for each project with weights that were fitted on the others.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

from benchmarks import given, works
from benchmarks.metrics import span_figures
from benchmarks.ours import folder_library, piece_retriever
from openbook.evals.metrics import ExpectedSpan, mean, ndcg, recall
from openbook.index.protocol import EVERYTHING
from openbook.questions.question import read_question
from openbook.retrieval import weights
from openbook.retrieval.callables import meant_settings
from openbook.retrieval.fields import place_of
from openbook.retrieval.proximity import expand_inflections, proximity
from openbook.retrieval.search import DEPTH, Retriever
from openbook.retrieval.signals import (
    Signals,
    chunk_signals,
    file_signals,
    place_signals,
    question_signals,
    rarities,
    text_signals,
)
from openbook.text import sentences
from openbook.tokens import tokenize
from openbook.types import Chunk, RetrievalResult, Span, View, shown_text

_RIDGE = 1.0
_STEPS, _SETTLED = 60, 1e-4
# Questions of XQuAD are many and of one kind: every fourth, counting half.
_XQUAD_STEP, _XQUAD_SHARE = 4, 0.5
# Topics were labelled with files of code alone, so documentation would be fitted away. Half of what the data ask for
# costs .005 on repositories with both.
_DOCUMENTATION_OF_TOPICS = 0.5
# What is set, not fitted. No topic in the data is a heading; and what a name that stands alone names comes first, which
# the few symbols among them would not ask for so plainly. Neither changes a figure by .002. What `benchmarks.forms`
# predicts is trained on these questions, so its weight cannot be fitted to them.
_SET: Mapping[View, dict[str, float]] = {
    "passages": {
        "cause": 12.0,
        "change": 16.0,
        "date": 16.0,
        "defining": 6.0,
        "defining:heading": 5.0,
        "defining:symbol": 5.0,
        "definition:asked": 6.0,
        "edition": 6.0,
        "enumeration": 12.0,
        "exact": 12.0,
        "headed": 6.0,
        "number": 7.0,
        "reference": 16.0,
        "role:documentation:predicted": 0.8,
        "release": 12.0,
        "requirement": 12.0,
        "setting": 12.0,
        "view": -1.6,
    },
    "files": {"definition:asked": 6.0, "enumeration": 12.0, "exact": 12.0, "heading": 2.0},
}
# Set when all others are fitted. The topics that we have are answered by large files more often than others: with the
# .55 that they ask for, large files come before what a topic is about (`benchmarks.gate`: .88 instead of .93 on rich).
_LOWERED: Mapping[View, dict[str, float]] = {"passages": {}, "files": {"size": 0.32}}
# Added to documentation when all others are fitted, since half of these questions come from sets that code alone
# answers. Chosen with projects left out, on the sets of `benchmarks.forms`.
DOCUMENTATION_OF_QUESTIONS = 0.5

# Our own cases avoid the words of file names, which those of others do not.
_CASES_SHARE = 0.15
_OF_TOPICS = ("code-search", "cases")

# Our own questions on whole repositories, see `benchmarks/cases`.
_OWN = ("newcomer", "paraphrased")

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]
Fitted = Mapping[View, Mapping[str, float]]


@dataclass(frozen=True)
class Case:
    """A question with its candidates."""

    signals: list[Signals]
    right: NDArray[np.bool_]
    weight: float


@dataclass
class Project:
    """A library and its questions: what is left out together shares a name."""

    set: str
    name: str
    retriever: Retriever
    questions: Sequence[works.Question]
    piece_of: Callable[[Chunk], ExpectedSpan] | None = None
    """Where chunks are given, what stands for each."""
    share: float = 1.0
    cases: list[Case] = field(default_factory=list)

    @property
    def view(self) -> View:
        """How its questions are answered."""
        return _view_of(self.set)

    def place(self, chunk: Chunk) -> ExpectedSpan:
        """Name the place of a chunk."""
        if self.piece_of:
            return self.piece_of(chunk)
        return ExpectedSpan(chunk.span.path, chunk.span.start_line, chunk.span.end_line)


def _view_of(name: str) -> View:
    return "files" if name.startswith(_OF_TOPICS) else "passages"


def main() -> None:
    """Fit, measure, and write the weights if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the question sets")
    parser.add_argument("--checkouts", type=Path, required=True, help="folder with checkouts of the repositories")
    parser.add_argument("--cache", type=Path, default=user_cache_path("openbook-benchmarks"), help="for packages")
    parser.add_argument(
        "--view", choices=tuple(_SET), help="fit and measure topics (files) or questions (passages) alone"
    )
    parser.add_argument("--write", action="store_true", help="write the weights into the project")
    parser.add_argument("--without", nargs="+", default=[], metavar="SIGNAL", help="signals that count nothing")
    arguments = parser.parse_args()
    for weighing in _SET.values():
        weighing.update(dict.fromkeys(arguments.without, 0.0))
    with contextlib.ExitStack() as stack:
        projects = list(_projects(arguments.data, arguments.checkouts, arguments.cache, arguments.view, stack))
        for project in projects:
            project.cases = list(_cases(project))
            print(f"read {project.set}: {project.name}, {len(project.cases)} questions", flush=True)
        fitted = _fitted(projects, arguments.view)
        if arguments.write:
            _write(fitted)
        left_out: dict[tuple[View, tuple[bool, ...]], Fitted] = {}
        print("| set | figure | fitted | left out |\n|---|---|---|---|")
        for name in dict.fromkeys(project.set for project in projects):
            _print_row(name, projects, fitted, left_out)


def _print_row(
    name: str, projects: Sequence[Project], fitted: Fitted, left_out: dict[tuple[View, tuple[bool, ...]], Fitted]
) -> None:
    """Print the figures of a set. What is fitted without some projects is kept in `left_out` for other sets of them."""
    inside: list[tuple[works.Question, list[ExpectedSpan]]] = []
    outside: list[tuple[works.Question, list[ExpectedSpan]]] = []
    groups: list[tuple[int, int]] = []
    for project in (each for each in projects if each.set == name):
        start = len(inside)
        inside += _searched(project, fitted)
        together = tuple(_together(each, project) for each in projects)
        if (project.view, together) not in left_out:
            others = [each for each, is_out in zip(projects, together, strict=True) if not is_out]
            left_out[project.view, together] = _fitted(others, project.view)
        outside += _searched(project, left_out[project.view, together])
        groups.append((start, len(inside)))
    before, after = (_figures(name, found, groups) for found in (inside, outside))
    for figure, value in before.items():
        print(f"| {name} | {figure} | {value:.3f} | {after[figure]:.3f} |", flush=True)


def _together(one: Project, other: Project) -> bool:
    """Return whether two are left out together: the same project in several sets, or the same given texts."""
    return one.name == other.name or (one.set == other.set and one.set in given.NAMES)


def _searched(project: Project, by: Fitted) -> list[tuple[works.Question, list[ExpectedSpan]]]:
    weighing = weights.QUESTION, weights.TOPIC
    weights.QUESTION, weights.TOPIC = dict(by["passages"]), dict(by["files"])
    try:
        depth = 20 if project.set == "codebase-qa" else 10
        return [
            (question, [project.place(result.chunk) for result in _search(project, question.text, depth)])
            for question in project.questions
        ]
    finally:
        weights.QUESTION, weights.TOPIC = weighing


def _search(project: Project, text: str, limit: int) -> list[RetrievalResult]:
    view: View = "auto" if project.view == "passages" and project.piece_of is None else project.view
    return project.retriever.search(text, limit=limit, view=view)


def _figures(
    name: str, found: Sequence[tuple[works.Question, Sequence[ExpectedSpan]]], groups: Sequence[tuple[int, int]]
) -> dict[str, float]:
    if name.startswith(_OF_TOPICS):
        parts = [[ndcg([p.path for p in places], question.paths) for question, places in found[a:b]] for a, b in groups]
        return {"NDCG@10": mean([mean(part) for part in parts if part])}
    if name == "swe-qa":
        return span_figures((places, question.wanted) for question, places in found)
    if name == "codebase-qa":
        return {f"Pass@{k}": mean([recall(places, set(q.wanted), k) for q, places in found]) for k in (5, 10, 20)}
    ranks = [next((n for n, p in enumerate(places, 1) if q.is_answered_by(p)), 0) for q, places in found]
    shares = [question.share_of(places) for question, places in found]
    return {
        **{f"hit@{k}": mean([float(0 < rank <= k) for rank in ranks]) for k in (1, 3)},
        "in 10": mean(shares),
        "MRR": mean([1 / rank if rank else 0.0 for rank in ranks]),
    }


def _projects(
    data: Path, checkouts: Path, cache: Path, view: View | None, stack: contextlib.ExitStack
) -> Iterator[Project]:
    planned = [
        works.real_questions(data, checkouts),
        *(works.repository_questions(name, works.CASES / f"{name}_questions.jsonl", checkouts) for name in _OWN),
        works.swe_qa(data, checkouts),
        works.code_search(data, cache, mixed=False),
        works.code_search(data, cache, mixed=True),
        works.code_search_wide(data, checkouts, mixed=False),
        works.code_search_wide(data, checkouts, mixed=True),
        works.own_cases(cache, mixed=False),
        works.own_cases(cache, mixed=True),
    ]
    for work in (each for each in planned if view in (None, _view_of(each.name))):
        for collection in work.collections:
            scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            assistant = stack.enter_context(folder_library(collection.folder, scratch))
            share = _CASES_SHARE if work.name.startswith("cases") else 1.0
            yield Project(work.name, collection.name, assistant.retriever, collection.questions, share=share)
    if view != "files":
        yield from _given_projects(data, stack)


def _given_projects(data: Path, stack: contextlib.ExitStack) -> Iterator[Project]:
    for task in (
        given.codebase_qa(data),
        given.docs_qa(data),
        *(given.span_qa(data, each) for each in given.LANGUAGES),
    ):
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        retriever, positions = stack.enter_context(piece_retriever(task.pieces, scratch))
        step = _XQUAD_STEP if task.name.startswith("xquad") else 1
        asked = zip(task.questions[::step], task.wanted[::step], strict=True)
        questions = [works.Question(text, tuple(_piece(n) for n in sorted(wanted))) for text, wanted in asked]
        share = _XQUAD_SHARE if step > 1 else 1.0

        def piece_of(chunk: Chunk, positions: Mapping[Span, int] = positions) -> ExpectedSpan:
            return _piece(positions[chunk.span])

        yield Project(task.name, task.name, retriever, questions, piece_of, share)


def _piece(number: int) -> ExpectedSpan:
    return ExpectedSpan("piece", number, number)


def _cases(project: Project) -> Iterator[Case]:
    index, embedder = project.retriever.index, project.retriever.embedder
    for question in project.questions:
        query = read_question(question.text)
        vector = embedder.embed([query.text])[0]
        with index.snapshot():
            matches = index.match(query.tokens, vector, DEPTH, EVERYTHING)
            outlines = index.outlines([each.id for each in matches.evidence])
            chunks = index.fetch([each.id for each in outlines])
        texts = [chunk.text for chunk in chunks]
        signals = chunk_signals(query, matches, outlines, texts if query.name else ())
        if project.view == "files":
            members: dict[str, list[int]] = {}
            for position, outline in enumerate(outlines):
                members.setdefault(outline.span.path, []).append(position)
            found = [
                file_signals(
                    query,
                    [signals[n] for n in group],
                    outlines[group[0]],
                    matches.evidence[group[0]].file_chunks,
                )
                | place_signals(float(embedder.embed([shown_text(" ".join(place_of(path)))])[0] @ vector))
                for path, group in members.items()
            ]
            right = np.array([path in question.paths for path in members])
            # One positive at a time: each of several right files has to beat what is wrong, not the others.
            for position in np.flatnonzero(right).tolist():
                kept = [position, *np.flatnonzero(~right)]
                first = np.arange(len(kept)) == 0
                yield Case([found[n] for n in kept], first, project.share / right.sum())
            continue
        rarity = rarities(query, matches.frequencies, matches.chunks)
        is_prose = all(outline.kind != "code" for outline in outlines)
        whole = question_signals(query, signals, outlines)
        settings = meant_settings(query, chunks)
        for each, chunk in zip(whole, chunks, strict=True):
            near = proximity(expand_inflections(tokenize(chunk.text), query.tokens), rarity)
            cosine = _nearest(embedder, vector, chunk.text)
            each |= text_signals(query, chunk, near, cosine, is_prose=is_prose, settings=settings)
        right = np.array([question.is_answered_by(project.place(chunk)) for chunk in chunks])
        yield Case(whole, right, project.share)


def _nearest(embedder: object, vector: Floats, text: str) -> float:
    said = [text[start:end].replace("\f", " ") for start, end in sentences(text)]
    return max((float(each @ vector) for each in embedder.embed(said)), default=0.0) if said else 0.0  # type: ignore[attr-defined]


def _fitted(projects: Sequence[Project], view: View | None = None) -> Fitted:
    """Fit the weights of both views, or of one, the other as it stands."""
    found: dict[View, Mapping[str, float]] = {"passages": weights.QUESTION, "files": weights.TOPIC}
    for each in ("passages", "files") if view is None else (view,):
        cases = [case for project in projects if project.view == each for case in project.cases]
        found[each] = _shifted(fit(cases, frozen=tuple(_SET[each])), each)
    return found


def fit(cases: Sequence[Case], frozen: Sequence[str] = ()) -> dict[str, float]:
    """Maximise the likelihood of right candidates. Each step minimises a bound of the loss by Newton's method."""
    useful = [case for case in cases if case.right.any() and not case.right.all()]
    names = sorted({name for case in useful for signals in case.signals for name in signals} - set(frozen))
    matrix = np.array([[signals.get(name, 0.0) for name in names] for case in useful for signals in case.signals])
    sizes = [len(case.signals) for case in useful]
    starts = np.cumsum([0, *sizes[:-1]])
    right = np.concatenate([case.right for case in useful])
    share = np.repeat([case.weight for case in useful], sizes)
    weight = np.zeros(len(names))
    loss, chance, target = _likelihood(matrix, weight, starts, sizes, right, share)
    for _ in range(_STEPS):
        gradient = matrix.T @ (share * (chance - target)) + _RIDGE * weight
        means = np.add.reduceat(matrix * chance[:, None], starts)
        curvature = (matrix * (share * chance)[:, None]).T @ matrix - (means * share[starts][:, None]).T @ means
        step = np.linalg.solve(curvature + _RIDGE * np.eye(len(names)), gradient)
        size = 1.0
        while (tried := _likelihood(matrix, weight - size * step, starts, sizes, right, share))[
            0
        ] > loss and size > 1e-6:
            size /= 2
        weight = weight - size * step
        loss, chance, target = tried
        if np.abs(size * step).max() < _SETTLED:
            break
    return dict(zip(names, weight.tolist(), strict=True))


def _likelihood(
    matrix: Floats, weight: Floats, starts: Positions, sizes: Sequence[int], right: NDArray[np.bool_], share: Floats
) -> tuple[float, Floats, Floats]:
    """Return the loss, and the softmax over all candidates and over right ones, case by case."""
    score = matrix @ weight
    every, logs = _softmax(score, starts, sizes)
    only, right_logs = _softmax(np.where(right, score, -np.inf), starts, sizes)
    loss = float((share[starts] * (logs - right_logs)).sum() + 0.5 * _RIDGE * (weight @ weight))
    return loss, every, only


def _softmax(score: Floats, starts: Positions, sizes: Sequence[int]) -> tuple[Floats, Floats]:
    highest = np.maximum.reduceat(score, starts)
    power = np.exp(score - np.repeat(highest, sizes))
    total = np.add.reduceat(power, starts)
    return power / np.repeat(total, sizes), np.log(total) + highest


def _shifted(found: Mapping[str, float], view: View) -> dict[str, float]:
    """Let no role count below zero; a constant for all candidates changes no order."""
    values = {name: value for name, value in found.items() if name != "role:source"}
    source = found.get("role:source", 0.0)
    if view == "files":
        gap = values["role:documentation"] - source
        values["role:documentation"] = source + _DOCUMENTATION_OF_TOPICS * gap
        values = {name: value for name, value in values.items() if not name.startswith("role:documentation:")}
    else:
        values["role:documentation"] += DOCUMENTATION_OF_QUESTIONS
    roles = {name: value for name, value in values.items() if name.startswith("role:")}
    intents = [value for name, value in roles.items() if name.count(":") == 2]
    lowest_documentation = roles.get("role:documentation", 0.0) + sum(min(value, 0.0) for value in intents)
    plain = [value for name, value in roles.items() if name.count(":") == 1]
    lowest = min([source, lowest_documentation, *plain])
    shifted = {name: value - lowest if name.count(":") == 1 else value for name, value in roles.items()}
    # Translations, lock files and licenses are rare among candidates, so the ridge would leave them in the middle.
    shifted |= {"role:generated": 0.0, "role:legal": 0.0}
    return {**values, **_LOWERED[view], **_SET[view], **shifted, "role:source": source - lowest}


def _write(found: Fitted) -> None:
    lines = ['"""How much each signal counts. Written by `python -m benchmarks.fit`: change the training instead."""']
    lines += ["", "from __future__ import annotations", ""]
    named: Mapping[str, View] = {"QUESTION": "passages", "TOPIC": "files"}
    for name, view in named.items():
        rows = [f'    "{key}": {value:.2f},' for key, value in sorted(found[view].items()) if abs(value) >= 0.005]
        lines += [f"{name}: dict[str, float] = {{", *rows, "}", ""]
    Path(weights.__file__).write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
