from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from openbook.errors import SourceError
from openbook.index.protocol import Source
from openbook.index.sqlite import SqliteIndex
from openbook.ingest.difference import compare_source, folder_of
from openbook.ingest.sync import sync
from openbook.settings import Settings
from openbook.testing import HashEmbedder
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
