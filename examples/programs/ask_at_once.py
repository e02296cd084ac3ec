"""Ask several questions at once in an event loop."""

from __future__ import annotations

import asyncio
import sys

from openbook import Library


async def main(folder: str, *questions: str) -> None:
    async with Library.of(folder) as library:
        answers = await asyncio.gather(*(library.aquery(question) for question in questions))
    for question, answer in zip(questions, answers, strict=True):
        print(f"{question} {', '.join(citation.place for citation in answer.citations) or 'refused'}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: python ask_at_once.py FOLDER QUESTION...")
    asyncio.run(main(*sys.argv[1:]))
