"""The heads of definitions: signature and summary, which say what a name is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from openbook.answering.context import ContextItem
from openbook.types import Unit

# A quote is read at a glance. Longer blocks are offered in pieces of this many lines.
LONGEST_QUOTE_LINES = 6

# What its author says of a definition, and its signature. Where both together are longer, each is a head.
_LONGEST_TOGETHER_LINES = 12
# A signature that is cut hides what is asked for: with a parameter a line, few have more.
_LONGEST_HEAD_LINES = 20

# What stands before a name where it is defined, in the languages that have grammars.
_KEYWORD = re.compile(
    r"\b(?:def|defp|defmodule|defmacro|class|func|fn|fun|function|interface|struct|enum|trait|type|const|let|var|val|"
    r"object|module|protocol|record|union|macro_rules!|public|private|protected|static|void|int|bool|char|double)\b"
)

# What opens a line that sets, types or calls a name, as in `self.limit = 3`.
_IS_SET = re.compile(r"\s*(?:\w+\.)?(\w+)\s*[=:(]")

_COMMENT = ("//", "/*", "*", "#", "--", ";", "@", "[")

# What opens no line of code in any language with a grammar. Attributes, macros and headings begin with `#` too.
_ONLY_COMMENT = ("//", "/*", "* ", "*/", "--")

_QUOTES = ('"""', "'''")
_ENDS = (".", "!", "?", ":", *_QUOTES)
# Lines behind the first one of a docstring in which its first sentence may end.
_MORE_OF_SUMMARY = 2


@dataclass(frozen=True, slots=True)
class DefinitionHead:
    """Consecutive units that say what a name is."""

    first: Unit
    last: Unit
    defines: str
    """The name."""
    within: str
    """What the definition stands in: lines, names, headings and path."""


def definition_heads(shown: ContextItem) -> list[DefinitionHead]:
    """Return the heads of the definitions in a chunk: what it opens with, then name by name."""
    heads = list(_opening_heads(shown))
    for name in shown.result.chunk.defines:
        for position in _definitions(shown.units, name):
            number = shown.units[position].number
            if not any(head.first.number <= number <= head.last.number for head in heads):
                end = _end_of_signature(shown.units, position)
                heads.extend(_heads(shown, position, end, name))
    return heads


def _opening_heads(shown: ContextItem) -> Iterator[DefinitionHead]:
    """Yield the definition that a chunk opens with, up to the end of its signature and summary."""
    chunk = shown.result.chunk
    if not chunk.signature or not shown.units:
        return
    summary = chunk.docstring.partition("\n")[0]
    ends = [start + len(part) for part in (chunk.signature, summary) if part and (start := chunk.text.find(part)) >= 0]
    if not ends:
        return
    opening = chunk.span.start_char + max(chunk.text.find(chunk.signature), 0)
    position = next((i for i, unit in enumerate(shown.units) if unit.span.end_char > opening), 0)
    behind = (i for i, unit in enumerate(shown.units) if unit.span.start_char < chunk.span.start_char + max(ends))
    end = max(max(behind, default=position), _end_of_brackets(shown.units, position) or 0)
    yield from _heads(shown, position, end, chunk.symbol.rpartition(".")[2], chunk.symbol)


def _heads(shown: ContextItem, position: int, end: int, name: str, symbol: str = "") -> Iterator[DefinitionHead]:
    """Yield a definition with the comment above it, or each of the two if together they are too long.

    Args:
        shown: What may be quoted.
        position: Of the unit that the definition begins with.
        end: Of the last unit of its signature, or of its summary.
        name: What is defined.
        symbol: The same with what it stands in, if that is known.
    """
    chunk, units = shown.result.chunk, shown.units
    within = "\n".join([*_enclosing(units, position, name), symbol, *chunk.context, chunk.span.path])
    start, end = _start_of_comment(units, position), _end_of_summary(units, end)
    ranges = [(start, end)]
    if start < position and end - start >= _LONGEST_TOGETHER_LINES:
        ranges = [(start, _end_of_opening(units, start, position)), (position, end)]
    for first, last in ranges:
        if first <= last < first + _LONGEST_HEAD_LINES:
            yield DefinitionHead(units[first], units[last], name, within)


