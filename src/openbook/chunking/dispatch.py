"""Which rules a document is cut by: its kind decides."""

from __future__ import annotations

from dataclasses import replace

from openbook.chunking.course import chunk_course
from openbook.chunking.fixed import ChunkOptions
from openbook.chunking.prose import chunk_prose
from openbook.types import Chunk, Document

_DEFAULTS = ChunkOptions()


def chunk_document(document: Document, options: ChunkOptions = _DEFAULTS) -> list[Chunk]:
    r"""Cut a document by the rules of its kind, in order of appearance.

    Every chunk is an exact slice, and together they hold every line that is not blank. Chunks of
    courses and of the strategies `fixed-size` and `hybrid` may overlap. Blank text gives none.

    Example:
        >>> document = Document("s", "a.txt", "docs", "", "One.\n\nTwo.\n", "")
        >>> [(str(chunk.span), chunk.text) for chunk in chunk_document(document)]
        [('a.txt:1-3', 'One.\n\nTwo.')]
    """
    if not document.text.strip():
        return []
    if document.kind == "docs":
        return chunk_prose(document, options)
    if document.kind == "course":
        return chunk_course(document, options)
    # An exercise in a folder of lessons is cut as the code that it is.
    lesson = document.blocks[0].lesson if document.blocks else None
    chunks = _chunk_lines(document)
    return [replace(chunk, lesson=lesson) for chunk in chunks] if lesson else chunks


def _chunk_lines(document: Document) -> list[Chunk]:
    # The grammars take time to load, and a library of prose never needs them.
    if document.kind == "code":
        from openbook.chunking.code import chunk_code

        return chunk_code(document)
    from openbook.chunking.lines import chunk_lines

    return chunk_lines(document)
