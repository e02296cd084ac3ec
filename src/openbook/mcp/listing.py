"""Formats results for coding agents: locations that they can open, with numbered lines, within a token budget."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise
from typing import NamedTuple

from openbook.containers import HEADING
from openbook.costs import estimate_tokens
from openbook.entries import entry_heads, entry_starts
from openbook.extractive.context import label_of
from openbook.grounding.blocks import read_line
from openbook.retrieval.excerpts import EXCERPT_LINES
from openbook.text import counted, trim, units
from openbook.types import Chunk, RetrievalResult, Unit, shown_text

# For the best result of a search, with the rest of its definition. In `benchmarks.agent_tasks`, 600 tokens show the
# wanted lines of two tasks of 35 fewer in one call, and 1,000 of none more.
_BEST_TOKENS = 800

# If the best result has at least this many lines, only its first line and the most relevant ones are shown, with the
# lines around them. Chosen on 45 tasks of `benchmarks.agent_tasks`, with a call counted as 600 characters.
_MANY_LINES = 35
_AROUND = 4
_RELEVANT_SHARE = 0.9

# "Default: 20", "(default: 8)", "The default is", "Defaults to". If many lines are relevant, entries are not completed.
_STATES_DEFAULT = re.compile(r"\bdefaults?\b(?:[ \t]+values?)?(?:\W{0,4}[:=]|[ \t]+(?:is|to)\b)", re.I)
_MAX_ENTRY_LINES = 5
_ATX_HEADING = re.compile(r"^#{1,6}[ \t]+\S")

# A note on left-out lines is as long as fewer lines than these.
_MIN_LEFT_OUT = 4

# Characters of the line shown for other results, and how many results get one. The others are only named.
_MAX_LINE_CHARS = 80
_MAX_LINES = 3

# Characters of a long line shown before the match.
_BEFORE_MATCH = 20

# Units shown before the matching lines, if the passage is too long to be shown from its start.
_LEADING_UNITS = 2

Places = Callable[[str, str], str]
"""Formats source and path as agents write them."""


@dataclass(frozen=True, slots=True)
class ResultItem:
    """A result."""

    path: str
    """As agents write it."""
    first_line: int
    last_line: int
    about: str
    """The definition, or the place in the original: a heading, a lesson, a page."""
    goes_on_to: int
    """Last line of the passage if it was cut; else 0."""
    lines: str
    """Numbered lines; the sentences of a long line."""


@dataclass(frozen=True, slots=True)
class NamedItem:
    """Results in one definition or section, for which one line is shown."""

    path: str
    ranges: tuple[tuple[int, int], ...]
    """First and last line of each, in order."""
    about: str
    line: str
    """The best line of the best result, with its number; empty if it is not shown."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The results of a call, and what was left out."""

    results: tuple[ResultItem, ...]
    note: str
    others: tuple[NamedItem, ...] = ()


