"""Fail in CI if fewer of the expected files are found than is wanted."""

from __future__ import annotations

import sys
from pathlib import Path

from openbook import Library
from openbook.evals import read_questions, run_questions


def main(questions: Path, wanted: float, *folders: str) -> int:
    with Library.of(*folders) as library:
        run = run_questions(library, read_questions(questions))
    print(run)
    for outcome in run.outcomes:
        if outcome.fault:
            print(f"{outcome.question}: {outcome.fault}")
    return 0 if (run.figure("file_recall") or 0.0) >= wanted else 1


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit("usage: python fail_in_ci.py QUESTIONS.jsonl WANTED FOLDER...")
    sys.exit(main(Path(sys.argv[1]), float(sys.argv[2]), *sys.argv[3:]))
