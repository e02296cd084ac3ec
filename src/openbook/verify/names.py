"""Compares cited lines with the names and quotes next to the citation, without knowing older versions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from openbook.verify.nearby import Nearby
from openbook.verify.relocation import ComparedText, Relocation, depth_of, goes_on, likeness

_MODIFIERS = (
    "export default public private protected internal static final abstract async unsafe inline virtual override pub"
    " data"
)
_DEFINES = (
    "def class func function fn struct enum interface type trait const let var val fun module namespace message service"
    r" data(?!\s+(?:class|object)\b) newtype"  # of Haskell, not the modifier of Kotlin
)
_HEAD = (
    rf"\s*(?:(?:{_MODIFIERS.replace(' ', '|')})(?:\([a-z]+\))?\s+)*"
    rf"(?:(?:{_DEFINES.replace(' ', '|')})\*?\s+(?:\([^)]*\)\s*)?NAME\b|NAME\s*(?::[^=(]*)?=(?!=))"
)


_NAMED_HEAD = re.compile(
    rf"\s*(?:(?:{_MODIFIERS.replace(' ', '|')})(?:\([a-z]+\))?\s+)*"
    rf"(?P<what>{_DEFINES.replace(' ', '|')})\*?\s+(?:\([^)]*\)\s*)?(?P<name>[A-Za-z_$][\w$]*)"
)
# What belongs to a type stands in these as well: `impl<T> Display for Shape<T> {`, `extension Shape {`.
_MEMBERS_OF = re.compile(
    r"\s*(?:(?:unsafe|public|private)\s+)?(?:impl\b(?:<[^{]*?>)?\s+(?:[^{]*\sfor\s+)?|extension\s+)&?(?P<name>\w+)"
)

# What is defined by its value, and how much of the line must be left, of 1: a name with another value proves nothing.
_BY_VALUE = frozenset({"const", "let", "val", "var"})
_SAME_VALUE = 0.5

# What has such a name is meant wherever it stands. Functions of many types are called `run`.
_TYPES = frozenset({"class", "struct", "enum", "interface", "trait", "type", "message", "service", "data", "newtype"})

# How decorators and lines of comments begin. Inner lines of `/** */` are one blank further in.
_ABOVE = ("@", "#[", "//", "/*", "*", "#", "--")

# Names whose definitions are kept while the citations of one text are checked.
_KEPT = 1024

# A name on more lines than this, such as `self`, stands in wrong lines as easily as in the right ones.
_RARE_LINES = 5


@dataclass(frozen=True, slots=True)
class NameEvidence:
    """Evidence about cited lines from names and quotes; empty without any."""

    is_here: bool = False
    """The cited lines match the text."""
    is_elsewhere: bool = False
    """They do not, but other lines of the file do."""
    spot: Relocation | None = None
    """Those other lines, or where they begin."""
    is_certain: bool = False
    """Whether `spot` is the one place it can be, first and last line."""
    reason: str = ""
    is_strong: bool = False
    """Whether the name right before the citation says so, or a quote that can be but one place."""


_NOTHING = NameEvidence()
_HERE = NameEvidence(is_here=True)


def by_names(page: ComparedText, first: int, last: int, near: Nearby) -> NameEvidence:
    """Compare lines with the text next to their citation.

    A quote must stand in the cited lines. The subject of a citation, as in "`name` (path:12)", is taken for
    what is defined there; another name must stand in the lines or enclose them, if the file defines it.
    """
    is_range = 1 <= first <= last <= len(page)
    block = "\n".join(page.lines[first - 1 : last]) if is_range else ""
    for said in (_by_quotes(page, first, last, block, near), _by_subject(page, first, last, block, near)):
        if said is not None:
            return said
    around = "\n".join((block, *(page.lines[line - 1] for line in page.enclosing(first)))) if is_range else ""
    here = [name for name in near.names if word(name).search(around)]
    if here:
        return _HERE if any(len(lines_with(page, name)) <= _RARE_LINES for name in here) else _NOTHING
    for name in near.names:
        places = definitions(page, name)
        if len(places) == 1:
            begin = places[0].first_line
            return NameEvidence(is_elsewhere=True, spot=places[0], reason=f"{name!r} is defined at line {begin}")
    return _NOTHING


def _by_quotes(page: ComparedText, first: int, last: int, block: str, near: Nearby) -> NameEvidence | None:
    squeezed = "".join(block.split())
    known = [quote for quote in near.quotes if quote in page.squeezed]
    if not known:
        return None
    here = [quote for quote in known if quote in squeezed]
    if here:  # where a quote stands several times, this may be the wrong one of them
        return _HERE if any(len(page.within(quote)) == 1 for quote in here) else _NOTHING
    if any(word(name).search(block) for name in near.names):
        return None
    places = page.within(known[0])
    if len(places) != 1:
        return NameEvidence(is_elsewhere=True, reason="the quote is at other lines")
    spot = Relocation(*places[0])
    # What a sentence quotes beside other things may be its subject or not.
    fits = last - first == spot.last_line - spot.first_line and len(near.quotes) == 1 and not near.names
    reason = f"what is quoted is at line {spot.first_line}"
    return NameEvidence(is_elsewhere=True, spot=spot, is_certain=fits, reason=reason, is_strong=fits)


def _by_subject(page: ComparedText, first: int, last: int, block: str, near: Nearby) -> NameEvidence | None:
    places = definitions(page, near.subject) if near.subject else []
    if not places:
        return None
    whole = [Relocation(_decorated(page, place.first_line), place.last_line) for place in places]
    if Relocation(first, last) in (*places, *whole):
        return _HERE
    if word(near.subject).search(block) and not any(place.first_line in range(first, last + 1) for place in places):
        return None  # they use it, and may be meant
    if any(first <= place.first_line and place.last_line <= last for place in places):
        return _HERE if len(places) == 1 else _NOTHING  # with the comment above it
    fitting = {spot for spot in (*places, *whole) if spot.last_line - spot.first_line == last - first}
    begun = [place for place, all_ in zip(places, whole, strict=True) if all_.first_line <= first <= place.first_line]
    if begun and (first == last or not fitting):
        return _HERE if len(places) == 1 else _NOTHING
    if not fitting and (_is_in(page, first, last, near.subject) or _is_above(page, last, near.subject)):
        return _NOTHING  # in it, but whether at the right lines nobody can tell
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
    """Return whether lines are a part of what a name defines, or stand under a head with it, as `impl Shape {`."""
    heads = page.enclosing(first) if 1 <= first <= len(page) else []
    within = any(place.first_line <= first and last <= place.last_line for place in definitions(page, name))
    return within or any(word(name).search(page.lines[line - 1]) for line in heads)


def same_line(old: ComparedText, line: int, new: ComparedText) -> Relocation | None:
    r"""Return where a newer text has the one line that defines the same name, or the one with the same words.

    The line has to be the only one in both texts, and to stand in definitions of the same names. Words alone
    prove nothing at the top of a file.

    Example:
        >>> old, new = ComparedText("export type Shape = {"), ComparedText("// shapes\nexport interface Shape {")
        >>> found = same_line(old, 1, new)
        >>> found.first_line, round(found.likeness, 2)
        (2, 0.74)
    """
    head = _NAMED_HEAD.match(old.lines[line - 1])
    scope = _scope(old, line)
    if head is not None:
        before, now = ([each.first_line for each in definitions(page, head["name"])] for page in (old, new))
    else:
        before, now = ([first for first, _ in page.occurrences(old.keys[line - 1])] for page in (old, new))
    is_known = head is not None or bool(scope)
    if not is_known or len(before) != 1 or len(now) != 1 or _scope(new, now[0]) != scope:
        return None
    found = Relocation(now[0], now[0], likeness([old.keys[line - 1]], [new.keys[now[0] - 1]]))
    is_other = head is not None and head["what"] in _BY_VALUE and found.likeness < _SAME_VALUE
    return None if is_other else found


def same_definition(
    old: ComparedText, first: int, last: int, new: ComparedText, spot: Relocation | None = None
) -> Relocation | None:
    r"""Return where a newer text has what some lines, which begin a definition, are of it, if only one has that name.

    They may begin with the comment and the decorators above it, if one line of these is still there. `spot`: where
    these lines are by their text. Without it, they have to be all of the definition.

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
    above = range(_decorated(new, now.first_line), now.first_line + 1)
    begin = now.first_line
    if first < before.first_line:
        like = spot.first_line if spot and spot.first_line in above else 0
        begin = next((line for line in above if new.keys[line - 1] == old.keys[first - 1]), like)
    behind = now.last_line if before.last_line == last else spot.last_line if spot else 0
    block = old.keys[first - 1 : last], new.keys[begin - 1 : behind]
    return Relocation(begin, behind, likeness(*block)) if 0 < begin <= behind else None


