"""Finds enumerations in code: types that list their values, and each value with the comment above and beside it.

Texts may be cut off, so patterns and brackets are read rather than grammars.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from openbook.questions.enumerations_asked import AskedEnumeration
from openbook.text import indentation
from openbook.types import Chunk


class Member(NamedTuple):
    """A value of an enumeration."""

    name: str
    start: int
    """Where it begins in the text, with the comment above."""
    end: int
    """Where it ends, with the comment beside it."""


class Enumeration(NamedTuple):
    """A type that lists its values."""

    name: str
    start: int
    """Where its head begins in the text, without the comment above."""
    end: int
    """Where its last value ends, or what closes its body if nothing but that follows."""
    members: tuple[Member, ...]
    """In order; at least one."""


# An opening brace follows: `enum color parse(int x) {` and `enum color c;` define none.
_WITH_BRACE = re.compile(
    r"^[^\n\S]*(?:[\w()@]+[^\n\S]+)*?(?P<typedef>typedef[^\n\S]+)?enum\b(?:[^\n\S]+(?:class|struct)\b)?(?:\s+(?P<name>\w+))?"
    r"[^\n\S]*(?:<[^>{};]*>)?[^\n\S]*(?:\([^{};]*\))?\s*(?::(?!:)[^{};=()]*|\b(?:implements|extends|where)\b[^{};=]*)?"
    r"(?:\{|(?P<indents>:[^\n\S]*$))",
    re.MULTILINE,
)
_OF_PYTHON = re.compile(
    r"^(?P<indent>[ \t]*)class[ \t]+(?P<name>\w+)\s*\([^()]*\b\w*(?:Enum|Flag|Choices)\b[^()]*\)\s*:", re.MULTILINE
)
_OF_GO = re.compile(
    r"^(?:type[ \t]+(?P<type>\w+)[ \t]+\w+[ \t]*(?://[^\n]*)?\n(?:[ \t]*(?://[^\n]*)?\n)*)?const[ \t]*\([^\n]*\n",
    re.MULTILINE,
)
_TEXT = r"(?:\"[^\"\n]*\"|'[^'\n]*')"
_OF_TYPESCRIPT = re.compile(
    r"^[ \t]*(?:export[ \t]+)?(?:declare[ \t]+)?type[ \t]+(?P<name>\w+)\s*=\s*\|?\s*"
    rf"(?P<values>{_TEXT}(?:\s*\|\s*{_TEXT})+)",
    re.MULTILINE,
)
_SIGNATURE = re.compile(r"\benum\b|\(.*\b\w*(?:Enum|Flag|Choices)\b")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_STRING_OR_COMMENT = re.compile(
    rf"{_COMMENT.pattern}|\"\"\".*?\"\"\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'", re.DOTALL
)
_WITH_APOSTROPHES = re.compile(rf"{_STRING_OR_COMMENT.pattern}|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_IN_APOSTROPHES = frozenset("javascript jsx typescript tsx php".split())
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*\w[^\n]*", re.MULTILINE)
_WITH_DIRECTIVES = frozenset("c cpp csharp objc".split())
# Annotations, attributes and modifiers may precede the name.
_MEMBER = re.compile(r"\s*(?:(?:@[\w.]+|#|\[ *\])\s*)*(?P<name>[A-Za-z_]\w*)")
_CASE = re.compile(r"^[^\n\S]*(?:indirect\s+)?case\s+(?P<names>`?\w[^\n=]*)", re.MULTILINE)
_WITH_CASES = frozenset("php scala swift".split())
_ENTRY_OF_PYTHON = re.compile(r"(?P<name>[A-Za-z]\w*)[ \t]*(?::[^=\n]+)?=(?!=)")
_ENTRY_OF_GO = re.compile(r"[ \t]+(?P<name>[A-Za-z]\w*)(?:[ \t]+(?P<type>[A-Z]\w*))?[ \t]*(?P<set>=|//|$)")
_LEADS = re.compile(r"[ \t]*(?:#|//|/\*|\*|@\w)")


def has_enumeration(asked: AskedEnumeration, chunk: Chunk) -> bool:
    """Return whether a chunk has the definition of an enumeration, or the value of it that is asked for.

    An enumeration with long comments is split. All its chunks have its head as their signature.
    """
    meant = (each for each in enumerations_in(chunk.text, chunk.language) if asked.is_name(each.name))
    if any(not asked.member or asked.member in (member.name for member in each.members) for each in meant):
        return True
    is_rest = asked.is_name(chunk.symbol.rpartition(".")[2]) and _SIGNATURE.search(chunk.signature)
    member = rf"^[ \t]*(?:case[ \t]+)?{asked.member}\b"
    return bool(asked.member and is_rest and re.search(member, chunk.text, re.MULTILINE))


@lru_cache(maxsize=64)
def enumerations_in(text: str, language: str) -> tuple[Enumeration, ...]:
    """Return the enumerations of a text of code in order.

    Example:
        >>> color = enumerations_in("enum Color { Red, Blue }", "rust")[0]
        >>> color.name, [member.name for member in color.members]
        ('Color', ['Red', 'Blue'])
    """
    if language == "python":
        found = _in_python(text)
    elif language == "go":
        found = _in_go(text)
    else:
        found = _in_braces(text, language)
    return tuple(sorted(found, key=lambda each: each.start))


def _blanked(text: str, pattern: re.Pattern[str]) -> str:
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def _in_braces(text: str, language: str) -> Iterator[Enumeration]:
    if language in ("typescript", "tsx"):
        yield from _unions(text)
    masked = _blanked(text, _WITH_APOSTROPHES if language in _IN_APOSTROPHES else _STRING_OR_COMMENT)
    if language in _WITH_DIRECTIVES:
        masked = _blanked(masked, _DIRECTIVE)
    for head in _WITH_BRACE.finditer(masked):
        end = _end_of_indented(masked, head) if head["indents"] else _end_of_body(masked, head.end())
        flat = _without_nested(masked[head.end() : end])
        read = _cases if language in _WITH_CASES else _listed
        members = tuple(read(text[head.end() : end], flat, head.end()))
        named = re.match(r"\}\s*(\w+)", masked[end:]) if head["typedef"] else None
        name = named[1] if named else head["name"]
        if not members or not name:
            continue
        is_closed = not flat[members[-1].end - head.end() :].strip(" \t\n,;")
        last = _end_of_line(text, end) if is_closed else members[-1].end
        yield Enumeration(name, head.start() + indentation(head[0]), last, members)


def _unions(text: str) -> Iterator[Enumeration]:
    """Yield the types of TypeScript that list strings."""
    masked = _blanked(text, _COMMENT)
    for found in _OF_TYPESCRIPT.finditer(masked):
        values = re.finditer(_TEXT, masked[: found.end()][found.start("values") :])
        base = found.start("values")
        members = tuple(Member(each[0][1:-1], base + each.start(), base + each.end()) for each in values)
        yield Enumeration(
            found["name"], found.start() + indentation(found[0]), _end_of_line(text, found.end()), members
        )


def _end_of_body(masked: str, start: int) -> int:
    """Return where the brackets are closed that are open at a position; the end of the text if they are not."""
    depth = 1
    for found in re.compile(r"[{}()\[\]]").finditer(masked, start):
        depth += 1 if found[0] in "{([" else -1
        if not depth:
            return found.start()
    return len(masked)


def _end_of_indented(masked: str, head: re.Match[str]) -> int:
    outer = re.compile(rf"^[ \t]{{0,{indentation(head[0])}}}\S", re.MULTILINE).search(masked, head.end())
    return outer.start() if outer else len(masked)


def _without_nested(body: str) -> str:
    """Return the body of an enumeration with blanks for all that is in brackets."""
    found, depth = [], 0
    for sign in body:
        depth -= sign in "})]"
        found.append(sign if depth <= 0 or sign == "\n" else " ")
        depth += sign in "{(["
    return "".join(found)


def _listed(body: str, flat: str, base: int) -> Iterator[Member]:
    """Yield the members between commas, up to a semicolon, behind which methods follow."""
    place = 0
    for separator in re.finditer(r"[,;]|\Z", flat):
        named = _MEMBER.match(flat, place, separator.start())
        start, end = place, separator.start()
        place = separator.end()
        if named is not None:
            start += len(body[start:]) - len(body[start:].lstrip())
            end = named.end() + len(flat[named.end() : end].rstrip())
            rest = _end_of_line(body, end)
            if not flat[end:rest].strip(",; \t"):  # a comment may be beside it
                end, place = rest, max(place, rest)
            yield Member(named["name"], base + start, base + end)
        if separator[0] != ",":
            break


def _cases(body: str, flat: str, base: int) -> Iterator[Member]:
    """Yield the members of `case` statements."""
    for found in _CASE.finditer(flat):
        start, end = _with_comment(body, found.start()), _end_of_line(body, found.end())
        for name in re.findall(r"(?:^|,)\s*`?(\w+)", found["names"]):
            yield Member(name, base + start, base + end)


def _in_python(text: str) -> Iterator[Enumeration]:
    for head in _OF_PYTHON.finditer(text):
        body = _lines(text, _end_of_line(text, head.end()) + 1, len(head["indent"]))
        inner = next((indent for _, indent, line in body if _ENTRY_OF_PYTHON.match(line)), 0)
        outer = [place for place, (_, indent, _) in enumerate(body) if indent <= inner]
        members = []
        for place, below in pairwise((*outer, len(body))):
            start, _, line = body[place]
            if named := _ENTRY_OF_PYTHON.match(line):
                members.append(
                    Member(named["name"], _with_comment(text, start), _end_of_line(text, body[below - 1][0]))
                )
        if members:
            yield Enumeration(head["name"], head.start() + len(head["indent"]), members[-1].end, tuple(members))


def _lines(text: str, start: int, least: int) -> list[tuple[int, int, str]]:
    """Return the start, the indentation and the rest of each line that is indented by more than `least`."""
    found = []
    while start < len(text):
        end = _end_of_line(text, start)
        line = text[start:end]
        said = line.lstrip()
        if said and len(line) - len(said) <= least:
            break
        if said:
            found.append((start, len(line) - len(said), said.rstrip()))
        start = end + 1
    return found


def _in_go(text: str) -> Iterator[Enumeration]:
    """Yield the constants of each type in a block; those without a type repeat the one above."""
    for head in _OF_GO.finditer(text):
        place, name, members = head.end(), "", list[Member]()
        while place < len(text) and not text.startswith(")", place):
            end = _end_of_line(text, place)
            entry = _ENTRY_OF_GO.match(text, place, end)
            if entry and (entry["type"] or name):
                if name and entry["type"] not in (None, name):
                    break
                name = entry["type"] or name
                members.append(Member(entry["name"], _with_comment(text, place), end))
            place = end + 1
        if name:
            start = head.start() if head["type"] == name else head.start() + head[0].rindex("const")
            is_closed = text.startswith(")", place)
            yield Enumeration(name, start, place + 1 if is_closed else members[-1].end, tuple(members))


def _with_comment(text: str, start: int) -> int:
    """Return where the comment begins that is directly above a line; the start of that line if there is none."""
    start = _start_of_line(text, start)
    while start and _LEADS.match(text, above := _start_of_line(text, start - 1)):
        start = above
    return start


def _start_of_line(text: str, place: int) -> int:
    return text.rfind("\n", 0, place) + 1


def _end_of_line(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end
