"""The contract of engines: listing documents and their chunks, without a query."""

from __future__ import annotations

import pytest

from openbook.errors import QueryError
from openbook.index.protocol import DocumentSummary, Index
from openbook.types import Filter
from tests.support import document, entry, put, stamp


@pytest.mark.slow
def test_documents_are_listed_by_source_and_path_without_skipped_ones_and_through_a_filter(index: Index) -> None:
    put(index, "b.md", source="s")
    put(index, "a.py", source="s", kind="code")
    put(index, "c.md", source="r")
    index.skip("s", "big.bin", stamp(), "too large")

    b, a, c = (
        DocumentSummary("s", "b.md", "docs"),
        DocumentSummary("s", "a.py", "code"),
        DocumentSummary("r", "c.md", "docs"),
    )
    assert index.documents(Filter()) == [c, a, b]
    assert index.documents(Filter(frozenset({"docs"}), sources=frozenset({"s"}))) == [b]
    assert index.documents(Filter(globs=("*.rs",))) == []


def test_an_invalid_pattern_is_an_error_of_the_query(index: Index) -> None:
    put(index, "a.md")

    for where in (Filter(globs=("!",)), Filter(globs=("[z-a]",))):
        with pytest.raises(QueryError, match="is no pattern of paths"):
            index.documents(where)
        with pytest.raises(QueryError, match="is no pattern of paths"):
            index.courses(where)
        with pytest.raises(QueryError, match="is no pattern of paths"):
            index.match(["a"], None, 9, where)


@pytest.mark.slow
def test_the_chunks_of_a_document_come_in_the_order_of_their_spans(index: Index) -> None:
    whole = document("a.md", "One. Two. Three.")
    parts = [entry(whole, 10, 16), entry(whole, 0, 4), entry(whole, 5, 9)]
    index.put(whole, parts, stamp())
    index.skip("s", "big.bin", stamp(), "too large")

    assert [chunk.text for chunk in index.chunks("s", "a.md")] == ["One.", "Two.", "Three."]
    assert index.chunks("s", "a.md")[0] == parts[1].chunk
    assert index.chunks("s", "big.bin") == index.chunks("s", "gone.md") == index.chunks("r", "a.md") == []
