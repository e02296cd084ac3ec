"""Cuts course material into chunks of whole sentences that stay within one lesson."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from openbook.chunking.fixed import ChunkOptions, Range, windows
from openbook.chunking.prose import Slicer, pieces
from openbook.text import LONG_SENTENCE_CHARS, paragraphs, sentences
from openbook.types import Block, Chunk, Document, Lesson

_NO_LESSON = Lesson("")

# What ends a sentence, and what may close it behind that.
_ENDING = (".", "!", "?", "…", "。", "！", "？")
_CLOSING = "\"'”’)]」』）"


def chunk_course(document: Document, options: ChunkOptions) -> list[Chunk]:
    """Cut a course into sentences and pack them, in order of appearance.

    Neighbours in one lesson overlap by whole sentences, where these are short enough. Every chunk
    has a lesson; its context is the title of the course, then number and title of the lesson.
    Blank text gives none.
    """
    slicer = Slicer(document)

    def place_of(part: Block) -> tuple[Lesson, int]:
        return part.lesson or _NO_LESSON, slicer.place_of(part.start_char)

    chunks: list[Chunk] = []
    for (lesson, _), parts in groupby(slicer.parts(), key=place_of):
        context = tuple(title for title in (lesson.course, str(lesson)) if title)
        spoken = pieces(document.text, parts, options.course_chars, _sentences)
        for start, end in windows(spoken, max_chars=options.course_chars, overlap_chars=options.course_overlap_chars):
            chunks.append(slicer.chunk(start, end, context, lesson))
    return chunks


def _sentences(text: str, start: int, end: int) -> Iterator[Range]:
    """Yield sentences of any length, none of which crosses a blank line.

    A sentence that never seems to end is a listing. It is given in one piece, because it is better
    cut at its lines than wherever 800 characters are full.
    """
    for paragraph in paragraphs(text, start, end):
        opened = -1
        for first, behind in sentences(text, *paragraph):
            opened = first if opened < 0 else opened
            if behind == paragraph[1] or not _is_cut_short(text, first, behind):
                yield opened, behind
                opened = -1


def _is_cut_short(text: str, start: int, end: int) -> bool:
    # Only a sentence of full length is ever cut without its end, and then in its second half.
    return end - start > LONG_SENTENCE_CHARS // 2 and text[start:end].rstrip(_CLOSING)[-1:] not in _ENDING
