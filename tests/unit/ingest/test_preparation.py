"""What prepared files are when they come from another process."""

from __future__ import annotations

import pickle

import pytest

from openbook.chunking.fixed import ChunkOptions
from openbook.index.packing import packed
from openbook.ingest.preparation import PreparedFile, embedded, entries_of
from openbook.retrieval.fields import embedding_text
from openbook.testing import HashEmbedder
from openbook.types import Document
from tests.support import document


@pytest.fixture
def prose() -> Document:
    return document("a.md", "".join(f"# Part {number}\n\nOwls and larks, {number}.\n\n" for number in range(5)))


def prepared(of: Document, embedder: HashEmbedder | None) -> PreparedFile:
    entries = entries_of(of, ChunkOptions(strategy="fixed-size", max_words=20, overlap_words=0), embedder)
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
