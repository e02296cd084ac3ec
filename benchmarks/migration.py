"""What it takes to move a library to LanceDB and back, killed once on each way: `python -m benchmarks.migration HOME`.

HOME has a library `default` in SQLite, as `benchmarks.scale --keep` leaves it; it is read only. Each way is begun,
ended with SIGKILL after so many seconds, and run again to its end by `openbook migrate`, which compares both sides
itself. Then the library that came back is compared with the first one here: a hash of every document with its chunks
and vectors, and the results and scores of ten questions.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks.engines import QUESTIONS, searched
from benchmarks.speed import run
from openbook.chunking.identity import chunks_identity
from openbook.embedding.static import load_embedder
from openbook.index.protocol import EVERYTHING, Index, IndexIdentity
from openbook.libraries.catalog import LibraryCatalog, open_index
from openbook.library import Library
from openbook.settings import Settings
from openbook.tokens import tokens_identity

_HEADS = "| way | killed after, s | its files then | again, s | files that it copied | MiB |\n|---|---|---|---|---|---|"

_MIGRATE = [sys.executable, "-m", "openbook", "migrate", "default", "--to"]


def main() -> None:
    """Move a library there and back, and print what that took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", type=Path)
    parser.add_argument("--killed-after-s", type=float, default=15.0)
    arguments = parser.parse_args()
    home: Path = arguments.home.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        storage, back = f"lance:{scratch}/tables", Path(scratch) / "home"
        print(_HEADS)
        there = {"OPENBOOK_HOME": str(home), "OPENBOOK_STORAGE": ""}
        print(_moved("SQLite to LanceDB", there, storage, Settings(home=home, storage=storage), arguments), flush=True)
        again = {"OPENBOOK_HOME": str(back), "OPENBOOK_STORAGE": storage}
        print(_moved("LanceDB to SQLite", again, "sqlite", Settings(home=back), arguments), flush=True)
        print(_compared(Settings(home=home), Settings(home=back)))


def _moved(way: str, where: Mapping[str, str], to: str, target: Settings, arguments: argparse.Namespace) -> str:
    command, environment = [*_MIGRATE, to], os.environ | where
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        time.sleep(arguments.killed_after_s)
        process.kill()
    held = _files(target)
    ended = run(command, environment)
    return (
        f"| {way} | {arguments.killed_after_s:g} | {held:,} | {ended.seconds:.0f} | {_files(target) - held:,}"
        f" | {ended.peak_mib:.0f} |"
    )


def _files(settings: Settings) -> int:
    """Count the files of a copy, which may be unfinished and so cannot be opened as a library."""
    identity = IndexIdentity(load_embedder().identity, tokens_identity(), chunks_identity(settings))
    index = open_index(LibraryCatalog(settings).location("default"), identity, settings)
    try:
        return len(index.documents(EVERYTHING))
    finally:
        index.close()


def _compared(one: Settings, other: Settings) -> str:
    with Library.open(settings=one) as first, Library.open(settings=other) as second:
        hashes, there = _hashes(first.index), _hashes(second.index)
        found = [searched(each, QUESTIONS, rounds=1)["found"] for each in (first, second)]
        same = sum(left == right for left, right in zip(*found, strict=True))
        equal = sum(there.get(key) == value for key, value in hashes.items())
    return (
        f"\n{equal:,} of {len(hashes):,} documents have the same hash after both ways,"
        f" {len(there.keys() - hashes.keys())} are new;"
        f" {same} of {len(QUESTIONS)} questions have the same results and scores."
    )


def _hashes(index: Index) -> dict[tuple[str, str], bytes]:
    found = {}
    with index.snapshot():
        for each in index.documents(EVERYTHING):
            digest = hashlib.sha256(repr(index.document(each.source, each.path)).encode("utf-8", "surrogatepass"))
            digest.update(repr(index.chunks(each.source, each.path)).encode("utf-8", "surrogatepass"))
            digest.update(index.vectors(each.source, each.path).tobytes())
            found[each.source, each.path] = digest.digest()
    return found


if __name__ == "__main__":
    main()
