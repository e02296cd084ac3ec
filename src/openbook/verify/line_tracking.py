"""Follows lines that have left their file to the file that the same commit wrote them to."""

from __future__ import annotations

import posixpath
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nlargest

from openbook.verify.history import History
from openbook.verify.names import defined_name, definitions, same_definition
from openbook.verify.relocation import ComparedText, Relocation, is_same_neighbourhood, likeness, relocate

# Of 1: lines of a file that keep this much are still there. Those that a commit wrote to another file are the same only
# if they keep more, and no other place comes near it.
_STILL_THERE = 0.6
_SAME_LINES = 0.9
_LEAD = 0.1

# Files of one commit that are compared line by line: those that share most lines with the block and what is around it.
_MAX_COMPARED = 5
_AROUND_LINES = 12

# Of 1: a file with fewer of the lines than this is not compared.
_SHARED_LINES = 0.5


@dataclass(frozen=True, slots=True)
class PastFile:
    """A file at an old revision."""

    page: ComparedText
    commit: str
    path: str
    """What it was called, relative to the root."""


def followed(history: History, past: PastFile, first: int, last: int) -> tuple[PastFile, Relocation] | None:
    """Return the file that lines were moved to by the commit that took them out of theirs, and where they were in it.

    None if they have not left their file, or if several files of that commit have them.
    """
    commits = history.commits_since(past.commit, past.path)

    def is_lost(commit: str) -> bool:
        page = history.page(commit, past.path)
        return page is None or not _may_hold(past.page, first, last, page, _STILL_THERE, by_name=first == last)

    at = bisect_left(commits, True, key=is_lost)
    page = history.page(f"{commits[at]}^", past.path) if at < len(commits) else None
    spot = _place_in(past.page, first, last, page, _STILL_THERE) if page else None
    if page is None or spot is None:
        return None
    before = PastFile(page, f"{commits[at]}^", past.path)
    places = sorted(_places(history, before, spot, commits[at]), key=lambda place: -place[1].likeness)
    if not places or (len(places) > 1 and places[0][1].likeness - places[1][1].likeness < _LEAD):
        return None
    return places[0]


def _may_hold(old: ComparedText, first: int, last: int, new: ComparedText, least: float, *, by_name: bool) -> bool:
    """Return whether a text has so much of some lines, anywhere, or defines what they begin to define."""
    name = defined_name(old.lines[first - 1]) if by_name else ""
    keys = old.keys[first - 1 : last]
    kept = sum(len(key) for key in keys if key in new.key_set)
    return kept >= least * sum(map(len, keys)) or bool(name and definitions(new, name))


def _places(history: History, before: PastFile, spot: Relocation, commit: str) -> Iterator[tuple[PastFile, Relocation]]:
    """Yield where the other files that a commit wrote have lines that they did not have before."""
    first, last = spot.first_line, spot.last_line
    name = posixpath.basename(before.path)
    paths = [path for path in history.written_by(commit) if _is_alike(posixpath.basename(path), name)]
    # One commit may have written thousands.
    pages = ((path, page) for path in paths if path != before.path and (page := history.page(commit, path)))
    pages = (each for each in pages if _may_hold(before.page, first, last, each[1], _SHARED_LINES, by_name=True))
    wide = slice(max(0, first - 1 - _AROUND_LINES), last + _AROUND_LINES)
    around = frozenset(before.page.keys[wide])
    for path, page in nlargest(_MAX_COMPARED, pages, key=lambda each: len(around & each[1].key_set)):
        older = history.page(before.commit, path)
        named = defined_name(before.page.lines[first - 1])
        there = _place_in(before.page, first, last, page, _STILL_THERE if named else _SAME_LINES)
        is_twin = older is not None and bool(older.within(before.page.block(first, last)))
        if there and not is_twin and _is_same(before.page, spot, page, there, named):
            yield PastFile(page, commit, path), there


def _is_same(old: ComparedText, spot: Relocation, new: ComparedText, there: Relocation, name: str) -> bool:
    """Return whether lines have not been written twice by chance: what they define or stand in is the same as well."""
    if not name or spot.first_line < spot.last_line:
        return bool(name) or is_same_neighbourhood(old, spot.first_line, spot.last_line, new, there)
    bodies = [
        [page.keys[body.first_line : body.last_line] for body in definitions(page, name) if body.first_line == line]
        for page, line in ((old, spot.first_line), (new, there.first_line))
    ]
    return all(bodies) and likeness(bodies[0][0], bodies[1][0]) >= _STILL_THERE


def _is_alike(name: str, other: str) -> bool:
    """Return whether two files have the same suffix, or the same stem, as one that was written in another language."""
    (stem, suffix), (other_stem, other_suffix) = map(posixpath.splitext, (name, other))
    return suffix == other_suffix or stem == other_stem


def _place_in(old: ComparedText, first: int, last: int, new: ComparedText, least: float) -> Relocation | None:
    spot = relocate(old, first, last, new)
    if isinstance(spot, Relocation) and spot.likeness >= least:
        return spot
    part = spot if isinstance(spot, Relocation) else None
    same = same_definition(old, first, last, new, part) if first < last else None
    return same if same and same.likeness >= _STILL_THERE else None