@dataclass(slots=True)
class ResultListing:
    """Collects the results of one call within a token limit. A note counts the results that were left out."""

    place_of: Places
    max_tokens: int
    best_first: bool = False
    """Whether to show the first result with its definition, folded if long, and the others with their best line."""
    whole_of: Callable[[Chunk], Chunk] = lambda chunk: chunk
    """Extends a chunk to the definition or section that contains it."""
    relevant_lines_of: Callable[[Chunk, Sequence[RetrievalResult], float], Sequence[int]] = lambda *_: ()
    """Returns the lines of a chunk whose relevance, among results, is at least a share of the best one's."""
    listed: Listing = Listing((), "nothing found")

    def keep(self, results: Sequence[RetrievalResult], note: str = "") -> str:
        """List results in order, with as many units as the budget allows, and return the text."""
        self.listed = (
            self._brief(results, note) if self.best_first and results else self._list(results, note, self.max_tokens)
        )
        return as_text(self.listed)

    def keep_lines(self, result: RetrievalResult, count: int, *, is_all: bool = False) -> str:
        """List lines of a document, and say where to continue.

        `count`: the number of lines of the document. `is_all`: whether the result contains all requested lines.
        """
        listed = self._list([result], "", self.max_tokens).results
        # The definition in the first line does not describe the others.
        self.listed = Listing(tuple(replace(entry, about="") for entry in listed), "")
        every = units(result.chunk)
        shown = sum(len(entry.lines.split("\n")) for entry in self.listed.results)
        last = every[shown - 1].span.end_line if shown else 0
        notes = [f"the document has {counted(count, 'line')}"]
        cut = every[shown].span if shown < len(every) else None
        if cut is not None and (not shown or cut.start_line == last):
            notes.append(
                f"line {cut.start_line} is cut because it is long; raise max_tokens, or use grep to look in it"
            )
        rest = last or every[0].span.end_line
        if rest < count:
            notes.append(f"go on with first_line={rest + 1}")
        if is_all and cut is None:
            notes = []
        self.listed = Listing(self.listed.results, "; ".join(notes))
        return as_text(self.listed)

    def keep_page(self, results: Sequence[RetrievalResult]) -> str:
        """List results of one document in order, and say at which line to continue."""
        self.listed = self._list(results, "", self.max_tokens)
        shown = len(self.listed.results)
        if 0 < shown < len(results):
            next_line = results[shown].chunk.span.start_line
            # A document may consist of one line.
            is_below = next_line > results[0].chunk.span.start_line
            on = f"go on with first_line={next_line}" if is_below else "raise max_tokens"
            note = f"{len(results) - shown} more; {on}"
            self.listed = Listing(self.listed.results, note)
        return as_text(self.listed)

    def _brief(self, results: Sequence[RetrievalResult], note: str) -> Listing:
        """List the first result, and one line for each of the others, as far as the budget allows."""
        left = self.max_tokens - (estimate_tokens(f"{note}\n") if note else 0)
        cut = estimate_tokens(f"({_left_out(len(results))})\n") if results[1:] else 0
        around = self.whole_of(results[0].chunk)
        # A result that is whole keeps its name, which may not be that of the first definition in it.
        whole = results[0] if around.span == results[0].chunk.span else replace(results[0], chunk=around)
        every = units(whole.chunk)
        end = every[-1].span.end_line
        head = replace(self._entry(whole, every[:1], every), first_line=end, last_line=end)  # the longest
        room = min(left - cut - estimate_tokens(f"{_head(head)}\n"), _BEST_TOKENS)
        shown = _units_to_show(every, room, _place_of_excerpt(results[0]), results[0].chunk.span.start_char)
        inside = [result for result in results[1:] if shown and _is_shown(result.chunk, whole, shown)]
        kept_lines = {_best_line(result).number for result in (results[0], *inside)}
        best = [self._folded(self._entry(whole, shown, every), whole, results, kept_lines)] if shown else []
        rest = [result for result in results[1:] if result not in inside] if shown else results
        others = self._named(rest)
        left -= sum(estimate_tokens(f"{_head(entry)}\n{entry.lines}\n") for entry in best)
        taken = list(accumulate(estimate_tokens(f"{other.path}\n {_item_text(other)}\n") for other in others))
        kept = others if not others or taken[-1] <= left else others[: bisect_right(taken, left - cut)]
        missing = sum(len(other.ranges) for other in others[len(kept) :])
        return Listing(tuple(best), "; ".join(filter(None, (note, _left_out(missing)))), tuple(kept))

    def _folded(
        self,
        entry: ResultItem,
        whole: RetrievalResult,
        results: Sequence[RetrievalResult],
        kept_lines: Set[int],
    ) -> ResultItem:
        """Replace less relevant lines of a long result with their numbers.

        `kept_lines`: the best lines of the results in it, which are listed nowhere else.
        """
        lines = entry.lines.split("\n")
        if len(lines) < _MANY_LINES:
            return entry
        numbers = [int(line.partition("|")[0]) for line in lines]
        relevant = set(self.relevant_lines_of(whole.chunk, results, _RELEVANT_SHARE)).intersection(numbers)
        if not relevant:
            return entry
        near = {0}.union(*(range(at - _AROUND, at + _AROUND + 1) for at, n in enumerate(numbers) if n in relevant))
        stated = _stated_of_entries(whole.chunk, relevant)
        near.update(at for at, n in enumerate(numbers) if n in kept_lines or n in stated)
        parts = list[str]()
        for is_near, group in groupby(range(len(lines)), near.__contains__):
            run = list(group)
            if is_near or len(run) < _MIN_LEFT_OUT:
                parts += [lines[at] for at in run]
            else:
                parts.append(f"({numbers[run[0]]}-{numbers[run[-1]]})")
        below = (each for each in units(whole.chunk) if numbers[-1] < each.span.start_line in stated)
        for line in (_numbered(each) for each in below if _STATES_DEFAULT.search(each.text)):
            if estimate_tokens("\n".join([*parts, line])) <= estimate_tokens(
                entry.lines
            ):  # no longer than without folding
                parts.append(line)
        return replace(entry, lines="\n".join(parts))

    def _named(self, results: Sequence[RetrievalResult]) -> list[NamedItem]:
        """Return one item for each definition or section, in the order of its best result."""
        items: dict[tuple[str, object], NamedItem] = {}
        for result in results:
            chunk = result.chunk
            path, lines = self.place_of(chunk.source, chunk.span.path), (chunk.span.start_line, chunk.span.end_line)
            about = result.symbol or label_of(result)
            name = result.symbol.rpartition(".")[2] or about.rpartition(" › ")[2]
            item = items.get((path, about or lines)) or NamedItem(path, (), name, _best_line(result).text)
            items[path, about or lines] = replace(item, ranges=tuple(sorted((*item.ranges, lines))))
        return [item if n < _MAX_LINES else replace(item, line="") for n, item in enumerate(items.values())]

    def _list(self, results: Sequence[RetrievalResult], note: str, max_tokens: int) -> Listing:
        entries: list[ResultItem] = []
        left = max_tokens
        alone = len({result.chunk.span.path for result in results}) == 1
        for position, result in enumerate(results):
            every = units(result.chunk)
            cut = self._entry(result, every[:1], every)  # this has the longest heading
            left -= 0 if alone else estimate_tokens(f"{_head(cut)}\n\n")
            # Tokens that a result does not use are shared by the following ones.
            share = left // (len(results) - position)
            shown = _units_to_show(every, share, _place_of_excerpt(result)) or _fitting(every[:1], left)
            if shown:
                entries.append(self._entry(result, shown, every))
                left -= estimate_tokens(f"{entries[-1].lines}\n")
        missing = len(results) - len(entries)
        note = "; ".join(filter(None, (note, _left_out(missing))))
        return Listing(tuple(entries), note or ("" if entries else "nothing found"))

    def _entry(self, result: RetrievalResult, shown: Sequence[Unit], every: Sequence[Unit]) -> ResultItem:
        chunk = result.chunk
        first, last, end = shown[0].span, shown[-1].span, every[-1].span
        goes_on_to = max(end.end_line, result.goes_on_to)
        is_cut = end.end_char > last.end_char or goes_on_to > end.end_line
        return ResultItem(
            path=self.place_of(chunk.source, chunk.span.path),
            first_line=first.start_line,
            last_line=last.end_line,
            about=result.symbol or label_of(result),
            goes_on_to=goes_on_to if is_cut else 0,
            lines="\n".join(map(_numbered, shown)),
        )


