"""Finds the places that have a quoted text as written: all of them, and no others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, compress
from time import monotonic

from openbook.errors import QueryError
from openbook.index.protocol import EVERYTHING, Index
from openbook.lookup.matching_lines import documents_with
from openbook.questions.question import Question
from openbook.retrieval.excerpts import written
from openbook.retrieval.ranking import rank
from openbook.retrieval.search import Retriever
from openbook.types import Chunk, Filter, RetrievalResult, View

# Time limit. Reading 180,000 documents takes about that long; a text with a whole word inside is looked up.
_MAX_SECONDS = 10.0


def find_quoted(
    question: Question,
    retriever: Retriever,
    *,
    limit: int,
    where: Filter = EVERYTHING,
    view: View = "auto",
    seconds: float = _MAX_SECONDS,
) -> list[RetrievalResult]:
    """Return the passages with the texts that a question consists of, best first; by `files`, one of each file.

    Case and line ends do not count. Of several texts, the document has all, and a passage at least one. If no document
    has them, these are the places in code that print them with values.

    Raises:
        QueryError: It takes too long.
    """
    with retriever.index.snapshot():
        held = _chunks_with(question.as_written, retriever.index, where, monotonic() + seconds)
        if held:
            found = _ranked(question, held, retriever, where)
            return (_first_of_files(found) if view == "files" else found)[:limit]
    found = retriever.search(question, limit=limit, where=where, view=view)
    return [result for result in found if result.signals.get("message")]


def _chunks_with(texts: Sequence[str], index: Index, where: Filter, end: float) -> list[Chunk]:
    """Return the chunks in which one of some texts begins, of each document that has them all."""
    first, *others = (documents_with(text, index, where) for text in texts)
    patterns = [written(text) for text in texts]
    held: list[Chunk] = []
    for listed in sorted(set(first).intersection(*others)):
        if monotonic() > end:
            hint = "quote more of its words, or name a folder"
            raise QueryError("too many documents would have to be read for the quoted text", hint=hint)
        document = index.document(listed.source, listed.path)
        places = [[found.start() for found in pattern.finditer(document.text)] for pattern in patterns if document]
        if not (places and all(places)):
            continue
        for chunk in index.chunks(listed.source, listed.path):
            begins = any(chunk.span.start_char <= at < chunk.span.end_char for at in chain(*places))
            if begins and where.allows_lesson(chunk.lesson):
                held.append(chunk)
    return held


def _ranked(question: Question, held: Sequence[Chunk], retriever: Retriever, where: Filter) -> list[RetrievalResult]:
    """Rank chunks by what the index knows of them. Those of which it knows nothing come last."""
    index, chunks = retriever.index, {chunk.key: chunk for chunk in held}
    within = replace(where, within=frozenset((chunk.source, chunk.span.path) for chunk in held))
    matches = index.match(question.tokens, retriever.embedder.embed([question.text])[0], index.stats().chunks, within)
    outlines = index.outlines([each.id for each in matches.evidence])
    kept = [(outline.source, outline.span) in chunks for outline in outlines]
    matches = replace(matches, evidence=tuple(compress(matches.evidence, kept)))
    outlines = list(compress(outlines, kept))
    texts = [chunks[outline.source, outline.span].text for outline in outlines] if question.name else []
    ranked = rank(question, "passages", matches, outlines, texts)
    found = [
        RetrievalResult(chunks.pop((each.outline.source, each.outline.span)), each.score, each.signals)
        for each in ranked
    ]
    return [*found, *(RetrievalResult(chunk, 0.0) for chunk in chunks.values())]


def _first_of_files(results: Sequence[RetrievalResult]) -> list[RetrievalResult]:
    first: dict[tuple[str, str], RetrievalResult] = {}
    for result in results:
        first.setdefault((result.chunk.source, result.chunk.span.path), result)
    return list(first.values())
