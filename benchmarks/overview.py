"""How often questions for a whole project are answered from the pages that introduce it.

    python -m benchmarks.overview --checkouts FOLDER

`overview.json` has repositories with their front pages, and five questions in each group; the groups were written one
after the other, and `{name}` is the name of the repository. Repositories that the folder lacks are named and left out.
Three of the questions are among the cases that `benchmarks.kinds` trains with, which also measures without.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.ours import folder_library
from benchmarks.works import read_json


class Outcome(NamedTuple):
    """What became of one question."""

    found: bool
    """A front page is among the results."""
    quoted: bool
    refused: bool


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkouts", type=Path, required=True)
    arguments = parser.parse_args()
    cases = read_json(Path(__file__).with_name("overview.json"))
    print("| questions | asked | a front page found % | quoted % | refused % |\n|---|---|---|---|---|")
    outcomes: dict[str, list[Outcome]] = {group: [] for group in cases["questions"]}
    for name, pages in cases["repositories"].items():
        if not (arguments.checkouts / name).is_dir():
            print(f"no checkout of {name} in {arguments.checkouts}", file=sys.stderr)
        else:
            for group, outcome in _outcomes(arguments.checkouts / name, cases["questions"], set(pages)):
                outcomes[group].append(outcome)
    for group, all_of in outcomes.items():
        shares = " | ".join(f"{100 * sum(column) / max(len(all_of), 1):.0f}" for column in zip(*all_of, strict=True))
        print(f"| {group} | {len(all_of)} | {shares} |")


def _outcomes(folder: Path, questions: dict[str, list[str]], pages: set[str]) -> Iterator[tuple[str, Outcome]]:
    with tempfile.TemporaryDirectory() as scratch, folder_library(folder, Path(scratch)) as assistant:
        for group, texts in questions.items():
            for text in texts:
                answer = assistant.query(text.replace("{name}", folder.name))
                found = {result.chunk.span.path for result in answer.results}
                quoted = {citation.span.path for citation in answer.citations}
                yield group, Outcome(bool(found & pages), bool(quoted & pages), answer.refused)


if __name__ == "__main__":
    main()
