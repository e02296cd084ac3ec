"""Answers from given results, without their library."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from openbook.answers import GenerationResult, RefusalReason
from openbook.index.protocol import Index, IndexEntry, IndexIdentity
from openbook.questions.question import read_question
from openbook.settings import Settings
from openbook.types import Chunk, Document, RetrievalResult, Stamp

if TYPE_CHECKING:
    from openbook.answering.options import AnswerOptions
    from openbook.embedding.protocol import Embedder


_Texts = Mapping[tuple[str, str], tuple[str, tuple[Chunk, ...]]]
"""By source and path: the known text of a document, and its chunks."""


def generate_answer(
    query: str,
    results: Sequence[RetrievalResult],
    max_context_tokens: int | None = None,
    max_answer_tokens: int | None = None,
    *,
    options: AnswerOptions | None = None,
    settings: Settings | None = None,
) -> GenerationResult:
    """Answer a question from given results, in their order, with citations that are checked against them.

    Files are not read again, so outdated citations are not detected. The method of the same name of `Library.generator`
    reads them, and knows the rarity of words in its whole library.

    Args:
        query: The question.
        results: The results, best first, of one or several libraries. Without any, the answer is a refusal.
        max_context_tokens: The budget of sources; by default that of the settings.
        max_answer_tokens: The limit of tokens for a model; by default that of `options`.
        options: The model, its budget, and the history. Without it, answers are quotes.
        settings: Further settings; by default from the environment.

    Raises:
        QueryError: The question is empty, too long, or holds no word.
        ModelError: The model did not answer.
    """
    from openbook.answering.generator import Generator
    from openbook.answering.options import AnswerOptions
    from openbook.answering.refusals import refusal
    from openbook.embedding.static import load_embedder

    settings, options = settings or Settings.from_env(), options or AnswerOptions()
    if max_answer_tokens is not None:
        options = replace(options, max_answer_tokens=max_answer_tokens)
    if not results:
        return refusal(read_question(query).text, RefusalReason.NOTHING_FOUND, ())
    embedder = load_embedder()
    texts = _texts_of([result.chunk for result in results])
    with _index_of(texts, embedder) as index:
        generator = Generator(
            index,
            embedder,
            text_now=lambda chunk: texts[chunk.source, chunk.span.path][0],
            context_tokens=settings.context_tokens,
            model_timeout_s=settings.model_timeout_s,
        )
        return generator.generate_answer(query, results, max_context_tokens=max_context_tokens, options=options)


def _texts_of(chunks: Sequence[Chunk]) -> _Texts:
    """Return a text for each document that has its chunks at their offsets, and blanks between them."""
    of_document: defaultdict[tuple[str, str], dict[Chunk, None]] = defaultdict(dict)
    for chunk in chunks:
        of_document[chunk.source, chunk.span.path][chunk] = None
    texts = {}
    for key, members in of_document.items():
        text = ""
        for chunk in sorted(members, key=lambda chunk: chunk.span.start_char):
            span = chunk.span
            feeds = "\n" * (span.start_line - 1 - text.count("\n"))
            before = text[: span.start_char] + feeds.rjust(span.start_char - len(text))
            text = before + chunk.text + text[span.end_char :]
        texts[key] = text, tuple(members)
    return texts


@contextmanager
def _index_of(texts: _Texts, embedder: Embedder) -> Iterator[Index]:
    """Index chunks temporarily: an index is needed to weigh the words of a question."""
    from openbook.index.sqlite import SqliteIndex
    from openbook.retrieval.fields import embedding_text, terms_of

    with tempfile.TemporaryDirectory(prefix="openbook-") as folder:
        file = Path(folder) / "results.sqlite"
        with closing(SqliteIndex(file, IndexIdentity(embedder.identity, "results"))) as index:
            with index.batch():
                for (source, path), (text, chunks) in texts.items():
                    vectors = embedder.embed([embedding_text(chunk) for chunk in chunks])
                    entries = [
                        IndexEntry(chunk, terms_of(chunk), vector)
                        for chunk, vector in zip(chunks, vectors, strict=True)
                    ]
                    document = Document(source, path, chunks[0].kind, chunks[0].language, text, content_hash="")
                    index.put(document, entries, Stamp(0, 0, 0))
            yield index
