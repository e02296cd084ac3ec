"""Whatever prose is indexed and asked for: what is cited stands where the citation says."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from openbook.answering.generator import Generator
from openbook.chunking.fixed import ChunkOptions
from openbook.index.protocol import IndexIdentity
from openbook.index.sqlite import SqliteIndex
from openbook.ingest.preparation import entries_of
from openbook.retrieval.search import Retriever
from openbook.sources.documents import read_document
from openbook.testing import HashEmbedder
from openbook.tokens import tokens_identity
from openbook.types import Document, Stamp

WORDS = st.sampled_from(
    "retry policy waits session ends token größe Übersicht naïve 向量索引 🎉fox [1] [1:2] x[0] `send_all` e.g. *bold*"
    " 3.14 label: \u202eback cafe\u0301 a|b > # ---".split()
)
LINE_ENDS = st.sampled_from(["\n", "\r\n"])


@st.composite
def sentences(draw: st.DrawFn) -> str:
    """Make four words of nonsense that are found nowhere else, some from the list, and a full stop."""
    name = draw(st.text(alphabet="bcdfgklm", min_size=6, max_size=9))
    words = draw(st.lists(WORDS, min_size=1, max_size=12))
    return " ".join([f"{name}a", *words, f"{name}e", f"{name}i", f"{name}o"]) + draw(st.sampled_from([".", "!", "。"]))


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, str]:
    """Make a text of paragraphs, lists, headings and long lines, and choose one of its sentences."""
    line_end = draw(LINE_ENDS)
    # Words that begin with the same five letters are taken for forms of one.
    written = draw(st.lists(sentences(), min_size=1, max_size=30, unique_by=lambda sentence: sentence[:5]))
    text = draw(st.sampled_from(["", "# Größe" + line_end, line_end * 2, "Intro 🎉" + line_end]))
    for sentence in written:
        # A heading in the middle of a line is none, and nobody writes one.
        opens = not text or text.endswith("\n")
        text += draw(st.sampled_from(["", "- ", "## Part" + line_end if opens else "", "  "])) + sentence
        text += draw(st.sampled_from([" ", " ", line_end, line_end * 2, "  " + line_end]))
    return text, draw(st.sampled_from(written))


@pytest.fixture(scope="module")
def numbered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("libraries")
    return (folder / f"{number}.db" for number in itertools.count())


def answer_is_exact(document: Document, question: str, path: Path) -> None:
    embedder = HashEmbedder()
    index = SqliteIndex(path, IndexIdentity(embedder.identity, tokens_identity()))
    index.put(document, entries_of(document, ChunkOptions(), embedder), Stamp(0, 0, 0))
    generator = Generator(index, embedder, text_now=lambda _: document.text, context_tokens=6_000)

    answer = generator.generate_with_retrieval(question)
    found = Retriever(index, embedder).search(question)
    index.close()

    assert found
    assert not answer.refused
    assert answer.citations
    for citation in answer.citations:
        span = citation.span
        assert citation.quote == document.text[span.start_char : span.end_char]
        assert span.start_line == document.text[: span.start_char].count("\n") + 1
        assert span.end_line == span.start_line + citation.quote.count("\n")
        assert citation.verdict == "exact"
        assert citation.mark in answer.answer
    # Asked by a sentence of its own, the document answers with it.
    first_word = question.split()[0]
    assert any(first_word in citation.quote for citation in answer.citations)


@pytest.mark.slow
@examples(max_examples=40)
@given(document=documents(), path=st.sampled_from(["a.md", "notes/a.txt", "a.rst"]))
def test_documents_asked_by_their_own_sentences_answer_with_exact_quotes(
    numbered: Iterator[Path], document: tuple[str, str], path: str
) -> None:
    text, question = document

    answer_is_exact(read_document(text.encode(), source="src", path=path), question, next(numbered))


@pytest.mark.slow
@examples(max_examples=15)
@given(written=st.lists(sentences(), min_size=3, max_size=60, unique=True), line_end=LINE_ENDS, data=st.data())
def test_transcripts_in_one_line_answer_with_exact_quotes(
    numbered: Iterator[Path], written: list[str], line_end: str, data: st.DataObject
) -> None:
    head = f"Course Title: Talks{line_end}Course Instructor: N{line_end}{line_end}Lesson 0: Start{line_end}"
    document = read_document((head + " ".join(written)).encode(), source="src", path="talk.txt")

    assert document.kind == "course"
    answer_is_exact(document, data.draw(st.sampled_from(written)), next(numbered))
