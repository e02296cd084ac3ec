from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from openbook.answering.evidence import EvidenceFinder
from openbook.answering.tools import LibraryTools
from openbook.types import Filter, RetrievalResult
from tests.unit.retrieval.material import Library

CODE = "def moor(ship):\n    tie(ship)\n\ndef tie(ship):\n    rope(ship)\n    knot(ship)"


class KeptResults:
    """Keeps the results of the last call."""

    def keep(self, results: Sequence[RetrievalResult], note: str = "") -> str:
        self.results = results
        return note


@pytest.fixture
def kept() -> KeptResults:
    return KeptResults()


@pytest.fixture
def tools(tmp_path: Path, kept: KeptResults) -> Iterator[LibraryTools]:
    made = Library(tmp_path / "lib.db")
    made.put("quay.py", CODE, kind="code", symbol="moor", defines=("moor", "tie"))
    yield LibraryTools(EvidenceFinder(made.index, made.embedder, made.text_now), Filter(), kept)
    made.close()


@pytest.mark.parametrize("name", ["moor", "tie"])
def test_a_definition_that_is_looked_for_bears_its_name(tools: LibraryTools, name: str) -> None:
    (result,), _ = tools.definitions_of(name, whole=False)

    assert result.symbol == name


@pytest.mark.parametrize("name", ["moor", "tie"])
def test_a_definition_that_a_model_looks_for_bears_its_name(tools: LibraryTools, kept: KeptResults, name: str) -> None:
    tools.find_symbol(name)

    assert [result.symbol for result in kept.results] == [name]


@pytest.mark.parametrize(("query", "symbol"), [("moor", "moor"), ("tie", "tie"), ("where is the knot made", "tie")])
def test_what_is_found_bears_the_name_of_what_is_shown(tools: LibraryTools, query: str, symbol: str) -> None:
    assert [result.symbol for result in tools.results_of([query])] == [symbol]
