"""What it is worth to recognize each form of question: all that have it are asked again as if they did not.

    python -m benchmarks.recognition --checkouts FOLDER --home FOLDER --questions FILE [FILE ...]

A form is, for example, a question for a list, for the versions required, or for the meaning of a term. Files are
written like `cases/list_questions.jsonl`; folders are those of `benchmarks.answers`. Printed are the questions that are
recognized, how many of their answers differ without that, and for how many the right place is cited first, cited at
all, and higher among ten results, with and without it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from benchmarks.answers import Asked, open_library, places_cited, read_questions
from openbook.errors import QueryError
from openbook.evals.metrics import ExpectedSpan
from openbook.library import Library
from openbook.questions import question

# The function that recognizes a form, and what it returns for all other questions.
FORMS: Mapping[str, tuple[str, object]] = {
    "a term": ("term_of", None),
    "a setting": ("asked_settings", ()),
    "parameters": ("parameters_of", None),
    "a list": ("list_of", None),
    "an enumeration": ("enumeration_of", None),
    "a comparison": ("compared", ()),
    "required versions": ("versions_of", None),
    "the changes of a release": ("release_of", None),
    "the release of a change": ("change_of", None),
    "the cause of an error": ("error_of", ""),
    "a message": ("messages_of", ()),
}


class _Found(NamedTuple):
    first: float
    any: float
    rank: float
    """1 / rank among ten results, 0 if it is not there."""
    text: str


def main() -> None:
    """Print a row for each form."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkouts", type=Path, required=True, help="folder with checkouts of the repositories")
    parser.add_argument("--home", type=Path, required=True, help="where the libraries are kept")
    parser.add_argument("--questions", type=Path, nargs="+", required=True, help="files of questions")
    arguments = parser.parse_args()
    questions = [
        each
        for file in arguments.questions
        for each in read_questions(Path(), file)
        if each.is_answerable and (arguments.checkouts / each.project).is_dir()
    ]
    counts = {form: Counter[str]() for form in FORMS}
    for project in sorted({each.project for each in questions}):
        with open_library(arguments.checkouts / project, arguments.home / project) as library:
            for asked in (each for each in questions if each.project == project):
                _count(library, asked, counts)
    print("| form | recognized | other answers | first | any | rank |\n|---|---|---|---|---|---|")
    for form, count in counts.items():
        signs = (f"+{count[f'{name} +']} -{count[f'{name} -']}" for name in ("first", "any", "rank"))
        print(f"| {form} | {count['recognized']} | {count['other']} | {' | '.join(signs)} |")


def _count(library: Library, asked: Asked, counts: Mapping[str, Counter[str]]) -> None:
    seen = set[str]()
    with ExitStack() as watched:
        for form, (name, _) in FORMS.items():
            watched.enter_context(_watching(name, partial(seen.add, form)))
        now = _ask(library, asked)
    for form in seen:
        name, other = FORMS[form]
        with patch.object(question, name, lambda *_, other=other, **__: other):
            without = _ask(library, asked)
        count = counts[form]
        count["recognized"] += 1
        count["other"] += now.text != without.text
        for figure in ("first", "any", "rank"):
            gain = getattr(now, figure) - getattr(without, figure)
            count[f"{figure} +"] += gain > 0
            count[f"{figure} -"] += gain < 0


@contextmanager
def _watching(name: str, seen: Callable[[], None]) -> Iterator[None]:
    """Call a function when another one of the module of questions recognizes something."""
    recognizes = getattr(question, name)

    def watched(*arguments: Any, **named: Any) -> Any:
        found = recognizes(*arguments, **named)
        if found:
            seen()
        return found

    with patch.object(question, name, watched):
        yield


def _ask(library: Library, asked: Asked) -> _Found:
    try:
        results = library.search(asked.text, limit=10)
        answer = library.query(asked.text)
    except QueryError as exc:  # without its form, a question may have no word to search for
        return _Found(0.0, 0.0, 0.0, str(exc))
    spans = [result.chunk.span for result in results]
    shown = [ExpectedSpan(span.path, span.start_line, span.end_line) for span in spans]
    ranks = (1 / rank for rank, each in enumerate(shown, start=1) if any(map(each.overlaps, asked.places)))
    first, cited = (0.0, 0.0) if answer.refused else places_cited(answer, asked)
    return _Found(first, cited, next(ranks, 0.0), answer.answer)


if __name__ == "__main__":
    main()
