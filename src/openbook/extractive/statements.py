"""Splits lines of code and configuration into statements by their layout.

Results are slices of files, which grammars cannot parse. Indentation, brackets and strings suffice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from openbook.extractive.comment_lines import C_LANGUAGES, CommentLine, blocks_of, said_in
from openbook.extractive.context import ContextItem, units_of
from openbook.types import Chunk, Unit

# A line that continues the statement above: closing brackets, further clauses, chained calls, conditions.
_GOES_ON = re.compile(
    r"\s*(?:[)\]}>]|</|/>"
    r"|(?:else|elif|elsif|elseif|except|catch|finally|rescue|ensure|end|endif|done|fi|esac|then|until)\b(?![-.=_(])"
    r"|\??\.\w+\s*\(|&&|\|\||[?:]\s|\{\s*$|(?:and|or)\s)"
)

# A clause that says nothing without the condition above. `except Timeout:` and `elif late:` have one of their own.
_OPENS_ELSE = re.compile(r"\s*\}?\s*(?:else|finally|ensure|then)\s*[:{]?\s*(?:(?:#|//|--).*)?$")
_BRACE = re.compile(r"\s*\{\s*$")

# The guard of a header ends in `#endif  // ITS_NAME`.
_CLOSES = re.compile(r"\s*(?:[)\]}>;,\s]|</\w+>|end(?:if)?\b|done\b|fi\b|esac\b|#\s*(?:endif\b.*|else$))+$")

# Characters that may follow the end of a sentence: quotation marks, and the end of a comment.
_BEHIND_SENTENCE = "\"'`)*/ \t\r"
# A line that belongs to the statement below: comments, decorators, attributes, section headers, conditions of the C
# preprocessor.
_LEADS = re.compile(r"\s*(?:#(?!\s*(?:include|define|import)\b)|//|/\*|--\s|;|@\w|\[\[?[^\[\]]*\]\]?\s*$)")

# A docstring of Julia is above what it describes, and `@inline function f()` is no decorator above a function.
_LEADS_IN_JULIA = re.compile(r'\s*(?:"""|#|@\w+\s*$)')

_DOCUMENTED_ABOVE = frozenset({"elixir", "julia"})

# Languages with comments in `/*` and `*/`. In shells and lists of paths, `/*` is a pattern.
_STAR_COMMENTS = frozenset(
    "c cpp csharp css d dart go groovy hcl java javascript kotlin less objc php proto rust scala scss solidity sql"
    " svelte swift tsx typescript vue".split()
)

# An attribute or an annotation with brackets of its own.
_ATTRIBUTE = re.compile(r"\s*(?:#\[|@[\w.:]+\()")

# The parameters of a template, on lines of their own, belong to the statement below as well.
_TEMPLATE = re.compile(r"\s*template\s*<")

# Words that begin with a capital letter, as in a docstring that ends in another chunk.
_SENTENCE = re.compile(r"\s*[A-Z][\w'-]*(?:[ \t]+[\w'`,-]+){2,}")

_SIGN = re.compile(
    r"(?P<long>\"\"\"|'''|`|/\*)"
    r"|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'"
    r"|(?P<comment>//|(?:^|(?<=\s))(?:#|--)(?=[\s!#-]|$))"
    r"|(?P<opens>[(\[])|(?P<closes>[)\]])"
)
_END_OF_LONG = {'"""': '"""', "'''": "'''", "`": "`", "/*": "*/"}

# A comment or a docstring that opens its line, so that nothing else does; its end may be in the next chunk.
_OPENS_LINE = re.compile(r"\s*(?:/\*|[rRuU]?(?:\"\"\"|''')(?=\s*\w)|@\w+\s+(?:~[sS])?(?:\"\"\"|'''))")
# The end of a docstring: alone on its line, or directly behind a text that is no prefix of a string.
_ENDS_LINE = re.compile(r"\s*(?:\"\"\"|''')|.*[.!?)`*\w](?<![^\w][rRbBfFuU])(?<![^\w][rRbBfF]{2})(?:\"\"\"|''')")
# A line within a comment of a style that has such a sign on each.
_STARRED = re.compile(r"\s*\*(?:\s|/|$)")

