"""How the lines of code and of settings are divided into statements, read from their layout alone.

A result is a slice of a file, which no grammar reads as a whole. Its indentation, brackets and strings are there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from openbook.answering.context import ContextItem, units_of
from openbook.types import Chunk, Unit

# What goes on with the statement above it: what closes it, a further clause, a further call of a chain, a condition.
_GOES_ON = re.compile(
    r"\s*(?:[)\]}>]|</|/>"
    r"|(?:else|elif|elsif|elseif|except|catch|finally|rescue|ensure|end|endif|done|fi|esac|then|until)\b(?![-.=_(])"
    r"|\??\.\w+\s*\(|&&|\|\||[?:]\s|\{\s*$|(?:and|or)\s)"
)

_CLOSES = re.compile(r"\s*(?:[)\]}>;,\s]|</\w+>|end(?:if)?\b|done\b|fi\b|esac\b)+$")

# What stands behind the end of a sentence: quotation marks, and what closes the comment.
_BEHIND_SENTENCE = "\"'`)*/ \t\r"
# What belongs to the statement below it: comments, decorators, attributes, sections of settings, conditions of the C
# preprocessor.
_LEADS = re.compile(r"\s*(?:#(?!\s*(?:include|define|import)\b)|//|/\*|--\s|;|@\w|\[[^\[\]]*\]\s*$)")

_SIGN = re.compile(
    r"(?P<long>\"\"\"|'''|`|/\*)"
    r"|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'"
    r"|(?P<comment>//|(?:^|(?<=\s))(?:#|--)(?=[\s!#-]|$))"
    r"|(?P<opens>[(\[])|(?P<closes>[)\]])"
)
_END_OF_LONG = {'"""': '"""', "'''": "'''", "`": "`", "/*": "*/"}

# Languages in which a backtick opens a string of several lines.
_BACKTICKS = frozenset({"javascript", "typescript", "tsx", "jsx", "go", "svelte", "vue"})

_TAB = 4

# An answer looks at ten results, and at each several times.
_KEPT_CHUNKS = 64


@dataclass(frozen=True, slots=True)
class Line:
    """What the layout says of one unit."""

    indent: int
    """In columns."""
    goes_on: bool
    """It goes on with the statement above it, at the same indentation as well."""
    inside: bool
    """It begins inside of a string or a line that an earlier unit opens."""
    leads: bool
    """It is a comment or a decorator, and belongs to what stands below."""
    depth: int
    """Round and square brackets that are open behind it, counted from the first line; may be negative."""
    ends_sentence: bool
    """It ends with a full stop or the like, or has no words, as between paragraphs of a comment."""
    closes: bool
    """It only closes what stands above."""
    is_apart: bool
    """A blank line stands above it."""


@dataclass(frozen=True, slots=True)
class CodeStatement:
    """A statement with the comments above it and all that is indented under it. Positions count units from 0."""

    first: int
    opens: int
    """Its first line behind the comments."""
    head: int
    """The line in which the brackets of its first one are closed, as those of a signature."""
    last: int
    """Inclusive."""


def layout_of(shown: ContextItem) -> Sequence[Line]:
    """Read the layout of what is shown of a result, once for all questions in a row that find it."""
    return _layout(shown.result.chunk, len(shown.units))


@lru_cache(maxsize=_KEPT_CHUNKS)
def _layout(chunk: Chunk, count: int) -> Sequence[Line]:
    return tuple(lines_of(units_of(chunk)[:count], chunk.language))


def lines_of(units: Sequence[Unit], language: str = "") -> list[Line]:
    """Read the layout of units. The language tells which strings run over several lines."""
    found: list[Line] = []
    depth, above = 0, None
    for unit, (sign, opened) in zip(units, _scan(units, language), strict=True):
        text = unit.text.expandtabs(_TAB)
        is_rest = bool(sign) or (above is not None and above.span.end_line == unit.span.start_line)
        leads = sign == "/*" or not (is_rest or _LEADS.match(text) is None)
        depth += 0 if leads else opened
        goes_on = is_rest or _GOES_ON.match(text) is not None
        is_apart = above is not None and unit.span.start_line > above.span.end_line + 1
        indent = len(text) - len(text.lstrip())
        said = text.rstrip(_BEHIND_SENTENCE)
        ends = said.endswith((".", "!", "?", ":")) or not any(map(str.isalnum, text))
        closes = _CLOSES.match(text) is not None
        found.append(Line(indent, goes_on, is_rest, leads, depth, ends, closes, is_apart and not sign))
        above = unit
    return found


def _scan(units: Sequence[Unit], language: str) -> Iterator[tuple[str, int]]:
    """Yield for each unit what string or comment it begins inside of, if any, and how many brackets more it opens."""
    within = ""
    for place, unit in enumerate(units):
        begins, text, at, opened = within, unit.text, 0, 0
        if within:
            at = text.find(_END_OF_LONG[within])
            at, within = (at + len(_END_OF_LONG[within]), "") if at >= 0 else (len(text), within)
        while (sign := _SIGN.search(text, at)) and not sign["comment"]:
            at = sign.end()
            opened += bool(sign["opens"]) - bool(sign["closes"])
            if (long := sign["long"]) and (long != "`" or language in _BACKTICKS):
                end = text.find(_END_OF_LONG[long], at)
                if end >= 0:
                    at = end + len(_END_OF_LONG[long])
                elif any(_END_OF_LONG[long] in below.text for below in units[place + 1 :]):
                    within = str(long)
                    break
        yield begins, opened


def statements(lines: Sequence[Line], first: int, last: int) -> Iterator[CodeStatement]:
    """Yield the statements between two positions, both inclusive, in order. Together they cover all lines."""
    place = first
    while place <= last:
        opens = place
        while opens < last and lines[opens].leads and not lines[opens + 1].is_apart:
            opens += 1
        end, depth = opens, lines[opens - 1].depth if opens else 0
        while end < last and not lines[opens].leads and _belongs(lines, opens, end + 1, depth):
            end += 1
        head = next((at for at in range(opens, end) if lines[at].depth <= depth), end)
        yield CodeStatement(place, opens, head, end)
        place = end + 1


def _belongs(lines: Sequence[Line], opens: int, place: int, depth: int) -> bool:
    """Return whether a line belongs to the statement that opens at a position, as all lines between them do."""
    line, indent = lines[place], lines[opens].indent
    if line.inside or line.indent > indent:
        return True
    if line.leads:
        below = next((at for at in range(place + 1, len(lines)) if not lines[at].leads), None)
        return below is not None and _belongs(lines, opens, below, depth)
    return line.indent == indent and (line.goes_on or lines[place - 1].depth > depth)


def pieces(lines: Sequence[Line], first: int, last: int, most: int, whole: int) -> Iterator[tuple[int, int]]:
    """Yield runs of whole statements between two positions, both inclusive, in order.

    Longer statements are cut: the head, with what follows for as long as that fits, then the statements under it.
    Strings and comments are cut where nothing else helps. What only closes is left out where it would stand first.

    Args:
        lines: What the layout says.
        first: Where to begin.
        last: Where to end.
        most: Lines of several statements together.
        whole: Lines of one that is not cut.
    """
    run: tuple[int, int] | None = None
    for piece, joins in _cut(lines, first, last, whole):
        if run and joins and piece[1] - run[0] < most:
            run = run[0], piece[1]
            continue
        if run:
            yield run
        opens = next((at for at in range(piece[0], piece[1] + 1) if not lines[at].closes), None)
        run = None if opens is None else (opens, piece[1])
    if run:
        yield run


def _cut(lines: Sequence[Line], first: int, last: int, whole: int) -> Iterator[tuple[tuple[int, int], bool]]:
    """Yield statements and parts of them, and whether each can be read on from the one before it."""
    above: CodeStatement | None = None
    for each in statements(lines, first, last):
        joins = above is not None and not lines[each.first].is_apart
        joins = joins and above is not None and lines[each.opens].indent == lines[above.opens].indent
        if each.last - each.first < whole:
            yield (each.first, each.last), joins
        elif each.opens - each.first >= whole or lines[each.opens].inside or lines[each.opens].leads:
            for block in _blocks(lines, each.first, each.last, whole):
                yield block, False
        else:
            head = each.head if each.head - each.first < whole else each.opens
            yield (each.first, head), joins
            for number, (piece, goes_on) in enumerate(_cut(lines, head + 1, each.last, whole)):
                yield piece, goes_on or number == 0
        above = each


def _blocks(lines: Sequence[Line], first: int, last: int, most: int) -> Iterator[tuple[int, int]]:
    """Yield the lines of a comment or a string in blocks of at most so many, which end where a sentence does."""
    while last - first >= most:
        end = next((at for at in range(first + most - 1, first, -1) if lines[at].ends_sentence), first + most - 1)
        yield first, end
        first = end + 1
    yield first, last


def enclosing(lines: Sequence[Line], first: int, last: int) -> list[CodeStatement]:
    """Return the statements that hold all lines between two positions and more, the innermost first."""
    found: list[CodeStatement] = []
    start, end = 0, len(lines) - 1
    while start <= first:
        around = next((s for s in statements(lines, start, end) if s.first <= first and last <= s.last), None)
        if around is None:
            break
        if (around.first, around.last) != (first, last):
            found.insert(0, around)
        if first <= around.head:
            break
        start, end = around.head + 1, around.last
    return found
