"""Splits an answer into claims (sentences, list items and table rows), each with its marks."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from openbook.answers import Claim
from openbook.grounding.blocks import ITEM, Fence, LineKind, read_line
from openbook.grounding.marks import CitationMark, read_marks
from openbook.text import sentences, trim

# Marks below a block apply to all of its sentences, up to this many pairs of mark and sentence; beyond that, only to
# the last one. A block with thousands of both is no real answer and would fill the memory.
_MAX_SHARED_PAIRS = 10_000

# Pairs of line kind and block kind where the line continues the block.
_CONTINUATIONS = frozenset({("code", "code"), ("text", "text"), ("text", "item")})

# A line that only lists references states nothing. These are the labels that answers use for it.
_REFERENCES = re.compile(
    r"[*_\s]*+(?:sources?|references?|citations?|quellen?|来源|参考|引用)?[*_\s]*+[:：]?[*_\s,;.、，]*+", re.IGNORECASE
)

# German abbreviations and dates contain full stops that do not end a sentence: "z. B.", "ca.", "3. Mai".
_MONTHS = r"(?:Jan|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)"
_ABBREVIATION = re.compile(
    rf"\b(?:[a-zA-Z]\. [a-zA-Z]|ca|ggf|evtl|inkl|vgl|sog|bspw|\d{{1,2}}(?=\. {_MONTHS}))\.(?=\s)"
)
_EMPHASIS_AFTER = re.compile(r"(?<=[.!?…。！？])[*_~]++(?=\s|$)")
_QUOTE_SIGNS = re.compile(r"(?<=\n)[ \t]*>[ \t>]*")
_BORDERS = re.compile(r"[ \t>|]*")
_DELIMITERS = re.compile(r"[ \t>|:]*+-[ \t>|:-]*+$")
_CELL = re.compile(r"(?<!\\)\|")
_LINE_END = re.compile(r"(?:(?<![ \t])[ \t]++)?\r?\n[ \t>]*")
_CLOSES = re.compile(r"[\s.,;:!?)\]。，；：！？、）]|$")


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim and its marks, with offsets, before the verdict."""

    claim: Claim
    marks: tuple[CitationMark, ...]
    heads: tuple[str, ...] = ()
    """Column names, for a table row; empty ones too."""
    cells: tuple[str, ...] = ()
    """Cells of the row; empty ones too."""

    @property
    def judged(self) -> str:
        """The text to judge: the claim, or each cell of a row prefixed with its column name.

        Example:
            >>> Statement(Claim(0, 8, "a | 60 s"), (), ("Name", "Timeout"), ("a", "60 s")).judged
            'Name: a; Timeout: 60 s'
        """
        count = len(self.heads)
        if not count or len(self.cells) < count or any(self.cells[count:]):  # marks may stand in a cell of their own
            return self.claim.text
        named = zip(self.heads, self.cells, strict=False)
        return "; ".join(f"{head}: {cell}" if head else cell for head, cell in named if cell)


@dataclass(frozen=True, slots=True)
class UnattachedMarks:
    """Marks without a claim (after code, in a heading, in a list of references), or code without marks."""

    marks: tuple[CitationMark, ...]
    text: str
    """The fenced code or the heading that the marks belong to; else empty."""
    is_code: bool
    start_char: int = 0
    """Offset in the answer."""
    end_char: int = 0


@dataclass(slots=True)
class _Block:
    kind: LineKind
    start: int
    end: int
    marks: list[CitationMark] = field(default_factory=list)
    """Marks on lines of their own directly below the block."""
    heads: tuple[str, ...] = ()
    """Column names, for a row."""


def split_claims(answer: str) -> tuple[list[Statement], list[UnattachedMarks]]:
    """Split an answer into claims, in order, and the marks and code without a claim.

    A mark belongs to the sentence that contains or precedes it. On a line of its own, it belongs to
    every sentence of the preceding block that has no mark. After the end of a list item, it applies
    to the whole item.

    Example:
        >>> statements, _ = split_claims("It waits. [1:2] It ends.")
        >>> [(each.claim.text, each.claim.marks) for each in statements]
        [('It waits.', ('[1:2]',)), ('It ends.', ())]
    """
    marks, code = read_marks(answer)
    masked = _masked(answer, marks, code)
    starts = [mark.start_char for mark in marks]
    statements: list[Statement] = []
    loose: list[UnattachedMarks] = []
    for block in _blocks(answer, masked, marks):
        inside = marks[bisect_left(starts, block.start) : bisect_left(starts, block.end)]
        if block.kind in ("heading", "code", "rule"):
            found, beside = [], [*inside, *block.marks]
        else:
            found = _statements(answer, masked, block, inside)
            beside = [] if found else [*inside, *block.marks]
        statements += found
        is_code = block.kind == "code"
        if beside or is_code:
            text = answer[block.start : block.end] if is_code else _text(answer, block.start, block.end, inside)
            loose.append(UnattachedMarks(tuple(beside), text, is_code, block.start, block.end))
    return statements, loose


