"""Asks semble. Runs under the Python that has it, and knows nothing of Openbook.

    python -I ask_semble.py < jobs > answers

Both are JSON lines. A job has `folders`, `content` (`code` or `all`), `questions`, `limit`, `model` (a folder) and
`keep` (whether to write the index to disk). `changes` is how often a line is written to the file `change`
and the first question asked again. An answer has `index_seconds`, `chunks`, `changed_seconds`, and in
`asked` for each question `seconds` and `found`, a list of [path, first line, last line].
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from semble import SembleIndex  # type: ignore[import-not-found]
from semble.cache import save_index_to_cache  # type: ignore[import-not-found]
from semble.types import ContentType  # type: ignore[import-not-found]


def main() -> None:
    """Answer each job as it comes, all in one process."""
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


def answer(job: dict[str, Any]) -> dict[str, Any]:
    """Index the folders and ask all questions. Folders without files for semble find nothing."""
    started = time.perf_counter()
    try:
        index = indexed(job)
    except ValueError as exc:
        if "No supported files" not in str(exc):
            raise
        nothing = {"seconds": 0.0, "found": []}
        return {"index_seconds": 0.0, "chunks": 0, "asked": [nothing for _ in job["questions"]]}
    return {
        "index_seconds": time.perf_counter() - started,
        "chunks": len(index.chunks),
        "asked": [ask(index, question, job["limit"]) for question in job["questions"]],
        "changed_seconds": [change(job) for _ in range(job.get("changes", 0))],
    }


def indexed(job: dict[str, Any]) -> SembleIndex:
    """Return one index of all folders, written to disk if the job says so."""
    content = list(ContentType) if job["content"] == "all" else [ContentType.CODE]
    parts = [
        (folder, SembleIndex.from_path(folder, content=content, model_path=job["model"])) for folder in job["folders"]
    ]
    if job.get("keep"):
        for folder, index in parts:
            save_index_to_cache(index, folder)
    return parts[0][1] if len(parts) == 1 else SembleIndex.merge(parts)


def ask(index: SembleIndex, question: str, limit: int) -> dict[str, Any]:
    """Ask one question; the time is that of the search alone."""
    started = time.perf_counter()
    results = index.search(question, top_k=limit)
    seconds = time.perf_counter() - started
    found = [[result.chunk.file_path, result.chunk.start_line, result.chunk.end_line] for result in results]
    return {"seconds": seconds, "found": found}


def change(job: dict[str, Any]) -> float:
    """Write to one file, and give the seconds until a search knows it. The index is saved again, as ours is."""
    with Path(job["change"]).open("a", encoding="utf-8") as file:
        file.write("\n# changed\n")
    started = time.perf_counter()
    indexed(job).search(job["questions"][0], top_k=job["limit"])
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
