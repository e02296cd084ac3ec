"""Reads the lines of comments and docstrings without their signs: paragraphs, items and examples."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from openbook.text import indentation

C_LANGUAGES = frozenset({"c", "cpp"})

# The signs of a line of a comment, of one within a comment of several lines, and of one within a docstring.
_COMMENTED = re.compile(
    r"\s*(?:(?P<hash>#+(?=\s|$))|//+!?|--+(?=\s|$)(?:\s*[|^](?=\s))?|#'(?=\s|$)|;+(?=\s|$)"
    r"|(?P<long>/\*+!?|(?:@\w*doc\s+)?(?:~[sS]|[rRuU])?(?:\"\"\"|''')))"
)
_IN_COMMENT, _IN_STRING = re.compile(r"\s*(?:\*(?!\**/))?(?P<hash>)"), re.compile(r"(?P<hash>)")
_CLOSING = re.compile(r"(?<!\*)\*+/|\"\"\"|'''")

# Opens a heading, or the description of a parameter or the like: `@param`, `:returns:`, `\\param`.
_BEGINS = re.compile(r"\s*(?:[@\\][a-zA-Z][\w-]*(?=\s|$)|:\w+[^:\n]{0,60}:(?=\s|$)|#{1,6}\s)")
_HEADING = re.compile(r"\s*(?:#{1,6}\s|<h[1-6]\b)")
_ITEM = re.compile(r"\s*(?:(?:[-*+•]|\d{1,3}[.)])(?:\s|$)|\||<li>)")

_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})")
_SENTENCE = re.compile(r"[A-Z][\w'-]*(?:[ \t]+[\w'`,-]+){3,}")
_PRE = re.compile(r"<(?P<end>/?)pre\b", re.IGNORECASE)

# A tag between paragraphs, alone on its line.
_BETWEEN = re.compile(r"\s*</?(?:p|br)\s*/?>\s*", re.IGNORECASE)

# Introduces what follows, perhaps before a tag.
_LEADS_IN = re.compile(r":[*_`\s]*(?:</?\w+>\s*)*$")
_ENDS = re.compile(r"[.!?][\"'`)*]*(?:\s*</?\w+>)*\s*$")

# Columns by which code is indented below a paragraph.
_CODE_COLUMNS = 4
_TAB = 8

# What a line introduces may make a block so many times longer.
_LED_FACTOR = 2


def said_in(text: str, sign: str, language: str) -> str | None:
    """Return a line of a comment or a docstring with blanks for its signs; None for other lines.

    `sign`: that of the comment or string in which it begins.

    Example:
        >>> said_in(" * Moors. */", "/*", "java"), said_in("* hemp", "`", "go"), said_in("wait(1)", "", "go")
        ('   Moors.   ', '* hemp', None)
    """
    opening = (_IN_COMMENT if sign == "/*" else _IN_STRING if sign else _COMMENTED).match(text)
    if opening is None or (language in C_LANGUAGES and opening["hash"]):
        return None
    closing = _CLOSING.search(text, opening.end()) if sign or opening["long"] else None
    end, rest = closing.span() if closing else (len(text), len(text))
    if text[rest:].strip():  # code behind a comment
        return None
    said = text[opening.end() : end]
    said = " " * len(said) if _BETWEEN.fullmatch(said) else said
    return f"{' ' * opening.end()}{said}{' ' * (len(text) - end)}"


class CommentLine(NamedTuple):
    """A line of a comment."""

    said: str
    """Without signs."""
    is_apart: bool
    """A blank line precedes it."""


class _Atom(NamedTuple):
    first: int
    last: int
    is_code: bool
    is_item: bool
    leads_in: bool
    is_apart: bool


def begins_paragraph(said: str) -> bool:
    """Return whether a line of a comment begins a paragraph: an item, a heading, or a tag such as `@param`."""
    return _ITEM.match(said) is not None or _BEGINS.match(said) is not None


def is_heading_of_comment(said: str) -> bool:
    """Return whether a line of a comment is a heading."""
    return _HEADING.match(said) is not None


def examples_in_comment(run: Sequence[CommentLine]) -> set[int]:
    """Return the positions of the lines of examples in a comment: between fences, or indented after a blank line."""
    texts = [line.said.expandtabs(_TAB) for line in run]
    margin = min((indentation(text) for text in texts if text.strip()), default=0)
    found = set[int]()
    is_fenced, is_code = _begins_in_example(texts, run), False
    for at, text in enumerate(texts):
        pre = _PRE.search(text)
        is_border = pre is not None or _FENCE.match(text) is not None
        can_begin = is_code or ((run[at].is_apart or at == 0) and not _ITEM.match(text))
        is_set_off = indentation(text) >= margin + _CODE_COLUMNS and can_begin
        is_code = is_set_off or (is_code and not text.strip())
        if (is_fenced or is_border or is_set_off) and text.strip():
            found.add(at)
        if is_border:
            is_fenced = not pre["end"] if pre else not is_fenced
    return found


def _begins_in_example(texts: Sequence[str], run: Sequence[CommentLine]) -> bool:
    """Return whether a comment begins within an example, as one that a chunk breaks off: its first fence ends it.

    A fence that ends an example has no language, and a sentence, a blank line or nothing behind it.
    """
    for at, text in enumerate(texts):
        if pre := _PRE.search(text):
            return bool(pre["end"])
        if fence := _FENCE.match(text):
            below = "" if at + 1 == len(run) or run[at + 1].is_apart else texts[at + 1].strip()
            is_last = not below or _SENTENCE.match(below) is not None
            return is_last and at > 0 and not text[fence.end() :].strip()
    return False


def blocks_of(run: Sequence[CommentLine], most: int) -> Iterator[tuple[int, int]]:
    """Yield the blocks of a comment, as positions of the first and the last line: whole paragraphs, lists and examples.

    A heading, or what ends with a colon, has what it introduces. Other blocks have at most so many lines; long
    paragraphs end with a sentence if possible. Lines without words are in no block, unless within one.
    """
    block: tuple[int, int] | None = None
    for first, last, leads_in in _led(list(_atoms(run, most)), most):
        # What leads to more than fits would end the block.
        if block is not None and last - block[0] < most and not leads_in:
            block = block[0], last
            continue
        if block is not None:
            yield block
        block = first, last
        if leads_in:
            yield block
            block = None
    if block is not None:
        yield block


def _led(atoms: Sequence[_Atom], most: int) -> Iterator[tuple[int, int, bool]]:
    """Yield the first and last lines of parts of a comment, each with what it introduces, if that is short.

    The third value is whether it ends with what introduces more.
    """
    place = 0
    while place < len(atoms):
        opening, end = atoms[place], place
        while end + 1 < len(atoms) and _is_led(atoms[place : end + 1], atoms[end + 1]):
            if atoms[end + 1].last - opening.first >= _LED_FACTOR * most:
                break
            end += 1
        yield opening.first, atoms[end].last, atoms[end].leads_in and end + 1 < len(atoms)
        place = end + 1


def _is_led(block: Sequence[_Atom], atom: _Atom) -> bool:
    above = block[-1]
    return above.leads_in or (above.is_item and atom.is_item and any(each.leads_in for each in block))


def _atoms(run: Sequence[CommentLine], most: int) -> Iterator[_Atom]:
    """Yield the parts of a comment that are not cut: paragraphs, items and examples, unless they are long."""
    code = examples_in_comment(run)
    opened: int | None = None
    for at, line in enumerate(run):
        is_code, was_code = at in code, at - 1 in code or (at - 2 in code and not run[at - 1].said.strip())
        if not line.said.strip():
            continue
        goes_on = is_code and was_code
        begins = not goes_on and (line.is_apart or is_code != was_code or begins_paragraph(line.said))
        begins = begins or (opened is not None and is_heading_of_comment(run[at - 1].said))
        if opened is not None and begins:
            yield from _split(run, opened, _end_before(run, at), opened in code, most)
            opened = None
        opened = at if opened is None else opened
    if opened is not None:
        yield from _split(run, opened, _end_before(run, len(run)), opened in code, most)


def _end_before(run: Sequence[CommentLine], place: int) -> int:
    return next(at for at in range(place - 1, -1, -1) if run[at].said.strip())


def _split(run: Sequence[CommentLine], first: int, last: int, is_code: bool, most: int) -> Iterator[_Atom]:
    """Yield a part of a comment, or if it is long, its parts, which end with a sentence if possible."""
    longest, is_item, is_apart = (
        most * (_LED_FACTOR if is_code else 1),
        begins_paragraph(run[first].said),
        run[first].is_apart,
    )
    while last - first >= longest:
        places = range(first + longest - 1, first, -1)
        ends = (at for at in places if run[at + 1].is_apart or (not is_code and _ENDS.search(run[at].said)))
        end = next(ends, first + longest - 1)
        yield _Atom(first, end, is_code, is_item, False, is_apart)
        first, is_apart = end + 1, True
    leads_in = not is_code and (_LEADS_IN.search(run[last].said) is not None or is_heading_of_comment(run[last].said))
    yield _Atom(first, last, is_code, is_item and not is_heading_of_comment(run[first].said), leads_in, is_apart)
