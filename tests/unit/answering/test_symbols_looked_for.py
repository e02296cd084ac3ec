from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from openbook.answering.evidence import EvidenceFinder
from openbook.answering.tools import LibraryTools
from openbook.chunking.dispatch import chunk_document
from openbook.errors import ToolError
from openbook.types import Document, Filter, RetrievalResult
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


PARSED = "class Quay:\n    def moor(self):\n        return 1\n\n    def tie(self):\n        return 2\n"


@pytest.fixture
def parsed(tmp_path: Path, kept: KeptResults) -> Iterator[LibraryTools]:
    made = Library(tmp_path / "parsed.db")
    made.put_chunks(PARSED, chunk_document(Document("src", "quay.py", "code", "python", PARSED, "")))
    yield LibraryTools(EvidenceFinder(made.index, made.embedder, made.text_now), Filter(), kept)
    made.close()


def test_what_is_behind_a_definition_is_not_shown(parsed: LibraryTools) -> None:
    (moor,), _ = parsed.definitions_of("Quay.moor()", whole=False)
    (quay,), _ = parsed.definitions_of("Quay", whole=False)

    assert (str(moor.chunk.span), moor.symbol) == ("quay.py:1-3", "Quay.moor")
    assert str(quay.chunk.span) == "quay.py:1-6"


def test_it_is_said_that_another_owner_or_another_case_is_shown(parsed: LibraryTools) -> None:
    _, of_owner = parsed.definitions_of("Ship.moor")
    _, of_case = parsed.definitions_of("MOOR")

    assert of_owner == "None of these is known to belong to what stands before the name."
    assert of_case == "Nothing is spelled like that; these differ in case."
    assert parsed.definitions_of("Quay.moor")[1] == ""


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "a name is needed"),
        (" . ", "a name is needed"),
        (".*oor", "that is a pattern, .* grep"),
        ("moor|tie", "that is a pattern, .* grep"),
        ("MOOR*", "no document defines that name.* if it is a pattern, use grep"),
        ("ship", "no document defines that name"),
    ],
)
def test_what_is_no_name_is_told_so(parsed: LibraryTools, name: str, told: str) -> None:
    with pytest.raises(ToolError, match=told):
        parsed.find_symbol(name)


def test_a_pattern_has_no_references(parsed: LibraryTools) -> None:
    with pytest.raises(ToolError, match="that is a pattern"):
        parsed.find_references(".*oor")