def _defined_in_both(old: ComparedText, first: int, new: ComparedText) -> tuple[Relocation, Relocation] | None:
    """Return the definition that begins at a line, or below its comment there, as it was and as it is."""
    line = first
    while line < len(old) and old.keys[line - 1].startswith(_ABOVE):
        line += 1
    head = _NAMED_HEAD.match(old.lines[line - 1])
    before, now = ([*definitions(page, head["name"])] if head else [] for page in (old, new))
    if head is None or len(before) != 1 or len(now) != 1 or before[0].first_line != line:
        return None
    head_now = _NAMED_HEAD.match(new.lines[now[0].first_line - 1])
    is_same_kind = head_now is not None and head_now["what"] == head["what"]
    is_one = is_same_kind and _scope(old, line) == _scope(new, now[0].first_line)
    return (before[0], now[0]) if is_one and _decorated(old, line) <= first else None


def begins_type(line: str) -> bool:
    """Return whether a line begins the definition of a type.

    Example:
        >>> begins_type("export interface Shape {"), begins_type("func (c *Command) Run() error {")
        (True, False)
    """
    head = _NAMED_HEAD.match(line)
    return head is not None and head["what"] in _TYPES


def defined_name(line: str) -> str:
    """Return the name whose definition begins with a line; empty if none does.

    Example:
        >>> defined_name("    async def fetch(self) -> bytes:")
        'fetch'
    """
    head = _NAMED_HEAD.match(line)
    return head["name"] if head else ""


