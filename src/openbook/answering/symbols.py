"""Shows the definitions of a name, and says in what they differ from the name that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from openbook.answering.filling import is_visible, with_ends
from openbook.errors import ToolError
from openbook.extractive.definition_heads import MAX_QUOTE_LINES
from openbook.extractive.outlines import from_definition, piece_of
from openbook.index.protocol import Index
from openbook.lookup.definitions import DefinitionPlace, Definitions
from openbook.questions.names import WrittenName, is_pattern, read_name
from openbook.text import counted
from openbook.types import Chunk, Filter, RetrievalResult

# Where a name is defined so often, it has to be told apart by its path.
_MAX_DEFINITIONS = 10


def read_symbol(name: str) -> WrittenName:
    """Read the name that a tool was given.

    Raises:
        ToolError: It is empty, or a pattern.
    """
    read = read_name(name)
    if not read.last:
        raise ToolError("a name is needed, such as `Client` or `Client.get`")
    if is_pattern(name):
        raise ToolError("that is a pattern, and names are found whole; grep finds patterns, with regex=true")
    return read


def nothing_defined(name: str) -> str:
    """Tell that a name is defined nowhere."""
    also = "; if it is a pattern, use grep with regex=true" if "*" in name or name.endswith("?") else ""
    return f"no document defines that name; search for it to see where it is mentioned{also}"


def note_on(found: Definitions) -> str:
    """Return what is to be said of the definitions that are shown; empty for nothing."""
    more = len(found.places) - _MAX_DEFINITIONS
    notes = ["Nothing is spelled like that; these differ in case."] if found.is_other_case else []
    if found.is_other_owner:
        notes.append("None of these is known to belong to what stands before the name.")
    if more > 0:
        notes.append(f"{more} more place{' defines' if more == 1 else 's define'} that name.")
    if found.unread:
        left = counted(found.unread, "document")
        notes.append(f"{left} not searched for members, because it takes too long; narrow the path.")
    return " ".join(notes)


def shown_definitions(found: Definitions, index: Index, where: Filter, *, whole: bool) -> list[RetrievalResult]:
    """Return the first definitions as results, either as whole chunks or without what is around them."""
    results: list[RetrievalResult] = []
    for place in found.places[:_MAX_DEFINITIONS]:
        chunk = _chunk_at(place, index, where)
        if chunk is None:
            continue
        shown = RetrievalResult(chunk, 0.0) if whole else _cut(place, chunk, results, index, where)
        results.append(replace(shown, chunk=replace(shown.chunk, symbol=place.symbol)))
    return results


def _chunk_at(place: DefinitionPlace, index: Index, where: Filter) -> Chunk | None:
    """Return the chunk with the line that names what is defined."""
    chunks = (each for each in index.chunks(place.source, place.path) if is_visible(each, where))
    return next((each for each in chunks if each.span.start_line <= place.line <= each.span.end_line), None)


def _cut(
    place: DefinitionPlace, chunk: Chunk, before: Sequence[RetrievalResult], index: Index, where: Filter
) -> RetrievalResult:
    """Leave out what is long before a definition, and what is behind it."""
    (result,) = with_ends([RetrievalResult(chunk, 0.0)], index, where)
    if place.is_chunk:
        return replace(result, chunk=from_definition(chunk, place.symbol.rpartition(".")[2], place.around))
    is_shown = any(
        each.chunk.source == chunk.source
        and each.chunk.span.path == place.path
        and each.chunk.span.start_line < place.first_line
        and each.chunk.span.end_line >= chunk.span.start_line
        for each in before
    )
    start_line = chunk.span.start_line
    is_near = place.first_line - start_line <= MAX_QUOTE_LINES
    first = start_line if is_near and not is_shown else max(start_line, place.first_line)
    last = min(place.last_line, chunk.span.end_line)
    lines = chunk.text.split("\n")
    start = sum(len(line) + 1 for line in lines[: first - start_line])
    end = start + len("\n".join(lines[first - start_line : last + 1 - start_line]))
    piece = piece_of(chunk, chunk.span.start_char + start, chunk.span.start_char + end)
    return replace(result, chunk=piece, goes_on_to=result.goes_on_to if last == chunk.span.end_line else 0)
