"""Finds all references to a name, and the chunks that define it.

The words of the index yield candidates, the syntax tree locates the name in these.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from threading import Lock

from openbook.chunking.occurrences import RANKS, Occurrence, find_occurrences
from openbook.index.protocol import EVERYTHING, Index, Outline
from openbook.lookup.matching_lines import documents_holding, shown_line
from openbook.questions.names import WrittenName, read_name, stands_in
from openbook.retrieval.definitions import belongs
from openbook.retrieval.roles import role_of
from openbook.text import LineIndex, counted
from openbook.tokens import tokenize
from openbook.types import USES, Document, Filter, Use

# Limit for common names such as `get`, which occur in thousands of files. Parsing reads 2 to 4 MB/s.
_MAX_READ_CHARS = 20_000_000

# Documents of which the places of a name are kept, about 1 KB each: `get` is in 1,538 of Laravel.
_MAX_PARSED = 10_000


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
    read = read_name(name)
    found: list[tuple[Reference, Occurrence]] = []
    roles: dict[str, bool] = {}
    spellings: Counter[str] = Counter()
    left, unread = max_chars, 0
    for listed in documents_holding(tokenize(read.bare), index, where):
        if is_meant is not None and not is_meant(listed.path):
            continue
        document = index.document(listed.source, listed.path) if left > 0 else None
        if document is None:
            unread += left <= 0
            continue
        left -= len(document.text)
        spelled = spelling(read, document)
        inside = _references_in(document, spelled)
        spellings[spelled] += len(inside)
        roles[listed.path] = role_of(document.path, document.kind) != "source"
        found += inside
    kept = _of_owners(found, read.owners)
    kept.sort(key=lambda each: (USES.index(each[0].use), roles[each[0].path], rank_of(each[1]), *_place(each[0])))
    name = max(spellings, key=lambda each: (spellings[each], each == read.last), default=read.last)
    return References(name, tuple(place for place, _ in kept), unread).of_use(uses)


def _place(found: Reference) -> tuple[str, str, int]:
    return (found.source, found.path, found.line)


def rank_of(found: Occurrence) -> int:
    """Return the position of a definition: types and functions, then members, then what is local."""
    return RANKS.index(found.defined.rank) if found.defined else 0


def _of_owners(
    found: Sequence[tuple[Reference, Occurrence]], owners: Sequence[str]
) -> list[tuple[Reference, Occurrence]]:
    """Leave out the definitions of other owners, if one belongs to these."""
    owned = [
        ownership(owners, place.within.split(".")[:-1], place.path) if place.use == "definition" else 0
        for place, _ in found
    ]
    best = max(owned, default=0)
    return [each for each, value in zip(found, owned, strict=True) if each[0].use != "definition" or value == best]


def ownership(owners: Sequence[str], around: Sequence[str], path: str) -> int:
    """Return how surely a definition belongs to the owners of a name; 0 if it does not.

    The definitions around it decide first. Modules, namespaces and crates are known by the path alone.

    Example:
        >>> ownership(["Ship"], ["Ship"], "quay.py") > ownership(["ship"], ["Ship"], "quay.py")
        True
        >>> ownership(["ship"], ["Quay"], "ship/quay.py"), ownership(["Ship"], ["Quay"], "quay.py")
        (1, 0)
    """
    if not owners:
        return 0
    inner = _shared_end([each.lower() for each in owners], [each.lower() for each in around])
    is_in_path = stands_in(owners[: len(owners) - inner], path, path.replace("-", "_"))
    if not inner:
        return 2 if stands_in(owners, *around) else int(is_in_path)
    is_exact = _shared_end(owners, around) == inner
    return 3 + is_in_path + 2 * is_exact


def _shared_end(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many of the last names of both are the same."""
    pairs = zip(reversed(one), reversed(other), strict=False)
    return next((count for count, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def spelling(name: WrittenName, document: Document) -> str:
    """Return a name as it is spelled in the language of a document."""
    return name.in_language(document.language, is_code=document.kind == "code")


def occurrences_in(document: Document, name: str) -> Sequence[Occurrence]:
    """Return the lines of a document that contain a name."""
    return _PARSED.occurrences(document, name) if name in document.text else ()


class _ParsedPlaces:
    """Keeps what the syntax trees said of the last names, because agents ask for a name again: its callers, a path."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str, str], Sequence[Occurrence]] = OrderedDict()
        self._lock = Lock()

    def occurrences(self, document: Document, name: str) -> Sequence[Occurrence]:
        key = (document.content_hash, document.language, name)
        with self._lock:
            found = self._kept.get(key) if document.content_hash else None
            if found is not None:
                self._kept.move_to_end(key)
                return found
        found = find_occurrences(document.text, document.language, name)
        if document.content_hash:
            with self._lock:
                self._kept[key] = found
                while len(self._kept) > _MAX_PARSED:
                    self._kept.popitem(last=False)
        return found


_PARSED = _ParsedPlaces()


def _references_in(document: Document, name: str) -> list[tuple[Reference, Occurrence]]:
    occurrences = occurrences_in(document, name)
    if not occurrences:
        return []
    lines = LineIndex(document.text)
    # Whole words only: `widths` contains `id`.
    whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")

    def made(place: Occurrence) -> Reference:
        named = whole.search(document.text, lines.start_of(place.line))
        text = shown_line(document.text, lines, place.line, named.start() if named else 0)
        return Reference(document.source, document.path, place.line, place.use, place.within, text, place.is_code)

    return [(made(place), place) for place in occurrences]


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
