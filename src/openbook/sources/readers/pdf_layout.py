"""Layout analysis of pages: columns, paragraphs and headings from the positions of lines. Pure functions."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from statistics import median
from types import MappingProxyType

from openbook.sources.readers.pdf_glyphs import HYPHEN
from openbook.sources.readers.pdf_pages import PageLine, Row
from openbook.sources.readers.pdf_visible import is_across

# Minimum number of adjacent lines that have a gap at the same position, and four words each, to form a text column.
# Table rows have fewer words, or stand alone.
_MIN_LINES = 6
_MIN_WORDS = 4.0

# Shorter texts are captions, notes and headings, which may be anywhere.
_MIN_MOVED = 4
# Maximum white space between related lines, in font heights.
_MAX_BREAK = 4.0
# Tolerance in points: lines may overlap a little.
_TOLERANCE = 2.0

MARGIN = 0.12
"""Within this share of the page height from the top or bottom, only the first or last line is text. Running heads and
page numbers usually are there."""

# A watermark has one or two diagonal lines per page; figures have many slanted labels.
_MAX_LINES_ACROSS = 2

# White space above lines of the same text, in font heights. Lines may overlap a little, parts of one line overlap
# completely.
_MIN_GAP, _MAX_GAP = -0.5, 1.5

# White space above a paragraph beyond the line spacing, in font heights.
_PARAGRAPH_GAP = 0.4

HEADING_FACTOR = 1.15
"""Headings of the lowest level are a sixth larger than text; fonts of one size differ by a tenth in height."""

SAME_SIZE = 0.93
"""Minimum ratio of heights at the same level: two fonts of one size, or a word in another font."""

_MAX_HEADING_CHARS = 200
_MAX_LEVEL = 6

# Lines of one column begin within this distance, in points.
_COLUMN_STEP = 3.0

# Narrower columns contain names and numbers. The width is estimated from this number of characters, in font heights.
_MIN_WRAPPED_CHARS = 30
_CHARACTER_WIDTH = 0.43

# Beginnings of a separate line: a list item, or a name with a colon, as in the header of a course.
_ITEM = re.compile(r"[•◦▪▫‣●○■□▶►▸➢➤→✓✔–—*·-] |\(?\w{1,3}[.)] |[A-Z][\w ]{1,30}: ")

Edges = dict[tuple[int, int], float]

# A title with a number: `7.3 Title`, `V7.3 Title`, `2. Title`, `Part A: Title`. It ends as no sentence does.
_NUMBERED = re.compile(
    r"(?:(?:Appendix|Annex|Chapter|Section|Part) (?=[A-Z0-9]))?"
    r"(?P<number>[A-Z]?\d{1,2}(?:\.\d{1,2}){0,4}|[A-Z](?:\.\d{1,2}){1,4})[.:]?\s+(?P<title>[^\W\d_].+)(?<![.,;:!?])"
)

# In a text that is bold as a whole, bold lines are no headings.
_MAX_BOLD = 0.3

LEADER = re.compile(r"(?:\. ?){4}")
"""Dot leaders of a table of contents."""

_ENDING = (".", "!", "?", ":", "…", "。", "！", "？")


def without_stamps(rows: Sequence[Row], width: float) -> list[Row]:
    """Remove watermarks and text along the sides of a page."""
    counts: Counter[int] = Counter()
    for row in rows:
        counts[row[0].angle] += len(text_of(row))
    usual = max(counts, key=lambda angle: (counts[angle], -angle), default=0)
    lines = Counter(row[0].angle for row in rows)
    marks = {angle for angle, count in lines.items() if is_across(angle - usual) and count <= _MAX_LINES_ACROSS}
    return [row for row in rows if row[0].angle == usual or not (row[0].angle in marks or _is_at_side(row[0], width))]


def _is_at_side(line: PageLine, width: float) -> bool:
    return line.right < width * MARGIN or line.left > width * (1 - MARGIN)


def by_columns(rows: Sequence[Row]) -> list[Row]:
    """Order the lines of a page by column.

    Most PDFs store one column after the other, and are not changed.
    """
    ordered: list[Row] = []
    for several, group in groupby(rows, key=lambda row: len(row) == 2):
        run = list(group)
        if several and _are_columns(run):
            ordered += [(left,) for left, _ in run] + [(right,) for _, right in run]
        else:
            ordered += run
    return ordered


def from_top(rows: Sequence[Row]) -> list[Row]:
    """Move text at the top of a page, such as an abstract or a frame, before text below it.

    Lines that follow each other downwards stay together; text beside other text keeps its position.
    """
    runs: list[list[Row]] = []
    for before, row in zip([None, *rows], rows, strict=False):
        if before is None or not _goes_down(before, row):
            runs.append([])
        runs[-1].append(row)
    ordered: list[list[Row]] = []
    for run in runs:
        below = (at for at, other in enumerate(ordered) if _is_below(other, run))
        at = next(below, len(ordered)) if len(run) >= _MIN_MOVED else len(ordered)
        ordered.insert(at, run)
    return [row for run in ordered for row in run]


def _goes_down(before: Row, row: Row) -> bool:
    """Return whether a line is below the previous one, in the same column and close to it."""
    gap = before[0].bottom - row[0].top
    is_beside = row[0].left > before[-1].right or row[-1].right < before[0].left
    return row[0].bottom <= before[0].top and not is_beside and gap < _MAX_BREAK * row[0].height


def _is_below(rows: Sequence[Row], others: Sequence[Row]) -> bool:
    """Return whether a text is below another one of the same font size, overlapping most of the narrower one."""
    sizes = median(r[0].height for r in rows), median(r[0].height for r in others)
    if min(sizes) < SAME_SIZE * max(sizes):  # one of them is a table, a caption or a note
        return False
    left, right, top = min(r[0].left for r in rows), max(r[-1].right for r in rows), max(r[0].top for r in rows)
    start, end = min(r[0].left for r in others), max(r[-1].right for r in others)
    shared = min(right, end) - max(left, start)
    is_text = len(rows) >= _MIN_MOVED and top <= min(r[0].bottom for r in others) + _TOLERANCE
    return is_text and shared > min(right - left, end - start) / 2


def _are_columns(rows: Sequence[Row]) -> bool:
    if len(rows) < _MIN_LINES:
        return False
    words = (sum(len(row[side].text.split()) for row in rows) / len(rows) for side in (0, 1))
    return max(row[0].right for row in rows) < min(row[1].left for row in rows) and min(words) >= _MIN_WORDS


def body_height(pages: Iterable[Iterable[Row]]) -> float:
    """Return the font height of most characters; 0 without any."""
    counts: Counter[float] = Counter()
    for rows in pages:
        for row in rows:
            for line in row:
                counts[round(line.height, 1)] += len(line.text)
    return max(counts, key=lambda height: (counts[height], height), default=0.0)


def height_of(row: Row) -> float:
    """Return the font height of a line, without its bullet, which may be in a larger font."""
    return next((line for line in row if any(map(str.isalnum, line.text))), row[0]).height


def _number_of(row: Row) -> str:
    """Return the number of a bold line that may be a heading; empty if it is none."""
    text = text_of(row)
    found = _NUMBERED.fullmatch(text) if len(text) <= _MAX_HEADING_CHARS and all(line.is_bold for line in row) else None
    if not found or found["title"][0].islower() or LEADER.search(text):
        return ""
    # White space may be between number and title; other parts are cells.
    return found["number"] if row[-1].text.endswith(found["title"]) else ""


def text_of(row: Row) -> str:
    """Join the parts of a line with two spaces."""
    return "  ".join(line.text for line in row)


def paragraphs_of(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Split the lines of a page into paragraphs, at white space or changes of the font size."""
    if not rows:
        return
    gaps = [before[0].bottom - row[0].top for before, row in pairwise(rows)]
    heights = [height_of(row) for row in rows[1:]]
    usual = median([gap for gap, h in zip(gaps, heights, strict=True) if _MIN_GAP * h < gap < _MAX_GAP * h] or [0.0])
    paragraph = [rows[0]]
    for gap, row in zip(gaps, rows[1:], strict=True):
        if _begins(paragraph[-1], row, gap - usual):
            yield paragraph
            paragraph = []
        paragraph.append(row)
    yield paragraph