def _enclosing(units: Sequence[Unit], position: int, name: str) -> Iterator[str]:
    """Yield what stands before a name in its line, and the lines that this one is indented under, the nearest first."""
    line = units[position].text
    yield line[: max(line.find(name), 0)]  # the receiver of Go, `Letter::` of C++
    indent = len(line) - len(line.lstrip())
    for unit in reversed(units[:position]):
        depth = len(unit.text) - len(unit.text.lstrip())
        if depth < indent and not unit.text.lstrip().startswith(_COMMENT):
            yield unit.text
            indent = depth


def _definitions(units: Sequence[Unit], name: str) -> Iterator[int]:
    """Find where a name is defined first, and where a keyword says that it is defined again."""
    is_first = True
    for position, unit in enumerate(units):
        # In the example of a comment, `let wait = 3` defines nothing of the file.
        if is_comment(unit.text):
            continue
        if _declares(unit.text, name) or (is_first and _sets(unit.text, name)):
            yield position
            is_first = False


def is_comment(line: str) -> bool:
    """Return whether a line is of a comment, and of nothing else."""
    return line.strip() == "*" or line.lstrip().startswith(_ONLY_COMMENT)


def _declares(line: str, name: str) -> bool:
    """Return whether a name stands behind a keyword that defines."""
    # By hand: a pattern for each name of each chunk took half of the time of an answer.
    place = line.find(name)
    keyword = _KEYWORD.search(line) if place >= 0 else None
    while keyword and place >= 0:
        before, behind = line[place - 1 : place], line[place + len(name) :][:1]
        if place >= keyword.end() and not (_is_of_word(before) or _is_of_word(behind)):
            return True
        place = line.find(name, place + 1)
    return False


def _sets(line: str, name: str) -> bool:
    """Return whether a name opens a line and is set, typed or called there."""
    found = _IS_SET.match(line) if name in line else None
    return found is not None and found[1] == name


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _start_of_comment(units: Sequence[Unit], position: int) -> int:
    """Find the first line of the comments and decorators that stand directly above a definition."""
    start, inside = position, False
    while start > 0:
        above, below = units[start - 1], units[start]
        inside = (inside or above.text.rstrip().endswith("*/")) and "/*" not in below.text
        if not (
            inside or (above.span.end_line + 1 == below.span.start_line and above.text.lstrip().startswith(_COMMENT))
        ):
            break
        start -= 1
    return start


def _end_of_opening(units: Sequence[Unit], start: int, end: int) -> int:
    """Find the last line of the first paragraph of a comment that goes from `start` to before `end`."""
    said = False
    for position in range(start, min(end, start + LONGEST_QUOTE_LINES)):
        if said and not any(map(str.isalnum, units[position].text)):
            return position - 1
        said = said or any(map(str.isalnum, units[position].text))
    return min(end, start + LONGEST_QUOTE_LINES) - 1


def _end_of_signature(units: Sequence[Unit], position: int) -> int:
    """Find the last line of a signature, and of the line that a docstring opens with."""
    closed = _end_of_brackets(units, position)
    end = min(position + _LONGEST_HEAD_LINES, len(units)) - 1 if closed is None else closed
    return end + 1 if end + 1 < len(units) and _opens_docstring(units[end + 1]) else end


def _end_of_brackets(units: Sequence[Unit], position: int) -> int | None:
    """Find the line that closes the brackets which a signature opens; None if it is too far below."""
    depth = 0
    for end in range(position, min(position + _LONGEST_HEAD_LINES, len(units))):
        depth += units[end].text.count("(") - units[end].text.count(")")
        if depth <= 0:
            return end
    return None


def _end_of_summary(units: Sequence[Unit], end: int) -> int:
    """Find the last line of the sentence that a docstring opens with, if a signature ends with its first line."""
    first = end
    if _opens_docstring(units[end]):
        while end + 1 < len(units) and end - first < _MORE_OF_SUMMARY and not units[end].text.endswith(_ENDS):
            if units[end].span.end_line + 1 != units[end + 1].span.start_line:
                break
            end += 1
    return end


def _opens_docstring(unit: Unit) -> bool:
    return unit.text.lstrip(" \trbu").startswith(_QUOTES)
