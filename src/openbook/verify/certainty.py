"""Decides whether a new place of cited lines is certain enough to be written before anybody has looked at it.

A place is reported when the best evidence leads to it. It is written only if nothing else disagrees: the lines, the
file, the two dates that a citation can have, and what the page says of the lines.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import islice, takewhile

from openbook.verify.names import by_names, definitions, is_called, stands_elsewhere
from openbook.verify.nearby import Nearby, Said
from openbook.verify.relocation import DISTINCTIVE_CHARS, ComparedText, Relocation, agreement, likeness

# Of 1: lines that keep less are known by nothing but their name.
_SAME_LINES = 0.8

# Of 1: how far the surroundings of lines with copies must agree. The two of them that `--fix` once wrote to a wrong
# place had .46 and .62 (`benchmarks.citations`, the last and the blind round).
_SAME_SURROUNDINGS = 0.7

# Lines of a listing beside a short one: with fewer, code that uses the lines may share one of them by chance.
_TELLING_LINES = 2

# By how much the lines of one version must fit what the page says better than those of another (`fit`).
LEAD_OF_FIT = 2

SEVERAL_FILES = "several files have that name"


@dataclass(frozen=True, slots=True)
class Move:
    """Lines of a file then, and the place that they were found at."""

    old: ComparedText
    first_line: int
    last_line: int
    new: ComparedText
    spot: Relocation
    said: Said

    def texts(self) -> tuple[Sequence[str], Sequence[str]]:
        """Return the lines then and now, without white space."""
        first, behind = self.spot.lines
        return self.old.keys[self.first_line - 1 : self.last_line], self.new.keys[first - 1 : behind - 1]

    def surroundings(self) -> float:
        """Return how far the surroundings of lines that have copies agree, from 0 to 1; 1 if they have none."""
        block = self.old.block(self.first_line, self.last_line)
        if len(self.old.within(block)) == len(self.new.within(block)) == 1:
            return 1.0
        here, there = (self.first_line, self.last_line), (self.spot.first_line, self.spot.last_line)
        return agreement(self.old, here, self.new, there)

    def is_named(self) -> bool:
        """Return whether the page names what stands at the new place."""
        return is_called(self.new, self.spot.first_line, self.spot.last_line, (*self.said.names, *self.said.above))

    def is_quoted(self) -> bool:
        """Return whether the page quotes what stands at the new place, and at no other."""
        block = self.new.block(self.spot.first_line, self.spot.last_line)
        listings = [ComparedText(code) for code in self.said.listings] if any(map(str.isalnum, block)) else []
        return any(self._is_from_here(listing, place) for listing in listings for place in listing.occurrences(block))

    def _is_from_here(self, listing: ComparedText, place: tuple[int, int]) -> bool:
        """Return whether the new lines can be but those at a place of a listing, with what agrees around them.

        A short line, such as `return None`, may stand in any code: then what is around it has to agree as well.
        """
        above = _agreeing(listing.above(place[0]), self.new.above(self.spot.first_line))
        below = _agreeing(listing.below(place[1]), self.new.below(self.spot.last_line))
        block = listing.block(*place)
        shown = "".join((*above[::-1], block, *below))
        is_telling = len(block) >= DISTINCTIVE_CHARS or len(above) + len(below) >= _TELLING_LINES
        is_all = shown == listing.squeezed
        return (is_telling or is_all) and len([*islice(self.new.occurrences(shown), 2)]) == 1


def fit(page: ComparedText, first: int, last: int, near: Nearby, listings: Sequence[str]) -> int:
    """Return how well lines fit a page.

    It is 2 as quoted beside the citation, 1 as named, -1 if the name is elsewhere, and -2 without a word in them.
    """
    block = page.block(first, last)
    if not any(map(str.isalnum, block)):
        return -2
    if _shown(block, listings):
        return 2
    named = by_names(page, first, last, near)
    return named.is_here - named.is_elsewhere


def _shown(block: str, listings: Sequence[str]) -> list[str]:
    """Return the listings that hold squeezed lines, or stand in them."""
    codes = ["".join(code.split()) for code in listings]
    return [
        code for code in codes if min(len(code), len(block)) >= DISTINCTIVE_CHARS and (code in block or block in code)
    ]


def is_guessed(full_names: Set[str] | None, *paths: str) -> bool:
    """Return whether a text leaves open which of several files it cites by the end of their paths.

    Args:
        full_names: What it has in full of such paths; None if only one file ends so.
        paths: The file that was chosen, under each name that it had.

    Example:
        >>> is_guessed({"src/app.py"}, "src/app.py"), is_guessed({"src/app.py"}, "lib/app.py")
        (False, True)
    """
    if full_names is None:
        return False
    chosen = [name for name in full_names for path in paths if path and f"/{name}".endswith(f"/{path}")]
    return len(full_names) != 1 or not chosen


def _agreeing(listed: Sequence[str], there: Sequence[str]) -> list[str]:
    """Return the lines, nearest first, up to the first that differs."""
    return [line for line, _ in takewhile(lambda pair: pair[0] == pair[1], zip(listed, there, strict=False))]


def why_unsure(
    move: Move, *, is_other_file: bool, is_redated: bool, is_path_guessed: bool, is_pinned: bool, is_undated: bool
) -> str:
    """Return why a move is not certain, for people; empty if it is.

    Args:
        move: What was found.
        is_other_file: Whether the lines left their file, and git does not know it as renamed to this one.
        is_redated: Whether the lines at the time when the citing line was last edited lead elsewhere.
        is_path_guessed: Whether several files end with the cited path.
        is_pinned: Whether it is a link to a commit, whose author has seen the lines and may call them by what they do.
        is_undated: Whether the commit that wrote the citation edited its file, other lines led elsewhere before that,
            and the page tells neither from the other.
    """
    if is_path_guessed:
        return SEVERAL_FILES
    if move.is_quoted():
        return ""
    if is_undated:
        return "the commit that wrote the citation has edited its file, and either version may be meant"
    return _why_unquoted(move, is_other_file=is_other_file, is_redated=is_redated, is_pinned=is_pinned)


def _why_unquoted(move: Move, *, is_other_file: bool, is_redated: bool, is_pinned: bool) -> str:
    """Return why a move is not certain that the page does not settle by a quote."""
    before, now = move.texts()
    if _shown("".join(before), move.said.listings) != _shown("".join(now), move.said.listings):
        return "the page quotes the lines as they were before they were edited"
    is_named, is_line = move.is_named(), move.first_line == move.last_line
    is_same = "".join(before) == "".join(now)
    if is_pinned and not is_same:
        return "the permalink shows the lines as they were before they were edited"
    if is_other_file and not (is_same and (is_named or not is_line)):
        return "nothing but similar lines shows that they have left their file"
    if is_named:
        return ""
    if is_redated:
        return "the citing line was edited when other lines stood there"
    if strange := _named_elsewhere(move, is_pinned=is_pinned):
        return strange
    if not is_same and likeness(before, now) < _SAME_LINES:
        return "most of the text has changed"
    if is_same and move.surroundings() < _SAME_SURROUNDINGS:
        return "there are several such lines, and the surroundings of these have changed"
    return ""


def _named_elsewhere(move: Move, *, is_pinned: bool) -> str:
    """Return that what the page, or its heading, names is at other lines; empty if it is not."""
    defined = [name for name in move.said.names if definitions(move.new, name)] if not is_pinned else []
    for what, names in (("page", defined), ("heading", move.said.title)):
        if strange := stands_elsewhere(move.new, move.spot.first_line, move.spot.last_line, names):
            return f"the {what} names {strange!r}, which is at other lines"
    return ""
