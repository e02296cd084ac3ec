"""Compares cited lines with the names and quotes next to the citation, without the history of the file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from openbook.verify.nearby import Nearby
from openbook.verify.relocation import ComparedText, Relocation, depth_of, goes_on, likeness

_MODIFIERS = (
    "export default public private protected internal static final abstract async unsafe inline virtual override pub"
    " data"
)
_DEFINITION_KEYWORDS = (
    "def class func function fn struct enum interface type trait const let var val fun module namespace message service"
    r" data(?!\s+(?:class|object)\b) newtype"  # in Haskell; in Kotlin it is a modifier
)
_DEFINITION = (
    rf"\s*(?:(?:{_MODIFIERS.replace(' ', '|')})(?:\([a-z]+\))?\s+)*"
    rf"(?:(?:{_DEFINITION_KEYWORDS.replace(' ', '|')})\*?\s+(?:\([^)]*\)\s*)?NAME\b|NAME\s*(?::[^=(]*)?=(?!=))"
)


_ANY_DEFINITION = re.compile(
    rf"\s*(?:(?:{_MODIFIERS.replace(' ', '|')})(?:\([a-z]+\))?\s+)*"
    rf"(?P<what>{_DEFINITION_KEYWORDS.replace(' ', '|')})\*?\s+(?:\([^)]*\)\s*)?(?P<name>[A-Za-z_$][\w$]*)"
)
# Blocks that add members to a type: `impl<T> Display for Shape<T> {`, `extension Shape {`.
_MEMBER_BLOCK = re.compile(
    r"\s*(?:(?:unsafe|public|private)\s+)?(?:impl\b(?:<[^{]*?>)?\s+(?:[^{]*\sfor\s+)?|extension\s+)&?(?P<name>\w+)"
)

# A variable is the same one only if its value is similar: likeness of the lines, from 0 to 1.
_VARIABLE_KEYWORDS = frozenset({"const", "let", "val", "var"})
_MIN_VALUE_LIKENESS = 0.5

# The name of a type identifies it. A function name may not: many types have a method `run`.
_TYPE_KEYWORDS = frozenset(
    {"class", "struct", "enum", "interface", "trait", "type", "message", "service", "data", "newtype"}
)

# Prefixes of decorators and comment lines. The inner lines of `/** */` are indented by one more space.
_ATTACHED_PREFIXES = ("@", "#[", "//", "/*", "*", "#", "--")

# A name that occurs on more lines than this, such as `self`, is no evidence for any of them.
_MAX_DISTINCTIVE_LINES = 5


@dataclass(frozen=True, slots=True)
class NameEvidence:
    """What names and quotes next to a citation show about the cited lines; all empty if they show nothing."""

    is_here: bool = False
    """The cited lines match the text."""
    is_elsewhere: bool = False
    """Other lines of the file match the text, and the cited lines do not."""
    spot: Relocation | None = None
    """The other lines, or where they begin."""
    is_certain: bool = False
    """Whether `spot` is the only possible place, with the right first and last line."""
    reason: str = ""
    is_strong: bool = False
    """Whether the evidence is the name directly before the citation, or a quote that occurs once."""


_NO_EVIDENCE = NameEvidence()
_MATCH = NameEvidence(is_here=True)


def by_names(page: ComparedText, first: int, last: int, near: Nearby) -> NameEvidence:
    """Compare lines with the text next to their citation.

    The cited lines must contain a quote. They must define the subject of the citation, as in "`name` (path:12)".
    Other names that the file defines must occur in the lines or in the definitions around them.
    """
    is_range = 1 <= first <= last <= len(page)
    block = page.text_of(first, last) if is_range else ""
    for said in (_by_quotes(page, first, last, block, near), _by_subject(page, first, last, block, near)):
        if said is not None:
            return said
    around = "\n".join((block, *(page.lines[line - 1] for line in page.enclosing(first)))) if is_range else ""
    here = [name for name in near.names if word(name).search(around)]
    if here:
        return _MATCH if any(len(lines_with(page, name)) <= _MAX_DISTINCTIVE_LINES for name in here) else _NO_EVIDENCE
    for name in near.names:
        places = definitions(page, name)
        if len(places) == 1:
            begin = places[0].first_line
            return NameEvidence(is_elsewhere=True, spot=places[0], reason=f"{name!r} is defined at line {begin}")
    return _NO_EVIDENCE


def _by_quotes(page: ComparedText, first: int, last: int, block: str, near: Nearby) -> NameEvidence | None:
    squeezed = "".join(block.split())
    known = [quote for quote in near.quotes if quote in page.squeezed]
    if not known:
        return None
    here = [quote for quote in known if quote in squeezed]
    if here:  # a quote that occurs several times may mean another occurrence
        return _MATCH if any(len(page.within(quote)) == 1 for quote in here) else _NO_EVIDENCE
    if any(word(name).search(block) for name in near.names):
        return None
    places = page.within(known[0])
    if len(places) != 1:
        return NameEvidence(is_elsewhere=True, reason="the quote is at other lines")
    spot = Relocation(*places[0])
    # If the sentence also has other quotes or names, the quote may not be what is cited.
    fits = last - first == spot.last_line - spot.first_line and len(near.quotes) == 1 and not near.names
    reason = f"what is quoted is at line {spot.first_line}"
    return NameEvidence(is_elsewhere=True, spot=spot, is_certain=fits, reason=reason, is_strong=fits)


def _by_subject(page: ComparedText, first: int, last: int, block: str, near: Nearby) -> NameEvidence | None:
    places = definitions(page, near.subject) if near.subject else []
    if not places:
        return None
    whole = [Relocation(_first_attached_line(page, place.first_line), place.last_line) for place in places]
    if Relocation(first, last) in (*places, *whole):
        return _MATCH
    if word(near.subject).search(block) and not any(place.first_line in range(first, last + 1) for place in places):
        return None  # the lines use the name, and the citation may mean that
    if any(first <= place.first_line and place.last_line <= last for place in places):
        return _MATCH if len(places) == 1 else _NO_EVIDENCE  # cited together with the comment above it
    fitting = {spot for spot in (*places, *whole) if spot.last_line - spot.first_line == last - first}
    begun = [place for place, all_ in zip(places, whole, strict=True) if all_.first_line <= first <= place.first_line]
    if begun and (first == last or not fitting):
        return _MATCH if len(places) == 1 else _NO_EVIDENCE
    if not fitting and (_is_in(page, first, last, near.subject) or _is_above(page, last, near.subject)):
        return _NO_EVIDENCE  # part of the definition, but perhaps not the right part
    if len(places) > 1:
        return NameEvidence(is_elsewhere=True, reason=f"{near.subject!r} is defined at other lines", is_strong=True)
    place = places[0]
    reason = f"{near.subject!r} begins at line {place.first_line}"
    if first == last:
        spot = Relocation(place.first_line, place.first_line)
        return NameEvidence(is_elsewhere=True, spot=spot, is_certain=True, reason=reason, is_strong=True)
    is_certain = len(fitting) == 1
    spot = fitting.pop() if len(fitting) == 1 else place
    return NameEvidence(is_elsewhere=True, spot=spot, is_certain=is_certain, reason=reason, is_strong=True)


def _is_in(page: ComparedText, first: int, last: int, name: str) -> bool:
    """Return whether lines are in the definition of a name, or in a block with it in its head, as `impl Shape {`."""
    heads = page.enclosing(first) if 1 <= first <= len(page) else []
    within = any(place.first_line <= first and last <= place.last_line for place in definitions(page, name))
    return within or any(word(name).search(page.lines[line - 1]) for line in heads)


def same_line(old: ComparedText, line: int, new: ComparedText) -> Relocation | None:
    r"""Find a line in a newer version by the name that it defines, or else by its text.

    The line must be unique in both versions and have the same enclosing definitions. Outside of any definition,
    equal text is not enough.

    Example:
        >>> old, new = ComparedText("export type Shape = {"), ComparedText("// shapes\nexport interface Shape {")
        >>> found = same_line(old, 1, new)
        >>> found.first_line, round(found.likeness, 2)
        (2, 0.74)
    """
    head = _ANY_DEFINITION.match(old.lines[line - 1])
    scope = _enclosing_names(old, line)
    if head is not None:
        before, now = ([each.first_line for each in definitions(page, head["name"])] for page in (old, new))
    else:
        before, now = ([first for first, _ in page.occurrences(old.keys[line - 1])] for page in (old, new))
    is_known = head is not None or bool(scope)
    if not is_known or len(before) != 1 or len(now) != 1 or _enclosing_names(new, now[0]) != scope:
        return None
    found = Relocation(now[0], now[0], likeness([old.keys[line - 1]], [new.keys[now[0] - 1]]))
    is_other = head is not None and head["what"] in _VARIABLE_KEYWORDS and found.likeness < _MIN_VALUE_LIKENESS
    return None if is_other else found


def same_definition(
    old: ComparedText, first: int, last: int, new: ComparedText, spot: Relocation | None = None
) -> Relocation | None:
    r"""Find the lines of a definition in a newer version, if both versions define its name once.

    The lines may begin with the comment or decorators above the definition, if one line of those remains. `spot`:
    where the text of the lines was found. Without it, the lines must be the whole definition.

    Example:
        >>> old, new = ComparedText("def f(a):\n    return a"), ComparedText("x = 1\ndef f(\n    a,\n):\n    return a")
        >>> found = same_definition(old, 1, 2, new)
        >>> found.first_line, found.last_line
        (2, 5)
    """
    found = _defined_in_both(old, first, new)
    if found is None:
        return None
    before, now = found
    above = range(_first_attached_line(new, now.first_line), now.first_line + 1)
    begin = now.first_line
    if first < before.first_line:
        like = spot.first_line if spot and spot.first_line in above else 0
        begin = next((line for line in above if new.keys[line - 1] == old.keys[first - 1]), like)
    behind = now.last_line if before.last_line == last else spot.last_line if spot else 0
    block = old.keys[first - 1 : last], new.keys[begin - 1 : behind]
    return Relocation(begin, behind, likeness(*block)) if 0 < begin <= behind else None


def _defined_in_both(old: ComparedText, first: int, new: ComparedText) -> tuple[Relocation, Relocation] | None:
    """Return the old and the new place of the definition that begins at a line, or below a comment at that line."""
    line = first
    while line < len(old) and old.keys[line - 1].startswith(_ATTACHED_PREFIXES):
        line += 1
    head = _ANY_DEFINITION.match(old.lines[line - 1])
    before, now = ([*definitions(page, head["name"])] if head else [] for page in (old, new))
    if head is None or len(before) != 1 or len(now) != 1 or before[0].first_line != line:
        return None
    head_now = _ANY_DEFINITION.match(new.lines[now[0].first_line - 1])
    is_same_kind = head_now is not None and head_now["what"] == head["what"]
    is_one = is_same_kind and _enclosing_names(old, line) == _enclosing_names(new, now[0].first_line)
    return (before[0], now[0]) if is_one and _first_attached_line(old, line) <= first else None


def begins_type(line: str) -> bool:
    """Return whether a line is the head of a type definition.

    Example:
        >>> begins_type("export interface Shape {"), begins_type("func (c *Command) Run() error {")
        (True, False)
    """
    head = _ANY_DEFINITION.match(line)
    return head is not None and head["what"] in _TYPE_KEYWORDS


def defined_name(line: str) -> str:
    """Return the name that is defined by a line; empty if the line is not the head of a definition.

    Example:
        >>> defined_name("    async def fetch(self) -> bytes:")
        'fetch'
    """
    head = _ANY_DEFINITION.match(line)
    return head["name"] if head else ""


def _enclosing_names(page: ComparedText, line: int) -> list[str]:
    """Return the names of the definitions that enclose a line, innermost first."""
    lines = (page.lines[each - 1] for each in page.enclosing(line))
    return [head["name"] for each in lines if (head := _ANY_DEFINITION.match(each) or _MEMBER_BLOCK.match(each))]


def is_mostly_in(page: ComparedText, first: int, last: int, name: str) -> bool:
    """Return whether at least half of some lines belong to the one definition of a name."""
    places = definitions(page, name) if name else []
    if len(places) != 1:
        return False
    shared = min(last, places[0].last_line) - max(first, places[0].first_line) + 1
    return 2 * shared >= last - first + 1


def lost_words(near: Nearby, old: str, new: str) -> str:
    """Return the first quote, name or number that the old lines contain and the new ones do not; else empty."""
    before, now = "".join(old.split()), "".join(new.split())
    for quote in near.quotes:
        if quote in before and quote not in now:
            return quote
    for said in (*near.names, *near.numbers):
        if word(said).search(old) and not word(said).search(new):
            return said
    return ""


def stands_elsewhere(page: ComparedText, first: int, last: int, names: Sequence[str]) -> str:
    """Return the first name that occurs in a file, but not in some lines or the heads around them; else empty.

    A plain word, such as `properties` or `here`, counts only if the file has a function or type of that name: comments
    use such words as well, and so do links that name nothing.
    """
    around = "\n".join((*page.lines[first - 1 : last], *(page.lines[line - 1] for line in page.enclosing(first))))
    said = around.lower()  # a page may write `AppState` for the variable `appState`
    missing = (name for name in names if not word(name.lower()).search(said) and not _is_above(page, last, name))
    return next((name for name in missing if (_heads if _is_plain(name) else lines_with)(page, name)), "")


def _is_above(page: ComparedText, line: int, name: str) -> bool:
    """Return whether a line belongs to the comment or decorators above the definition of a name."""
    return any(
        _first_attached_line(page, place.first_line) <= line < place.first_line for place in definitions(page, name)
    )


def _is_plain(name: str) -> bool:
    return name.isalpha() and name[1:].islower()


def _heads(page: ComparedText, name: str) -> list[int]:
    """List the lines that begin the definition of a function or type."""
    heads = (
        (place.first_line, _ANY_DEFINITION.match(page.lines[place.first_line - 1])) for place in definitions(page, name)
    )
    return [line for line, head in heads if head and head["name"] == name and head["what"] not in _VARIABLE_KEYWORDS]


def lines_with(page: ComparedText, name: str) -> list[int]:
    """List the 1-based lines that contain a name as a whole word."""
    pattern = word(name)
    return [number for number, line in enumerate(page.lines, start=1) if name in line and pattern.search(line)]


def definitions(page: ComparedText, name: str) -> Sequence[Relocation]:
    """List the definitions of a name in order: the head and the lines indented below it."""
    if name not in page.definitions:
        head = re.compile(_DEFINITION.replace("NAME", re.escape(name)))
        lines = enumerate(page.lines if name in page.text else (), start=1)
        heads = [number for number, line in lines if name in line and head.match(line)]
        page.definitions[name] = [Relocation(number, _end_of(page, number)) for number in heads]
    return page.definitions[name]


def _end_of(page: ComparedText, line: int) -> int:
    """Find the last line of a definition by indentation, with a closing bracket at the indentation of its head."""
    depth = depth_of(page.lines[line - 1])
    end = line
    for number in range(line + 1, len(page) + 1):
        if not page.keys[number - 1]:
            continue
        here = depth_of(page.lines[number - 1])
        if here < depth or (here == depth and not goes_on(page.lines[number - 1])):
            break
        end = number
    return end


def _first_attached_line(page: ComparedText, line: int) -> int:
    """Return the first line of the decorators and comments directly above a definition, such as `@cached`."""
    depth = depth_of(page.lines[line - 1])
    while (
        line > 1
        and page.keys[line - 2].startswith(_ATTACHED_PREFIXES)
        and depth_of(page.lines[line - 2]) in (depth, depth + 1)
    ):
        line -= 1
    return line


def word(text: str) -> re.Pattern[str]:
    """Return a pattern that matches a name or a number as a whole word.

    Example:
        >>> bool(word("get").search("a.get()")), bool(word("get").search("target")), bool(word("3").search("1.3"))
        (True, False, False)
    """
    before = r"(?<![\w.])" if text[:1].isdigit() else r"(?<!\w)"
    return re.compile(rf"{before}{re.escape(text)}(?!\w)")