def _stated_of_entries(chunk: Chunk, relevant: Set[int]) -> set[int]:
    """Return the first line of each entry or section with relevant lines, and the line that states its default."""
    text, first_line = chunk.text, chunk.span.start_line
    if chunk.kind == "code" or len(relevant) > _MAX_ENTRY_LINES:
        return set()
    begun = _sections(chunk) if chunk.language == "markdown" else (found.start() for found in HEADING.finditer(text))
    starts = sorted({0, *entry_starts(text, entry_heads(text, chunk.language)), *begun})
    found = set[int]()
    for start, stop in pairwise([*starts, len(text)]):
        last = text.count("\n", 0, stop) + (stop == len(text))  # the last line may have no line break
        lines = range(first_line + text.count("\n", 0, start), first_line + last)
        if not relevant.isdisjoint(lines):
            stated = _STATES_DEFAULT.search(text, start, stop)
            found |= {lines[0], first_line + text.count("\n", 0, stated.start() if stated else start)}
    return found


def _sections(chunk: Chunk) -> Iterator[int]:
    """Yield the offsets of headings of Markdown that begin with `#`, outside of code."""
    at, (_, fence) = 0, read_line(chunk.code_opening, None)
    for line in chunk.text.split("\n"):
        kind, fence = read_line(line, fence)
        if kind == "heading" and _ATX_HEADING.match(line):
            yield at
        at += len(line) + 1


