"""Proposes questions from what a library says of itself: headings, symbols, lessons. A person edits them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from openbook.assistant import Assistant
from openbook.chunking.dispatch import chunk_document
from openbook.errors import SkippedFileError
from openbook.evals.metrics import Place
from openbook.evals.questions import EvalQuestion
from openbook.evals.running import indexed_files, place_of
from openbook.ingest.difference import folder_of
from openbook.retrieval.roles import role_of
from openbook.sources.folder import Folder
from openbook.types import Chunk, Document

# Less than that under a heading is a list of links or a sentence that leads to the next one.
FEWEST_CHARS = 120

# Of one file: enough to fill a set from a single course, too few for one file to crowd out others later.
_MOST_OF_A_FILE = 50


def draft(assistant: Assistant, count: int) -> list[EvalQuestion]:
    """Propose at most `count` questions, each with the lines that it was made from.

    Files are taken at even distances, those of tests, changes and licences last, and each gives one
    question before any gives two. The same library gives the same questions.
    """
    folders = {root.name: folder_of(root, assistant.settings) for root in assistant.sources()}
    several = len(folders) > 1
    waiting: list[Iterator[EvalQuestion]] = [
        _questions(folders[source], path, place_of(source, path) if several else path)
        for source, path in _in_turn(list(indexed_files(assistant)), count)
    ]
    drafted: dict[str, EvalQuestion] = {}
    while waiting:
        left = []
        for questions in waiting:
            fresh = next((question for question in questions if question.text not in drafted), None)
            if fresh is not None:
                drafted[fresh.text] = fresh
                left.append(questions)
            if len(drafted) == count:
                return list(drafted.values())
        waiting = left
    return list(drafted.values())


def _in_turn(files: Sequence[tuple[str, str]], count: int) -> list[tuple[str, str]]:
    """Order files: `count` of them at even distances, then those between."""
    aside = [file for file in files if _is_aside(file[1])]
    main = [file for file in files if not _is_aside(file[1])]
    step = max(1, len(main) // count)
    chosen = main[::step]
    between = [file for number, file in enumerate(main) if number % step]
    return [*chosen, *between, *aside]


def _is_aside(path: str) -> bool:
    # What a file is for shows in its path, whichever of the two kinds it is of.
    return not {role_of(path, "code"), role_of(path, "docs")}.isdisjoint({"test", "changelog", "legal"})


def _questions(folder: Folder, path: str, shown_path: str) -> Iterator[EvalQuestion]:
    """Make questions of one file, the one on its longest part first."""
    try:
        document = folder.read(path)
    except SkippedFileError:
        return  # changed since it was indexed
    parts = sorted(_parts(document), key=lambda part: (-len(part[1].text), part[1].span))
    for text, chunk in parts[:_MOST_OF_A_FILE]:
        yield EvalQuestion(text, lines=(Place(shown_path, chunk.span.start_line, chunk.span.end_line),))


def _parts(document: Document) -> Iterator[tuple[str, Chunk]]:
    """Give the parts of a document that have a name, each with the question for it."""
    for chunk in chunk_document(document):
        text = _question(chunk)
        if text and len(chunk.text) >= FEWEST_CHARS:
            yield text, chunk


def _question(chunk: Chunk) -> str:
    """Ask for what a chunk is about; empty where it has no name."""
    if chunk.lesson is not None and chunk.lesson.number is not None:
        title = f", {chunk.lesson.title}," if chunk.lesson.title else ""
        return f"What is lesson {chunk.lesson.number}{title} of {chunk.lesson.course or 'the course'} about?"
    if chunk.kind == "code":
        name = chunk.symbol.rpartition(".")[2]
        if not name or name.startswith("_") or name.isupper():
            return ""  # private, or a constant
        return f"What is `{chunk.symbol}` for?" if name[0].isupper() else f"What does `{chunk.symbol}` do?"
    heading = chunk.context[-1] if chunk.context else ""
    if not heading or heading.endswith("?"):
        return heading
    title = f' in "{chunk.context[0]}"' if len(chunk.context) > 1 else ""
    return f'What is "{heading}"{title} about?'
