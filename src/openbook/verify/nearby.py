"""Extracts the names, quotes and numbers in the text around a citation."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

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
# Three `*` or `+` below a line are a thematic break or end front matter, and so are three hyphens below a list item.
_HEADING = re.compile(
    r"^(?P<level>#{1,6}|={2,6})[ \t]+(?P<title>.*)"
    r"|^(?P<underlined>(?![-*+][ \t])[^\s#=|>].*)\n(?P<line>[=-]|[~^+*](?=[~^+*]{3}))(?P=line)+[ \t]*$",
    re.MULTILINE,
)
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:.*\n)*?---[ \t]*$", re.MULTILINE)
# Phrases such as "Defined in" and "See also" introduce a citation without describing it.
_MAX_LEAD_IN_WORDS = 3
# Longer code blocks are not quotations of the cited lines.
_MAX_LISTING_CHARS = 10_000
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_FENCE_LINE = re.compile(r"^[ \t]*(?P<run>`{3,}|~{3,})(?P<info>[^`\n]*)$", re.MULTILINE)
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


@dataclass(frozen=True, slots=True)
class Said:
    """What a page says about the cited lines."""

    names: tuple[str, ...] = ()
    """Names in the sentence of the citation."""
    above: tuple[str, ...] = ()
    """Names in the heading above."""
    title: tuple[str, ...] = ()
    """The name that is the heading above, if the page says nothing else about the lines."""
    listings: tuple[str, ...] = ()
    """Code blocks beside the citation."""


def said_of(text: str, mention: Mention, near: Nearby) -> Said:
    """Collect what a page says about the cited lines: in the sentence, the heading above and code blocks beside it."""
    above = heading_above(text, mention.start_char)
    is_only_hint = above.is_symbol and _has_few_words(text, mention, near)
    subject = (near.subject,) if near.subject else ()
    names = (*near.label, *subject, *near.names)
    return Said(names, above.names, above.names if is_only_hint else (), listings_beside(text, mention))


@dataclass(frozen=True, slots=True)
class Heading:
    """Names in a heading."""

    names: tuple[str, ...] = ()
    """Inline code and identifiers, or the only word of the heading."""
    is_symbol: bool = False
    """Whether the heading is only that name, as in an API reference."""


def heading_above(text: str, start: int) -> Heading:
    r"""Return the heading above a character; if it contains no name, as "Defined in", that of the parent section.

    Example:
        >>> heading_above("# API\n\n## `Client.get`\n\n### Defined in\n\na.py:3", 40)
        Heading(names=('get',), is_symbol=True)
    """
    headings = _headings(text)
    at = bisect_right(headings, start, key=lambda found: found[0]) - 1
    return headings[at][1] if at >= 0 else Heading()


@lru_cache(maxsize=2)
def _headings(text: str) -> Sequence[tuple[int, Heading]]:
    """Return the headings of a text with the characters where they start, in order."""
    found = list[tuple[int, Heading]]()
    above = list[tuple[int, Heading]]()  # by level
    front, blocks = _FRONT_MATTER.match(text), _fenced_blocks(text)
    for match in _HEADING.finditer(text, front.end() if front else 0):
        block = bisect_right(blocks, (match.start(), len(text))) - 1
        if block >= 0 and match.start() < blocks[block][1]:
            continue  # a comment in a code block
        level = len(match["level"]) if match["level"] else 1 + "=-".find(match["line"]) % 3
        title = (match["title"] or match["underlined"] or "").strip().strip("#=`").strip()
        while above and above[-1][0] >= level:
            above.pop()
        is_symbol = _DOTTED.fullmatch(title.removesuffix("()")) is not None
        heading = Heading((_name(title),) if is_symbol else _collect(title).names, is_symbol)
        if not heading.names and above:
            heading = above[-1][1]
        above.append((level, heading))
        found.append((match.start(), heading))
    return found


def _fenced_blocks(text: str) -> list[tuple[int, int]]:
    """Return the half-open character ranges of fenced code blocks, in order. An unclosed one ends with the text."""
    found = list[tuple[int, int]]()
    opening: re.Match[str] | None = None
    for line in _FENCE_LINE.finditer(text):
        if opening is None:
            is_underline = line["run"][0] == "~" and text[max(0, line.start() - 2) : line.start()].strip() != ""
            opening = None if is_underline else line
        elif line["run"].startswith(opening["run"]) and not line["info"].strip():
            found.append((opening.start(), line.end()))
            opening = None
    return [*found, (opening.start(), len(text))] if opening else found


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


def _has_few_words(text: str, mention: Mention, near: Nearby) -> bool:
    """Return whether the line of a citation has few words besides links, as in "Defined in: [a.py:3](a.py#L3)"."""
    start, end = text.rfind("\n", 0, mention.start_char) + 1, text.find("\n", mention.end_char)
    line = text[start : mention.start_char] + " " + text[mention.end_char : end if end >= 0 else None]
    words = re.findall(r"[^\W\d_]+", re.sub(r"\[[^\[\]]*\]\(\s*\)?", "", line))
    return not (near.names or near.quotes or near.label) and len(words) <= _MAX_LEAD_IN_WORDS


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
