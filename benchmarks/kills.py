"""Whether a library keeps what was committed when its writer is killed: `python -m benchmarks.kills [--kills 40]`.

A writer commits three documents at a time, notes each commit in a file, and compacts the library after every third one.
It is killed with SIGKILL at a random moment, again and again. After each kill the library is opened: every commit that
was noted must be there, none may be there in part, and words and vectors must be found in as many chunks as there are.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from openbook.index.protocol import EVERYTHING, Index, IndexEntry, IndexIdentity, Terms
from openbook.text import LineIndex
from openbook.types import Chunk, Document, Stamp

_IDENTITY = IndexIdentity(embedder="kills", tokens="kills")
_TEXT = "first word\nsecond word\n"
_DOCUMENTS, _CHUNKS = 3, 2

# From the first commit on. Opening LanceDB takes a second, which counts as a moment too.
_LIVES_S = 1.5


def _sqlite(folder: Path) -> Index:
    from openbook.index.sqlite import SqliteIndex

    return SqliteIndex(folder / "library.sqlite", _IDENTITY, min_mapped=1)


def _lance(folder: Path) -> Index:
    from openbook.integrations.lance import LanceIndex

    return LanceIndex(str(folder / "library"), _IDENTITY)


_ENGINES: dict[str, Callable[[Path], Index]] = {"SQLite": _sqlite, "LanceDB": _lance}


def main() -> None:
    """Kill writers, and print what was lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--write", nargs=2, metavar=("ENGINE", "FOLDER"), help="be the writer")
    arguments = parser.parse_args()
    if arguments.write:
        _write(_ENGINES[arguments.write[0]](Path(arguments.write[1])), Path(arguments.write[1]) / "commits")
    for engine, open_index in _ENGINES.items():
        with tempfile.TemporaryDirectory() as folder:
            print(f"{engine}: {_killed(engine, open_index, Path(folder), arguments.kills)}", flush=True)


def _write(index: Index, log: Path) -> None:
    number = int(log.read_text("utf-8").split()[-1]) if log.exists() else 0
    while True:
        number += 1
        with index.batch():
            for part in range(_DOCUMENTS):
                index.put(*_document(f"{number}-{part}.txt", number))
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{number}\n")
            file.flush()
            os.fsync(file.fileno())
        if number % 3 == 0:
            index.optimize(every=number % 6 == 0)


def _document(path: str, number: int) -> tuple[Document, list[IndexEntry], Stamp]:
    document = Document("kills", path, "docs", "", _TEXT, f"{number}")
    middle = len(_TEXT) // _CHUNKS
    entries = []
    for start in range(0, len(_TEXT), middle + 1):
        span = LineIndex(_TEXT).span(path, start, min(start + middle + 1, len(_TEXT)))
        text = _TEXT[span.start_char : span.end_char]
        vector = np.array([number % 7 + 1, start], dtype=np.float32)
        entries.append(IndexEntry(Chunk("kills", span, text, "docs", ""), Terms(body=("word",)), vector))
    return document, entries, Stamp(1, number, number)


def _killed(engine: str, open_index: Callable[[Path], Index], folder: Path, kills: int) -> str:
    moments = random.Random(1)
    log = folder / "commits"
    wrong = documents = 0
    for _ in range(kills):
        noted = log.stat().st_size if log.exists() else 0
        with subprocess.Popen([sys.executable, "-m", "benchmarks.kills", "--write", engine, str(folder)]) as writer:
            while not log.exists() or log.stat().st_size == noted:
                time.sleep(0.01)
            time.sleep(moments.random() * _LIVES_S)
            writer.kill()
        with contextlib.closing(open_index(folder)) as index:
            wrong += not _is_whole(index, [int(number) for number in log.read_text("utf-8").split()])
            documents = len(index.records("kills"))
    return f"{kills} writers killed, {wrong} libraries with losses or parts, {documents} documents at last"


def _is_whole(index: Index, committed: list[int]) -> bool:
    paths = set(index.records("kills"))
    numbers = {int(path.partition("-")[0]) for path in paths}
    matches = index.match(["word"], np.array([1, 1], dtype=np.float32), 10, EVERYTHING)
    chunks = _CHUNKS * len(paths)
    return (
        numbers.issuperset(committed)
        and len(numbers) <= len(committed) + 1  # the last one may have been killed before it was noted
        and len(paths) == _DOCUMENTS * len(numbers)
        and (matches.chunks, matches.frequencies.get("word", 0)) == (chunks, chunks)
    )


if __name__ == "__main__":
    main()
