"""A chat bot that remembers the last exchanges of each user. Reads lines such as `ada: When do sessions end?`."""

from __future__ import annotations

import sys
from collections import defaultdict, deque
from collections.abc import Iterable

from openbook import AnswerOptions, Exchange, Library


def main(folder: str, model: str, lines: Iterable[str]) -> None:
    told: defaultdict[str, deque[Exchange]] = defaultdict(lambda: deque(maxlen=3))
    with Library.of(folder) as library:
        for line in lines:
            user, _, question = line.strip().partition(": ")
            options = AnswerOptions(model=model, verifier="off", history=told[user])
            answer = library.query(question, options=options)
            told[user].append(Exchange.of(question, answer))
            print(f"{user} ({len(told[user])}): {answer.answer}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python remember_each_user.py FOLDER MODEL < LINES")
    main(sys.argv[1], sys.argv[2], sys.stdin)
