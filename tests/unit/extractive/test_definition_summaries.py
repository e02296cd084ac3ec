"""A definition with a long comment is answered by its summary and its signature, in this order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openbook.answering.evidence import EvidenceFinder
from openbook.chunking.dispatch import chunk_document
from openbook.chunking.fixed import ChunkOptions
from openbook.questions.question import read_question
from openbook.types import Chunk, Document, Filter
from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import Library, chunk_of

SUMMARY = "    /// Ties it to a quay."
EXAMPLES = "".join(f"    /// let rope_{number} = Rope::new();\n" for number in range(14))
SIGNATURE = "    pub fn tie_up(&self, ship: Ship) -> Mooring {"
CODE = f"{SUMMARY}\n    ///\n{EXAMPLES}{SIGNATURE}\n        self.tie()\n"


def code(text: str, name: str) -> Chunk:
    return chunk_of(text, "quay.rs", kind="code", symbol=name, defines=(name,))


def is_summary_first(question: str, chunk: Chunk) -> bool:
    said = quotes(picked(question, chunk))
    return said[0].startswith(SUMMARY) and said[1].startswith(SIGNATURE)


@pytest.mark.parametrize("question", ["what does tie_up do", "explain tie_up", "What is tie_up?"])
def test_the_summary_comes_directly_before_the_signature(question: str) -> None:
    assert is_summary_first(question, code(CODE, "tie_up"))


@pytest.mark.parametrize("question", ["Where is tie_up defined?", "Which arguments does tie_up take?"])
def test_a_question_for_the_place_or_the_parameters_is_answered_by_the_signature(question: str) -> None:
    assert SIGNATURE in quotes(picked(question, code(CODE, "tie_up")))[0]


def test_the_summary_of_what_is_not_asked_for_does_not_come_first() -> None:
    assert not quotes(picked("When is the mooring of a ship tied?", code(CODE, "tie_up")))[0].startswith(SUMMARY)


def test_the_summary_of_one_definition_does_not_come_before_the_signature_of_another() -> None:
    other = "\n    pub fn cast_off(&self, rope: Rope) -> Rope {"
    chunk = chunk_of(CODE + other, "quay.rs", kind="code", symbol="tie_up", defines=("tie_up", "cast_off"))

    assert quotes(picked("what does `cast_off` do to a rope: Rope, `tie_up`", chunk))[0].startswith(other[1:])


def test_a_summary_of_one_line_defines_a_term() -> None:
    text = CODE.replace("tie_up", "mooring")

    assert quotes(picked("what is mooring", code(text, "mooring")))[0].startswith(SUMMARY)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(tmp_path / "lib.db")
    yield made
    made.close()


def evidence_for(library: Library, question: str, name: str) -> str:
    told = "".join(f"    /// assert!(quay.berth({number}).is_ok()); // it is tied there\n" for number in range(60))
    text = (
        f"impl Quay {{\n    /// Keeps ships.\n    ///\n{told}    pub fn {name}(&self) {{\n        tie()\n    }}\n}}\n"
    )
    document = Document("src", "quay.rs", "code", "rust", text, "")
    library.put_chunks(text, chunk_document(document, ChunkOptions()))
    finder = EvidenceFinder(library.index, library.embedder, lambda chunk: text)
    found = finder.search(read_question(question), 5, Filter())
    return next(each.chunk.text for each in found if name in each.chunk.defines)


@pytest.mark.parametrize("question", ["what does tie_up do", "what is a tie up"])
def test_what_a_question_names_is_found_with_the_beginning_of_its_comment(library: Library, question: str) -> None:
    assert "Keeps ships" in evidence_for(library, question, "tie_up")


def test_what_a_question_does_not_name_is_found_as_it_is(library: Library) -> None:
    assert "Keeps ships" not in evidence_for(library, "how is it tied there", "tie_up")
