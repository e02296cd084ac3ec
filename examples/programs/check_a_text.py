"""Check an answer that somebody else wrote from a folder, claim by claim."""

from __future__ import annotations

import sys

from openbook import Library


def main(question: str, answer: str, folder: str) -> int:
    with Library.of(folder) as library:
        checked = library.check(question, answer, library.retrieve(question))
    for claim in checked.claims:
        print(f"{claim.verdict}: {claim.text}")
    return 1 if any(claim.is_wrong for claim in checked.claims) else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: python check_a_text.py QUESTION ANSWER FOLDER")
    sys.exit(main(*sys.argv[1:]))
