"""Selects the chunker of a document by its kind. Courses are split into sentences, within lessons."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from openbook.chunking.fixed import ChunkOptions, Range, windows
from openbook.chunking.prose import Slicer, chunk_prose, groups_of, pieces, sections_of, shared_path
from openbook.containers import is_title_of
from openbook.text import LONG_SENTENCE_CHARS, paragraphs, sentences
from openbook.types import Chunk, Document, Lesson

_NO_LESSON = Lesson("")

# End of a sentence, and closing marks that may follow it.
_ENDING = (".", "!", "?", "…", "。", "！", "？")
_CLOSING = "\"'”’)]」』）"


# The comment by which linters and GitHub know a generated file: that of https://go.dev/s/generatedcode, then those of
# Meta and Cargo, .NET, Dart and Protocol Buffers. A license may be above it.
_GENERATED = re.compile(
    r"""[ \t]*(?://+!?|\#+|/\*+|\*+|--+|;+|%+)[ \t]*
    (?:Code[ ]generated\b.*\bDO[ ]NOT[ ]EDIT\b|(?:This[ ]file[ ]is[ ](?:automatically[ ])?)?@generated\b
    |<auto-?generated\b|GENERATED[ ]CODE[ ]-[ ]DO[ ]NOT[ ]MODIFY[ ]BY[ ]HAND
    |Generated[ ]by[ ]the[ ]protocol[ ]buffer[ ]compiler\b)""",
    re.VERBOSE,
)
_HEADER_LINES, _HEADER_CHARS = 40, 4000


def chunk_course(document: Document, options: ChunkOptions) -> list[Chunk]:
    """Split a course into sentences and pack them, in order of appearance.

    Neighbours in one section overlap by whole sentences if these are short enough. Every chunk has a lesson; its
    context is the title of the course, number and title of the lesson, then the headings above all of its text. Blank
    text has no chunks.
    """
    slicer, most = Slicer(document), options.course_chars
    grouping = replace(options, max_chars=most, merge_chars=min(options.merge_chars, most))
    chunks: list[Chunk] = []
    for lesson, parts in groupby(slicer.parts(), key=lambda part: part.lesson or _NO_LESSON):
        sections = sections_of(parts, slicer)
        context = tuple(title for title in (lesson.course, str(lesson)) if title)
        for group in groups_of(document.text, sections, grouping):
            spoken = pieces(document.text, (part for each in group for part in each.parts), most, _sentences)
            for start, end in windows(spoken, max_chars=most, overlap_chars=options.course_overlap_chars):
                headings = (title for title in shared_path(sections, start, end) if not is_title_of(title, lesson))
                chunks.append(slicer.chunk(start, end, (*context, *headings), lesson))
    return chunks


def _sentences(text: str, start: int, end: int) -> Iterator[Range]:
    """Yield sentences of any length, none of which crosses a blank line.

    A sentence without an end is a listing. It is yielded in one piece, because it is better split between lines than
    after 800 characters.
    """
    for paragraph in paragraphs(text, start, end):
        opened = -1
        for first, behind in sentences(text, *paragraph):
            opened = first if opened < 0 else opened
            if behind == paragraph[1] or not _is_cut_short(text, first, behind):
                yield opened, behind
                opened = -1


def _is_cut_short(text: str, start: int, end: int) -> bool:
    # Only sentences of full length are split before their end, and then in their second half.
    return end - start > LONG_SENTENCE_CHARS // 2 and text[start:end].rstrip(_CLOSING)[-1:] not in _ENDING


_DEFAULTS = ChunkOptions()


def chunk_document(document: Document, options: ChunkOptions = _DEFAULTS) -> list[Chunk]:
    r"""Split a document by the rules of its kind, in order of appearance.

    Every chunk is an exact slice, and together they contain every non-blank line. Chunks of courses and of the
    strategies `fixed-size` and `hybrid` may overlap. Blank text has no chunks.

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
    # An exercise in a folder of lessons is chunked as code.
    lesson = document.blocks[0].lesson if document.blocks else None
    is_generated = document.kind == "code" and _says_generated(document.text)
    chunks = _chunk_lines(document)
    if not lesson and not is_generated:
        return chunks
    return [replace(chunk, lesson=lesson, is_generated=is_generated) for chunk in chunks]


def _says_generated(text: str) -> bool:
    return any(map(_GENERATED.match, text[:_HEADER_CHARS].split("\n")[:_HEADER_LINES]))


def _chunk_lines(document: Document) -> list[Chunk]:
    # Lazy: grammars are slow to load, and libraries of prose do not need them.
    if document.kind == "code":
        from openbook.chunking.code import chunk_code

        return chunk_code(document)
    from openbook.chunking.lines import chunk_lines

    return chunk_lines(document)
