"""What a library survives: processes that are killed, and processes that do the same at the same time."""

from __future__ import annotations

import contextlib
import random
import select
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from openbook.index.protocol import Source
from openbook.index.sqlite import SqliteIndex
from openbook.ingest.sync import SyncReport, sync
from openbook.settings import Settings
from openbook.testing import HashEmbedder
from tests.children import start_child, tell
from tests.integration.support_killing import make_tree, run_and_kill
from tests.support import IDENTITY, dense, document, entry, lexical, put, stamp, vector, write_tree

KILLS = 24
FILES = 300


def open_library(library: str | Path) -> contextlib.closing[SqliteIndex]:
    return contextlib.closing(SqliteIndex(Path(library), IDENTITY))


def bring(tree: str | Path, library: str | Path, *, name: str = "s", speak: bool = False) -> SyncReport:
    """Sync a folder and, if asked to, tell after each commit how many documents are in."""
    with open_library(library) as index:
        known = len(index.records(name))
        return sync(
            Source(name, "folder", str(tree)),
            index,
            settings=Settings(workers=1),
            load_embedder=HashEmbedder,
            progress=(lambda done, _: tell(known + done)) if speak else None,
            now=lambda: 4e9,
        )


def index_when_told(tree: str, library: str) -> None:
    tell("ready")
    sys.stdin.readline()
    bring(tree, library, speak=True)


def check_consistent(library: Path) -> None:
    """Check that whatever documents a library has, it has them whole."""
    with contextlib.closing(sqlite3.connect(library)) as connection:
        read = connection.execute
        assert read("PRAGMA integrity_check").fetchall() == [("ok",)]
        parts = read(
            "SELECT d.id, (SELECT count(*) FROM texts WHERE document_id = d.id),"
            " (SELECT count(*) FROM chunks WHERE document_id = d.id),"
            " (SELECT chunks FROM vectors WHERE document_id = d.id),"
            " (SELECT length(rows) FROM vectors WHERE document_id = d.id) FROM documents d"
        ).fetchall()
        for _, texts, chunks, vectors, size in parts:
            assert (texts, vectors, size) == (1, chunks, chunks * HashEmbedder().dim)
            assert chunks > 0
        for table, total in (("texts", len(parts)), ("vectors", len(parts)), ("chunks", sum(row[2] for row in parts))):
            assert read(f"SELECT count(*) FROM {table}").fetchone() == (total,)
        postings = [np.frombuffer(ids, dtype=np.uint32) for (ids,) in read("SELECT ids FROM postings")]
        assert read("SELECT total(postings) FROM segments").fetchone() == (sum(map(len, postings)),)
        holding = set(np.concatenate([np.empty(0, np.uint32), *postings]).tolist())
        assert holding == {id_ for (id_,) in read("SELECT id FROM chunks")}  # all have words, and none was replaced


def check_whole(library: Path, tree: dict[str, str]) -> None:
    with open_library(library) as index:
        assert set(index.records("s")) == set(tree)
        for path, text in tree.items():
            stored = index.document("s", path)
            assert stored is not None
            assert stored.text == text
        assert index.frequencies(["river"]) == {"river": index.stats().chunks}


@pytest.mark.slow
def test_a_process_killed_at_any_moment_loses_nothing_that_it_committed(tmp_path: Path) -> None:
    files = make_tree(FILES)
    tree = write_tree(tmp_path / "tree", files)
    started = time.monotonic()
    bring(tree, tmp_path / "measure.sqlite")
    life_s = time.monotonic() - started
    chance = random.Random(20)
    # Creation takes the first milliseconds; a third of the kills fall there.
    delays = [chance.uniform(0, 0.02) if kill % 3 == 0 else chance.uniform(0, life_s) for kill in range(KILLS)]

    for number, delay_s in enumerate(delays):
        # Three processes in a row work, and die, on one library.
        library = tmp_path / f"{number // 3}.sqlite"
        reported = run_and_kill(index_when_told, tree, library, delay_s)

        with open_library(library) as index:
            assert len(index.records("s")) >= reported
        check_consistent(library)

    for library in sorted(tmp_path.glob("[0-9].sqlite")):
        bring(tree, library)
        check_consistent(library)
        check_whole(library, files)


