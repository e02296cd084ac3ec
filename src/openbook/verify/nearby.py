"""Extracts the names, quotes and numbers in the text around a citation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from openbook.text import sentences
from openbook.verify.mentions import Mention

_CODE = re.compile(r"(`{1,2})(?!`)([^`\n]{1,200})\1(?!`)")
_QUOTED = re.compile(r"[\"“]([^\"“”\n]{8,400})[\"”]")
# Shapes that only identifiers have: `snake_case`, `camelCase`, `TwoHumps`, `CONSTANT_NAME`, `call()`.
_IDENTIFIER = re.compile(r"\b(?:_*[A-Za-z][A-Za-z0-9]*_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|\w+(?=\(\)))")
_DOTTED = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)*")
_NUMBER = re.compile(r"(?<![\w.,:#-])\d+(?:[.,]\d+)*(?![\w:]|[.,]\d)")
# Where a sentence ends at the latest: at the next paragraph, list item, table row, heading or code fence.
_BLOCK_BOUNDARY = re.compile(r"\n[ \t]*(?:\n|[-*+|>][ \t]|\d{1,3}[.)][ \t]|\|)|\n(?=[ \t]*(?:#{1,6}[ \t]|```|~~~))")
# Longer code blocks are not quotations of the cited lines.
_MAX_LISTING_CHARS = 10_000
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
# What begins a line of a block quote, and of a comment.
_QUOTE_MARGIN = re.compile(r"[ \t]*>[ \t>]*")
_HASH_MARGIN = re.compile(r"[ \t]*#+(?=[ \t]|$)")
_STAR_MARGIN = re.compile(r"[ \t]*\*(?=[ \t]|$)")
# How far a sentence can extend on either side of its citation.
_MAX_CONTEXT_CHARS = 1_000
# Between a name and its citation: "`name` (path:12)", "[`name`](path#L12)", "name, path:12".
_ADJACENT = re.compile(r"(?:\(\))?[`*_]*[\s,:–—-]*(?:see\s+)?[(\[]*[`*_]*(?:\]\()?<?|\s*\|\s*`?")
_LABEL = re.compile(r"\[([^\[\]\n]{1,200})\]\(\s*<?$")
# These words say that the cited lines use the name. Without them, they define it.
_USES_NAME = re.compile(
    r"\b(?:call|us(?:e|ing)|invok|import|pass|rais|return|inherit|extend|overrid|wrap|like|via)", re.IGNORECASE
)

# Shorter code, not counting white space, matches too many lines to be searched for.
_MIN_QUOTE_CHARS = 6


@dataclass(frozen=True, slots=True)
class Nearby:
    """Text near a citation that can be compared with the cited lines."""

    names: tuple[str, ...] = ()
    """Identifiers without their qualifiers, in order of appearance."""
    quotes: tuple[str, ...] = ()
    """Inline code and quoted text, without white space."""
    numbers: tuple[str, ...] = ()
    subject: str = ""
    """The name directly before the citation, as in "`name` (path:12)"; empty if there is none."""
    label: tuple[str, ...] = ()
    """Names in the link text, if the citation is the target of a link."""


def nearby(text: str, mentions: Sequence[Mention], position: int, within: tuple[int, int] | None = None) -> Nearby:
    """Collect the names and quotes in the sentence of a citation, between the citations before and after it.

    `within`: half-open character range that bounds the sentence, such as a comment; None for the whole text.

    Example:
        >>> from openbook.verify.mentions import find_mentions
        >>> text = "`Client.get` (a.py:3) retries, as `post` (a.py:9) does."
        >>> mentions = find_mentions(text)
        >>> [nearby(text, mentions, position).subject for position in range(2)]
        ['get', 'post']
    """
    mention = mentions[position]
    start, end = _sentence(text, mention, within or (0, len(text)))
    before = max(start, mentions[position - 1].end_char) if position else start
    # The backtick that closes the previous citation does not open code.
    before = min(before + (text[before : before + 1] == "`" and before > start), mention.start_char)
    after = min(end, mentions[position + 1].start_char) if position + 1 < len(mentions) else end
    said = text[before : mention.start_char]
    near = _collect(said)
    if not near.names and not near.quotes and after == end:
        said += " \n " + text[mention.end_char : after]
        near = _collect(said)
    numbers = tuple(match.group() for match in _NUMBER.finditer(said))
    label = _label(text, mention) if mention.form != "plain" else ()
    return Nearby(near.names, near.quotes, numbers, _subject(text, before, mention), label)


def without_margins(text: str, *, is_code: bool) -> str:
    r"""Blank what begins the lines of a block quote or a comment, so that sentences go on there; the length stays.

    Example:
        >>> without_margins("> `Client` is\n> in a.py:3.", is_code=False)
        '> `Client` is\n  in a.py:3.'
    """
    lines, goes_on, is_block = text.split("\n"), False, False
    for number, line in enumerate(lines):
        pattern = _QUOTE_MARGIN if not is_code else _STAR_MARGIN if is_block else _HASH_MARGIN
        margin = pattern.match(line)
        if margin and (goes_on or is_block):
            lines[number] = " " * margin.end() + line[margin.end() :]
        goes_on = margin is not None
        opened, closed = line.rfind("/*"), line.rfind("*/")
        is_block = is_code and (opened > closed if opened >= 0 else is_block and closed < 0)
    return "\n".join(lines)


def listings_beside(text: str, mention: Mention) -> tuple[str, ...]:
    r"""Return the fenced code beside a citation: directly above or below its line, or in the block that its line opens.

    Example:
        >>> from openbook.verify.mentions import find_mentions
        >>> text = "```python\na = 1\n```\n\na.py:3\n\nIt is one."
        >>> listings_beside(text, find_mentions(text)[0])
        ('a = 1',)
    """
    start = text.rfind("\n", 0, mention.start_char) + 1
    above = text[max(0, start - _MAX_LISTING_CHARS) : start].rstrip().split("\n")[::-1]
    line, _, rest = text[start : start + _MAX_LISTING_CHARS].partition("\n")
    below = [line, *rest.split("\n")] if _FENCE.match(line) else rest.lstrip("\n").split("\n")
    return tuple("\n".join(code) for code in (_first_fence(above)[::-1], _first_fence(below)) if code)


def _first_fence(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines of the fenced block that some lines begin with; empty if they begin with something else."""
    ends = [number for number, line in enumerate(lines) if _FENCE.match(line)]
    return lines[1 : ends[1]] if len(ends) > 1 and ends[0] == 0 else []


