"""What each family of rules of finding and quoting is worth: all is measured again without one family at a time.

    python -m benchmarks.rules --data DATA --checkouts FOLDER [--only NAME ...]

`FOLDER` has a checkout of each repository of real-questions under its last name. No rule was tuned on these questions
but the weights of ranking and quotes, which stay as they are. `first` and `any`: the right place is cited first, or at
all; with the 95 % interval of the paired difference to all rules. `courses` and `XQuAD` are the sentence cited, and
the answer quoted in English and German (every sixth question), with the same intervals. `changed`: answers whose
text is another one.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.corpora import xquad
from benchmarks.courses import FRESH, QUESTIONS, read_cases
from openbook.answering import evidence
from openbook.answers import GenerationResult
from openbook.evals.metrics import mean
from openbook.evals.runs import interval
from openbook.extractive import answerer, echoes, passages, quoting, scoring, statements, surroundings
from openbook.library import Library
from openbook.retrieval import fusion, ranking, weights
from openbook.settings import Settings

_XQUAD_STEP = 6

_NEVER = re.compile("(?!)")

_NEWCOMERS = Path(__file__).parent / "cases" / "newcomer_questions.jsonl"

RULES: Mapping[str, Sequence[tuple[object, str, Any]]] = {
    "nothing": (),
    "a bonus for the definition of a name": ((scoring, "ASKED_BONUS", 0.0),),
    "a bonus for the sentence that defines": (
        *((scoring, name, 0.0) for name in ("_TOLD_BONUS", "_TOLD_BY_CODE_BONUS", "_OPENING_BONUS")),
        *((weights.QUESTION, name, 0.0) for name in ("defining", "defining:heading", "defining:symbol")),
    ),
    "a loss for what repeats the question": ((answerer, "_ECHO_LOSS", 0.0),),
    "leaving out weak further quotes": ((answerer, "_MAX_SCORE_GAP", 99.0),),
    "leaving out repeats": ((echoes, "_MIN_REPEATED_WORDS", 10**6),),
    "a first quote with what is around it": ((answerer, "_PLAIN_SHARE", 0.0),),
    "more results for uses": ((evidence, "_USES_FACTOR", 1),),
    "more results for places": ((evidence, "_PLACES_FACTOR", 1),),
    "introductions for overviews": ((evidence, "introduction", lambda *_: []),),
    "intents in the ranking": tuple(
        (weights.QUESTION, name, 0.0) for name in weights.QUESTION if name.startswith("role:documentation:")
    ),
    "intents in the quotes": (
        (
            scoring,
            "WEIGHTS",
            scoring.WEIGHTS._replace(
                number_where_value_is_asked=0.0, prose_where_it_answers=0.0, example_for_how_to=0.0
            ),
        ),
    ),
    "spreading long questions over files": ((ranking, "_SPREAD", 0.0),),
    "leaving out texts that say the same": ((fusion, "_SAME_LINES", 2.0),),
    # Small ones. How many answers they change is read as well: on most questions they have nothing to do.
    "joining quotes with nothing between them": ((answerer, "_adjoin", lambda *_: False),),
    "code up to its statement": ((answerer, "with_statement", lambda quote, *_: quote),),
    "a first quote that grows": ((answerer, "enlarged", lambda quote, _: quote),),
    "what a sentence leads to": ((surroundings, "_LEADS_IN", _NEVER),),
    "the sentence that a quote refers to": ((surroundings, "_REFERS", frozenset()),),
    "the head of a table": ((surroundings, "_head_of_table", lambda _, row: row),),
    "growing up to headings": ((surroundings, "holds_heading", lambda _: False),),
    "questions in the sources": ((echoes, "_IS_QUESTION", _NEVER),),
    "a value behind a sign": ((echoes, "_VALUE", _NEVER),),
    "code without imports": ((scoring, "without_imports", lambda _, code: code),),
    "labels that say nothing": ((passages, "_LABEL", _NEVER),),
    "what only closes": ((statements, "_CLOSES", _NEVER),),
    "comments that end with a sentence": ((statements, "_BEHIND_SENTENCE", ""),),
    "flowing lines of manual pages": ((quoting, "_GOES_ON", _NEVER),),
    # Whole mechanisms.
    "what a quote needs below and above": ((answerer, "completed", lambda quote, *_: quote),),
    "heads of definitions": ((passages, "definition_heads", lambda _: []),),
    "descriptions of options": ((scoring, "describing", lambda *_: set()),),
    "sentences and sections that define": ((scoring, "_definitions", lambda *_: set()),),
    "examples in fences": ((passages, "examples_in", lambda _: ()),),
}


@dataclass(frozen=True)
class Asked:
    """A question of a library, and what tells whether an answer is right: its first and any citation."""

    set: str
    library: Library
    question: str
    score: Callable[[GenerationResult], tuple[float, float]]


def main() -> None:
    """Print a row for each rule."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the question sets")
    parser.add_argument("--checkouts", type=Path, required=True, help="folder with checkouts of the repositories")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="rules to leave out, beside none")
    arguments = parser.parse_args()
    with contextlib.ExitStack() as stack:
        asked = list(_asked(arguments.data, arguments.checkouts, stack))
        before: list[tuple[float, float]] = []
        unchanged: list[str] = []
        print("| without | set | first | any | refused | changed |\n|---|---|---|---|---|---|")
        for name, patches in RULES.items():
            if before and arguments.only and name not in arguments.only:
                continue
            with contextlib.ExitStack() as patched:
                for owner, name_of, value in patches:
                    made = patch.dict(owner, {name_of: value}) if isinstance(owner, dict) else None
                    patched.enter_context(made or patch.object(owner, name_of, value))
                answers = [each.library.query(each.question) for each in asked]
            now = [each.score(answer) for each, answer in zip(asked, answers, strict=True)]
            unchanged = unchanged or [answer.answer for answer in answers]
            changed = [answer.answer != text for answer, text in zip(answers, unchanged, strict=True)]
            _print(name, asked, answers, now, before, changed)
            before = before or now


