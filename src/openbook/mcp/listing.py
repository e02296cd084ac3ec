"""How results are listed for a coding agent: places it can open, numbered lines, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from openbook.answering.context import label_of
from openbook.costs import estimate_tokens
from openbook.text import units
from openbook.types import Excerpt, RetrievalResult, Unit

# Shown before the lines that match, where the passage is too long to be shown from its start.
_LEADING_UNITS = 2

Places = Callable[[str, str], str]
"""Writes source and path as the agent is to name them."""


@dataclass(frozen=True, slots=True)
class ResultItem:
    """One result."""

    place: str
    """`path:start-end`."""
    about: str
    """What is defined there, or where the original puts it: a heading, a lesson, a page."""
    goes_on_to: int
    """Line that the passage ends in, if it was cut here; else 0."""
    lines: str
    """Each with its number; of a long line, its sentences."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The results of a call, and what was left out."""

    results: tuple[ResultItem, ...]
    note: str


@dataclass(slots=True)
class ResultListing:
    """Collect the results of one call within a limit. The note counts what was left out."""

    place_of: Places
    max_tokens: int
    listed: Listing = Listing((), "nothing found")

    def keep(self, results: Sequence[RetrievalResult], note: str = "") -> str:
        """List results in their order, as many units of them as the budget holds, and give the text of it."""
        self.listed = self._list(results, note)
        return as_text(self.listed)

    def _list(self, results: Sequence[RetrievalResult], note: str) -> Listing:
        entries: list[ResultItem] = []
        left = self.max_tokens
        alone = len({result.chunk.span.path for result in results}) == 1
        for position, result in enumerate(results):
            every = units(result.chunk)
            cut = self._entry(result, every[:1], every)  # its heading is the longest
            left -= 0 if alone else estimate_tokens(f"{_head(cut)}\n\n")
            # What a result leaves of its share goes to those behind it.
            shown = _telling(every, left // (len(results) - position), result.excerpt) or _fitting(every[:1], left)
            if shown:
                entries.append(self._entry(result, shown, every))
                left -= estimate_tokens(f"{entries[-1].lines}\n")
        missing = len(results) - len(entries)
        if missing:
            more = f"cut: {missing} more results; raise max_tokens, or narrow the question or path"
            note = f"{note}; {more}" if note else more
        return Listing(tuple(entries), note or ("" if entries else "nothing found"))

    def _entry(self, result: RetrievalResult, shown: Sequence[Unit], every: Sequence[Unit]) -> ResultItem:
        chunk = result.chunk
        first, last, end = shown[0].span, shown[-1].span, every[-1].span
        return ResultItem(
            place=f"{self.place_of(chunk.source, chunk.span.path)}:{first.start_line}-{last.end_line}",
            about=chunk.symbol or label_of(result),
            goes_on_to=end.end_line if end.end_char > last.end_char else 0,
            lines="\n".join(map(_numbered, shown)),
        )


def as_text(listed: Listing) -> str:
    """Write a listing as a model reads it: a line for the place, then its numbered lines.

    Results of one document alone share a line with its path.

    Example:
        >>> entry = ResultItem(place="a.py:3-4", about="f", goes_on_to=9, lines="3| def f():")
        >>> print(as_text(Listing((entry,), "1 more")))
        a.py:3-4 (goes on to 9)  f
        3| def f():
        (1 more)
    """
    entries = listed.results
    if len({entry.place.rpartition(":")[0] for entry in entries}) == 1 < len(entries):
        text = "\n".join([entries[0].place.rpartition(":")[0], *(entry.lines for entry in entries)])
    else:
        text = "\n\n".join(f"{_head(entry)}\n{entry.lines}" for entry in entries)
    return "\n".join(filter(None, (text, listed.note and f"({listed.note})")))


def _head(entry: ResultItem) -> str:
    cut = f" (goes on to {entry.goes_on_to})" if entry.goes_on_to else ""
    return f"{entry.place}{cut}  {entry.about}".rstrip()


def _numbered(unit: Unit) -> str:
    # What some program takes for the end of a line must not look like a line without a number.
    return f"{unit.span.start_line}| {' '.join(unit.text.splitlines())}"


def _telling(every: Sequence[Unit], tokens: int, excerpt: Excerpt | None) -> list[Unit]:
    """Choose the units to show: from the first on, or from just before what matches where these would leave it out."""
    shown = _fitting(every, tokens)
    if excerpt is None or len(shown) == len(every) or (shown and shown[-1].span.end_line >= excerpt.end_line):
        return shown
    matching = next((n for n, unit in enumerate(every) if unit.span.end_line >= excerpt.start_line), 0)
    first = max(0, matching - _LEADING_UNITS)
    last_ones = _fitting(every[::-1], tokens)[::-1]
    return last_ones if len(last_ones) >= len(every) - first else _fitting(every[first:], tokens)


def _fitting(every: Sequence[Unit], tokens: int) -> list[Unit]:
    kept = []
    for unit in every:
        tokens -= estimate_tokens(f"{_numbered(unit)}\n")
        if tokens < 0:
            break
        kept.append(unit)
    return kept
