"""Which document a path means, as agents, stack traces and editors write it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openbook.lookup.named_documents import NamedDocuments
from openbook.types import Filter
from tests.unit.retrieval.material import Library


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(tmp_path / "lib.db")
    yield made
    made.close()


@pytest.mark.parametrize(
    ("written", "lines"), [("'no' vote.md", (0, 0)), ("'no' vote.md:2", (2, 2)), ("./'no' vote.md:2", (2, 2))]
)
def test_quotation_marks_of_a_path_stay_if_a_document_has_them(
    library: Library, written: str, lines: tuple[int, int]
) -> None:
    library.put("'no' vote.md", "# Votes\nNobody voted.")

    document, *found = NamedDocuments(library.index, Filter()).find(written)

    assert (document.path, tuple(found)) == ("'no' vote.md", lines)
