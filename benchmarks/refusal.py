"""Where to refuse: how relevance separates questions that a library answers from those it does not.

    python -m benchmarks.refusal --data ../shared/data

Each library is asked its own questions, which it answers, and those of the others, which it does
not. The threshold is read from the first half of the questions and reported on the second.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.corpora import Asked, codebase_qa, docs_qa, xquad
from openbook.answering.generator import RELEVANCE_FLOOR
from openbook.assistant import Assistant
from openbook.settings import Settings

# Every n-th foreign question is enough: there are a thousand for each library.
_EVERY_NTH = 5


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with span-qa, docs-qa, codebase-qa, courses")
    data = parser.parse_args().data
    with tempfile.TemporaryDirectory() as scratch:
        own, foreign = _relevances(data, Path(scratch))
    for half, name in ((0, "first half"), (1, "second half")):
        print(f"\n{name}: {len(own[half::2])} answerable, {len(foreign[half::2])} not")
        print("| threshold | wrongly refused % | rightly refused % |\n|---|---|---|")
        for threshold in sorted({RELEVANCE_FLOOR, *(step / 50 for step in range(12, 32))}):
            wrong = _share_below(own[half::2], threshold)
            right = _share_below(foreign[half::2], threshold)
            force = " (in force)" if threshold == RELEVANCE_FLOOR else ""
            print(f"| {threshold:.2f}{force} | {wrong:.1f} | {right:.1f} |")


def _relevances(data: Path, scratch: Path) -> tuple[list[float], list[float]]:
    settings = Settings(home=scratch / "home")
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
        with Assistant.of(folder, settings=settings) as assistant:
            for name, asked in questions.items():
                if name == library:
                    own += _best(assistant, asked)
                else:
                    foreign += _best(assistant, asked[::_EVERY_NTH])
    return own, foreign


def _best(assistant: Assistant, questions: list[Asked]) -> list[float]:
    found = (assistant.search(question.text) for question in questions)
    return [max((result.relevance or 0.0 for result in results), default=0.0) for results in found]


def _share_below(values: list[float], threshold: float) -> float:
    return 100 * sum(value < threshold for value in values) / len(values)


if __name__ == "__main__":
    main()