def _begins(before: Row, row: Row, gap: float) -> bool:
    height, other = height_of(row), height_of(before)
    if max(height, other) > HEADING_FACTOR * min(height, other):
        return True
    if _number_of(row) or (_number_of(before) and not row[0].is_bold):
        return True
    if row[0].bottom > before[0].top:  # the top of another column
        return text_of(before).endswith(_ENDING)
    return gap > _PARAGRAPH_GAP * height


def edges_of(rows: Iterable[Row]) -> Edges:
    """Return the right edge of each column of a page, by left edge and font size."""
    edges: Edges = {}
    for row in rows:
        if len(row) == 1:
            key = _column(row[0])
            edges[key] = max(edges.get(key, 0.0), row[0].reach)
    return edges


def _column(line: PageLine) -> tuple[int, int]:
    return round(line.left / _COLUMN_STEP), round(line.height)


def unwrapped(paragraph: Sequence[Row], edges: Edges) -> list[str]:
    """Return the lines of a paragraph, joining those that were wrapped at the column edge."""
    lines = [text_of(paragraph[0])]
    for before, row in pairwise(paragraph):
        text = text_of(row)
        if lines[-1].endswith(HYPHEN) and text[0].isalpha():
            lines[-1] += text
        elif _was_broken(before, row, text, edges):
            lines[-1] += text if _is_ideographic(lines[-1][-1]) and _is_ideographic(text[0]) else f" {text}"
        else:
            lines.append(text)
    return lines