# Languages with multi-line strings in backticks.
_BACKTICKS = frozenset({"javascript", "typescript", "tsx", "jsx", "go", "svelte", "vue"})

_TAB = 4

# Cached chunks: an answer reads each of ten results several times.
_CACHED_CHUNKS = 64


@dataclass(frozen=True, slots=True)
class Line:
    """The layout of a unit."""

    indent: int
    """In columns."""
    goes_on: bool
    """It continues the statement above, even at the same indentation."""
    inside: bool
    """It begins within a string, comment or line that an earlier unit opens."""
    leads: bool
    """It is a comment or a decorator, and belongs to the statement below."""
    depth: int
    """The number of open round and square brackets at its end, counted from the first line; may be negative."""
    ends_sentence: bool
    """It ends a sentence, or has no words, as between paragraphs of a comment."""
    closes: bool
    """It is nothing but closing brackets or keywords."""
    is_apart: bool
    """A blank line precedes it."""
    leads_in: bool = False
    """It introduces what follows in its comment or string, such as a list."""
    is_else: bool = False
    """It opens an `else` or `finally`, which means nothing without the statement above."""
    said: str | None = None
    """Its text if it is a comment or of a docstring, with blanks for the signs of that; else None."""
    begins: bool = False
    """A line without words precedes it in its comment or string."""


@dataclass(frozen=True, slots=True)
class CodeStatement:
    """A statement with the comments above and its indented body. Positions are indexes of units."""

    first: int
    opens: int
    """Its first line after the comments."""
    head: int
    """The last line of its head: where the brackets of the first line are closed, as in a signature."""
    last: int
    """Inclusive."""


def layout_of(shown: ContextItem) -> Sequence[Line]:
    """Return the layout of a result, cached for consecutive questions."""
    return _layout(shown.result.chunk, len(shown.units))


@lru_cache(maxsize=_CACHED_CHUNKS)
def _layout(chunk: Chunk, count: int) -> Sequence[Line]:
    return tuple(lines_of(units_of(chunk)[:count], chunk.language))


def lines_of(units: Sequence[Unit], language: str = "") -> list[Line]:
    """Return the layout of units. The language determines which strings may have several lines."""
    found: list[Line] = []
    depth, above = 0, None
    scanned = list(_scan(units, language))
    leading = _attribute_lines(units, [opened for _, opened in scanned])
    leading |= _template_lines(units) if language in C_LANGUAGES else set()
    leads_below = _LEADS_IN_JULIA if language == "julia" else _LEADS
    for place, (unit, (sign, opened)) in enumerate(zip(units, scanned, strict=True)):
        text = unit.text.expandtabs(_TAB)
        is_rest = bool(sign) or (above is not None and above.span.end_line == unit.span.start_line)
        # In Elixir, documentation is the string of an attribute: `@doc """`; in Julia, a string above.
        in_attribute = bool(sign) and (found[-1].leads if found else language in _DOCUMENTED_ABOVE)
        leads = in_attribute or sign == "/*" or place in leading or not (is_rest or leads_below.match(text) is None)
        depth += 0 if leads else opened
        goes_on = is_rest or _GOES_ON.match(text) is not None
        is_apart = above is not None and unit.span.start_line > above.span.end_line + 1
        indent = len(text) - len(text.lstrip())
        said = text.rstrip(_BEHIND_SENTENCE)
        ends = said.endswith((".", "!", "?")) or not any(map(str.isalnum, text))
        closes = _CLOSES.match(text) is not None
        is_else = not is_rest and _OPENS_ELSE.match(text) is not None
        leads_in = said.endswith(":") and (is_rest or leads or _SENTENCE.match(text) is not None)
        is_else = is_else or (bool(found) and found[-1].is_else and _BRACE.match(text) is not None)
        # What opens behind code is no comment on it, or a string of data.
        is_data = bool(sign and found) and found[-1].said is None
        told = None if is_data else said_in(unit.text, sign, language)
        begins = is_apart or (bool(found) and found[-1].said is not None and not found[-1].said.strip())
        is_apart = is_apart and not sign
        found.append(
            Line(indent, goes_on, is_rest, leads, depth, ends, closes, is_apart, leads_in, is_else, told, begins)
        )
        above = unit
    return found


