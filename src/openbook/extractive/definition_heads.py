"""The heads of definitions: signature and summary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from openbook.extractive.comment_lines import begins_paragraph
from openbook.extractive.context import ContextItem
from openbook.extractive.statements import Line, enclosing, layout_of
from openbook.types import Unit

# Longer blocks are split into passages of this many lines, which can be read at a glance.
MAX_QUOTE_LINES = 6

# Limits of a signature, and of a signature together with the comment above; beyond it, the two are separate passages.
# Few signatures with one parameter per line are longer. Without the end of one, a bracket may be in a string.
_MAX_HEAD_LINES, _MAX_OPEN_LINES, MAX_COMBINED_LINES = 40, 20, 12

# Columns of indented code in a docstring.
_CODE_INDENT = 4

# A first paragraph of so few words only names what is defined: "The scheduling priority." The second says more.
_FEW_WORDS = 12

# Keywords of definitions in the languages with grammars.
_KEYWORDS = frozenset(
    "def defp defmodule defmacro class func fn fun function interface struct enum trait type const let var val object"
    " module protocol record union macro_rules public private protected static void int bool char double defn defonce"
    " defmulti defmethod defrecord deftype defprotocol defun defvar defcustom defconst defface"
    " defclass defstruct defgeneric defalias define macro contract library modifier callback macrocallback"
    " opaque".split()
)

# `(define (moor ship)`, `(cl-defstruct (ship`
_LISP_OPENING = re.compile(r"\s*\((?:\w+-)?def[\w/*-]*\s+\((?:setf\s+)?")
_LISPS = frozenset({"clojure", "elisp", "lisp", "racket", "scheme"})

# Openings of comment lines. `#` is missing because attributes, macros and headings begin with it as well.
_ONLY_COMMENT = ("//", "/*", "* ", "*/", "--")

# The receiver of a method in Go; and what follows the type of a function that is defined, but not `type crane func()`.
_RECEIVER = re.compile(r"func\s*\([^()]*\)\s*$")
_IS_TYPE = re.compile(r"(?:<[^()]*>|[\[\]*&?])*\s+[*&]*(?!func\b)\w+\s*\(")

_DOCSTRING = ('"""', "'''")
_ENDS = (".", "!", "?", ":")

# Opens a comment of several lines, or a docstring: a string that begins its line, unlike that of `TABLE = """`.
_OPENS_COMMENT = re.compile(r"\s*(?:@\w+[ \t]+)?[rRuU]?(?:\"\"\"|''')|.*/\*")


@dataclass(frozen=True, slots=True)
class DefinitionHead:
    """The units of the head of a definition."""

    first: Unit
    last: Unit
    defines: str
    """The name."""
    within: str
    """Its scope: enclosing lines, names, headings and path."""


def definition_heads(shown: ContextItem) -> list[DefinitionHead]:
    """Return the heads of the definitions in a chunk: its own, then the others by name."""
    chunk, heads = shown.result.chunk, list[DefinitionHead]()
    own = chunk.symbol.rpartition(".")[2]
    opening = chunk.text.find(chunk.signature) if chunk.signature else -1
    if opening >= 0:
        begun, end = (chunk.span.start_char + each for each in (opening, opening + len(chunk.signature)))
        own_units = [
            at for at, each in enumerate(shown.units) if each.span.end_char > begun and each.span.start_char < end
        ]
        heads += _heads(shown, own_units[0], own, chunk.symbol, own_units[-1]) if own_units else ()
    for name in chunk.defines:
        for at in _definitions(shown, name):
            if not any(head.first.number <= at + 1 <= head.last.number for head in heads):
                heads += _heads(shown, at, name)
    return heads


def definition_at(shown: ContextItem, first: Unit, last: Unit) -> DefinitionHead | None:
    """Return the head of the definition that begins in a range of units, or else of the innermost one around it."""
    heads = sorted(definition_heads(shown), key=lambda head: head.first.number)

    def begun(start: int, end: int) -> DefinitionHead | None:
        return next((head for head in heads if head.first.number <= end and start <= head.last.number), None)

    found = begun(first.number, last.number)
    if found is not None or not heads:
        return found
    place = first.number - 1
    around = (begun(each.opens + 1, each.opens + 1) for each in enclosing(layout_of(shown), place, place))
    return next((head for head in around if head is not None), None)


