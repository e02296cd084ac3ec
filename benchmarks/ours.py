"""Openbook as the measurements use it. What changes in its rooms is followed here and nowhere else."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from openbook.answering.answerability import support
from openbook.answering.evidence import EvidenceFinder
from openbook.answering.followups import has_own_words
from openbook.chunking.code import find_definitions
from openbook.chunking.identity import chunks_identity
from openbook.chunking.layout import Layout, build_chunks
from openbook.chunking.layout import Piece as Stretch
from openbook.chunking.lines import definition_lines
from openbook.chunking.outline import flatten
from openbook.embedding.static import load_embedder
from openbook.evals.metrics import ExpectedSpan
from openbook.index.protocol import IndexEntry, IndexIdentity
from openbook.index.sqlite import SqliteIndex
from openbook.library import Library
from openbook.questions.question import read_question
from openbook.retrieval.fields import embedding_text, terms_of
from openbook.retrieval.search import EVERYTHING, Retriever
from openbook.retrieval.signals import rarities
from openbook.settings import Settings
from openbook.sources.documents import read_document
from openbook.text import LineIndex
from openbook.tokens import tokens_identity
from openbook.types import Chunk, Document, RetrievalResult, Span, Stamp

_SOURCE = "given"


@dataclass(frozen=True, slots=True)
class Ranked:
    """What one question found, best first, and how long it took."""

    places: tuple[ExpectedSpan, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Answers:
    """What a tool made of one collection."""

    ranked: tuple[Ranked, ...]
    """In the order of the questions."""
    index_seconds: float
    chunks: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A text that is to be found as it is given."""

    path: str
    text: str
    context: tuple[str, ...] = ()


def search_folder(folder: Path, questions: Sequence[str], scratch: Path, *, limit: int = 10, **options: Any) -> Answers:
    """Index a folder in a fresh library and ask it. `options` go to `Library.search`."""
    started = time.perf_counter()
    with folder_library(folder, scratch) as assistant:
        seconds = time.perf_counter() - started
        ranked = [ask(assistant, question, limit=limit, **options) for question in questions]
        return Answers(tuple(ranked), seconds, assistant.stats().chunks)


@contextlib.contextmanager
def folder_library(folder: Path, scratch: Path) -> Iterator[Library]:
    """Index a folder in a fresh library."""
    with Library(scratch / "library.sqlite", Settings(home=scratch)) as assistant:
        assistant.add(folder, allow_large=True)
        yield assistant


def ask(assistant: Library, question: str, *, limit: int = 10, **options: Any) -> Ranked:
    """Ask a library one question. `options` go to `Library.search`."""
    started = time.perf_counter()
    results = assistant.search(question, limit=limit, **options)
    return Ranked(tuple(_place(result) for result in results), time.perf_counter() - started)


@contextlib.contextmanager
def piece_library(pieces: Sequence[Piece], scratch: Path) -> Iterator[Callable[..., list[int]]]:
    """Index pieces as they are given, and yield what gives their positions for a question, best first.

    The keywords are those of `Retriever.search`.
    """
    with piece_retriever(pieces, scratch) as (retriever, positions):

        def search(question: str, **options: Any) -> list[int]:
            return [positions[result.chunk.span] for result in retriever.search(question, **options)]

        yield search


@contextlib.contextmanager
def piece_retriever(pieces: Sequence[Piece], scratch: Path) -> Iterator[tuple[Retriever, Mapping[Span, int]]]:
    """Index pieces as they are given, and yield what finds them, and the position of each by its span.

    Pieces of one path are put together to one document, in order.
    """
    settings, embedder = Settings(home=scratch), load_embedder()
    identity = IndexIdentity(embedder.identity, tokens_identity(), chunks_identity(settings))
    index = SqliteIndex(scratch / "library.sqlite", identity, lock_timeout_s=settings.lock_timeout_s)
    positions: dict[Span, int] = {}
    with contextlib.closing(index):
        with index.batch():
            for path in dict.fromkeys(piece.path for piece in pieces):
                numbered = [(n, piece) for n, piece in enumerate(pieces) if piece.path == path]
                document, chunks = _document(path, [piece for _, piece in numbered])
                positions |= {chunk.span: n for chunk, (n, _) in zip(chunks, numbered, strict=True)}
                vectors = embedder.embed([embedding_text(chunk) for chunk in chunks])
                entries = [IndexEntry(chunk, terms_of(chunk), row) for chunk, row in zip(chunks, vectors, strict=True)]
                index.put(document, entries, Stamp(len(document.text), 0, 0))
        yield Retriever(index, embedder), positions


