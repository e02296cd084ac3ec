"""Reads dates in questions, paths and texts: 20 March 2024, March 20th, 20.3.2024, 2024-03-20, 20. März 2024."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from openbook.questions.words import folded
from openbook.tokens import tokenize

# English with abbreviations, German, French and Spanish. Accents may be left out.
_NAMES = (
    "january jan januar janvier enero",
    "february feb februar février febrero",
    "march mar märz maerz mars marzo",
    "april apr avril abril",
    "may mai mayo",
    "june jun juni juin junio",
    "july jul juli juillet julio",
    "august aug août agosto",
    "september sep sept septembre septiembre setiembre",
    "october oct oktober okt octobre octubre",
    "november nov novembre noviembre",
    "december dec dezember dez décembre diciembre",
)
_MONTHS = {folded(name): number for number, names in enumerate(_NAMES, start=1) for name in names.split()}
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
NAMES_OF_TIME = frozenset((*_MONTHS, *_WEEKDAYS.split()))
"""Names of months and weekdays in lower case, without accents."""

# In lower case these are other words.
_ALSO_WORDS = frozenset({"march", "may"})

_SPELLED = sorted({*_MONTHS, *" ".join(_NAMES).split()}, key=lambda name: (-len(name), name))
_MONTH = rf"(?P<name>{'|'.join(_SPELLED)})(?![^\W_])\.?"
_YEAR, _DAY = r"(?P<year>(?:19|20)\d\d)(?!\d)", r"(?P<day>0?[1-9]|[12]\d|3[01])"
_NUMBER = r"(?P<month>0?[1-9]|1[0-2])"
_BEGINS, _OF = r"(?<![\d.,])", r"(?:[\s_-]+(?:of|de|del))?"
_WRITTEN = (
    rf"{_BEGINS}{_YEAR}(?P<between>[-/_]){_NUMBER}(?P=between){_DAY}(?!\d)",
    r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])(?!\d)",
    rf"{_BEGINS}{_YEAR}[-/_](?P<month>0[1-9]|1[0-2])(?![\d.]|[-/_]\d)",
    rf"{_BEGINS}{_YEAR}[\s/_-]{{1,3}}{_MONTH}(?:[\s/_-]{{1,3}}{_DAY}(?!\d))?",
    rf"{_BEGINS}{_DAY}(?P<between>[/-]|\. ?){_NUMBER}(?P=between){_YEAR}",
    rf"{_BEGINS}{_NUMBER}/{_DAY}/{_YEAR}",  # as in the United States
    rf"\b(?:am|vom|zum|den|dem|bis) {_DAY}\. ?{_NUMBER}\.(?! ?\d)",
    rf"{_BEGINS}{_DAY}(?:st|nd|rd|th|er|\.|º)?{_OF}[\s_-]{{0,3}}{_MONTH}(?:,?{_OF}[\s_-]{{1,3}}{_YEAR})?",
    rf"(?<![^\W_]){_MONTH}[\s_-]{{1,3}}{_DAY}(?:st|nd|rd|th)?(?![\d:])(?:,?[\s_-]{{1,3}}{_YEAR})?",
    rf"(?<![^\W_]){_MONTH},?{_OF}[\s_-]{{1,3}}{_YEAR}",
)
_DATES = [re.compile(pattern, re.IGNORECASE) for pattern in _WRITTEN]
# In front of a month alone. Elsewhere, its name may be that of a person or a thing.
_WHEN = r"(?:in|during|since|until|before|after|last|this|next|im|seit|bis|ab|vom|en|de|depuis|pendant|durante|desde)"
_IN_MONTH = re.compile(rf"\b{_WHEN}\s+{_MONTH}(?!\s+\d)", re.IGNORECASE)
# Behind these, Jan is a person and Mars a planet.
_WHOLE_NAME = "|".join(name.split()[0].capitalize() for name in _NAMES)
_NAMED_MONTH = re.compile(rf"\b(?i:by|of|for|from)\s+(?P<name>{_WHOLE_NAME})\b(?!\s+\d)")
# What names a time is a line of a log, and longer texts are pasted.
_TIME = re.compile(r"\d[T ]\d\d:\d\d")
_MAX_CHARS = 200


class Date(NamedTuple):
    """A day or a month; 0 is what is not said."""

    year: int
    month: int
    day: int

    def fits(self, said: Date) -> bool:
        """Return whether a text that says a date may speak of this day, or of a day in this month."""
        of_year = self.month == said.month and (self.year == said.year or not self.year or not said.year)
        return of_year and self.day in (0, said.day)


class AskedDates(NamedTuple):
    """The dates that a question names."""

    dates: tuple[Date, ...]
    tokens: frozenset[str]
    """What they are written with."""

    def share_in(self, text: str) -> float:
        """Return how surely a text is of one of the dates, from 0 to 1: a month without a year comes again.

        Example:
            >>> dates = dates_asked("What was said on 20 March 2024?")
            >>> [dates.share_in(text) for text in ("minutes/2024-03-20.md", "on March 20th", "20 May 2024", "2024-03")]
            [1.0, 1.0, 0.0, 0.0]
        """
        text = unicodedata.normalize("NFC", text)  # file names on macOS have decomposed accents
        if not any(_hint(each.month).search(text) for each in self.dates):
            return 0.0
        said = dates_in(text)
        shares = (_share(each) for each in self.dates if any(map(each.fits, said)))
        return max(shares, default=0.0)

    @property
    def spellings(self) -> tuple[str, ...]:
        """The ways to write them that most texts use, if they have a year or a day."""
        found = []
        for year, month, day in self.dates:
            english = _NAMES[month - 1].partition(" ")[0]
            parts = (f"{year:04}" if year else "", f"{month:02}", f"{day:02}" if day else "")
            if year or day:
                found += ["-".join(filter(None, parts)), " ".join(filter(None, (str(day or ""), english, parts[0])))]
        return tuple(found)


@lru_cache
def _hint(month: int) -> re.Pattern[str]:
    """Return what every date in a month has: most texts have none, and are not read for dates."""
    names = "|".join(name for name in _SPELLED if _MONTHS[folded(name)] == month)
    numbers = rf"(?<!\d)0?{month}[-/_.]\d|\d[-/_.] ?0?{month}(?!\d)|(?:19|20)\d\d{month:02}\d\d"
    return re.compile(rf"(?<![^\W\d_])(?:{names})(?![^\W_])|{numbers}", re.IGNORECASE)


_OF_DAY, _OF_MONTH, _OF_ANY_YEAR = 1.0, 0.7, 0.4


def _share(date: Date) -> float:
    if date.day:
        return _OF_DAY
    return _OF_MONTH if date.year else _OF_ANY_YEAR


def dates_asked(text: str) -> AskedDates | None:
    """Return the days and months that a question names; None if it names none, or is pasted.

    Example:
        >>> dates_asked("What did we decide in March?").dates
        (Date(year=0, month=3, day=0),)
        >>> dates_asked("Was wurde am 20.3. beschlossen?").dates
        (Date(year=0, month=3, day=20),)
        >>> dates_asked("How do March and may differ?")
    """
    if len(text) > _MAX_CHARS or _TIME.search(text):
        return None
    composed = unicodedata.normalize("NFC", text)
    found = list(_found_in(composed))
    if not found:
        alone = (*_IN_MONTH.finditer(composed), *_NAMED_MONTH.finditer(composed))
        found = [(date, one.group("name")) for one in alone if (date := _read(one)) is not None]
    if not found:
        return None
    tokens = frozenset(token for _, written in found for token in tokenize(written))
    return AskedDates(tuple(dict.fromkeys(date for date, _ in found)), tokens)


@lru_cache(maxsize=4096)
def dates_in(text: str) -> tuple[Date, ...]:
    """Return the distinct dates in a text that have a day or a year, in the order of their forms.

    Example:
        >>> dates_in("Protokoll – März 2019.txt"), dates_in("2024/03/20.md")
        ((Date(year=2019, month=3, day=0),), (Date(year=2024, month=3, day=20),))
    """
    return tuple(dict.fromkeys(date for date, _ in _found_in(text)))


def _found_in(text: str) -> Iterator[tuple[Date, str]]:
    """Yield each date with how it is written. What is a part of a longer one is no date of its own."""
    taken: list[tuple[int, int]] = []
    for pattern in _DATES:
        for one in pattern.finditer(text):
            date = _read(one)
            is_part = any(start <= one.start() and one.end() <= end for start, end in taken)
            if date is not None and not is_part:
                yield date, one.group()
                taken.append(one.span())


def _read(found: re.Match[str]) -> Date | None:
    said = found.groupdict()
    name = said.get("name") or ""
    if name and name[0].islower() and name.lower() in _ALSO_WORDS:
        return None
    month = _MONTHS[folded(name)] if name else int(said["month"])
    return Date(int(said.get("year") or 0), month, int(said.get("day") or 0))