def _label(text: str, mention: Mention) -> tuple[str, ...]:
    """Return the names in the text of a Markdown link: its inline code, or its only word."""
    match = _LABEL.search(text, max(0, mention.start_char - _MAX_CONTEXT_CHARS), mention.start_char)
    label = match[1].strip("`* ") if match else ""
    if match is None or not label or label.split(":")[0].split("#")[0] in mention.path:  # the text repeats the path
        return ()
    codes = [label] if _DOTTED.fullmatch(label.removesuffix("()")) else [code[2] for code in _CODE.finditer(match[1])]
    return tuple(filter(None, map(_name, codes)))


def _sentence(text: str, mention: Mention, within: tuple[int, int]) -> tuple[int, int]:
    low = max(within[0], mention.start_char - _MAX_CONTEXT_CHARS)
    high = max(mention.end_char, min(within[1], mention.end_char + _MAX_CONTEXT_CHARS))
    for boundary in _BLOCK_BOUNDARY.finditer(text, low, mention.start_char):
        low = boundary.end()
    boundary_after = _BLOCK_BOUNDARY.search(text, mention.end_char, high)
    high = boundary_after.start() if boundary_after else high
    for start, end in sentences(text, low, high):
        if start <= mention.start_char < end:
            return start, end
    return low, high


def _collect(said: str) -> Nearby:
    names: list[str] = []
    quotes: list[str] = []
    plain = said
    for match in _CODE.finditer(said):
        words = match[2].strip()
        name = _name(words)
        if name:
            names.append(name)
        if not re.fullmatch(r"[\w.:#$]*(?:\(\))?", words) and len("".join(words.split())) >= _MIN_QUOTE_CHARS:
            quotes.append("".join(words.split()))
        plain = plain[: match.start()] + " " * (match.end() - match.start()) + plain[match.end() :]
    quotes += ["".join(match[1].split()) for match in _QUOTED.finditer(plain)]
    names += [match.group() for match in _IDENTIFIER.finditer(plain)]
    return Nearby(tuple(dict.fromkeys(names)), tuple(dict.fromkeys(quotes)))


def _name(words: str) -> str:
    """Return the last part of a dotted name, without `()`; empty if the words are not a name."""
    match = _DOTTED.match(words)
    if match is None or not re.fullmatch(r"(?:\([^()]*\))?", words[match.end() :]):
        return ""
    return re.split(r"\.|::|#", match.group())[-1]


def _subject(text: str, start: int, mention: Mention) -> str:
    said = text[start : mention.start_char]
    found = ""
    for match in _names_in(said):
        end_char = match.end()
        if _ADJACENT.fullmatch(said, end_char) and not _USES_NAME.search(said, 0, match.start()):
            found = _name(match.group().strip("`"))
    return found


def _names_in(said: str) -> Iterator[re.Match[str]]:
    yield from _IDENTIFIER.finditer(said)
    yield from _CODE.finditer(said)
