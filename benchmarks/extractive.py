"""How often the passages that the extractive answerer quotes hold the answer.

    python -m benchmarks.extractive --data path/to/data

Questions and answers are XQuAD's. A hit is a citation whose characters hold the whole answer. The
first half of the questions was used to choose constants, the second was not.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpora import Asked, xquad
from openbook.library import Library
from openbook.settings import Settings


@dataclass(frozen=True)
class Outcome:
    """What became of one question."""

    refused: bool
    first_hit: bool
    any_hit: bool
    words: int


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with span-qa")
    parser.add_argument("--languages", nargs="+", default=["en", "de", "zh"])
    arguments = parser.parse_args()
    print("| language | half | questions | refused % | in first quote % | in any quote % | words quoted |")
    print("|---|---|---|---|---|---|---|")
    for language in arguments.languages:
        with tempfile.TemporaryDirectory() as scratch:
            outcomes = _outcomes(arguments.data, language, Path(scratch))
        for half, name in ((0, "first"), (1, "second")):
            print(f"| {language} | {name} | {_row(outcomes[half::2])} |")


def _outcomes(data: Path, language: str, scratch: Path) -> list[Outcome]:
    folder = scratch / "text"
    folder.mkdir()
    questions = xquad(data, language, folder)
    with Library.of(folder, settings=Settings(home=scratch / "home")) as assistant:
        return [_outcome(assistant, question) for question in questions]


def _outcome(assistant: Library, question: Asked) -> Outcome:
    answer = assistant.query(question.text)
    hits = [
        citation.span.path == question.path
        and citation.span.start_char <= question.start_char
        and question.end_char <= citation.span.end_char
        for citation in answer.citations
    ]
    words = sum(len(citation.quote.split()) for citation in answer.citations)
    return Outcome(answer.refused, bool(hits and hits[0]), any(hits), words)


def _row(outcomes: list[Outcome]) -> str:
    def percent(name: str) -> str:
        return f"{100 * sum(getattr(outcome, name) for outcome in outcomes) / len(outcomes):.1f}"

    words = sum(outcome.words for outcome in outcomes) / len(outcomes)
    shares = " | ".join(percent(name) for name in ("refused", "first_hit", "any_hit"))
    return f"{len(outcomes)} | {shares} | {words:.0f}"


if __name__ == "__main__":
    main()
