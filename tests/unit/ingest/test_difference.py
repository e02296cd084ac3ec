from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

import pytest

from openbook.errors import SourceError
from openbook.index.protocol import Source
from openbook.index.sqlite import SqliteIndex
from openbook.ingest.difference import compare_source, compare_sources, folder_of, unread_files
from openbook.ingest.sync import sync
from openbook.settings import Settings
from openbook.sources.reader_registry import ReaderRegistry
from openbook.testing import HashEmbedder
from openbook.types import Filter
from tests.support import IDENTITY, write_tree


def test_what_a_sync_would_do_can_be_told_without_doing_it(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree", {"a.md": "A.\n", "b.md": "B.\n", "same.md": "Same.\n"})
    (tree / "blob").write_bytes(b"\0\1\2\3" * 100)
    with contextlib.closing(SqliteIndex(tmp_path / "library.sqlite", IDENTITY)) as index:
        root = Source("s", "folder", str(tree))
        sync(root, index, settings=Settings(workers=1), load_embedder=HashEmbedder, now=lambda: 4e9)
        before = index.records("s")
        (tree / "a.md").unlink()
        write_tree(tree, {"b.md": "Other.\n", "new.md": "New.\n", "key.pem": "secret"})

        difference = compare_source(folder_of(root, Settings()), index)

        assert [file.path for file in difference.todo] == ["b.md", "new.md"]
        assert difference.gone == {"a.md"}
        assert difference.forgotten == 1
        assert difference.not_indexed() == {"binary": ("blob",), "secret": ("key.pem",)}
        assert index.records("s") == before


def test_a_skipped_file_that_is_gone_is_no_forgotten_document(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree", {"a.md": "A.\n"})
    (tree / "blob").write_bytes(b"\0\1\2\3" * 100)
    with contextlib.closing(SqliteIndex(tmp_path / "library.sqlite", IDENTITY)) as index:
        root = Source("s", "folder", str(tree))
        sync(root, index, settings=Settings(workers=1), load_embedder=HashEmbedder, now=lambda: 4e9)
        (tree / "blob").unlink()

        difference = compare_source(folder_of(root, Settings()), index)

        assert difference.gone == {"blob"}
        assert difference.forgotten == 0
        assert difference.not_indexed() == {}


def test_a_source_that_is_gone_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist"):
        folder_of(Source("s", "folder", str(tmp_path / "missing")), Settings())


def test_files_whose_rules_have_changed_since_are_read_again_once_and_no_others(tmp_path: Path) -> None:
    tree = write_tree(
        tmp_path / "tree", {"a.tex": "\\emph{Tides}\n", "ls.1": ".TH LS 1\n.B ls\n", "b.md": "B.\n", "c.org": "*C*\n"}
    )
    root = Source("s", "folder", str(tree))
    with contextlib.closing(SqliteIndex(tmp_path / "library.sqlite", IDENTITY)) as index:
        sync(root, index, settings=Settings(workers=1), load_embedder=HashEmbedder, now=lambda: 4e9)
        for path in ("a.tex", "ls.1", "c.org"):  # as a version from before has stored them
            known, stamp = index.document("s", path), index.records("s")[path].stamp
            assert known is not None
            old = replace(known, text="Old.", content_hash=known.content_hash.partition("/")[0])
            index.put(old, [], stamp)

        again = sync(root, index, settings=Settings(workers=1), load_embedder=HashEmbedder, now=lambda: 4e9)
        tex = index.document("s", "a.tex")
        after = sync(root, index, settings=Settings(workers=1), load_embedder=HashEmbedder, now=lambda: 4e9)

    assert (again.read, again.changed, again.unchanged) == (3, 3, 1)
    assert tex is not None
    assert tex.text.strip() == "Tides"
    assert after.read == 0


@pytest.mark.parametrize(
    ("where", "paths"),
    [
        (Filter(), {"fake.pdf", "talks/fake.pdf"}),
        (Filter(globs=("*.md",)), set()),
        (Filter(globs=("talks/*.pdf",)), {"talks/fake.pdf"}),
        (Filter(within=frozenset({("s", "a.md")})), set()),
        (Filter(within=frozenset({("s", "talks")})), {"talks/fake.pdf"}),
        (Filter(courses=frozenset({("s", "talks")}), lesson=1), {"talks/fake.pdf"}),
        (Filter(courses=frozenset({("s", ".")})), {"fake.pdf", "talks/fake.pdf"}),
        (Filter(kinds=frozenset({"docs"})), {"fake.pdf", "talks/fake.pdf"}),
        (Filter(sources=frozenset({"other"})), set()),
    ],
)
def test_unread_files_are_those_of_the_places_where_a_question_looks(
    tmp_path: Path, where: Filter, paths: set[str]
) -> None:
    tree = write_tree(tmp_path / "tree", {"a.md": "A.\n", "fake.pdf": "x", "talks/fake.pdf": "x"})
    with contextlib.closing(SqliteIndex(tmp_path / "library.sqlite", IDENTITY)) as index:
        root = Source("s", "folder", str(tree))
        sync(root, index, settings=Settings(workers=1), load_embedder=HashEmbedder, now=lambda: 4e9)
        pending = compare_sources(index, Settings(), ReaderRegistry({}))

    assert set(unread_files(pending, where)) == paths


def test_the_reason_why_a_file_was_not_read_tells_what_to_do(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree", {"a.md": "A.\n", "tides.csv": "1,2\n" * 300_000, "a.pdf": "no PDF"})
    settings = Settings(workers=1, max_document_bytes=1)
    with contextlib.closing(SqliteIndex(tmp_path / "library.sqlite", IDENTITY)) as index:
        sync(Source("s", "folder", str(tree)), index, settings=settings, load_embedder=HashEmbedder, now=lambda: 4e9)
        pending = compare_sources(index, settings, ReaderRegistry({}))

    assert unread_files(pending, Filter()) == {
        "a.pdf": "too large; raise OPENBOOK_MAX_DOCUMENT_BYTES from 1: it has 0.0 MB",
        "tides.csv": "too large; raise OPENBOOK_MAX_FILE_BYTES from 1048576: it has 1.2 MB",
    }
