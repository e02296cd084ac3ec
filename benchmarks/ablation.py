"""What each signal of the ranking is worth: everything is measured with it, then without it.

    python -m benchmarks.ablation --data FOLDER [--checkouts FOLDER] [--part held]

Each folder is indexed once. Constants are replaced in the running process only.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from platformdirs import user_cache_path

from benchmarks import quality
from benchmarks.ours import ask, folder_library, piece_library
from openbook.index import catalogue
from openbook.retrieval import closeness, definitions, ranking, roles

Patch = tuple[ModuleType, str, Any]
Measure = Callable[[slice], dict[str, float]]

_NO_DENSE = [(ranking, f"_DENSE_WEIGHT_{kind}", 0.0) for kind in ("TOPIC", "SYMBOL", "SHORT", "LONG")]
_EQUAL_ROLES = dict.fromkeys(roles._PRIORS, 1.0)  # noqa: SLF001 - what is private is what is taken away

VARIANTS: Mapping[str, Sequence[Patch]] = {
    "all signals": [],
    "no dense leg": _NO_DENSE,
    "dense leg weighs .5 in long questions": [(ranking, "_DENSE_WEIGHT_LONG", 0.5)],
    "no roles (tests, examples, documentation, ...)": [(roles, "_PRIORS", _EQUAL_ROLES), (roles, "_STAND_IN", 1.0)],
    "no old versions": [(roles, "_OLD_VERSION", 1.0)],
    "no gathering files": [(ranking, "_GATHERING", 1.0)],
    "no path": [(ranking, "_PATH_WEIGHT", 0.0)],
    "no words of the whole file": [(ranking, "_FILE_WORDS_WEIGHT", 0.0)],
    "best chunk of a file instead of three": [
        (ranking, "_TOP_CHUNKS_WEIGHT", 0.0),
        (ranking, "_BEST_CHUNK_WEIGHT", 1.05),
    ],
    "no definitions of symbols": [
        (definitions, "_DEFINITION_OF_SYMBOL", 0.0),
        (definitions, "_DEFINITION_OF_WORD", 0.0),
    ],
    "no definitions in questions": [(definitions, "_DEFINITION_IN_TEXT", 0.0)],
    "no file score in passages": [(ranking, "_FILE_WEIGHT", 0.0)],
    "no spread over files": [(ranking, "_SPREAD", 1.0)],
    "no closeness": [(closeness, "_WINDOW_WEIGHT", 0.0), (closeness, "_PAIRS_WEIGHT", 0.0)],
    "closeness of prose as of code, no sentences": [
        (closeness, "_CLOSENESS_OF_PROSE", 1.0),
        (closeness, "_SENTENCE_WEIGHT", 0.0),
    ],
    "closeness beside code in full": [(closeness, "_CLOSENESS_BESIDE_CODE", 1.0)],
    "other languages weighed as English": [(ranking, "_DENSE_WEIGHT_OTHER_LANGUAGE", 1.0)],
    "no other forms of words in closeness": [(closeness, "_SAME_LETTERS", 1000)],
    "no headings": [(ranking, "_HEADING_WEIGHT", 0.0)],
    "no whole files among the candidates": [(catalogue, "_WHOLE_FILES", 0)],
}


def main() -> int:
    """Print one line for each variant, as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--checkouts", type=Path)
    parser.add_argument("--cache", type=Path, default=user_cache_path("openbook-benchmarks", appauthor=False))
    parser.add_argument("--part", choices=("all", "tuning", "held"), default="held")
    arguments = parser.parse_args()
    part = {"all": slice(None), "tuning": slice(0, None, 2), "held": slice(1, None, 2)}[arguments.part]
    plan = quality.Plan(arguments.data, arguments.cache.expanduser().resolve(), arguments.checkouts)
    with contextlib.ExitStack() as stack:
        measures = list(_measures(plan, stack))
        for number, (name, patches) in enumerate(VARIANTS.items()):
            with _patched(patches):
                figures = {key: value for measure in measures for key, value in measure(part).items()}
            if number == 0:
                print(f"| | {' | '.join(figures)} |\n{'|---' * (1 + len(figures))}|")
            print(f"| {name} | {' | '.join(f'{value:.3f}' for value in figures.values())} |", flush=True)
    return 0


@contextlib.contextmanager
def _patched(patches: Sequence[Patch]) -> Iterator[None]:
    before = [(module, name, getattr(module, name)) for module, name, _ in patches]
    for module, name, value in patches:
        if not hasattr(module, name):
            raise AttributeError(name)
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def _measures(plan: quality.Plan, stack: contextlib.ExitStack) -> Iterator[Measure]:
    """Index everything, and yield what asks all questions of one work."""
    for work in quality.folder_works(plan):
        libraries = [
            stack.enter_context(folder_library(collection.folder, _scratch(stack))) for collection in work.collections
        ]
        yield partial(_ask_folders, work, libraries)
    for task in quality.given_works(plan):
        yield partial(_ask_pieces, task, stack.enter_context(piece_library(task.pieces, _scratch(stack))))


def _scratch(stack: contextlib.ExitStack) -> Path:
    return Path(stack.enter_context(tempfile.TemporaryDirectory()))


def _ask_folders(work: Any, libraries: Sequence[Any], part: slice) -> dict[str, float]:
    answered = [
        [(question, ask(library, question.text).places) for question in collection.questions[part]]
        for library, collection in zip(libraries, work.collections, strict=True)
    ]
    return {f"{work.name}: {name}": value for name, value in work.score(answered).items()}


def _ask_pieces(task: Any, search: Callable[..., list[int]], part: slice) -> dict[str, float]:
    asked = list(zip(task.questions, task.wanted, strict=True))[part]
    figures = task.score([(search(question, limit=task.depth), wanted) for question, wanted in asked])
    return {f"{task.name}: {name}": value for name, value in figures.items()}


if __name__ == "__main__":
    sys.exit(main())
