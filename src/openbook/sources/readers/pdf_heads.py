"""Removes running heads and page numbers of a PDF. Pure functions."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from openbook.sources.readers.pdf_layout import HEADING_FACTOR, LEADER, MARGIN, body_height, height_of, text_of
from openbook.sources.readers.pdf_pages import Row

# The first and last lines of a page may be running heads within this share of its height too: A5 pages are printed on
# A4.
_MAX_MARGIN = 0.3

# Minimum share of pages with the same running head, which may alternate between left and right pages.
_RUNNING_SHARE = 0.4
_MIN_PAGES = 4

# A running head may repeat a title after its chapter number. Shorter lines may be text.
_PART_NUMBER = re.compile(
    r"^\W*+\d*+\W*+(?:chapter|section|appendix|part|kapitel|abschnitt|anhang|teil)\b", re.IGNORECASE
)
_MIN_TITLE_LETTERS = 5

# Minimum share of pages with a number in the margin. Fewer may be other numbers.
_NUMBERED_SHARE = 0.5
_MAX_DIGITS = 5
_ROMAN = re.compile(r"[ivxlc]{1,8}")

_Placed = tuple[int, Row]
"""A page index, and a line of that page."""

_NUMBER = re.compile(r"\d+")


def without_running_heads(pages: Sequence[Sequence[Row]], heights: Sequence[float]) -> list[list[Row]]:
    """Remove lines repeated at the same position of many pages, and page numbers.

    A line is removed only if it is in the upper or lower margin and no larger than text, and if it occurs on two of
    five pages, alike or except for a number that counts the pages, or is the title of a chapter or section where two of
    five pages have a line.
    """
    body = body_height(pages)
    margins: list[tuple[int, int, Row]] = []
    places: defaultdict[tuple[str, int], list[_Placed]] = defaultdict(list)
    for number, (rows, height) in enumerate(zip(pages, heights, strict=True)):
        outermost = _outermost(rows, height)
        for row in rows:
            in_margin = row[0].bottom > height * (1 - MARGIN) or row[0].top < height * MARGIN
            if not in_margin and row not in outermost:
                continue
            margins.append((round(row[0].bottom), number, row))
            if max(line.height for line in row) < body * HEADING_FACTOR:
                places[_NUMBER.sub("#", text_of(row)), round(row[0].bottom)].append((number, row))
    fewest = max(_MIN_PAGES, _RUNNING_SHARE * sum(map(bool, pages)))
    running = {
        (number, row) for found in places.values() if len(found) >= fewest and _runs(found) for number, row in found
    }
    titles = {_letters(text_of(row)) for rows in pages for row in rows if height_of(row) >= body * HEADING_FACTOR}
    heads: defaultdict[int, list[_Placed]] = defaultdict(list)
    for (_, place), found in places.items():
        heads[place] += found
    for found in heads.values():
        if len(found) >= fewest:
            said = Counter(_letters(line.text) for _, row in found for line in row)
            running.update((number, row) for number, row in found if _repeats(row, titles, said))
    running.update(_numbered(margins, fewest))
    return [[row for row in rows if (number, row) not in running] for number, rows in enumerate(pages)]


def _numbered(rows: Sequence[tuple[int, int, Row]], fewest: float) -> Iterator[_Placed]:
    """Yield margin lines that begin or end with their page number, and Roman numbers at the same position."""
    offsets = Counter(offset for _, number, row in rows for offset in _offsets(row, number))
    offset, count = max(offsets.items(), key=lambda item: (item[1], -item[0]), default=(0, 0))
    if count < max(_MIN_PAGES, fewest * _NUMBERED_SHARE):
        return
    counting = {(place, number, row) for place, number, row in rows if offset in _offsets(row, number)}
    at_place = Counter(place for place, _, _ in counting)
    for place, number, row in rows:
        is_head = at_place[place] >= _MIN_PAGES
        is_number = not any(map(str.isalpha, text_of(row)))
        is_roman = any(_ROMAN.fullmatch(line.text) for line in (row[0], row[-1]))
        if (is_head and is_roman) or ((place, number, row) in counting and (is_head or is_number)):
            yield number, row


def _offsets(row: Row, page: int) -> set[int]:
    """Return the differences between the first and last number of a line and its page index."""
    if LEADER.search(text_of(row)):
        return set()
    words = text_of(row).split()
    ends = (word.strip("\u2013\u2014-|[]()\u00b7.") for word in (words[0], words[-1]))
    return {int(end) - page for end in ends if _NUMBER.fullmatch(end) and len(end) <= _MAX_DIGITS}


def _outermost(rows: Sequence[Row], height: float) -> list[Row]:
    """Return the highest and lowest line of a page. Small pages have wide margins around the text."""
    if not rows:
        return []
    highest, lowest = max(rows, key=lambda row: row[0].bottom), min(rows, key=lambda row: row[0].bottom)
    is_high, is_low = highest[0].bottom > height * (1 - _MAX_MARGIN), lowest[0].top < height * _MAX_MARGIN
    return [row for row, is_there in ((highest, is_high), (lowest, is_low)) if is_there]


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, _PART_NUMBER.sub("", text))).casefold()


def _repeats(row: Row, titles: Collection[str], said: Mapping[str, int]) -> bool:
    """Return whether a line is a title, or text that other lines at its position repeat."""
    parts = [_letters(line.text) for line in row]
    says_title = any(len(letters) >= _MIN_TITLE_LETTERS and letters in titles for letters in parts)
    is_entry = LEADER.search(text_of(row)) is not None  # an entry of a table of contents
    return says_title and not is_entry and all(letters in titles or said[letters] > 1 for letters in parts)


def _runs(found: Sequence[_Placed]) -> bool:
    texts = [text_of(row) for _, row in found]
    if len(set(texts)) == 1:
        return True
    numbers = [tuple(map(int, _NUMBER.findall(text)[:3])) for text in texts]
    offsets = zip(*([n - page for n in row] for row, (page, _) in zip(numbers, found, strict=True)), strict=False)
    return any(Counter(column).most_common(1)[0][1] > len(found) / 2 for column in offsets)