def _attribute_lines(units: Sequence[Unit], opened: Sequence[int]) -> set[int]:
    """Return the positions of lines within the brackets of an attribute or an annotation of several lines."""
    found, depth = set[int](), 0
    for place, unit in enumerate(units):
        if depth > 0:
            found.add(place)
        if depth > 0 or _ATTRIBUTE.match(unit.text):
            depth += opened[place]
    return found


def _template_lines(units: Sequence[Unit]) -> set[int]:
    """Return the positions of lines that have nothing but the parameters of templates."""
    found = set[int]()
    place = 0
    while place < len(units):
        if not _TEMPLATE.match(units[place].text):
            place += 1
            continue
        opened, end = 0, place
        for end in range(place, len(units)):
            text = units[end].text.replace("->", "  ").rstrip()
            opened += text.count("<") - text.count(">")
            if opened <= 0 or not text:
                break
        # Behind the parameters, a declaration may begin on the same line; and comparisons count as brackets.
        if opened == 0 and units[end].text.rstrip().endswith(">"):
            found |= {*range(place, end + 1)}
        place = end + 1
    return found


def _scan(units: Sequence[Unit], language: str) -> Iterator[tuple[str, int]]:
    """Yield for each unit the string or comment in which it begins, if any, and its balance of brackets."""
    within = _opened_above(units)
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
                elif _is_opening(units, place, sign, language):
                    within = str(long)
                    break
        yield begins, opened


def _is_opening(units: Sequence[Unit], place: int, sign: re.Match[str], language: str) -> bool:
    """Return whether a sign opens a string or a comment of several lines: it has an end, or opens its line."""
    found = _OPENS_LINE.match(units[place].text)
    is_first = found is not None and found.end() == sign.end() and (sign["long"] != "/*" or language in _STAR_COMMENTS)
    return is_first or any(_END_OF_LONG[sign["long"]] in below.text for below in units[place + 1 :])


def _opened_above(units: Sequence[Unit]) -> str:
    """Return the comment or docstring in which units begin, which opens in an earlier chunk; empty if there is none."""
    first = next((unit.text for unit in units if "/*" in unit.text or "*/" in unit.text), "")
    if ("/*" not in first and first.rstrip().endswith("*/")) or (
        not first and all(map(_STARRED.match, (unit.text for unit in units)))
    ):
        return "/*"
    return next((sign for sign in ('"""', "'''") if _is_within(units, sign)), "")


def _is_within(units: Sequence[Unit], sign: str) -> bool:
    """Return whether units begin in a docstring with a sign: the first one ends it."""
    signed = [place for place, unit in enumerate(units) if sign in unit.text]
    first = units[signed[0]].text.rstrip() if signed else ""
    if first.count(sign) != 1 or not _ENDS_LINE.fullmatch(first):
        return False
    if first.strip() != sign:
        return True
    # On a line of its own, it may open one as well.
    above = units[signed[0] - 1].text if signed[0] else ":"
    return not above.endswith(":") and all(_OPENS_LINE.match(units[place].text) for place in signed[1:2])


def statements(lines: Sequence[Line], first: int, last: int) -> Iterator[CodeStatement]:
    """Yield the statements between two positions, both inclusive, in order. They cover all lines."""
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
    """Return whether a line belongs to the statement that opens at a position, if all lines between them do."""
    line, indent = lines[place], lines[opens].indent
    if line.inside or line.indent > indent:
        return True
    if line.leads:
        below = next((at for at in range(place + 1, len(lines)) if not lines[at].leads), None)
        return below is not None and _belongs(lines, opens, below, depth)
    return line.indent == indent and (line.goes_on or lines[place - 1].depth > depth)


