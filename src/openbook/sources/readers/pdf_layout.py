"""What lines of pages say by where they stand: columns, running heads, paragraphs, headings. Pure functions."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from statistics import median

from openbook.sources.readers.pdf_pages import PageLine, Row

# A column of text is read as one where six lines side by side leave a gap at the same place and
# say four words each: a row of a table says less, or stands alone.
_FEWEST_LINES = 6
_FEWEST_WORDS = 4.0

# A line of a page's text stands within this share of its height from the top or the bottom only if
# it is the first or the last; running heads and page numbers always do.
_MARGIN = 0.12

# A running head stands on this share of the pages: it may change with every second page.
_RUNNING_SHARE = 0.4
_FEWEST_PAGES = 4

# A running head may repeat a title behind the number of its chapter. Shorter ones may be words of a text.
_PART_NUMBER = re.compile(
    r"^\W*+\d*+\W*+(?:chapter|section|appendix|part|kapitel|abschnitt|anhang|teil)\b", re.IGNORECASE
)
_FEWEST_TITLE_LETTERS = 5

# White space above the lines of one text, in heights of its font: they may overlap a little, parts of a line do wholly.
_NARROWEST_GAP, _WIDEST_GAP = -0.5, 1.5

# White space above a paragraph, in heights of its font, beyond what stands between its lines.
_PARAGRAPH_GAP = 0.4

# Titles of the lowest level are set a sixth larger than text; fonts of one size differ by a tenth in height.
_HEADING_FACTOR = 1.15
SAME_SIZE = 0.93
"""What is less than this much smaller is of the same level: two fonts of one size, or a word in another font."""

_LONGEST_HEADING_CHARS = 200
_DEEPEST_LEVEL = 6

# Lines of one column begin within this many points.
_COLUMN_STEP = 3.0

# Narrower columns hold names and numbers. A word is as wide as that many of its characters, in heights of the font.
_FEWEST_WRAPPED_CHARS = 30
_CHARACTER_WIDTH = 0.43

# What begins a line of its own: an item of a list, or a name with a colon as in the header of a course.
_ITEM = re.compile(r"[•◦▪▫‣●○■□▶►▸➢➤→✓✔–—*·-] |\(?\w{1,3}[.)] |[A-Z][\w ]{1,30}: ")

Edges = dict[tuple[int, int], float]

_NUMBER = re.compile(r"\d+")
_LEADER = re.compile(r"(?:\. ?){4}")
_ENDING = (".", "!", "?", ":", "…", "。", "！", "？")


def by_columns(rows: Sequence[Row]) -> list[Row]:
    """Order the lines of a page by column.

    Most PDFs hold the text of one column after the other, and stay as they are.
    """
    ordered: list[Row] = []
    for several, group in groupby(rows, key=lambda row: len(row) == 2):
        run = list(group)
        if several and _are_columns(run):
            ordered += [(left,) for left, _ in run] + [(right,) for _, right in run]
        else:
            ordered += run
    return ordered


def _are_columns(rows: Sequence[Row]) -> bool:
    if len(rows) < _FEWEST_LINES:
        return False
    words = (sum(len(row[side].text.split()) for row in rows) / len(rows) for side in (0, 1))
    return max(row[0].right for row in rows) < min(row[1].left for row in rows) and min(words) >= _FEWEST_WORDS


def without_running_heads(pages: Sequence[Sequence[Row]], heights: Sequence[float]) -> list[list[Row]]:
    """Take out what stands at the same place of many pages, and page numbers.

    A line goes only if it stands in the upper or lower margin, is no larger than text, and says the
    same on two pages of five, or the same but for a number that counts the pages, or where two pages
    of five have a line, the title of a chapter or section.

    Args:
        pages: Their lines.
        heights: Of the pages.
    """
    body = body_height(pages)
    places: defaultdict[tuple[str, int], list[tuple[int, Row]]] = defaultdict(list)
    for number, (rows, height) in enumerate(zip(pages, heights, strict=True)):
        for row in rows:
            in_margin = row[0].bottom > height * (1 - _MARGIN) or row[0].top < height * _MARGIN
            if in_margin and max(line.height for line in row) < body * _HEADING_FACTOR:
                places[_NUMBER.sub("#", text_of(row)), round(row[0].bottom)].append((number, row))
    fewest = max(_FEWEST_PAGES, _RUNNING_SHARE * sum(map(bool, pages)))
    running = {
        (number, row) for found in places.values() if len(found) >= fewest and _runs(found) for number, row in found
    }
    titles = {_letters(text_of(row)) for rows in pages for row in rows if row[0].height >= body * _HEADING_FACTOR}
    heads: defaultdict[int, list[tuple[int, Row]]] = defaultdict(list)
    for (_, place), found in places.items():
        heads[place] += found
    for found in heads.values():
        if len(found) >= fewest:
            said = Counter(_letters(line.text) for _, row in found for line in row)
            running.update((number, row) for number, row in found if _repeats(row, titles, said))
    return [[row for row in rows if (number, row) not in running] for number, rows in enumerate(pages)]


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, _PART_NUMBER.sub("", text))).casefold()


def _repeats(row: Row, titles: Collection[str], said: Mapping[str, int]) -> bool:
    """Return whether a line says a title, and nothing that no other line at its place says."""
    parts = [_letters(line.text) for line in row]
    says_title = any(len(letters) >= _FEWEST_TITLE_LETTERS and letters in titles for letters in parts)
    is_entry = _LEADER.search(text_of(row)) is not None  # of a table of contents
    return says_title and not is_entry and all(letters in titles or said[letters] > 1 for letters in parts)


def _runs(found: Sequence[tuple[int, Row]]) -> bool:
    texts = [text_of(row) for _, row in found]
    if len(set(texts)) == 1:
        return True
    numbers = [tuple(map(int, _NUMBER.findall(text)[:3])) for text in texts]
    offsets = zip(*([n - page for n in row] for row, (page, _) in zip(numbers, found, strict=True)), strict=False)
    return any(Counter(column).most_common(1)[0][1] > len(found) / 2 for column in offsets)


def body_height(pages: Iterable[Iterable[Row]]) -> float:
    """Return the height of font that most characters have; 0 without any."""
    counts: Counter[float] = Counter()
    for rows in pages:
        for row in rows:
            for line in row:
                counts[round(line.height, 1)] += len(line.text)
    return max(counts, key=lambda height: (counts[height], height), default=0.0)


def text_of(row: Row) -> str:
    """Return a line with two spaces between its parts."""
    return "  ".join(line.text for line in row)


def paragraphs_of(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Split the lines of a page where white space or another size of font says so."""
    if not rows:
        return
    gaps = [before[0].bottom - row[0].top for before, row in pairwise(rows)]
    heights = [row[0].height for row in rows[1:]]
    usual = median(
        [gap for gap, h in zip(gaps, heights, strict=True) if _NARROWEST_GAP * h < gap < _WIDEST_GAP * h] or [0.0]
    )
    paragraph = [rows[0]]
    for gap, row in zip(gaps, rows[1:], strict=True):
        if _begins(paragraph[-1], row, gap - usual):
            yield paragraph
            paragraph = []
        paragraph.append(row)
    yield paragraph


