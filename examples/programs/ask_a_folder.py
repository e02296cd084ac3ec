"""Answer a question from a folder, and list each citation with its lines and its check."""

from __future__ import annotations

import sys

from openbook import Library


def main(question: str, folder: str) -> None:
    with Library.of(folder) as library:
        answer = library.query(question)
    if answer.refused:
        print(f"no answer: {answer.reason}")
        return
    print(answer.answer)
    for citation in answer.citations:
        print(f"{citation.mark} {citation.place}: {citation.quote.strip()}")
    for claim in answer.claims:
        print(f"{claim.verdict}: {claim.text}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python ask_a_folder.py QUESTION FOLDER")
    main(sys.argv[1], sys.argv[2])
