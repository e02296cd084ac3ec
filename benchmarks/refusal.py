"""Where to refuse: how the odds of an answer separate questions that a library answers from those it does not.

    python -m benchmarks.refusal --data path/to/data

Each library is asked its own questions, which it answers, and those of the others, which it does
not. The threshold is read from the first half of the questions and reported on the second.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.corpora import codebase_qa, docs_qa, xquad
from benchmarks.ours import folder_library_at, signs_and_odds
from openbook.answering.answerability import ANSWERABLE_FLOOR

# Every n-th foreign question is enough: there are a thousand for each library.
_EVERY_NTH = 5


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with span-qa, docs-qa, codebase-qa, courses")
    data = parser.parse_args().data
    with tempfile.TemporaryDirectory() as scratch:
        own, foreign = _odds(data, Path(scratch))
    for half, name in ((0, "first half"), (1, "second half")):
        print(f"\n{name}: {len(own[half::2])} answerable, {len(foreign[half::2])} not")
        print("| threshold | wrongly refused % | rightly refused % |\n|---|---|---|")
        for threshold in sorted({ANSWERABLE_FLOOR, *(step / 4 for step in range(-12, 5))}):
            wrong = _share_below(own[half::2], threshold)
            right = _share_below(foreign[half::2], threshold)
            force = " (in force)" if threshold == ANSWERABLE_FLOOR else ""
            print(f"| {threshold:.2f}{force} | {wrong:.1f} | {right:.1f} |")


def _odds(data: Path, scratch: Path) -> tuple[list[float], list[float]]:
    folders = {name: scratch / name for name in ("xquad-en", "docs-qa", "codebase-qa")}
    for folder in folders.values():
        folder.mkdir()
    questions = {
        "xquad-en": xquad(data, "en", folders["xquad-en"]),
        "docs-qa": docs_qa(data, folders["docs-qa"]),
        "codebase-qa": codebase_qa(data, folders["codebase-qa"]),
    }
    folders["courses"] = data / "courses"
    own: list[float] = []
    foreign: list[float] = []
    for library, folder in folders.items():
        asked = [
            (name == library, question.text)
            for name, set_ in questions.items()
            for question in (set_ if name == library else set_[::_EVERY_NTH])
        ]
        with folder_library_at(folder, scratch / f"library of {library}") as finder:
            for is_own, question in asked:
                (own if is_own else foreign).append(signs_and_odds(finder, question)[1])
    return own, foreign


def _share_below(values: list[float], threshold: float) -> float:
    return 100 * sum(value < threshold for value in values) / len(values)


if __name__ == "__main__":
    main()
