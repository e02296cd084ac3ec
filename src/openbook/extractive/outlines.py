"""Slices of documents for tools: outlines, and lines by number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from openbook.containers import HEADING
from openbook.extractive.context import ContextItem
from openbook.extractive.definition_heads import MAX_QUOTE_LINES, definition_heads, is_comment
from openbook.extractive.displaying import code_opening_at
from openbook.extractive.headings import headings_in
from openbook.extractive.paragraphs import COURSE_FACT
from openbook.extractive.passages import passages_of
from openbook.questions.names import stands_in
from openbook.sources.front_matter import FRONT_MATTER, stated_title
from openbook.text import LineIndex, trim, units
from openbook.types import Chunk, Document, RetrievalResult, Span, Unit

# The first line of front matter, or a rule.
_FENCES = ("---", "+++")

_TABLE = ("|", "+-", "+=", "===")


def document_outline(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return the heads of the definitions, headings and lessons of a document, in order, each once.

    A chunk without any contributes its first line, so that no part of the document is missing, unless it is the rest of
    a definition, or has nothing but code and tables.
    """
    found: dict[tuple[int, int], Chunk] = {}
    lessons: set[object] = set()
    before: Chunk | None = None
    for chunk in behind_front_matter(chunks):
        if chunk.lesson is not None:
            heads = [] if chunk.lesson in lessons else [first_line(chunk)]
            lessons.add(chunk.lesson)
        elif chunk.kind == "code":
            is_rest = bool(chunk.context and not chunk.defines and found)
            heads = list(_definitions(chunk)) or ([] if is_rest else [first_line(chunk)])
            heads = [head for head in heads if not _is_amid_comment(head, chunk, before)]
            before = chunk
        else:
            told = _opening_sentence(chunk) if chunk.kind == "docs" else []
            heads = list(_headings(chunk)) or told or ([] if found and chunk.kind == "docs" else [first_line(chunk)])
        for head in heads:
            found.setdefault((head.span.start_char, head.span.end_char), head)
    return [found[place] for place in sorted(found)]


def _definitions(chunk: Chunk) -> Iterator[Chunk]:
    passages = passages_of(ContextItem(1, RetrievalResult(chunk, 0.0), units(chunk)))
    for head in passages:
        if head.is_head:
            yield piece_of(chunk, head.first.span.start_char, head.last.span.end_char, symbol=head.defines)


def _is_amid_comment(head: Chunk, chunk: Chunk, before: Chunk | None) -> bool:
    """Check whether a piece of code is the continuation of a comment."""
    inside = chunk.text[: head.span.start_char - chunk.span.start_char]
    if not inside.strip():
        is_next = before is not None and before.span.end_line + 1 == head.span.start_line
        inside = f"{before.text}\n" if before is not None and is_next else ""
    above = inside.removesuffix("\n").rpartition("\n")[2]
    return all(map(is_comment, (above, *filter(str.strip, head.text.split("\n")))))


def _headings(chunk: Chunk) -> Iterator[Chunk]:
    begin = chunk.span.start_char
    for heading in headings_in(chunk):
        yield piece_of(chunk, begin + heading.start, begin + heading.end)


def _opening_sentence(chunk: Chunk) -> list[Chunk]:
    """Return the first line of the first passage of a chunk that is neither code nor of a table, if any."""
    passages = passages_of(ContextItem(1, RetrievalResult(chunk, 0.0), units(chunk)))
    prose = (each for each in passages if not (each.is_code or each.has_example))
    said = next((each for each in prose if not each.text.lstrip().startswith(_TABLE)), None)
    if said is None:
        return []
    return [piece_of(chunk, said.start_char, min(said.end_char, said.first.span.end_char), symbol="")]


def opens_with_heading(chunk: Chunk) -> bool:
    """Check whether a chunk of prose begins with a heading."""
    head = chunk.text.lstrip().partition("\n")[0]
    return HEADING.match(chunk.text.lstrip()) is not None or bool(chunk.context and chunk.context[-1] in head)


def first_line(chunk: Chunk) -> Chunk:
    """Return the first unit of a chunk: a line, or a sentence of a long line.

    Of a page with front matter, it is the line with the title, else the first one behind.
    """
    first = _opening(chunk, units(chunk)).span
    return piece_of(chunk, first.start_char, first.end_char, symbol="")


def behind_front_matter(chunks: Sequence[Chunk]) -> Sequence[Chunk]:
    """Leave out the first chunk if it is nothing but front matter that states no title."""
    if len(chunks) < 2 or chunks[0].span.start_char or chunks[0].lesson != chunks[1].lesson:
        return chunks
    front, told = FRONT_MATTER.match(chunks[0].text), units(chunks[0])
    is_bare = front is not None and not chunks[0].text[front.end() :].strip() and _stated_title(told) is None
    return chunks[1:] if is_bare else chunks


