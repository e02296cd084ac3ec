"""Asks Openbook, as `ask_semble.py` asks semble: the same jobs, the same answers, one process.

Keys of a job and of an answer are described there. `model` and `content` mean nothing here.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from openbook.library import Library
from openbook.settings import Settings


def main() -> None:
    """Answer each job as it comes."""
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


def answer(job: dict[str, Any]) -> dict[str, Any]:
    """Index the folders from nothing and ask all questions."""
    started = time.perf_counter()
    with Library.open("measured", settings=Settings(home=Path(job["keep"]))) as assistant:
        for folder in job["folders"]:
            assistant.add(folder)
        seconds = time.perf_counter() - started
        return {
            "index_seconds": seconds,
            "chunks": assistant.stats().chunks,
            "asked": [ask(assistant, question, job["limit"]) for question in job["questions"]],
            "changed_seconds": [change(assistant, job) for _ in range(job.get("changes", 0))],
        }


def ask(assistant: Library, question: str, limit: int) -> dict[str, Any]:
    """Ask one question; the time is that of the search alone."""
    started = time.perf_counter()
    results = assistant.search(question, limit=limit)
    seconds = time.perf_counter() - started
    spans = [result.chunk.span for result in results]
    return {"seconds": seconds, "found": [[span.path, span.start_line, span.end_line] for span in spans]}


def change(assistant: Library, job: dict[str, Any]) -> float:
    """Write to one file, and give the seconds until a search knows it."""
    with Path(job["change"]).open("a", encoding="utf-8") as file:
        file.write("\n# changed\n")
    started = time.perf_counter()
    assistant.sync()
    assistant.search(job["questions"][0], limit=job["limit"])
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
