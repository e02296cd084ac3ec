"""What a process that searches a library on LanceDB holds, by the cache that it is given.

    OPENBOOK_HOME=... OPENBOOK_STORAGE=lance:... python -m benchmarks.reader_memory [--mib 1 16 64 256]

The library `default` there is searched, as `benchmarks.scale --keep` leaves it. Each line is of a new process: after
its first search, after 300 different questions of three words that stand in paths, and after another process has put
one document again and ten more questions were asked. Peaks of resident memory, pages of LanceDB's own code included.
Then the processor time of one of the 300 questions (median), and of the last 30 of them when they were asked again,
before the change. The last column is of a process where nothing of the library has been kept, after its first search.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence

from benchmarks.engines import QUESTIONS, peak_mib
from benchmarks.speed import run
from openbook.index.protocol import EVERYTHING, IndexEntry
from openbook.library import Library
from openbook.memory import own_process
from openbook.retrieval.fields import terms_of
from openbook.settings import Settings

_ASKED = 300
_WORD = re.compile("[a-z]{4,}")
_HEADS = (
    "| cache, MiB | after one search, MiB | after 300 | after a change of another process"
    " | one of the 300, CPU ms | asked again, CPU ms | on a new machine, MiB |"
)
_AGAIN = 30
_COMMAND = [sys.executable, "-m", "benchmarks.reader_memory"]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mib", type=int, nargs="*", default=[1, 16, 64, 256], help="sizes of the cache")
    parser.add_argument("--read", nargs="*", metavar="QUESTION", help="be the reader, and ask these questions")
    parser.add_argument("--change", action="store_true", help="put one document again")
    arguments = parser.parse_args()
    if arguments.read is not None:
        print(json.dumps(_read(arguments.read)))
    elif arguments.change:
        _change()
    else:
        questions = _questions()
        print(f"{_HEADS}\n|{'---|' * _HEADS.count(' | ')}---|")
        for mib in arguments.mib:
            environment = os.environ | {"OPENBOOK_STORAGE_CACHE_BYTES": str(mib << 20)}
            figures = json.loads(run([*_COMMAND, "--read", *questions], environment).output)
            with tempfile.TemporaryDirectory() as home:
                figures += json.loads(run([*_COMMAND, "--read"], environment | {"OPENBOOK_HOME": home}).output)
            print(f"| {mib} | {' | '.join(f'{figure:.0f}' for figure in figures)} |", flush=True)


def _questions() -> list[str]:
    """Return what is asked. Not in the reader, whose memory would count the list of all documents."""
    with Library.open(settings=Settings.from_env()) as assistant:
        words = {word for each in assistant.index.documents(EVERYTHING) for word in _WORD.findall(each.path)}
    chance, ordered = random.Random(1), sorted(words)
    return [" ".join(chance.sample(ordered, 3)) for _ in range(_ASKED)]


def _read(questions: Sequence[str]) -> list[float]:
    own_process()  # as the command line does
    with Library.open(settings=Settings.from_env()) as assistant:
        assistant.search(QUESTIONS[0])
        peaks = [peak_mib()]
        if not questions:
            return peaks
        took_ms = [1000 * _searched_s(assistant, question) for question in questions]
        peaks.append(peak_mib())
        again_ms = [1000 * _searched_s(assistant, question) for question in questions[-_AGAIN:]]
        run([*_COMMAND, "--change"], os.environ)
        for question in QUESTIONS:
            assistant.search(question)
        return [*peaks, peak_mib(), statistics.median(took_ms), statistics.median(again_ms)]


def _searched_s(assistant: Library, question: str) -> float:
    worked = time.process_time()
    assistant.search(question)
    return time.process_time() - worked


def _change() -> None:
    with Library.open(settings=Settings.from_env()) as assistant:
        index = assistant.index
        listed = next(each for each in index.documents(EVERYTHING) if each.kind == "docs")
        document, chunks = index.document(listed.source, listed.path), index.chunks(listed.source, listed.path)
        vectors = index.vectors(listed.source, listed.path)
        stamp = index.records(listed.source)[listed.path].stamp
        assert document is not None
        entries = [IndexEntry(chunk, terms_of(chunk), vector) for chunk, vector in zip(chunks, vectors, strict=True)]
        index.put(document, entries, stamp)


if __name__ == "__main__":
    main()