def _scope(page: ComparedText, line: int) -> list[str]:
    """Return the names of the definitions that a line stands in, innermost first."""
    lines = (page.lines[each - 1] for each in page.enclosing(line))
    return [head["name"] for each in lines if (head := _NAMED_HEAD.match(each) or _MEMBERS_OF.match(each))]


def is_mostly_in(page: ComparedText, first: int, last: int, name: str) -> bool:
    """Return whether at least half of some lines belong to the one definition of a name."""
    places = definitions(page, name) if name else []
    if len(places) != 1:
        return False
    shared = min(last, places[0].last_line) - max(first, places[0].first_line) + 1
    return 2 * shared >= last - first + 1


def lost_words(near: Nearby, old: str, new: str) -> str:
    """Return names that the text and the old lines have, but the new lines do not; empty if there are none."""
    before, now = "".join(old.split()), "".join(new.split())
    for quote in near.quotes:
        if quote in before and quote not in now:
            return quote
    for said in (*near.names, *near.numbers):
        if word(said).search(old) and not word(said).search(new):
            return said
    return ""


def stands_elsewhere(page: ComparedText, first: int, last: int, names: Sequence[str]) -> str:
    """Return a name that a file has, but neither in these lines nor in the heads that they stand under; else empty.

    A plain word, such as `properties`, must be defined there: comments use it without naming anything.
    """
    around = "\n".join((*page.lines[first - 1 : last], *(page.lines[line - 1] for line in page.enclosing(first))))
    said = around.lower()  # a text may call `AppState` what it gets as `appState`
    missing = (name for name in names if not word(name.lower()).search(said) and not _is_above(page, last, name))
    return next((name for name in missing if (definitions if _is_plain(name) else lines_with)(page, name)), "")


def is_called(page: ComparedText, first: int, last: int, names: Sequence[str]) -> bool:
    """Return whether lines contain, define or stand in what one of some names is for.

    A name on many lines of the file says nothing of these unless they are its definition, or a part of that.
    """
    around = "\n".join((*page.lines[first - 1 : last], *(page.lines[line - 1] for line in page.enclosing(first))))
    return any(
        len(lines_with(page, name)) <= _RARE_LINES
        or any(place.first_line <= last and first <= place.last_line for place in definitions(page, name))
        for name in names
        if word(name).search(around)
    )


def _is_above(page: ComparedText, line: int, name: str) -> bool:
    """Return whether a line is part of the comment or the decorators above the definition of a name."""
    return any(_decorated(page, place.first_line) <= line < place.first_line for place in definitions(page, name))


def _is_plain(name: str) -> bool:
    return name.isalpha() and name.islower()


def lines_with(page: ComparedText, name: str) -> list[int]:
    """List the 1-based lines that contain a name as a word."""
    pattern = word(name)
    return [number for number, line in enumerate(page.lines, start=1) if name in line and pattern.search(line)]


@lru_cache(maxsize=_KEPT)
def definitions(page: ComparedText, name: str) -> Sequence[Relocation]:
    """List where a name is defined: its first line and all that is indented below it, in order."""
    head = re.compile(_HEAD.replace("NAME", re.escape(name)))
    return [
        Relocation(number, _end_of(page, number))
        for number, line in enumerate(page.lines, start=1)
        if name in line and head.match(line)
    ]


def _end_of(page: ComparedText, line: int) -> int:
    """Find the last line of what begins here, by indentation. A bracket at its margin belongs to it."""
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


def _decorated(page: ComparedText, line: int) -> int:
    """Return the first of the lines right above a definition that belong to it: `@cached`, `#[test]`, its comment."""
    depth = depth_of(page.lines[line - 1])
    while line > 1 and page.keys[line - 2].startswith(_ABOVE) and depth_of(page.lines[line - 2]) in (depth, depth + 1):
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