def _begins(before: Row, row: Row, gap: float) -> bool:
    height = row[0].height
    if max(height, before[0].height) > _HEADING_FACTOR * min(height, before[0].height):
        return True
    if row[0].bottom > before[0].top:  # at the top of another column
        return text_of(before).endswith(_ENDING)
    return gap > _PARAGRAPH_GAP * height


def edges_of(rows: Iterable[Row]) -> Edges:
    """Return the right edge of each column of a page, by the place of its left edge and the size of its font."""
    edges: Edges = {}
    for row in rows:
        if len(row) == 1:
            key = _column(row[0])
            edges[key] = max(edges.get(key, 0.0), row[0].reach)
    return edges


def _column(line: PageLine) -> tuple[int, int]:
    return round(line.left / _COLUMN_STEP), round(line.height)


def unwrapped(paragraph: Sequence[Row], edges: Edges) -> list[str]:
    """Return the lines of a paragraph, each one that was only broken at the edge of its column with the next."""
    lines = [text_of(paragraph[0])]
    for before, row in pairwise(paragraph):
        text = text_of(row)
        if _was_broken(before, row, text, edges):
            lines[-1] += text if _is_ideographic(lines[-1][-1]) and _is_ideographic(text[0]) else f" {text}"
        else:
            lines.append(text)
    return lines


def _was_broken(before: Row, row: Row, text: str, edges: Edges) -> bool:
    """Return whether the first word of a line would not have fitted at the end of the one before."""
    line = before[-1]
    if len(before) > 1 or len(row) > 1 or len(line.text) < _FEWEST_WRAPPED_CHARS or _ITEM.match(text):
        return False
    word = 1 if _is_ideographic(text[0]) else len(text.split(maxsplit=1)[0]) + 2  # a space, and some play
    return line.right + word * _CHARACTER_WIDTH * line.height > edges.get(_column(line), line.right)


def _is_ideographic(character: str) -> bool:
    return "\u2e80" <= character <= "\uffdc"


def heading_levels(pages: Iterable[Iterable[Row]], body: float) -> dict[float, int]:
    """Return the level of heading by height of font, 1 for the largest. Heights of text are not among them."""
    heights = {row[0].height for rows in pages for row in rows if row[0].height > _HEADING_FACTOR * body > 0}
    levels: dict[float, int] = {}
    level, largest = 0, math.inf
    for height in sorted(heights, reverse=True):
        if height < SAME_SIZE * largest:
            level, largest = min(level + 1, _DEEPEST_LEVEL), height
        levels[height] = level
    return levels


def heading_title(paragraph: Sequence[Row], levels: dict[float, int]) -> tuple[str, int]:
    """Return title and level if lines are a heading; an empty title and 0 if they are none."""
    title = " ".join(" ".join(map(text_of, paragraph)).split())
    level = levels.get(paragraph[0][0].height, 0)
    is_entry = _LEADER.search(title) is not None  # of a table of contents
    if not level or is_entry or len(title) > _LONGEST_HEADING_CHARS or not any(map(str.isalpha, title)):
        return "", 0
    return title, level
