"""Splits a text into chunks, without files and libraries."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from openbook.types import Chunk, Document

if TYPE_CHECKING:
    from openbook.settings import Strategy


def chunk(
    text: str,
    path: str,
    *,
    source: str = "",
    strategy: Strategy = "semantic",
    max_words: int = 500,
    overlap_words: int = 50,
) -> list[Chunk]:
    r"""Split a text like a file of a library. Each chunk is an exact slice of what its reader returns.

    That is the text itself for code, Markdown and plain text, the cells of a notebook, or what a page of HTML shows.

    Args:
        text: The whole text.
        path: Decides how to split, by its name: code by definitions, prose by sections. No file is read.
        source: Name of the source, for `Chunk.source`.
        strategy: For prose: `semantic`, `fixed-size` or `hybrid`.
        max_words: Maximum words per chunk, for the last two.
        overlap_words: Words that such a chunk repeats from the previous one.

    Raises:
        ValueError: The strategy is unknown, or does not allow these word counts.

    Example:
        >>> [(str(each.span), each.text) for each in chunk("# Tides\n\nLow at noon.\n", "tides.md")]
        [('tides.md:1-3', '# Tides\n\nLow at noon.')]
    """
    # Keep `import openbook` fast.
    from openbook.chunking.dispatch import chunk_document
    from openbook.chunking.fixed import ChunkOptions
    from openbook.sources.classify import classify
    from openbook.sources.readers import read_text

    reading = read_text(text, path, *classify(path, text))
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    document = Document(
        source, path, reading.kind, reading.language, reading.text, digest, reading.blocks, reading.anchors
    )
    return chunk_document(document, ChunkOptions(strategy=strategy, max_words=max_words, overlap_words=overlap_words))
