"""Sources large enough for several processes: the same index as from one, whatever happens to a child."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from openbook.embedding.protocol import Embedder
from openbook.index.protocol import Index, Source
from openbook.index.sqlite import SqliteIndex
from openbook.ingest.sync import SyncReport, sync
from openbook.settings import Settings
from openbook.testing import HashEmbedder
from tests.jobs import FragileEmbedder
from tests.support import IDENTITY, answers, write_tree

# Long words make a source large with little to index.
PARAGRAPH = ("w" * 2000 + "\n") * 8 + "\n"
LARGE = {f"{number % 3}/{number}.md": f"# Part {number}\n\n" + PARAGRAPH * 7 for number in range(20)}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "tree", LARGE)


@pytest.fixture
def open_index(tmp_path: Path) -> Iterator[Callable[[str], Index]]:
    with contextlib.ExitStack() as stack:
        yield lambda name: stack.enter_context(contextlib.closing(SqliteIndex(tmp_path / f"{name}.sqlite", IDENTITY)))


def bring(
    index: Index, tree: Path, *, workers: int, load_embedder: Callable[[], Embedder] = HashEmbedder
) -> SyncReport:
    root = Source("s", "folder", str(tree))
    return sync(root, index, settings=Settings(workers=workers), load_embedder=load_embedder, now=lambda: 4e9)


def contents(index: Index) -> dict[str, Any]:
    """Return all that an index holds but for the ids, which depend on who was first."""
    assert isinstance(index, SqliteIndex)
    read = index._connection.execute
    return {
        "roots": index.roots(),
        "records": index.records("s"),
        "documents": [index.document("s", path) for path in sorted(index.records("s"))],
        "chunks": sorted(index.fetch([id_ for (id_,) in read("SELECT id FROM chunks")]), key=lambda chunk: chunk.key),
        "vectors": read(
            "SELECT d.path, v.chunks, v.lengths, v.rows FROM vectors v JOIN documents d ON d.id = v.document_id"
            " ORDER BY d.path"
        ).fetchall(),
        "words": sorted({word for (tokens,) in read("SELECT tokens FROM postings") for word in tokens.split(" ")}),
        "answers": answers(index, ["part", "7"], HashEmbedder().embed(["part 7"])[0]),
    }


@pytest.mark.slow
def test_one_process_and_several_make_the_same_index(open_index: Callable[[str], Index], tree: Path) -> None:
    alone, together = open_index("alone"), open_index("together")

    reports = bring(alone, tree, workers=1), bring(together, tree, workers=3)

    assert sum(len(text) for text in LARGE.values()) > 2 * 1024 * 1024
    assert reports[0] == reports[1]
    assert reports[0].added == len(LARGE)
    assert contents(alone) == contents(together)


@pytest.mark.slow
def test_a_file_that_brings_down_its_process_costs_one_line(
    open_index: Callable[[str], Index], tree: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write_tree(tree, {"bad/a.md": "poison\n", "bad/b.md": "venom\n", "bad/c.md": "thorn\n"})
    index = open_index("library")

    first = bring(index, tree, workers=2, load_embedder=FragileEmbedder)
    second = bring(index, tree, workers=2, load_embedder=FragileEmbedder)
    capfd.readouterr()  # a crash may be reported on the error stream

    assert first.added == len(LARGE)
    assert first.skipped == {
        "ArithmeticError: thorn": ("bad/c.md",),
        "ended the process that read it (-11)": ("bad/b.md",),
        "ended the process that read it (7)": ("bad/a.md",),
    }
    assert (second.read, second.unchanged, second.skipped) == (0, len(LARGE), first.skipped)
