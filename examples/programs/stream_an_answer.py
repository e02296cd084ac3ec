"""Print an answer while a model writes it, then its sources."""

from __future__ import annotations

import asyncio
import sys

from openbook import Answered, AnswerOptions, Library, Stage, ToolUsed, Written


async def main(question: str, folder: str, model: str) -> None:
    options = AnswerOptions(model=model, max_answer_tokens=500)
    with Library.of(folder) as library:
        async for event in library.aquery_stream(question, options=options):
            match event:
                case Stage(name):
                    print(f"... {name}", file=sys.stderr)
                case Written(text):
                    print(text, end="", flush=True)
                case ToolUsed():
                    pass
                case Answered(answer):
                    print(f"\n{answer.total_tokens} tokens, cites {', '.join(answer.sources_cited)}")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: python stream_an_answer.py QUESTION FOLDER MODEL")
    asyncio.run(main(*sys.argv[1:]))