def _masked(answer: str, marks: Sequence[CitationMark], code: Sequence[tuple[int, int]]) -> str:
    """Replace marks, and quotes and emphasis after a full stop, with blanks of the same length.

    Code and abbreviations become letters, because a full stop in them does not end a sentence.
    """
    places = [(mark.start_char, mark.end_char, " ") for mark in marks] + [(start, end, "x") for start, end in code]
    parts, at = [], 0
    for start, end, filling in sorted(places):
        parts += [answer[at:start], filling * (end - start)]
        at = end
    masked = "".join([*parts, answer[at:]])
    for signs in (_QUOTE_SIGNS, _EMPHASIS_AFTER):
        masked = signs.sub(lambda match: " " * len(match.group()), masked)
    return _ABBREVIATION.sub(lambda match: "x" * len(match.group()), masked)


def _blocks(answer: str, masked: str, marks: Sequence[CitationMark]) -> list[_Block]:
    """Split an answer into blocks. A line of marks alone joins the block before it, if there is one."""
    blocks: list[_Block] = []
    heads: tuple[str, ...] = ()
    goes_on = is_table = False
    for start, end, read, content in _lines(answer):
        # Inside a table, a row needs no outer pipes.
        kind: LineKind = "row" if read == "text" and is_table and "|" in masked[start:end] else read
        is_table = is_table and kind == "row"
        own = _marks_alone(masked, content, end, marks) if kind in ("text", "item") else []
        if own and (not blocks or masked[content:end].strip()):
            blocks.append(_Block("rule", end, end, own))
        elif own:
            blocks[-1].marks += own
        elif kind == "rule" and goes_on and blocks[-1].kind == "text":
            blocks[-1].kind = "heading"
        elif kind in ("row", "text") and _is_below_heads(masked, answer[start:end], start, blocks):
            heads, is_table = _take_heads(answer, masked, marks, blocks), True
        elif goes_on and (kind, blocks[-1].kind) in _CONTINUATIONS:
            blocks[-1].end = end
        elif kind not in ("blank", "rule"):
            heads = heads if kind == "row" else ()
            blocks.append(_Block(kind, content, end, heads=heads))
        goes_on = kind in ("text", "item", "code") and not own and not is_table
    return blocks


def _is_below_heads(masked: str, line: str, start: int, blocks: Sequence[_Block]) -> bool:
    """Return whether a line separates the column names, on the line above, from the rows. One with a mark does not."""
    if not blocks or blocks[-1].kind not in ("row", "text") or not _DELIMITERS.match(line):
        return False
    return "|" in line and "|" in _last_line(masked, blocks[-1]) and masked.count("\n", blocks[-1].end, start) == 1


def _last_line(masked: str, block: _Block) -> str:
    return masked[block.start : block.end].rpartition("\n")[2]


def _take_heads(answer: str, masked: str, marks: Sequence[CitationMark], blocks: list[_Block]) -> tuple[str, ...]:
    """Make the header row at the end of the last block a heading, and return the names of the columns."""
    line, end = _last_line(masked, blocks[-1]), blocks[-1].end
    blocks[-1].end -= len(line) + 1
    if blocks[-1].end < blocks[-1].start:
        blocks.pop()
    blocks.append(_Block("heading", end - len(line), end))
    return tuple(cell.strip(" *_`") for cell in _cells(answer, masked, end - len(line), end, marks))


def _cells(answer: str, masked: str, start: int, end: int, marks: Sequence[CitationMark]) -> tuple[str, ...]:
    """Return the cells of the row that a range is in, without marks. A bar in code or behind a backslash is no border.

    An empty first cell counts, although the range may begin behind it.
    """
    start = masked.rfind("\n", 0, start) + 1
    line = masked[start:end].rstrip()
    first = start + len(line) - len(line.lstrip(" \t>"))
    first += masked.startswith("|", first)
    borders = [match.start() for match in _CELL.finditer(masked, first, start + len(line))]
    if not borders or borders[-1] != start + len(line) - 1:
        borders.append(start + len(line))
    starts = [first, *(border + 1 for border in borders)]
    inside = marks[bisect_left(marks, start, key=_start_of) : bisect_left(marks, end, key=_start_of)]
    return tuple(_text(answer, *cell, inside) for cell in zip(starts, borders, strict=False))