def pieces(lines: Sequence[Line], first: int, last: int, most: int, whole: int) -> Iterator[tuple[int, int]]:
    """Yield runs of statements between two positions, both inclusive, in order.

    Long statements are split into the head, with as much of the body as fits, and the statements of the body. Strings
    and comments are split only as a last resort. Closing lines and `else` are dropped from the start of a run. `most`
    is the maximum number of lines of several statements, `whole` that of a statement which is not split.
    """
    run: tuple[int, int] | None = None
    for piece, joins in _cut(lines, first, last, whole):
        joins = joins or (run is not None and lines[run[1]].leads_in)
        if run and joins and piece[1] - run[0] < most:
            run = run[0], piece[1]
            continue
        if run:
            yield _trimmed(lines, *run)
        said = (at for at in range(piece[0], piece[1] + 1) if not (lines[at].closes or lines[at].is_else))
        opens = next(said, None)
        run = None if opens is None else (opens, piece[1])
    if run:
        yield _trimmed(lines, *run)


def _cut(lines: Sequence[Line], first: int, last: int, whole: int) -> Iterator[tuple[tuple[int, int], bool]]:
    """Yield statements and parts of them, and whether each may be joined with the one before."""
    above: CodeStatement | None = None
    for each in statements(lines, first, last):
        joins = above is not None and not lines[each.first].is_apart
        joins = joins and above is not None and lines[each.opens].indent == lines[above.opens].indent
        if each.last - each.first < whole:
            yield (each.first, each.last), joins
        elif each.opens - each.first >= whole or lines[each.opens].inside or lines[each.opens].leads:
            is_apart = each.opens > each.first and not (lines[each.opens].inside or lines[each.opens].leads)
            for block in _blocks(lines, each.first, each.opens - 1 if is_apart else each.last, whole):
                yield block, False
            if is_apart:
                for number, (piece, goes_on) in enumerate(_cut(lines, each.opens, each.last, whole)):
                    yield piece, goes_on and number > 0
        else:
            head = each.head if each.head - each.first < whole else each.opens
            yield (each.first, head), joins
            for number, (piece, goes_on) in enumerate(_cut(lines, head + 1, each.last, whole)):
                yield piece, goes_on or number == 0
        above = each


def _blocks(lines: Sequence[Line], first: int, last: int, most: int) -> Iterator[tuple[int, int]]:
    """Yield the blocks of comments, and other lines of strings in runs of limited length."""
    for is_comment, members in groupby(range(first, last + 1), key=lambda at: lines[at].said is not None):
        run = list(members)
        if is_comment:
            said = comment_lines(lines, run[0], run[-1])
            for number, (start, end) in enumerate(blocks_of(said, most)):
                # The line above it that opens the comment belongs to its first block.
                yield run[0] if number == 0 else run[start], run[end]
            continue
        start = run[0]
        while run[-1] - start >= most:
            ends = (at for at in range(start + most - 1, start, -1) if lines[at].ends_sentence)
            end = next(ends, start + most - 1)
            yield start, end
            start = end + 1
        yield start, run[-1]


def comment_lines(lines: Sequence[Line], first: int, last: int) -> list[CommentLine]:
    """Return the lines of a comment without signs, between two positions, both inclusive."""
    return [CommentLine(line.said or "", line.begins) for line in lines[first : last + 1]]


def _trimmed(lines: Sequence[Line], first: int, last: int) -> tuple[int, int]:
    """Return a run of lines without those at its ends that are in a comment and say nothing, unless they open it."""

    def is_empty(at: int) -> bool:
        return lines[at].said is not None and not (lines[at].said or "").strip()

    while first < last and is_empty(first) and (lines[first].inside or not lines[first + 1].inside):
        first += 1
    while first < last and is_empty(last) and (lines[first].inside or not lines[last].inside):
        last -= 1
    return first, last


def enclosing(lines: Sequence[Line], first: int, last: int) -> list[CodeStatement]:
    """Return the statements that contain two positions and more lines, innermost first."""
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
