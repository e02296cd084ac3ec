"""What prepared files are when they come from another process."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from openbook.chunking.dispatch import chunk_document
from openbook.chunking.fixed import ChunkOptions
from openbook.index.packing import packed
from openbook.ingest import preparation
from openbook.ingest.preparation import (
    FileContent,
    FileJob,
    FilePreparer,
    PreparedFile,
    Preparer,
    embedded,
    entries_of,
)
from openbook.retrieval.fields import embedding_text
from openbook.settings import Settings
from openbook.sources.content_hash import content_hash
from openbook.sources.folder import Folder
from openbook.testing import HashEmbedder
from openbook.types import Document
from tests.support import document

OPTIONS = ChunkOptions(strategy="fixed-size", max_words=20, overlap_words=0)


@pytest.fixture
def prose() -> Document:
    return document("a.md", "".join(f"# Part {number}\n\nOwls and larks, {number}.\n\n" for number in range(5)))


def prepared(of: Document, embedder: HashEmbedder | None) -> PreparedFile:
    entries = entries_of(of, OPTIONS, embedder)
    texts = () if embedder else tuple(embedding_text(entry.chunk) for entry in entries)
    return PreparedFile(of, packed(of, entries), texts)


def test_a_file_comes_back_as_it_was(prose: Document) -> None:
    sent = prepared(prose, HashEmbedder())

    assert pickle.loads(pickle.dumps(sent)) == sent


def test_a_file_is_sent_once_and_not_again_in_its_chunks(prose: Document) -> None:
    sent = pickle.dumps(prepared(prose, HashEmbedder()))

    assert len(prepared(prose, HashEmbedder()).entries.rows) > 1
    assert sent.count(b"Owls and larks, 3.") == 1


def test_what_is_embedded_later_is_the_same(prose: Document) -> None:
    late = prepared(prose, None)
    holder = PreparedFile(prose, late.entries, late.texts, attached=(("a.md!b.md", late),))

    (found,) = embedded([holder], HashEmbedder())

    assert found.entries == found.files[1].entries == prepared(prose, HashEmbedder()).entries
    assert found.texts == found.files[1].texts == ()


def test_what_is_embedded_later_is_the_same_whatever_the_order_of_chunks(
    prose: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    backwards = [*reversed(chunk_document(prose, OPTIONS))]
    monkeypatch.setattr(preparation, "chunk_document", lambda *_: backwards)

    (found,) = embedded([prepared(prose, None)], HashEmbedder())

    assert len(backwards) > 1
    assert found.entries == prepared(prose, HashEmbedder()).entries


def test_a_file_that_is_new_is_not_hashed_to_be_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_text("Owls and larks.\n", encoding="utf-8")
    hashed: list[str] = []

    def counting(raw: bytes, path: str) -> str:
        hashed.append(path)
        return content_hash(raw, path)

    monkeypatch.setattr(preparation, "content_hash", counting)
    files = FilePreparer(Folder(tmp_path, max_file_bytes=1000), Preparer("s", Settings(), None, None))

    new = files.read(FileJob("a.md", ""))
    changed = files.read(FileJob("a.md", "of another text"))

    assert isinstance(new, FileContent)
    assert isinstance(changed, FileContent)
    assert hashed == ["a.md"]
