"""Decides whether a new place of cited lines is certain enough to be written before anybody has looked at it.

A place is reported when the best evidence leads to it. It is written only if nothing else disagrees: the lines, the
file, the two dates that a citation can have, and what the page says of the lines.
"""

from __future__ import annotations

from dataclasses import dataclass

from openbook.verify.names import is_called, stands_elsewhere
from openbook.verify.nearby import Said
from openbook.verify.relocation import ComparedText, Relocation, agreement, likeness

# Of 1: lines that keep less are known by their name alone.
_SAME_LINES = 0.8

# Of 1: how far the surroundings of lines with copies must agree.
_SAME_SURROUNDINGS = 0.7


@dataclass(frozen=True, slots=True)
class Move:
    """Lines of a file then, and the place that they were found at."""

    old: ComparedText
    first_line: int
    last_line: int
    new: ComparedText
    spot: Relocation
    said: Said

    def is_named(self) -> bool:
        """Return whether the page names what stands at the new place."""
        return is_called(self.new, self.spot.first_line, self.spot.last_line, self.said.names)

    def is_quoted(self) -> bool:
        """Return whether the page quotes what stands at the new place."""
        block = self.new.block(self.spot.first_line, self.spot.last_line)
        quoted = (next(ComparedText(code).occurrences(block), None) for code in self.said.listings)
        return any(map(str.isalnum, block)) and any(quoted)


def why_unsure(move: Move, *, is_other_file: bool, is_redated: bool, is_path_guessed: bool) -> str:
    """Return why a move is not certain, for people; empty if it is.

    Args:
        move: What was found.
        is_other_file: Whether the lines left their file, and git does not know it as renamed to this one.
        is_redated: Whether the lines at the time when the citing line was last edited lead elsewhere.
        is_path_guessed: Whether several files end with the cited path.
    """
    if move.is_quoted():
        return ""
    if is_path_guessed:
        return "several files are called so"
    if is_redated and not move.is_named():
        return "the citing line was edited when other lines stood there"
    if strange := stands_elsewhere(move.new, move.spot.first_line, move.spot.last_line, move.said.title):
        return f"the heading names {strange!r}, which is at other lines"
    old, new, spot = move.old, move.new, move.spot
    before, now = old.keys[move.first_line - 1 : move.last_line], new.keys[spot.first_line - 1 : spot.last_line]
    block = "".join(before)
    is_same = block == "".join(now)
    if is_other_file and (not is_same or move.first_line == move.last_line) and not (is_same and move.is_named()):
        return "nothing but similar lines shows that they have left their file"
    if not is_same and likeness(before, now) < _SAME_LINES and not move.is_named():
        return "most of the text has changed"
    is_unique = len(old.within(block)) == len(new.within(block)) == 1
    if is_same and not is_unique and not move.is_named():
        here, there = (move.first_line, move.last_line), (spot.first_line, spot.last_line)
        if agreement(old, here, new, there) < _SAME_SURROUNDINGS:
            return "there are several such lines, and the surroundings of these have changed"
    return ""
