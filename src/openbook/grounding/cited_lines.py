"""Locates cited lines in their sources, and selects the surrounding lines to show to a verifier."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from openbook.grounding.protocol import CitedClaim, SourceText

# Context lines on each side of the cited ones: enough for the rest of a statement, a loop or a paragraph.
MARGIN_LINES = 8

# Per side. One line of a transcript can be a whole lesson.
_MAX_MARGIN_CHARS = 1_500

# Per claim. A claim that cites a whole page shows no more than one that cites a long function.
_MAX_CITED_CHARS = 8_000

# Shortest sentence to look up within a longer run of sentences. Shorter ones, such as "Yes.", occur anywhere.
_MIN_SENTENCE_CHARS = 12


@dataclass(frozen=True, slots=True)
class CitedExcerpt:
    """Lines of one source: the cited ones and their context."""

    source: SourceText
    lines: tuple[tuple[int, str], ...]
    """Line number and text of each line, in order, counted from 1."""


@dataclass(frozen=True, slots=True)
class ShownClaim:
    """A claim, the lines it cites in the excerpts, and their context."""

    claim: CitedClaim
    ranges: tuple[tuple[int, int, int], ...]
    """Index of the excerpt, first and last line, inclusive."""
    around: str
    """Text of the context lines. Lines cited by other claims are left out: they must not influence this verdict."""


def show_claims(claims: Sequence[CitedClaim]) -> tuple[list[CitedExcerpt], list[ShownClaim]]:
    r"""Return excerpts of the cited sources, each line once, and the lines that each claim cites in them.

    Cited text that is not found in its sources becomes a source of its own, without context.

    Example:
        >>> source = SourceText("a = 1\nb = 2\nc = 3", "m.py")
        >>> excerpts, shown = show_claims([CitedClaim("b is 2.", "b = 2", (source,))])
        >>> shown[0].ranges, shown[0].around
        (((0, 2, 2),), 'a = 1\nc = 3')
    """
    placed = [_placed(claim) for claim in claims]
    places: dict[SourceText, int] = {}
    shown: dict[int, set[int]] = defaultdict(set)
    for cited in placed:
        for source, rows in cited.items():
            place = places.setdefault(source, len(places))
            shown[place].update(rows | _margin(source.text.split("\n"), rows))
    excerpts = [
        CitedExcerpt(source, tuple((row + 1, source.text.split("\n")[row]) for row in sorted(shown[place])))
        for source, place in places.items()
    ]
    by_any: dict[SourceText, set[int]] = defaultdict(set)
    for cited in placed:
        for source, rows in cited.items():
            by_any[source] |= rows
    return excerpts, [
        ShownClaim(
            claim,
            tuple((places[source], *ends) for source, rows in cited.items() for ends in _ranges(rows)),
            "\n".join(_around(source, rows, by_any[source]) for source, rows in cited.items()),
        )
        for claim, cited in zip(claims, placed, strict=True)
    ]


def _around(source: SourceText, rows: set[int], taken: set[int]) -> str:
    lines = source.text.split("\n")
    return "\n".join(lines[row] for row in sorted(_margin(lines, rows) - taken))


def _placed(claim: CitedClaim) -> dict[SourceText, set[int]]:
    """Return the rows that a claim cites in each source, or its cited text as a source of its own."""
    found = (_known_rows(claim) or _find_rows(claim)) if len(claim.cited_text) <= _MAX_CITED_CHARS else None
    if found is not None:
        return found
    names = "; ".join(dict.fromkeys(source.symbol for source in claim.sources if source.symbol))
    paths = "; ".join(dict.fromkeys(source.path for source in claim.sources if source.path))
    text = claim.cited_text[:_MAX_CITED_CHARS]
    return {SourceText(text, paths, names): set(range(text.count("\n") + 1))}


def _known_rows(claim: CitedClaim) -> dict[SourceText, set[int]]:
    """Return the rows that the claim itself names; nothing if one of them does not exist."""
    found: dict[SourceText, set[int]] = {}
    for place, first, last in claim.places:
        if not 0 <= place < len(claim.sources):
            return {}
        source = claim.sources[place]
        if not 1 <= first <= last <= source.text.count("\n") + 1:
            return {}
        found.setdefault(source, set()).update(range(first - 1, last))
    return found


def _find_rows(claim: CitedClaim) -> dict[SourceText, set[int]] | None:
    """Find the rows of the cited text, longest runs first; None unless all of it is found."""
    rows = [
        (source, number, _plain(line))
        for source in dict.fromkeys(claim.sources)
        for number, line in enumerate(source.text.split("\n"))
    ]
    at: dict[str, list[int]] = defaultdict(list)
    for place, (_, _, text) in enumerate(rows):
        at[text].append(place)
    cited = [_plain(line) for line in claim.cited_text.split("\n")]
    found: dict[SourceText, set[int]] = {}
    start, behind = 0, 0
    while start < len(cited):
        if not cited[start]:
            start += 1
            continue
        runs = (_run(cited, start, rows, place) for place in at[cited[start]])
        # Excerpts have no blank lines, so a blank line ends a run. Among equal runs, prefer the one that continues it.
        best: list[int] = max(runs, key=lambda run: (len(run), run[0] == behind), default=[])
        length = len(best)
        if not best:
            best, length = _sentences(cited[start], rows), 1
        if not best:
            return None
        for place in best:
            found.setdefault(rows[place][0], set()).add(rows[place][1])
        behind = best[-1] + 1
        start += length
    return found or None


def _run(cited: Sequence[str], start: int, rows: Sequence[tuple[SourceText, int, str]], place: int) -> list[int]:
    """Return the rows from `place` on that match the cited lines from `start` on."""
    length = 0
    while (
        start + length < len(cited)
        and place + length < len(rows)
        and rows[place + length][0] is rows[place][0]
        and rows[place + length][2] == cited[start + length]
    ):
        length += 1
    return list(range(place, place + length))


def _sentences(line: str, rows: Iterable[tuple[SourceText, int, str]]) -> list[int]:
    """Return the rows contained in a line: in transcripts, each row is a sentence."""
    return [place for place, (_, _, text) in enumerate(rows) if len(text) >= _MIN_SENTENCE_CHARS and text in line]


def _margin(lines: Sequence[str], rows: set[int]) -> set[int]:
    """Return the context rows around the given rows."""
    found: set[int] = set()
    for first, last in _ranges(rows):  # 1-based
        for side in (range(first - 2, -1, -1), range(last, len(lines))):
            chars = 0
            for row in side[:MARGIN_LINES]:
                chars += len(lines[row])
                if chars > _MAX_MARGIN_CHARS:
                    break
                found.add(row)
    return found - rows


def _ranges(rows: Iterable[int]) -> list[tuple[int, int]]:
    """Convert rows to inclusive, 1-based line ranges.

    Example:
        >>> _ranges({0, 1, 4})
        [(1, 2), (5, 5)]
    """
    found: list[tuple[int, int]] = []
    for row in sorted(rows):
        if found and found[-1][1] == row:
            found[-1] = (found[-1][0], row + 1)
        else:
            found.append((row + 1, row + 1))
    return found


def _plain(line: str) -> str:
    return " ".join(line.split())