def _print(
    name: str,
    asked: Sequence[Asked],
    answers: Sequence[GenerationResult],
    now: Sequence[tuple[float, float]],
    before: Sequence[tuple[float, float]],
    changed: Sequence[bool],
) -> None:
    for each in dict.fromkeys(one.set for one in asked):
        members = [number for number, one in enumerate(asked) if one.set == each]
        cells = []
        for figure in (0, 1):
            cell = f"{mean([now[n][figure] for n in members]):.3f}"
            if before:
                low, high = interval([now[n][figure] - before[n][figure] for n in members])
                cell += f" ({low:+.3f} to {high:+.3f})"
            cells.append(cell)
        refused = mean([float(answers[n].refused) for n in members])
        differing = sum(changed[n] for n in members)
        print(f"| {name} | {each} | {cells[0]} | {cells[1]} | {refused:.3f} | {differing} |", flush=True)


def _asked(data: Path, checkouts: Path, stack: contextlib.ExitStack) -> Iterator[Asked]:
    def library(folder: Path) -> Library:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        return stack.enter_context(Library.of(folder, settings=Settings(home=home)))

    libraries: dict[str, Library] = {}
    for kind, file in (("real-questions", data / "real-questions" / "questions.jsonl"), ("newcomers", _NEWCOMERS)):
        for item in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            name = item["repo"].partition("/")[2]
            if (checkouts / name).is_dir():
                libraries[name] = libraries.get(name) or library(checkouts / name)
                of_set = kind if item["answerable"] else "unanswerable"
                yield Asked(of_set, libraries[name], item["question"], _by_lines(item))
    transcripts = data / "courses"
    courses = library(transcripts)
    for case in (*read_cases(QUESTIONS), *read_cases(FRESH)):
        yield Asked("courses", courses, case.question, _by_characters(case.file, case.start_char, case.end_char))
    for language in ("en", "de"):
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        questions = xquad(data, language, folder)[::_XQUAD_STEP]
        made = library(folder)
        for one in questions:
            yield Asked(f"XQuAD {language}", made, one.text, _by_characters(one.path, one.start_char, one.end_char))


def _by_lines(item: dict[str, Any]) -> Callable[[GenerationResult], tuple[float, float]]:
    def score(answer: GenerationResult) -> tuple[float, float]:
        if not item["answerable"]:
            return float(answer.refused), float(answer.refused)
        shown = [
            [
                cited.span.path == gold["path"]
                and cited.span.start_line <= gold["lines"][1]
                and gold["lines"][0] <= cited.span.end_line
                for gold in item["gold"]
            ]
            for cited in answer.citations
        ]
        found = [any(column) for column in zip(*shown, strict=True)]
        whole = mean([float(each) for each in found]) if item.get("needs_all") else float(any(found))
        return float(any(shown[0])) if shown else 0.0, whole

    return score


def _by_characters(path: str, start_char: int, end_char: int) -> Callable[[GenerationResult], tuple[float, float]]:
    def score(answer: GenerationResult) -> tuple[float, float]:
        hits = [
            cited.span.path == path and cited.span.start_char <= start_char and end_char <= cited.span.end_char
            for cited in answer.citations
        ]
        return float(hits[0]) if hits else 0.0, float(any(hits))

    return score


if __name__ == "__main__":
    main()
