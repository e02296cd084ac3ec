"""Finds where a name is defined: by the definitions of the chunks, and by the syntax trees, which also know members."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from openbook.chunking.occurrences import RANKS
from openbook.chunking.rules import RULES
from openbook.index.protocol import Index, Outline
from openbook.lookup.matching_lines import documents_holding
from openbook.lookup.references import chunks_defining, chunks_naming, occurrences_in, ownership, spelling
from openbook.questions.names import WrittenName
from openbook.retrieval.roles import role_of
from openbook.tokens import tokenize
from openbook.types import Document, Filter

# Limit of the text that is parsed for members of common names.
_MAX_READ_CHARS = 20_000_000


@dataclass(frozen=True, slots=True)
class DefinitionPlace:
    """A place that defines a name."""

    source: str
    path: str
    symbol: str
    """The name, qualified."""
    around: tuple[str, ...]
    """The definitions around it, outermost first; of a chunk, all that it may be in."""
    rank: int
    """The position of its kind: types and functions, then members, then what is local."""
    line: int
    """1-based. Of a chunk, its first line."""
    first_line: int
    """That of its comment."""
    last_line: int
    is_chunk: bool = False
    """Whether only the chunk is known that has the definition."""


class Definitions(NamedTuple):
    """The places that define a name."""

    places: tuple[DefinitionPlace, ...]
    """Sources before tests and examples; then by kind, source and path."""
    is_other_case: bool = False
    """Whether they differ in case from the name that was asked for, because nothing is spelled like it."""
    is_other_owner: bool = False
    """Whether none of them is known to belong to the owners that were asked for."""
    unread: int = 0
    """The number of further documents that were not searched for members."""


def find_definitions(
    name: WrittenName,
    index: Index,
    where: Filter,
    is_meant: Callable[[str], bool],
    *,
    max_chars: int = _MAX_READ_CHARS,
) -> Definitions:
    """Find the places that define a name: those of its owners, or all if they define none.

    If nothing is spelled like this, names that differ in case are found. `max_chars` limits the text that is parsed.
    """
    # A list in prose defines options; what else it says of a name of code is no definition.
    outlines = [
        each
        for each in chunks_naming(index, [name.bare], where)
        if is_meant(each.span.path) and (each.kind == "code" or name.last.startswith("-"))
    ]
    named = [each for each in outlines if _spelled(name, each) in each.defines]
    search = _TreeSearch(name, index, where, is_meant, max_chars)
    places = search.places(named)
    places += [_of_outline(each, name) for each in named if not _is_among(each, places)]
    is_other_case = not places
    if is_other_case:
        places = [_of_outline(each, name) for each in chunks_defining(outlines, name.bare, (), any_case=True)]
    owned = [ownership(name.owners, each.around, each.path) for each in places]
    best = max(owned, default=0)
    kept = {each: None for each, value in zip(places, owned, strict=True) if value == best}
    ranked = sorted(kept, key=lambda each: (role_of(each.path, "code") != "source", each.rank, each.source, each.path))
    return Definitions(tuple(ranked), is_other_case, bool(name.owners) and not best, search.unread)


class _TreeSearch:
    """Looks for definitions in the documents that may have one."""

    def __init__(
        self, name: WrittenName, index: Index, where: Filter, is_meant: Callable[[str], bool], max_chars: int
    ) -> None:
        self._name, self._index, self._where, self._is_meant = name, index, where, is_meant
        self._left = max_chars
        self.unread = 0

    def places(self, named: Sequence[Outline]) -> list[DefinitionPlace]:
        """Return the definitions in the documents of these chunks, and the members in all others."""
        defining = dict.fromkeys((each.source, each.span.path) for each in named)
        others = [
            (each.source, each.path)
            for each in documents_holding(tokenize(self._name.bare), self._index, self._where)
            if each.kind == "code" and (each.source, each.path) not in defining and self._is_meant(each.path)
        ]
        return [place for file in (*defining, *others) for place in self._in_document(*file, is_named=file in defining)]

    def _in_document(self, source: str, path: str, *, is_named: bool) -> Iterator[DefinitionPlace]:
        document = self._index.document(source, path) if self._left > 0 else None
        if document is None:
            self.unread += self._left <= 0 and not is_named
            return
        if document.language not in RULES or not (is_named or self._may_declare(document)):
            return
        self._left -= len(document.text)
        for found in occurrences_in(document, spelling(self._name, document)):
            if found.use == "definition" and found.defined is not None:
                rank, first, last = found.defined
                around = tuple(found.within.split(".")[:-1])
                yield DefinitionPlace(source, path, found.within, around, RANKS.index(rank), found.line, first, last)

    def _may_declare(self, document: Document) -> bool:
        """Return whether the name stands anywhere without a qualifier: a member is declared so, and mostly used not."""
        spelled = re.escape(spelling(self._name, document))
        return re.search(rf"(?<![\w.>])(?<!::){spelled}(?!\w)", document.text) is not None


def _spelled(name: WrittenName, outline: Outline) -> str:
    return name.in_language(outline.language, is_code=outline.kind == "code").lstrip("$#@")


def _is_among(outline: Outline, places: Sequence[DefinitionPlace]) -> bool:
    return any(
        (each.source, each.path) == (outline.source, outline.span.path)
        and each.first_line <= outline.span.end_line
        and outline.span.start_line <= each.last_line
        for each in places
    )


def _of_outline(outline: Outline, name: WrittenName) -> DefinitionPlace:
    """Return the place of a chunk whose text has no syntax tree, or was not parsed."""
    spelled = _spelled(name, outline)
    same = [each for each in outline.defines if each.lower() == spelled.lower()]
    last = spelled if spelled in same else next(iter(same), spelled)
    is_first = outline.symbol.rpartition(".")[2] == last or last not in outline.defines
    symbol = outline.symbol if is_first else ".".join((*outline.context, last))
    around = (*outline.defines, *outline.context, *outline.symbol.split("."))
    span, first = outline.span, outline.span.start_line
    return DefinitionPlace(outline.source, span.path, symbol, around, 0, first, first, span.end_line, is_chunk=True)
