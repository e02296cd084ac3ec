"""Finds all references to a name, and the chunks that define it.

The words of the index yield candidates, the syntax tree locates the name in these.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from openbook.chunking.occurrences import Occurrence, find_occurrences
from openbook.index.protocol import EVERYTHING, Index, Outline
from openbook.lookup.matching_lines import documents_holding, shown_line
from openbook.questions.names import name_parts
from openbook.retrieval.roles import role_of
from openbook.retrieval.signals import belongs
from openbook.text import LineIndex, counted
from openbook.tokens import tokenize
from openbook.types import USES, Document, Filter, Use

# Limit for common names such as `get`, which occur in thousands of files. Parsing reads 2 to 4 MB/s.
_MAX_READ_CHARS = 20_000_000


@dataclass(frozen=True, slots=True)
class Reference:
    """A line that contains a name."""

    source: str
    path: str
    line: int
    """1-based."""
    use: Use
    within: str
    """The qualified name of the innermost enclosing definition; empty outside of definitions."""
    text: str
    """The trimmed line; for a long one, 200 characters around the name."""
    is_code: bool = True
    """Whether it is in code, not in a comment, a string or a text without a grammar."""


@dataclass(frozen=True, slots=True)
class References:
    """The lines that contain a name."""

    name: str
    """Unqualified."""
    places: tuple[Reference, ...]
    """Definitions, then calls, imports and mentions; within each, tests last; then by path."""
    unread: int = 0
    """The number of further candidate documents, beyond the limit."""
    others: tuple[tuple[Use, int], ...] = ()
    """How many lines use the name otherwise than was asked for."""
    elsewhere: tuple[tuple[Use, int], ...] = ()
    """How many lines use the name outside of the paths that were asked for. Counted only if there are none within."""

    def of_use(self, uses: Sequence[Use]) -> References:
        """Keep only these uses, and count the others."""
        others = [place for place in self.places if place.use not in uses]
        kept = tuple(place for place in self.places if place.use in uses)
        return replace(self, places=kept, others=counted_uses(others))

    def with_elsewhere(self, found: References) -> References:
        """Add what was found without a limit of paths."""
        return replace(self, elsewhere=counted_uses(found.places), unread=max(self.unread, found.unread))

    def text_of_nothing(self, uses: Sequence[Use] = USES, path: str = "") -> str:
        """Tell that there are no places of these uses in these paths, and how many there are of others.

        Example:
            >>> References("get", (), others=(("definition", 1), ("call", 2))).text_of_nothing(["import"])
            'no import of get; other lines: 1 definition, 2 calls'
            >>> References("get", (), elsewhere=(("call", 2),)).text_of_nothing(path="include/")
            'no line in include/ holds the name get as a whole word; elsewhere: 2 calls'
        """
        there = f" in {path}" if path else ""
        if self.others:
            return f"no {' or '.join(uses)} of {self.name}{there}; other lines: {uses_text(self.others)}"
        if self.elsewhere:
            held = f"no line{there or ' there'} holds the name {self.name} as a whole word"
            return f"{held}; elsewhere: {uses_text(self.elsewhere)}"
        return f"no document holds the name {self.name} as a whole word"


def counted_uses(places: Iterable[Reference]) -> tuple[tuple[Use, int], ...]:
    """Count places by use."""
    counts = Counter(place.use for place in places)
    return tuple((use, counts[use]) for use in USES if use in counts)


def uses_text(counts: Iterable[tuple[Use, int]]) -> str:
    """Format counts of uses: `1 definition, 2 calls`."""
    return ", ".join(counted(count, use) for use, count in counts)


def find_references(
    name: str,
    index: Index,
    where: Filter = EVERYTHING,
    *,
    uses: Sequence[Use] = USES,
    is_meant: Callable[[str], bool] | None = None,
    max_chars: int = _MAX_READ_CHARS,
) -> References:
    """Find the lines that contain a name as a whole word.

    Receivers are not resolved: for `Client.get`, these are the calls of every `get`; only the definition is that of
    `Client` if there is one. `is_meant` decides by its path whether a document is read, beside the filter.
    `max_chars` limits the text that is parsed.
    """
    *owners, last = name_parts(name.strip()) or [""]
    places: list[Reference] = []
    roles: dict[Reference, bool] = {}
    left, unread = max_chars, 0
    for listed in documents_holding(tokenize(last), index, where):
        if is_meant is not None and not is_meant(listed.path):
            continue
        document = index.document(listed.source, listed.path) if left > 0 else None
        if document is None:
            unread += left <= 0
            continue
        left -= len(document.text)
        found = _references_in(document, last)
        places += found
        roles |= dict.fromkeys(found, role_of(document.path, document.kind) != "source")
    owned = [each for each in places if each.use == "definition" and owners and _is_owned(each, owners)]
    kept = [each for each in places if each.use != "definition" or not owned or each in owned]
    kept.sort(key=lambda each: (USES.index(each.use), roles[each], each.source, each.path, each.line))
    return References(last, tuple(kept), unread).of_use(uses)


def _references_in(document: Document, name: str) -> list[Reference]:
    lines = LineIndex(document.text)
    # Whole words only: `widths` contains `id`.
    whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")

    def made(place: Occurrence) -> Reference:
        named = whole.search(document.text, lines.start_of(place.line))
        text = shown_line(document.text, lines, place.line, named.start() if named else 0)
        return Reference(document.source, document.path, place.line, place.use, place.within, text, place.is_code)

    return [made(place) for place in find_occurrences(document.text, document.language, name)]


def _is_owned(place: Reference, owners: Sequence[str]) -> bool:
    return tuple(place.within.split(".")[:-1][-len(owners) :]) == tuple(owners)


# Limit of candidate chunks, best first; definitions rank high.
_CANDIDATES = 400


def chunks_naming(index: Index, names: Iterable[str], where: Filter) -> list[Outline]:
    """Return the outlines of the best chunks for names, if they define anything, by source and span."""
    tokens = list(dict.fromkeys(token for name in names for token in tokenize(name)))
    if not tokens:
        return []
    matches = index.match(tokens, None, _CANDIDATES, where)
    return [each for each in index.outlines([evidence.id for evidence in matches.evidence]) if each.defines]


def chunks_defining(
    outlines: Sequence[Outline], name: str, owners: Sequence[str], *, any_case: bool = False
) -> list[Outline]:
    """Return the outlines that define a name; only those within its owners, if there are any.

    `name` is unqualified: `get` with the owners `("Client",)` for `Client.get`.
    """
    if any_case:
        named = [outline for outline in outlines if name.lower() in map(str.lower, outline.defines)]
    else:
        named = [outline for outline in outlines if name in outline.defines]
    owned = [outline for outline in named if belongs(outline, owners)] if owners else []
    return owned or named