def _was_broken(before: Row, row: Row, text: str, edges: Edges) -> bool:
    """Return whether the first word of a line would not have fitted on the previous one."""
    line = before[-1]
    if len(before) > 1 or len(row) > 1 or len(line.text) < _MIN_WRAPPED_CHARS or _ITEM.match(text):
        return False
    word = 1 if _is_ideographic(text[0]) else len(text.split(maxsplit=1)[0]) + 2  # a space, and some tolerance
    return line.right + word * _CHARACTER_WIDTH * line.height > edges.get(_column(line), line.right)


def _is_ideographic(character: str) -> bool:
    return "\u2e80" <= character <= "\uffdc"


def heading_levels(pages: Iterable[Iterable[Row]], body: float) -> dict[float, int]:
    """Return heading levels by font height, 1 for the largest. Heights of text are not included."""
    heights = {height_of(row) for rows in pages for row in rows if height_of(row) > HEADING_FACTOR * body > 0}
    levels: dict[float, int] = {}
    level, largest = 0, math.inf
    for height in sorted(heights, reverse=True):
        if height < SAME_SIZE * largest:
            level, largest = min(level + 1, _MAX_LEVEL), height
        levels[height] = level
    return levels


def numbered_headings(pages: Iterable[Sequence[Row]], body: float, levels: Mapping[float, int]) -> dict[Row, int]:
    """Return the levels of bold lines with a number that are as large as text, below those of larger headings."""
    rows = [row for page in pages for row in page]
    bold, others = (sum(len(text_of(row)) for row in rows if row[0].is_bold is is_bold) for is_bold in (True, False))
    if bold > _MAX_BOLD * (bold + others):
        return {}
    depths = {
        row: number.count(".")
        for row in rows
        if (number := _number_of(row)) and height_of(row) not in levels and height_of(row) >= SAME_SIZE * body
    }
    above = max(levels.values(), default=0) - min(depths.values(), default=0) + 1
    return {row: min(above + depth, _MAX_LEVEL) for row, depth in depths.items()}


def heading_title(
    paragraph: Sequence[Row], levels: Mapping[float, int], numbered: Mapping[Row, int] = MappingProxyType({})
) -> tuple[str, int]:
    """Return title and level if the lines are a heading, by its size or number, else an empty title and 0."""
    title = " ".join(" ".join(map(text_of, paragraph)).split()).replace(f"{HYPHEN} ", HYPHEN)
    level = levels.get(height_of(paragraph[0]), 0) or numbered.get(paragraph[0], 0)
    is_entry = LEADER.search(title) is not None  # an entry of a table of contents
    if not level or is_entry or len(title) > _MAX_HEADING_CHARS or not any(map(str.isalpha, title)):
        return "", 0
    return title, level