def _left_out(missing: int) -> str:
    more = counted(missing, "more result")
    return f"cut: {more}; raise max_tokens, or narrow the question or path" if missing else ""


def as_text(listed: Listing) -> str:
    """Format a listing for a model: a line with the location, then numbered lines.

    Results of a single document share one line with its path, and so do named items of one file.

    Example:
        >>> entry = ResultItem("a.py", 3, 4, about="f", goes_on_to=9, lines="3| def f():")
        >>> print(as_text(Listing((entry,), "1 more")))
        a.py:3-4 (goes on to line 9)  f
        3| def f():
        (1 more)
    """
    entries = listed.results
    if len({entry.path for entry in entries}) == 1 < len(entries):
        text = "\n".join([entries[0].path, *(entry.lines for entry in entries)])
    else:
        text = "\n\n".join(f"{_head(entry)}\n{entry.lines}" for entry in entries)
    others = "\n".join(_by_file(listed.others))
    told = "\n\n".join(filter(None, (text, others)))
    return "\n".join(filter(None, (told, listed.note and f"({listed.note})")))


def _head(entry: ResultItem) -> str:
    cut = f" (goes on to line {entry.goes_on_to})" if entry.goes_on_to else ""
    return f"{entry.path}:{entry.first_line}-{entry.last_line}{cut}  {entry.about}".rstrip()


def _by_file(others: Sequence[NamedItem]) -> list[str]:
    """Format one line for each item, grouped below the path if a file has several, in the order of the best."""
    of_file: dict[str, list[NamedItem]] = {}
    for other in others:
        of_file.setdefault(other.path, []).append(other)
    lines = list[str]()
    for path, held in of_file.items():
        named = ", ".join(_item_text(each) for each in held if not each.line)
        told = [*(_item_text(each) for each in held if each.line), *([named] if named else [])]
        lines += [path, *(f" {each}" for each in told)] if len(told) > 1 else [f"{path}:{told[0]}"]
    return lines


def _item_text(other: NamedItem) -> str:
    """Format the lines of results, the definition, unless the shown line contains it, and the shown line."""
    merged: list[tuple[int, int]] = []
    for first, last in other.ranges:
        begun, ended = merged.pop() if merged and first <= merged[-1][1] else (first, last)
        merged.append((begun, max(ended, last)))
    ranges = ",".join(f"{first}-{last}" for first, last in merged)
    if not other.line:
        return f"{ranges} {other.about}".rstrip()
    is_said = re.search(rf"(?<!\w){re.escape(other.about)}\s*[(:={{<]", other.line)
    return "  ".join(filter(None, (ranges, "" if is_said else other.about, other.line)))


class _BestLine(NamedTuple):
    number: int
    text: str
    """With its number; a long line is cut around the match."""


def _best_line(result: RetrievalResult) -> _BestLine:
    """Return the line of the excerpt that matches the question best.

    Words in many lines of the passage, such as the name of a type in a table of options, count little.
    """
    excerpt = result.excerpt
    text, first = (excerpt.text, excerpt.start_line) if excerpt else (result.chunk.text, result.chunk.span.start_line)
    lines, held = text.split("\n"), result.chunk.text.casefold()
    told_by: dict[int, float] = defaultdict(float)
    matches = excerpt.matches if excerpt else ()
    for line, word in sorted({(text.count("\n", 0, start), text[start:end].casefold()) for start, end in matches}):
        told_by[line] += 1 / max(1, held.count(word))
    best = max(range(len(lines)), key=lambda number: (told_by[number], bool(lines[number].strip()), -number))
    begin = sum(len(line) + 1 for line in lines[:best])
    here = [(start - begin, end - begin) for start, end in matches if begin <= start < begin + len(lines[best])]
    return _BestLine(first + best, f"{first + best}| {part_of_line(lines[best], here, _MAX_LINE_CHARS)}")