def line_of(shown: ContextItem, head: DefinitionHead) -> str:
    """Return the line of a head that defines the name; empty if the head is a comment."""
    lines = layout_of(shown)
    named = (
        unit.text
        for unit in shown.units[head.first.number - 1 : head.last.number]
        if not lines[unit.number - 1].leads and _as_word(head.defines).search(unit.text)
    )
    return next(named, "")


def _heads(shown: ContextItem, at: int, name: str, symbol: str = "", end: int = 0) -> Iterator[DefinitionHead]:
    """Yield the signature at a position with its summary and the comment above; a long comment is yielded separately.

    `end`: the earliest end of the signature.
    """
    lines, units, chunk = layout_of(shown), shown.units, shown.result.chunk
    first, depth = _first_leading(lines, at), lines[at - 1].depth if at else 0
    below = range(at, min(at + _MAX_HEAD_LINES, len(units)))
    closed = next((place for place in below if place >= end and lines[place].depth <= depth), None)
    # The brackets of Lisp are closed at the end of the definition.
    is_lisp = chunk.language in _LISPS and closed not in below[:_MAX_OPEN_LINES]
    last = max(at, end) if is_lisp else below[:_MAX_OPEN_LINES][-1] if closed is None else closed
    quotes = (*_DOCSTRING, '"') if is_lisp else _DOCSTRING
    if last + 1 < len(units) and units[last + 1].text.lstrip(" \trbu").startswith(quotes):
        last = _end_of_summary(units, last + 1)
    within = "\n".join([*_enclosing(shown, at, name), symbol, *chunk.context, chunk.span.path])
    if first < at and last - first >= MAX_COMBINED_LINES:
        yield DefinitionHead(units[first], units[_end_of_paragraph(shown, first, at)], name, within)
        first = at
    yield DefinitionHead(units[first], units[last], name, within)


def _first_leading(lines: Sequence[Line], at: int) -> int:
    """Return the position of the first line of the comments and attributes directly above a definition."""
    first = at
    while first and not lines[first].is_apart:
        above = first - 1
        # An attribute may go on, as the second line of `@spec` in Elixir does.
        while above and lines[above].indent > lines[at].indent and not lines[above].leads:
            above -= 1
        if not lines[above].leads or (above < first - 1 and lines[above].indent != lines[at].indent):
            break
        first = above
    return first


def _end_of_paragraph(shown: ContextItem, first: int, at: int) -> int:
    """Return the position where the first paragraph of a comment ends, or its last short sentence."""
    lines, units = layout_of(shown), shown.units
    paragraph: list[int] = []
    for place in range(first, min(at, first + MAX_QUOTE_LINES)):
        is_apart = place > first and units[place].span.start_line > units[place - 1].span.end_line + 1
        is_said = any(map(str.isalnum, units[place].text))
        if paragraph and (is_apart or not is_said):
            if lines[paragraph[0]].indent < lines[first].indent + _CODE_INDENT:
                return _with_next_paragraph(lines, first, paragraph[-1], at)
            paragraph.clear()  # the signature that begins a docstring of Julia
        if is_said:
            paragraph.append(place)
    ended = next((place for place in reversed(paragraph) if lines[place].ends_sentence), None)
    return _end_of_sentence(lines, (paragraph or [first])[-1], at) if ended is None else ended


def _with_next_paragraph(lines: Sequence[Line], first: int, end: int, at: int) -> int:
    """Return where the second paragraph of a comment ends, if that is prose and the first has few words; else `end`."""
    said = [line.said or "" for line in lines[first : min(at, first + MAX_QUOTE_LINES + 1)]]
    second = next((place for place in range(end + 1 - first, len(said)) if said[place].strip()), None)
    if second is None or sum(len(each.split()) for each in said[: end + 1 - first]) > _FEW_WORDS:
        return end
    last = second
    if not said[second].strip()[0].isalpha():
        return end
    while last + 1 < len(said) and said[last + 1].strip() and not begins_paragraph(said[last + 1]):
        last += 1
    return first + last if last < MAX_QUOTE_LINES and lines[first + last].ends_sentence else end


