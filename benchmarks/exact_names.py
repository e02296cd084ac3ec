"""How often a search for one name finds it: names sampled from each checkout, nothing fitted.

    python -m benchmarks.exact_names --checkouts FOLDER

Of each repository, 60 names are drawn (seed 18): options such as `message-delay-limit`, `MaxClients`, `max_clients`,
`client.max`, which stand in one to eight chunks. A result is right if it holds the name as it is written, or defines
what it ends in; where some chunk defines the name, the definition is what should come first. A name that search
refuses, because all its parts are stop words (`can-i`), counts as not found.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections import defaultdict
from pathlib import Path

from benchmarks.ours import folder_library
from openbook.errors import QueryError
from openbook.evals.metrics import mean
from openbook.index.protocol import EVERYTHING
from openbook.library import Library
from openbook.types import Chunk

_NAME = re.compile(
    r"(?<![\w./-])(?:[A-Za-z]\w*(?:-\w+){1,4}|[A-Za-z]\w*_\w+|[A-Za-z]\w*(?:\.[A-Za-z]\w*){1,2}"
    r"|[a-z]+(?:[A-Z][a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,})(?![\w/-])"
)
_SEED, _OF_EACH, _MAX_CHUNKS = 18, 60, 8


def main() -> None:
    """Print a row for each repository, then the mean."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkouts", type=Path, required=True, help="folder with one checkout for each repository")
    arguments = parser.parse_args()
    print(
        "| repository | names | first holds it | one of three | defined | first defines it |\n|---|---|---|---|---|---|"
    )
    rows = []
    for folder in sorted(each for each in arguments.checkouts.iterdir() if each.is_dir()):
        with tempfile.TemporaryDirectory() as scratch, folder_library(folder, Path(scratch)) as assistant:
            rows.append(_row(assistant))
        _print(folder.name, rows[-1])
    _print("all", tuple(mean([row[n] for row in rows]) for n in range(5)))


def _row(assistant: Library) -> tuple[float, ...]:
    chunks_of: dict[str, set[int]] = defaultdict(set)
    defined: set[str] = set()
    index = assistant.index
    chunks = [chunk for each in index.documents(EVERYTHING) for chunk in index.chunks(each.source, each.path)]
    for number, chunk in enumerate(chunks):
        for name in set(_NAME.findall(chunk.text)):
            chunks_of[name].add(number)
        defined.update(chunk.defines)
    rare = sorted(name for name, chunks in chunks_of.items() if len(chunks) <= _MAX_CHUNKS)
    names = random.Random(_SEED).sample(rare, min(_OF_EACH, len(rare)))
    found = {name: _found(assistant, name) for name in names}
    first = [float(any(_has(chunk, name) for chunk in chunks[:1])) for name, chunks in found.items()]
    three = [float(any(_has(chunk, name) for chunk in chunks)) for name, chunks in found.items()]
    named = [float(any(name in chunk.defines for chunk in found[name][:1])) for name in names if name in defined]
    return len(names), mean(first), mean(three), len(named), mean(named)


def _found(assistant: Library, name: str) -> list[Chunk]:
    try:
        return [result.chunk for result in assistant.search(name, limit=3)]
    except QueryError:
        return []


def _has(chunk: Chunk, name: str) -> bool:
    return name in chunk.text or name.rpartition(".")[2] in chunk.defines


def _print(name: str, row: tuple[float, ...]) -> None:
    print(f"| {name} | {row[0]:.0f} | {row[1]:.3f} | {row[2]:.3f} | {row[3]:.0f} | {row[4]:.3f} |", flush=True)


if __name__ == "__main__":
    main()