def replace_all(library: str, generations: int) -> None:
    """Replace all documents again and again, all in one transaction."""
    with open_library(library) as index:
        for generation in range(1, generations + 1):
            with index.batch():
                write_generation(index, generation)


def write_generation(index: SqliteIndex, generation: int) -> None:
    for number in range(10):
        text = f"generation{generation} word"
        index.put(document(f"{number}.md", text), [entry(document(f"{number}.md", text), vector=vector(1))], stamp())


def read_until_told(library: str) -> str:
    """Ask again and again; whatever the moment, all answers must be of one generation."""
    seen = set()
    with open_library(library) as index:
        tell("ready")
        for _ in _until_input():
            with index.snapshot():
                by_words, by_nearness = lexical(index, ["word"], 50), dense(index, vector(1), 50)
                found = [chunk.text for chunk in index.fetch([hit.id for hit in by_words + by_nearness])]
                texts = [document.text for document in (index.document("s", f"{n}.md") for n in range(10)) if document]
            assert len(by_words) == len(by_nearness) == 10
            assert len(found) == 20
            assert len(set(found + texts)) == 1
            seen.add(found[0])
    return str(len(seen))


def _until_input() -> Iterator[None]:
    while not select.select([sys.stdin], [], [], 0)[0]:
        yield


def finish(child: subprocess.Popen[str]) -> str:
    output, errors = child.communicate("stop\n")
    assert child.returncode == 0, errors
    return output.strip()


@pytest.mark.slow
def test_readers_never_fail_and_see_one_state_while_another_process_writes(tmp_path: Path) -> None:
    library = tmp_path / "library.sqlite"
    with open_library(library) as index, index.batch():
        write_generation(index, 0)

    with contextlib.ExitStack() as stack:
        readers = [stack.enter_context(start_child(read_until_told, library)) for _ in range(3)]
        for reader in readers:
            assert reader.stdout is not None
            assert reader.stdout.readline() == "ready\n"
        replace_all(str(library), 150)
        seen = [int(finish(reader)) for reader in readers]

    assert all(states > 1 for states in seen)
    with open_library(library) as index:
        assert index.frequencies(["generation150", "generation149"]) == {"generation150": 10}


def bring_when_told(tree: str, library: str, name: str) -> str:
    tell("ready")
    sys.stdin.readline()
    return str(bring(tree, library, name=name).added)


@pytest.mark.slow
def test_two_processes_that_add_sources_to_a_new_library_both_succeed(tmp_path: Path) -> None:
    library = tmp_path / "library.sqlite"
    files = make_tree(120)
    trees = {name: write_tree(tmp_path / name, files) for name in ("s", "t")}

    with contextlib.ExitStack() as stack:
        children = [
            stack.enter_context(start_child(bring_when_told, tree, library, name)) for name, tree in trees.items()
        ]
        for child in children:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
        for child in children:
            assert child.stdin is not None
            child.stdin.write("go\n")
            child.stdin.flush()
        added = [finish(child) for child in children]

    assert added == ["120", "120"]
    check_consistent(library)
    check_whole(library, files)


def make_libraries(folder: str, moments: list[float], name: str) -> None:
    tell("ready")
    begin = float(sys.stdin.readline())
    for number, moment in enumerate(moments):
        time.sleep(max(0.0, begin + moment - time.time()))
        with open_library(Path(folder) / f"{number}.sqlite") as index:
            put(index, f"{name}.md", vector=vector(1))


@pytest.mark.slow
def test_processes_that_make_the_same_library_at_once_all_succeed(tmp_path: Path) -> None:
    moments = [number / 20 for number in range(30)]
    names = ["a", "b", "c", "d"]

    with contextlib.ExitStack() as stack:
        children = [stack.enter_context(start_child(make_libraries, tmp_path, moments, name)) for name in names]
        for child in children:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
        for child in children:
            assert child.stdin is not None
            child.stdin.write(f"{time.time() + 0.2}\n")
            child.stdin.flush()
        for child in children:
            finish(child)

    for number in range(len(moments)):
        with open_library(tmp_path / f"{number}.sqlite") as index:
            assert sorted(index.records("s")) == [f"{name}.md" for name in names]
            assert len(dense(index, vector(1), 10)) == len(names)
