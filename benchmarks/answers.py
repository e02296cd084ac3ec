"""Whole answers without a model to real questions: whether they are right, how long they are, and what is refused.

    python -m benchmarks.answers --data DATA --checkouts FOLDER --home FOLDER [--questions FILE] [--curve WHAT]
        [--reranker R]

`--checkouts` has a checkout of each repository of real-questions, or of `FILE`, under its last name; the libraries are
made in `--home`, and used again. `first` and `any`: a place that answers is cited first, or at all; with several
places that are needed, their share. `--curve quotes` tries other limits of quotes, without pointers below them, and
prints what is chosen without the project asked; `--curve pointers` tries other limits of pointers.

A quote of code is broken off if a bracket of a call, a list or a signature is opened in it and closed elsewhere, or the
reverse, as the grammar of the language has it.

`cases/yes_no_questions.jsonl` has 46 questions to the same repositories that ask whether something is there, which it
is. Real questions that ask so are mostly unanswerable, so these show whether the form alone gets a question refused.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from openbook.answering.refusals import DOUBT_NOTE
from openbook.answers import Citation, GenerationResult
from openbook.chunking.grammars import parse
from openbook.evals.metrics import ExpectedSpan, mean
from openbook.extractive import answerer, pointers, surroundings
from openbook.grounding.marks import parse_mark
from openbook.library import Library
from openbook.settings import Settings
from openbook.types import Chunk, Span

YES_NO = Path(__file__).parent / "cases" / "yes_no_questions.jsonl"

# A longer answer is a wall of text; with pointers, which are a list of single lines, it may have some more.
_MAX_WORDS, _MAX_WITH_POINTERS = 110, 130

# Quotes, words of all, and words and lines of the first one with what is around it.
_LIMITS = tuple(itertools.product((3, 5), (90, 100, 110), ((0, 0), (60, 20), (80, 20))))

# Pointers, words of each, the least share of the best score, and of the question's words.
_POINTERS = (
    (0, 0, 0.0, 0.0),
    (3, 15, 0.7, 0.125),
    (5, 15, 0.7, 0.125),
    (8, 15, 0.7, 0.125),
    (8, 10, 0.7, 0.125),
    (8, 25, 0.7, 0.125),
    (8, 15, 0.0, 0.125),
    (8, 15, 0.8, 0.125),
    (8, 15, 0.7, 0.0),
    (8, 15, 0.7, 0.2),
)


@dataclass(frozen=True)
class Asked:
    """A question to a repository, and where its answer stands."""

    project: str
    text: str
    kind: str
    is_answerable: bool
    places: tuple[ExpectedSpan, ...]
    needs_all: bool
    language: str = "en"


class Outcome(NamedTuple):
    """What became of one question."""

    first: float
    any: float
    words: int
    refused: bool
    code: int = 0
    """Quotes of code."""
    broken: int = 0
    """Of these, the ones that are broken off."""
    is_doubtful: bool = False
    """The answer says that the sources may not answer."""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with real-questions")
    parser.add_argument("--checkouts", type=Path, required=True, help="folder with checkouts of the repositories")
    parser.add_argument("--home", type=Path, required=True, help="where the libraries are kept")
    parser.add_argument("--questions", type=Path, help="others than real-questions, written like these")
    parser.add_argument("--curve", choices=("quotes", "pointers"), help="try other limits")
    parser.add_argument("--reranker", default="", help="as `--reranker` of `openbook ask` takes it")
    arguments = parser.parse_args()
    asked = [
        each
        for each in read_questions(arguments.data, arguments.questions)
        if (arguments.checkouts / each.project).is_dir()
    ]
    with ExitStack() as stack:
        libraries = {
            name: stack.enter_context(
                open_library(arguments.checkouts / name, arguments.home / name, arguments.reranker)
            )
            for name in dict.fromkeys(each.project for each in asked)
        }
        outcomes = [_ask(libraries[each.project], arguments.checkouts / each.project, each) for each in asked]
        _print_kinds(asked, outcomes)
        _print_yes_no(libraries)
        code, broken = (sum(each[n] for each in outcomes) for n in (4, 5))
        print(f"\nOf {code} quotes of code, {broken} are broken off.")
        _print_doubtful(outcomes)
        answerable = [each for each in asked if each.is_answerable]
        if arguments.curve == "quotes":
            curve = list(_curve(libraries, arguments.checkouts, answerable))
            _print_curve([each.project for each in answerable], curve)
        if arguments.curve == "pointers":
            _print_pointers(libraries, arguments.checkouts, answerable)


def read_questions(data: Path, file: Path | None = None) -> list[Asked]:
    """Read the real questions, or those of a file, unanswerable ones included."""
    lines = (file or data / "real-questions" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        Asked(
            item["repo"].partition("/")[2],
            item["question"],
            item["type"],
            item["answerable"],
            tuple(ExpectedSpan(gold["path"], *gold["lines"]) for gold in item["gold"]),
            item.get("needs_all", False),
            item.get("language", "en"),
        )
        for item in map(json.loads, filter(str.strip, lines))
    ]


def open_library(folder: Path, home: Path, reranker: str = "") -> Library:
    """Open the library of a folder, which is made the first time."""
    home.mkdir(parents=True, exist_ok=True)
    library = Library(home / "library.sqlite", Settings(home=home, reranker=reranker))
    if not library.stats().chunks:
        library.add(folder)
    return library


def _ask(library: Library, checkout: Path, asked: Asked) -> Outcome:
    answer = library.query(asked.text)
    if answer.refused:
        return Outcome(0.0, 0.0, 0, True)
    words = sum(len(claim.text.split()) for claim in answer.claims)
    cited = [(_chunk_of(answer, each), each.span) for each in answer.citations]
    code = [(chunk.language, span) for chunk, span in cited if chunk.kind == "code" and chunk.language]
    broken = sum(_is_broken_off(span, _brackets(language, checkout / span.path)) for language, span in code)
    is_doubtful = answer.answer.startswith(DOUBT_NOTE)
    return Outcome(*places_cited(answer, asked), words, False, len(code), broken, is_doubtful)


def _chunk_of(answer: GenerationResult, citation: Citation) -> Chunk:
    mark = parse_mark(citation.mark)
    assert mark is not None
    return answer.results[mark.number - 1].chunk


@cache
def _brackets(language: str, path: Path) -> tuple[tuple[int, int], ...]:
    """Return the lines in which the round and square brackets of a file are opened and closed, from 1, in pairs."""
    tree = parse(language, path.read_bytes())
    pairs, left = [], [tree.root_node] if tree else []
    while left:
        node = left.pop()
        left.extend(node.children)
        if node.child_count and (node.children[0].type, node.children[-1].type) in (("(", ")"), ("[", "]")):
            pairs.append((node.start_point.row + 1, node.end_point.row + 1))
    return tuple(pairs)


def _is_broken_off(span: Span, brackets: Iterable[tuple[int, int]]) -> bool:
    """Return whether one of two brackets is in a quote, and the other one is not."""
    lines = range(span.start_line, span.end_line + 1)
    return any((opened in lines) != (closed in lines) for opened, closed in brackets)


def places_cited(answer: GenerationResult, asked: Asked) -> tuple[float, float]:
    """Return whether a right place is cited first, and whether at all; if all are needed, the share of them."""
    cited = [ExpectedSpan(c.span.path, c.span.start_line, c.span.end_line) for c in answer.citations]
    held = [any(place.overlaps(each) for each in cited) for place in asked.places]
    first = any(place.overlaps(each) for each in cited[:1] for place in asked.places)
    return float(first), mean([float(each) for each in held]) if asked.needs_all else float(any(held))


def _print_kinds(asked: Sequence[Asked], outcomes: Sequence[Outcome]) -> None:
    print("| questions | number | first | any | words | refused |\n|---|---|---|---|---|---|")
    kinds = dict.fromkeys(each.kind for each in asked if each.is_answerable)
    members = {
        "answerable": [n for n, each in enumerate(asked) if each.is_answerable],
        **{kind: [n for n, each in enumerate(asked) if each.is_answerable and each.kind == kind] for kind in kinds},
        "unanswerable": [n for n, each in enumerate(asked) if not each.is_answerable],
    }
    for name, numbers in members.items():
        some = [outcomes[n] for n in numbers]
        shares = " | ".join(f"{mean([each[n] for each in some]):.3f}" for n in (0, 1)) if name in kinds else ""
        if name == "answerable":
            shares = " | ".join(f"{mean([each[n] for each in some]):.3f}" for n in (0, 1))
        refused = mean([float(each.refused) for each in some])
        print(f"| {name} | {len(some)} | {shares or '- | -'} | {_words(some):.0f} | {refused:.3f} |", flush=True)


def _print_yes_no(libraries: Mapping[str, Library]) -> None:
    lines = map(json.loads, YES_NO.read_text(encoding="utf-8").splitlines())
    refused = [
        libraries[name].query(item["question"]).refused
        for item in lines
        if (name := item["repo"].partition("/")[2]) in libraries
    ]
    if refused:
        print(f"| yes or no, answerable | {len(refused)} | - | - | - | {mean(list(map(float, refused))):.3f} |")


def _print_doubtful(outcomes: Iterable[Outcome]) -> None:
    """Print how often a citation is right in doubtful answers and in others; to an unanswerable question none is."""
    given = [each for each in outcomes if not each.refused]
    for name, is_doubtful in (("say that the sources may not answer", True), ("do not", False)):
        some = [each for each in given if each.is_doubtful is is_doubtful]
        first, found = (mean([each[n] for each in some]) for n in (0, 1))
        print(f"{len(some)} answers {name}: first citation right for {first:.3f}, any for {found:.3f}.")


def _words(outcomes: Iterable[Outcome]) -> float:
    """Return the words that are quoted in an answer, where there is one."""
    return mean([float(each.words) for each in outcomes if not each.refused])


def _curve(libraries: Mapping[str, Library], checkouts: Path, asked: Sequence[Asked]) -> Iterable[list[Outcome]]:
    """Ask all again with each of the limits."""
    for quotes, words, (first_words, lines) in _LIMITS:
        with (
            patch.object(pointers, "_MAX_POINTERS", 0),
            patch.object(answerer, "_MAX_QUOTES", quotes),
            patch.object(answerer, "_MAX_WORDS", words),
            patch.object(surroundings, "_MAX_WORDS", first_words),
            patch.object(surroundings, "_MAX_LINES", lines),
        ):
            yield [_ask(libraries[each.project], checkouts / each.project, each) for each in asked]


def _print_curve(projects: Sequence[str], curve: Sequence[Sequence[Outcome]]) -> None:
    print("\n| quotes | words | first quote, words and lines | first | any | words |\n|---|---|---|---|---|---|")
    for (quotes, words, (first_words, lines)), outcomes in zip(_LIMITS, curve, strict=True):
        print(f"| {quotes} | {words} | {first_words}, {lines} | {_figures(outcomes)} |")
    print(f"| chosen without the project | | | {_figures(_left_out(projects, curve, _MAX_WORDS))} |")


def _left_out(projects: Sequence[str], curve: Sequence[Sequence[Outcome]], max_words: int) -> list[Outcome]:
    """Return of each project the outcomes with what is best for the others, of what keeps answers short enough."""
    left_out: list[Outcome] = []
    for project in dict.fromkeys(projects):
        others = [n for n, name in enumerate(projects) if name != project]
        short = [each for each in curve if _words(each[n] for n in others) <= max_words]
        best = max(short, key=lambda each: sum(each[n].first + each[n].any for n in others))
        left_out += [each for each, name in zip(best, projects, strict=True) if name == project]
    return left_out


def _print_pointers(libraries: Mapping[str, Library], checkouts: Path, asked: Sequence[Asked]) -> None:
    print("\n| pointers | words of each | of the best score | of the words | first | any | words |")
    print("|---|---|---|---|---|---|---|")
    curve = []
    for most, words, share, held in _POINTERS:
        with (
            patch.object(pointers, "_MAX_POINTERS", most),
            patch.object(pointers, "_MAX_POINTER_WORDS", words),
            patch.object(pointers, "_MIN_POINTER_SCORE", share),
            patch.object(pointers, "_MIN_POINTER_SHARE", held),
        ):
            outcomes = [_ask(libraries[each.project], checkouts / each.project, each) for each in asked]
        curve.append(outcomes)
        print(f"| {most} | {words} | {share} | {held} | {_figures(outcomes)} |", flush=True)
    left_out = _left_out([each.project for each in asked], curve, _MAX_WITH_POINTERS)
    print(f"| chosen without the project | | | | {_figures(left_out)} |")


def _figures(outcomes: Sequence[Outcome]) -> str:
    first, found = (mean([each[n] for each in outcomes]) for n in (0, 1))
    return f"{first:.3f} | {found:.3f} | {_words(outcomes):.0f}"


if __name__ == "__main__":
    main()