def supports(folder: Path, scratch: Path, asked: Sequence[tuple[str, str]]) -> list[float]:
    """Index a folder, and say how far it supports each question, from 0 to 1, as the gate of answers does.

    Args:
        folder: What to index.
        scratch: An empty folder for the library.
        asked: Earlier turns of a conversation, empty for none, and the question.
    """
    with folder_library(folder, scratch) as assistant:
        chunks = assistant.stats().chunks
    settings, embedder = Settings(home=scratch), load_embedder()
    identity = IndexIdentity(embedder.identity, tokens_identity(), chunks_identity(settings))
    index = SqliteIndex(scratch / "library.sqlite", identity, lock_timeout_s=settings.lock_timeout_s)
    found = []
    with contextlib.closing(index):
        retriever = Retriever(index, embedder)
        for earlier, question in asked:
            text = f"{earlier} {question}".strip()
            query = read_question(question if has_own_words(question) else text)  # "How does it work?" has none
            rarity = rarities(query, index.frequencies(query.tokens), chunks)
            results = retriever.search(text, limit=10, view="passages")
            found.append(support(text, results, embedder, rarity))
    return found


@contextlib.contextmanager
def folder_library_at(folder: Path, home: Path) -> Iterator[EvidenceFinder]:
    """Open the library of a folder, which is made the first time."""
    home.mkdir(parents=True, exist_ok=True)
    with folder_library(folder, home):
        pass
    settings, embedder = Settings(home=home), load_embedder()
    identity = IndexIdentity(embedder.identity, tokens_identity(), chunks_identity(settings))
    index = SqliteIndex(home / "library.sqlite", identity, lock_timeout_s=settings.lock_timeout_s)
    with contextlib.closing(index):
        yield EvidenceFinder(index, embedder, lambda _: None)  # nothing is cited


def signs_and_odds(finder: EvidenceFinder, question: str) -> tuple[tuple[float, ...], float]:
    """Return what tells whether a library answers a question, and the odds that it does."""
    asked = read_question(question)
    told = finder.answerability(asked, finder.find(asked, 10, EVERYTHING), EVERYTHING)
    return tuple(told.signs), told.odds


def _document(path: str, pieces: Sequence[Piece]) -> tuple[Document, list[Chunk]]:
    text = "".join(piece.text for piece in pieces)
    document = replace(read_document(text.encode(), source=_SOURCE, path=path), text=text, blocks=())
    ends = list(accumulate(len(piece.text) for piece in pieces))
    ranges = list(zip([0, *ends[:-1]], ends, strict=True))
    if document.kind == "code":
        return document, _named(document, ranges)
    lines = LineIndex(text)
    chunks = [
        replace(Chunk(_SOURCE, lines.span(path, *each), piece.text, document.kind), context=piece.context)
        for piece, each in zip(pieces, ranges, strict=True)
    ]
    return document, chunks


def _named(document: Document, ranges: Sequence[tuple[int, int]]) -> list[Chunk]:
    """Make chunks that know what they define and stand in, as ingest tells it of the chunks that it cuts itself."""
    layout = Layout(document.text)
    definitions = find_definitions(layout, document.language) or definition_lines(layout, document.language)
    named = [each for each in flatten(definitions) if each.role != "element"]
    pieces = []
    for start, end in ranges:
        line = layout.lines.span(document.path, start, end).start_line
        open_there = [each for each in named if each.line < line <= each.last_line]
        pieces.append(Stretch(start, end, open_there[-1] if open_there else None))
    return build_chunks(document, layout.lines, pieces, definitions)


def _place(result: RetrievalResult) -> ExpectedSpan:
    span = result.chunk.span
    return ExpectedSpan(span.path, span.start_line, span.end_line)
