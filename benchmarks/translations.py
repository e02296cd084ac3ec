"""Searches of repositories whose documentation is translated: results in a third language, and the right places.

    python -m benchmarks.translations --data DATA --checkouts FOLDER --home FOLDER [--questions FILE]

A result is in a third language if its path names one that is neither that of the question, as written down with it,
nor English. `without` has the order in which languages count nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

from benchmarks.answers import Asked, open_library, read_questions
from benchmarks.works import CASES
from openbook.evals.metrics import ExpectedSpan, mean
from openbook.library import Library
from openbook.questions.languages import language_and_page
from openbook.retrieval import search
from openbook.types import RetrievalResult


def main() -> None:
    """Ask with and without, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with real-questions")
    parser.add_argument("--checkouts", type=Path, required=True, help="folder with checkouts of the repositories")
    parser.add_argument("--home", type=Path, required=True, help="where the libraries are kept")
    parser.add_argument("--questions", type=Path, default=CASES / "translated_questions.jsonl", help="others than ours")
    arguments = parser.parse_args()
    asked = [
        each
        for each in read_questions(arguments.data, arguments.questions)
        if each.is_answerable and (arguments.checkouts / each.project).is_dir()
    ]
    print("| languages | questions | at 1 | in 3 | in 10 | MRR | results in a third language | questions with some |")
    print("|---|---|---|---|---|---|---|---|")
    with ExitStack() as stack:
        libraries = {
            name: stack.enter_context(open_library(arguments.checkouts / name, arguments.home / name))
            for name in dict.fromkeys(each.project for each in asked)
        }
        print(f"| count | {len(asked)} | {_figures(libraries, asked)} |", flush=True)
        stack.enter_context(patch.object(search, "demote_translations", lambda _, ranked: ranked))
        print(f"| without | {len(asked)} | {_figures(libraries, asked)} |", flush=True)


def _figures(libraries: dict[str, Library], asked: Sequence[Asked]) -> str:
    found = [libraries[each.project].search(each.text, limit=10) for each in asked]
    ranks = [_rank(each, results) for each, results in zip(asked, found, strict=True)]
    thirds = [_thirds(each.language, results) for each, results in zip(asked, found, strict=True)]
    shares = [mean([float(0 < rank <= most) for rank in ranks]) for most in (1, 3, 10)]
    figures = [*shares, mean([1 / rank if rank else 0.0 for rank in ranks])]
    return f"{' | '.join(f'{figure:.3f}' for figure in figures)} | {sum(thirds)} | {sum(map(bool, thirds))}"


def _rank(asked: Asked, results: Sequence[RetrievalResult]) -> int:
    """Return the position of the first right place, from 1; 0 if there is none."""
    spans = [result.chunk.span for result in results]
    places = [ExpectedSpan(span.path, span.start_line, span.end_line) for span in spans]
    return next((n for n, place in enumerate(places, 1) if any(each.overlaps(place) for each in asked.places)), 0)


def _thirds(language: str, results: Sequence[RetrievalResult]) -> int:
    """Count what is in neither a language nor English."""
    return sum(language_and_page(result.chunk.span.path)[0] not in ("", "en", language) for result in results)


if __name__ == "__main__":
    main()
