"""Whether questions on four real transcripts find their lesson, and whether the right sentence is cited.

    python -m benchmarks.courses --data path/to/data

`cases/course_questions.jsonl` has the questions, each with the sentence that answers it, as offsets;
no text is copied. In each transcript ten sentences were taken at equal distances, and from each on
the first one that says something a student would ask, which alone decides what is asked. Every other
question asks in `other` words than the transcript has. None names its course. Pairs of both kinds are
by turns for tuning and held back; the outcomes of both halves were looked at.

The 20 questions in other words were written twice. The first ones avoid nearly every word of their
sentence; they were measured, found nearly nothing, and were judged harder than what a student asks who
knows what the lesson is about. They stand at the end as `foreign`, with a line of the table of their
own, and the line `first` has the 40 questions as they were before: with these in the place of `other`.

`cases/course_questions_fresh.jsonl` has 40 more, chosen in the same way by somebody who had seen neither
results nor the other questions. They were measured when all was done, and again after changes to what is
quoted, which were tuned on other texts.

A hit is a citation that holds the whole sentence; of results, the first three passages count.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from openbook.library import Library
from openbook.settings import Settings
from openbook.types import Lesson

QUESTIONS = Path(__file__).parent / "cases" / "course_questions.jsonl"

FRESH = QUESTIONS.with_name("course_questions_fresh.jsonl")

HALVES = ("tuned", "held")

FOREIGN = "foreign"

_HEADING = re.compile(r"^Lesson (\d+):", re.MULTILINE)

# Results among which the lesson must be.
_DEPTH = 3


@dataclass(frozen=True, slots=True)
class Case:
    """A question, and the sentence that answers it."""

    question: str
    file: str
    start_char: int
    """Of the sentence, in the text of the file."""
    end_char: int
    wording: str
    """`same` words as the sentence, `other` ones, or `foreign` ones that share none with it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one question."""

    half: str
    wording: str
    lesson_found: bool
    sentence_cited: bool
    words: int
    """Quoted."""


def read_cases(file: Path = QUESTIONS) -> list[Case]:
    """Read the questions, in order."""
    return [Case(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]


def measure(folder: Path, cases: Sequence[Case], home: Path, *, verbose: bool = False) -> list[Outcome]:
    """Ask every question of one library of all transcripts."""
    with Library.of(folder, settings=Settings(home=home)) as assistant:
        return [
            _outcome(assistant, folder, case, HALVES[number // 2 % 2], verbose) for number, case in enumerate(cases)
        ]


def _outcome(assistant: Library, folder: Path, case: Case, half: str, verbose: bool) -> Outcome:
    found = assistant.search(case.question, limit=_DEPTH, view="passages")
    wanted = _lesson_of(folder, case)
    lesson_found = any((one.chunk.span.path, _number(one.chunk.lesson)) == (case.file, wanted) for one in found)
    answer = assistant.query(case.question)
    cited = any(
        citation.span.path == case.file
        and citation.span.start_char <= case.start_char
        and case.end_char <= citation.span.end_char
        for citation in answer.citations
    )
    if verbose:
        print(f"{half:5} {case.wording:5} {'L' if lesson_found else '-'}{'S' if cited else '-'} {case.question}")
    return Outcome(half, case.wording, lesson_found, cited, sum(len(one.quote.split()) for one in answer.citations))


def _lesson_of(folder: Path, case: Case) -> int | None:
    # Offsets count the characters of the file as it is, with its line ends.
    before = (folder / case.file).read_bytes().decode("utf-8")[: case.end_char]
    return max((int(heading[1]) for heading in _HEADING.finditer(before)), default=None)


def _number(lesson: Lesson | None) -> int | None:
    return None if lesson is None else lesson.number


def table(outcomes: Sequence[Outcome]) -> str:
    """Write the table: both halves, both wordings, all; then the questions as they were first."""
    counted = [one for one in outcomes if one.wording != FOREIGN]
    groups = {
        **{half: [one for one in counted if one.half == half] for half in HALVES},
        **{f"{word} words": [one for one in counted if one.wording == word] for word in ("same", "other")},
        "all": counted,
        "first 40": [one for one in outcomes if one.wording != "other"],
        "foreign words": [one for one in outcomes if one.wording == FOREIGN],
    }
    lines = [
        f"| questions | number | right lesson in first {_DEPTH} % | right sentence cited % | words quoted |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *(_line(name, group) for name, group in groups.items())])


def _line(name: str, group: Sequence[Outcome]) -> str:
    lesson, sentence, words = (
        sum(getattr(one, field) for one in group) / max(len(group), 1)
        for field in ("lesson_found", "sentence_cited", "words")
    )
    return f"| {name} | {len(group)} | {100 * lesson:.1f} | {100 * sentence:.1f} | {words:.0f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with courses")
    parser.add_argument("--verbose", action="store_true", help="also print what became of each question")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.data / "courses"
        outcomes = measure(folder, read_cases(), Path(scratch), verbose=arguments.verbose)
        fresh = measure(folder, read_cases(FRESH), Path(scratch), verbose=arguments.verbose)
    print(table(outcomes))
    for wording in ("same", "other", ""):
        print(_line(f"fresh, {wording or 'all'}", [one for one in fresh if wording in ("", one.wording)]))


if __name__ == "__main__":
    main()