def part_of_line(line: str, matches: Sequence[tuple[int, int]], longest: int) -> str:
    """Return a line; of a long one, the part with the most matches, the first of equals."""
    line = shown_text(line)
    told = " ".join(line.split())
    if len(told) <= longest:
        return told
    # A letter in place of the match makes the white space before it count.
    places = [(len(" ".join(f"{line[:start]}x".split())) - 1, min(end - start, longest)) for start, end in matches]
    before = [(place, min(place, _BEFORE_MATCH, longest - size)) for place, size in places]
    begins = [(0, 0), *((min(place - room, len(told) - longest), place) for place, room in before)]
    held = [sum(first <= at and at + size <= first + longest for at, size in places) for first, _ in begins]
    first, place = begins[held.index(max(held))]
    # Begin with a whole word if one begins before the match.
    blank = told.find(" ", first - 1, min(place, first + _BEFORE_MATCH)) if first else -1
    first = blank + 1 if blank >= 0 else first
    part = told[first : first + longest]
    return f"{'...' if first else ''}{part}{'...' if first + len(part) < len(told) else ''}"


def _numbered(unit: Unit) -> str:
    # Other line separators of Unicode must not look like lines without a number.
    return f"{unit.span.start_line}| {' '.join(shown_text(unit.text).splitlines())}"


def _is_shown(chunk: Chunk, whole: RetrievalResult, shown: Sequence[Unit]) -> bool:
    """Return whether a chunk is shown completely. Line numbers are not enough: long lines are shown in part."""
    first, last = (chunk.span.start_char + at for at in trim(chunk.text, 0, len(chunk.text)))
    is_same = (chunk.source, chunk.span.path) == (whole.chunk.source, whole.chunk.span.path)
    return is_same and shown[0].span.start_char <= first and last <= shown[-1].span.end_char


def _place_of_excerpt(result: RetrievalResult) -> tuple[int, int, int, int]:
    """Return the offsets of the first and last character of the excerpt, and of those that match in it.

    Without an excerpt, all are the offset of the chunk.
    """
    chunk, excerpt = result.chunk, result.excerpt
    start = chunk.span.start_char
    if excerpt is None:
        return start, start, start, start
    start += sum(len(line) + 1 for line in chunk.text.split("\n")[: excerpt.start_line - chunk.span.start_line])
    last = start + len(excerpt.text) - 1
    matches = [start + at for match in excerpt.matches for at in match]
    return (start, last, matches[0], matches[-1] - 1) if matches else (start, last, start, last)


def _units_to_show(every: Sequence[Unit], tokens: int, place: tuple[int, int, int, int], found: int = 0) -> list[Unit]:
    """Choose the units to show, so that they contain the matches.

    They begin with the first unit if the matches fit then, else with the one at character `found`, else just before
    the matches.
    """
    shown = _fitting(every, tokens)
    ends = [unit.span.end_char for unit in every]
    start, last, first_match, last_match = (min(bisect_right(ends, at), len(every) - 1) for at in place)
    # The excerpt of a long line has all of its sentences: keep those around the matches.
    start, last = max(start, first_match - EXCERPT_LINES + 1), min(last, last_match + EXCERPT_LINES - 1)
    if len(shown) > last:
        return shown
    last_ones = _fitting(every[::-1], tokens)[::-1]
    for first in [*([bisect_right(ends, found)] if found else []), max(0, start - _LEADING_UNITS), first_match]:
        if len(last_ones) >= len(every) - first:
            return last_ones
        shown = _fitting(every[first:], tokens)
        if first + len(shown) > last:
            break
    return shown


def _fitting(every: Sequence[Unit], tokens: int) -> list[Unit]:
    kept = []
    for unit in every:
        tokens -= estimate_tokens(f"{_numbered(unit)}\n")
        if tokens < 0:
            break
        kept.append(unit)
    return kept
