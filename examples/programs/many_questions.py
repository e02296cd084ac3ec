"""Answer a file of questions with a model, and write what came of each as JSON lines."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from openbook import AnswerOptions, Budget, GenerationResult, Library


def main(folder: str, questions: Path, model: str) -> None:
    asked = questions.read_text(encoding="utf-8").splitlines()
    options = AnswerOptions(model=model, verifier="off", budget=Budget(max_usd=0.02))
    with Library.of(folder) as library:
        for question, answer in zip(asked, library.query_many(asked, at_once=2, options=options), strict=True):
            if isinstance(answer, GenerationResult):
                print(json.dumps({"question": question, "answer": answer.answer, "refused": answer.refused}))
            else:
                print(json.dumps({"question": question, "error": str(answer), "hint": answer.hint}))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: python many_questions.py FOLDER QUESTIONS.txt MODEL")
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