def _start_of(mark: CitationMark) -> int:
    return mark.start_char


def _lines(answer: str) -> Iterator[tuple[int, int, LineKind, int]]:
    """Yield the start, the end, the kind, and the start of the content of each line."""
    fence: Fence | None = None
    start = 0
    for line in answer.split("\n"):
        kind, fence = read_line(line, fence)
        opening = {"item": ITEM, "row": _BORDERS, "text": _BORDERS}.get(kind)
        lead = opening.match(line) if opening else None
        yield start, start + len(line), kind, start + (lead.end() if lead else 0)
        start += len(line) + 1


def _marks_alone(masked: str, start: int, end: int, marks: Sequence[CitationMark]) -> list[CitationMark]:
    """Return the marks of a line that contains nothing else."""
    if not _REFERENCES.fullmatch(masked, start, end):
        return []
    return list(marks[bisect_left(marks, start, key=_start_of) : bisect_left(marks, end, key=_start_of)])


def _statements(answer: str, masked: str, block: _Block, marks: Sequence[CitationMark]) -> list[Statement]:
    ranges, owned = _owned(masked, block, marks)
    shared = block.marks if len(ranges) * len(block.marks) <= _MAX_SHARED_PAIRS else []
    cells = _cells(answer, masked, block.start, block.end, marks) if block.heads else ()
    found = []
    limits = [*(first for first, _ in ranges[1:]), block.end]
    for (first, last), own, limit in zip(ranges, owned, limits, strict=False):
        while last < limit and answer[last] in "*_~":
            last += 1
        place = (min([first, *(mark.start_char for mark in own)]), max([last, *(mark.end_char for mark in own)]))
        text = _text(answer, *place, own)
        claim = Claim(*place, text.rstrip("| ") if block.kind == "row" else text)
        found.append(_with_marks(Statement(claim, (), block.heads, cells), own or shared))
    if found and block.marks and (all(owned) or not shared):
        found[-1] = _with_marks(found[-1], block.marks)
    return found


def _owned(
    masked: str, block: _Block, marks: Sequence[CitationMark]
) -> tuple[list[tuple[int, int]], list[list[CitationMark]]]:
    """Split a block into sentences and assign its marks to them."""
    start, end = trim(masked, block.start, block.end)
    if block.kind == "row":
        end = start + len(masked[start:end].rstrip("| \t"))
        ranges = [(start, end)]
    else:
        ranges = list(sentences(masked, start, end))
    ranges = [(first, last) for first, last in ranges if any(map(str.isalnum, masked[first:last]))]
    owned: list[list[CitationMark]] = [[] for _ in ranges]
    if not ranges:
        return ranges, owned
    leading = bool(marks) and marks[0].start_char < ranges[0][0]
    for mark in marks:
        owner = max(0, bisect_right(ranges, mark.start_char, key=lambda place: place[0]) - 1)
        if leading and mark.start_char >= ranges[owner][1] and owner + 1 < len(ranges):
            owner += 1  # "[1] says this. [2] says that."
        owned[owner].append(mark)
    if block.kind == "item" and not any(owned[:-1]):
        return [(ranges[0][0], ranges[-1][1])], [owned[-1]]
    return ranges, owned


def _with_marks(statement: Statement, marks: Sequence[CitationMark]) -> Statement:
    every = (*statement.marks, *marks)
    claim = replace(statement.claim, marks=tuple(dict.fromkeys(mark.text for mark in every)))
    return replace(statement, claim=claim, marks=every)


def _text(answer: str, start: int, end: int, marks: Sequence[CitationMark]) -> str:
    """Return a range without its marks, the blanks before them, and soft line breaks."""
    inside = [mark for mark in marks if start <= mark.start_char < end]
    starts, ends = [start, *(mark.end_char for mark in inside)], [*(mark.start_char for mark in inside), end]
    parts = [answer[start : ends[0]]]
    for first, last in zip(starts[1:], ends[1:], strict=True):
        if _CLOSES.match(answer, first, last):
            parts[-1] = parts[-1].rstrip(" \t")
        if first < last:
            parts.append(answer[first:last])
    return _LINE_END.sub(" ", "".join(parts)).strip()