def _opening(chunk: Chunk, told: Sequence[Unit]) -> Unit:
    if chunk.span.start_char or told[0].text.strip() not in _FENCES:
        return told[0]
    front = FRONT_MATTER.match(chunk.text)
    inside = [unit for unit in told if front is not None and unit.span.start_char < front.end()]
    return _stated_title(inside) or (told[max(1, len(inside)) :] or told[1:] or told)[0]


def _stated_title(told: Iterable[Unit]) -> Unit | None:
    return next((unit for unit in told if stated_title(unit.text)), None)


def header_of(course: Chunk) -> Chunk:
    """Return the header of a course: title, link and instructor; or else its first line."""
    facts = [unit.span for unit in units(course) if COURSE_FACT.match(unit.text)]
    return piece_of(course, facts[0].start_char, facts[-1].end_char) if facts else first_line(course)


def head_of_lesson(first: Chunk) -> Chunk:
    """Return the heading of a lesson, with the link below if there is one."""
    told = units(first)
    opening = _opening(first, told)
    link = first.lesson.link if first.lesson else ""
    near = told[opening.number - 1 : opening.number + 1]
    last = next((unit for unit in near if link and link in unit.text), opening)
    return piece_of(first, opening.span.start_char, last.span.end_char, symbol="")


def piece_of(chunk: Chunk, start_char: int, end_char: int, *, symbol: str | None = None) -> Chunk:
    """Return a slice of a chunk, trimmed at its end, with the scope of the chunk.

    It must not be blank. `symbol` is its own, if that is not the one of the chunk.
    """
    start, end = start_char - chunk.span.start_char, end_char - chunk.span.start_char
    _, end = trim(chunk.text, start, end)
    first = chunk.span.start_line + chunk.text.count("\n", 0, start)
    span = replace(
        chunk.span,
        start_char=start_char,
        end_char=chunk.span.start_char + end,
        start_line=first,
        end_line=first + chunk.text.count("\n", start, end),
    )
    text = chunk.text[start:end]
    signature = chunk.signature if chunk.signature in text else ""
    opening = code_opening_at(chunk, start_char)
    piece = replace(chunk, span=span, text=text, signature=signature, docstring="", code_opening=opening)
    return piece if symbol is None else replace(piece, symbol=symbol, defines=(symbol,) if symbol else ())


def from_definition(chunk: Chunk, name: str, owners: Sequence[str]) -> Chunk:
    """Return a chunk from the comment of a definition on, if more than a few lines precede it."""
    heads = [
        head
        for head in definition_heads(ContextItem(1, RetrievalResult(chunk, 0.0), units(chunk)))
        if head.defines == name
    ]
    meant = next((head for head in heads if stands_in(owners, head.within)), heads[0] if heads else None)
    first = meant.first.span if meant else chunk.span
    if first.start_line - chunk.span.start_line <= MAX_QUOTE_LINES:
        return chunk
    span = replace(chunk.span, start_char=first.start_char, start_line=first.start_line)
    text = chunk.text[first.start_char - chunk.span.start_char :]
    return replace(chunk, span=span, text=text, symbol=".".join((*chunk.context, name)))


def unseen(chunk: Chunk, shown: Iterable[Span]) -> Chunk:
    """Remove from a chunk the parts at its start and end that overlap shown spans of its document.

    A chunk within a span, or around one, is unchanged.
    """
    start, end = chunk.span.start_char, chunk.span.end_char
    for span in shown:
        if span.start_char < start < span.end_char < end:
            start = span.end_char
        elif start < span.start_char < end < span.end_char:
            end = span.start_char
    begin, behind = trim(chunk.text, start - chunk.span.start_char, end - chunk.span.start_char)
    if begin == behind or (start, end) == (chunk.span.start_char, chunk.span.end_char):
        return chunk
    return piece_of(chunk, chunk.span.start_char + begin, end)


def lines_of(document: Document, chunks: Sequence[Chunk], first: int, last: int) -> Chunk | None:
    """Return lines of a document, with the names of their chunks; None if they are blank.

    `last` is inclusive, and may be beyond the last line.
    """
    lines = LineIndex(document.text)
    start, end = lines.start_of(first), lines.end_of(max(first, min(last, len(lines))))
    _, end = trim(document.text, start, end)
    if not document.text[start:end].strip():
        return None
    span, text = lines.span(document.path, start, end), document.text[start:end]
    inside = [chunk for chunk in chunks if chunk.span.start_char < end and start < chunk.span.end_char]
    if not inside:
        return Chunk(document.source, span, text, document.kind, document.language)
    defines = tuple(dict.fromkeys(name for chunk in inside for name in chunk.defines))
    opening = code_opening_at(inside[0], start)
    return replace(inside[0], span=span, text=text, defines=defines, signature="", docstring="", code_opening=opening)
