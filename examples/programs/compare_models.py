"""Compare what models answer to one question: claims that hold, tokens, price, time."""

from __future__ import annotations

import sys
from collections import Counter

from openbook import AnswerOptions, Library, OpenbookError


def main(question: str, folder: str, *models: str) -> None:
    with Library.of(folder) as library:
        for model in models:
            options = AnswerOptions(model=model, verifier="off", expands_query=False)
            try:
                answer = library.query(question, options=options)
            except OpenbookError as error:
                print(f"{model}: {error} ({error.hint})")
                continue
            verdicts = Counter(claim.verdict for claim in answer.claims)
            price = "unknown" if answer.cost_usd is None else f"${answer.cost_usd:.4f}"
            print(f"{model}: {dict(verdicts)}, {answer.total_tokens} tokens, {price}, {answer.generation_time:.1f} s")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit("usage: python compare_models.py QUESTION FOLDER MODEL...")
    main(*sys.argv[1:])