def _end_of_sentence(lines: Sequence[Line], place: int, at: int) -> int:
    """Return the position where a long sentence of a comment ends, or where its paragraph does, if that is near."""
    for end in range(place, min(at, place + MAX_QUOTE_LINES)):
        is_last = end + 1 == at or lines[end + 1].begins or not any(map(str.isalnum, lines[end + 1].said or ""))
        if lines[end].ends_sentence or is_last:
            return end
    return place


def _end_of_summary(units: Sequence[Unit], opening: int) -> int:
    """Return the position where the first paragraph of a docstring ends, or its last short sentence.

    The docstring may go on in the next chunk, so its end need not be there.
    """
    sign = next(each for each in (*_DOCSTRING, '"') if each in units[opening].text)
    if units[opening].text.count(sign) > 1:
        return opening
    paragraph = [opening]
    for place in range(opening + 1, min(opening + MAX_QUOTE_LINES, len(units))):
        if units[place].span.start_line > units[place - 1].span.end_line + 1:
            return place - 1
        paragraph.append(place)
        if sign in units[place].text:
            return place
    return next((place for place in reversed(paragraph) if units[place].text.endswith(_ENDS)), paragraph[-1])


def _enclosing(shown: ContextItem, at: int, name: str) -> Iterator[str]:
    """Yield the text before a name in its line, and the enclosing lines by indentation, innermost first."""
    lines, text = layout_of(shown), shown.units[at].text
    yield text[: max(text.find(name), 0)]  # the receiver of Go, `Letter::` of C++
    indent = lines[at].indent
    for place in range(at - 1, -1, -1):
        if lines[place].indent < indent and not lines[place].leads:
            yield shown.units[place].text
            indent = lines[place].indent


def _definitions(shown: ContextItem, name: str) -> Iterator[int]:
    """Yield the positions of the first definition of a name, and of further ones with a keyword."""
    is_first, lines, whole = True, layout_of(shown), _as_word(name)
    for position, unit in enumerate(shown.units):
        found = whole.search(unit.text)
        # Code in comments defines nothing.
        if found is None or is_comment(unit.text) or (lines[position].leads and lines[position].inside):
            continue
        above, behind = unit.text[: found.start()], unit.text[found.end() :]
        # `limit = 3`, `self.limit: int`
        is_set = re.fullmatch(r"\s*(?:\w+\.)?", above) is not None and behind.lstrip()[:1] in ("=", ":", "(")
        if _has_keyword(unit.text, name) or (is_first and is_set):
            yield position
            is_first = False


def _as_word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def _has_keyword(line: str, name: str) -> bool:
    """Return whether a keyword before a name may define it.

    One outside of the parentheses around the name, before those of parameters, or before an equals sign, defines
    another: `func (s *state) close()` is no `state`, nor is `def close(state)`, `def close(quay) -> state` or
    `let quay = state()`. But `void (*close)(int)` is a `close`. A type is followed by what is of it: `public state
    close()`.
    """
    for found in _as_word(name).finditer(line):
        above = line[: found.start()]
        opens = _open_parenthesis(above)
        if above[opens:].strip() == "*" or _LISP_OPENING.fullmatch(above):
            opens = 0
        said = _RECEIVER.sub("func ", above[opens:]).rpartition(")")[2].rpartition("=")[2]
        if not _KEYWORDS.isdisjoint(re.findall(r"\w+", said)) and not _IS_TYPE.match(line, found.end()):
            return True
    return False


def _open_parenthesis(text: str) -> int:
    """Return the position after the last parenthesis that is not closed; 0 if all are."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(text[at], 0)
        if depth < 0:
            return at + 1
    return 0


def is_comment(line: str) -> bool:
    """Return whether a line is nothing but a comment."""
    return line.strip() == "*" or line.lstrip().startswith(_ONLY_COMMENT)


def in_comment(shown: ContextItem, place: int) -> bool:
    """Return whether a unit, counted from 0, is in a comment or a docstring."""
    lines, opening = layout_of(shown), place
    while opening and lines[opening].inside:
        opening -= 1
    # The first line is within a comment or a docstring that opens in an earlier chunk.
    is_inside = lines[opening].inside or (
        opening < place and _OPENS_COMMENT.match(shown.units[opening].text) is not None
    )
    return is_inside or is_comment(shown.units[place].text)
