"""Where lines of a file as it was in some commit stand today: in it, under its new name, or in another file."""

from __future__ import annotations

from dataclasses import dataclass, replace

from openbook.verify.cited_folder import CitedFolder
from openbook.verify.finding import LineRange
from openbook.verify.history import History
from openbook.verify.line_tracking import PastFile, followed
from openbook.verify.names import begins_type, defined_name, same_definition, same_line
from openbook.verify.relocation import (
    NotRelocated,
    Relocation,
    is_same_neighbourhood,
    likeness,
    relocate,
)

# Of 1: what a name defines is what it defined if this much of it is. Another body leaves about .5.
_SAME_DEFINITION = 0.6

# The same of lines that define nothing.
_SAME_BLOCK = 0.8

# Files that lines are followed through.
_MAX_MOVES = 3


@dataclass(frozen=True, slots=True)
class RelocatedLines:
    """Lines found again at their new place."""

    path: str
    spot: Relocation
    is_same: bool = False
    """Whether they define what they defined before, and have changed otherwise."""

    @property
    def lines(self) -> LineRange:
        """The place alone."""
        return LineRange(self.path, self.spot.first_line, self.spot.last_line)


class RelocationSearch:
    """Find lines of an old revision in the current files."""

    def __init__(self, root: CitedFolder, history: History, citing: str | None = None) -> None:
        """Take a folder and its history. In the file `citing`, if it is one of them, nothing is found."""
        self._root = root
        self._history = history
        self._citing = citing

    def find(
        self, past: PastFile, first: int, last: int, path: str, *, depth: int = 0
    ) -> RelocatedLines | NotRelocated:
        """Find lines again.

        Args:
            past: The file then.
            first: The first line, from 1.
            last: The last one, inclusive.
            path: What that file is called today; empty if it is not there under the name that is known.
            depth: Files that the lines have left so far.

        Returns:
            `NotRelocated` also if they have left their file and may be in several others.
        """
        path = path or self.renamed(past)
        here = self._in_its_file(past, first, last, path) if path else NotRelocated("its file is gone")
        if isinstance(here, RelocatedLines) and (here.is_same or here.spot.likeness >= _SAME_DEFINITION):
            return here
        is_lost = isinstance(here, NotRelocated)
        stays = bool(path) and past.page.block(first, last) in self._root.page(path).squeezed
        if is_lost and not stays and (elsewhere := self._in_other_file(past, first, last)):
            return elsewhere
        elsewhere = self._followed(past, first, last, depth) if depth < _MAX_MOVES else None
        return elsewhere or here

    def _in_its_file(self, past: PastFile, first: int, last: int, path: str) -> RelocatedLines | NotRelocated:
        page = self._root.page(path)
        spot = relocate(past.page, first, last, page)
        is_found = isinstance(spot, Relocation) and spot.likeness == 1.0
        begins = begins_type(past.page.lines[first - 1]) if first == last and not is_found else False
        # A file may keep the name of a type that has moved: `type Shape = shapes.Shape`.
        if begins and (elsewhere := self._in_other_file(past, first, last)):
            return elsewhere
        same = same_line(past.page, first, page) if first == last and not is_found else None
        if same is not None:
            return RelocatedLines(path, same, is_same=same.likeness < 1.0)
        if isinstance(spot, NotRelocated):
            return spot
        same = same_definition(past.page, first, last, page, spot) if first < last and not is_found else None
        is_nearer = same is not None and same.likeness >= spot.likeness
        return _of_definition(path, same) if same and is_nearer else RelocatedLines(path, spot)

    def _followed(self, past: PastFile, first: int, last: int, depth: int) -> RelocatedLines | None:
        """Find lines by the commit that moved them to another file."""
        step = followed(self._history, past, first, last)
        if step is None:
            return None
        there, spot = step
        path = there.path if self._root.has_file(there.path) else ""
        found = self.find(there, spot.first_line, spot.last_line, path, depth=depth + 1)
        if isinstance(found, NotRelocated) or found.path == self._citing:
            return None
        new, (begin, behind) = self._root.page(found.path), found.spot.lines
        kept = likeness(past.page.keys[first - 1 : last], new.keys[begin - 1 : behind - 1])
        name = defined_name(past.page.lines[first - 1])
        is_same = name != "" and defined_name(new.lines[begin - 1]) == name
        is_head = is_same and first == last
        if not is_head and kept < (_SAME_DEFINITION if is_same else _SAME_BLOCK):
            return None
        return RelocatedLines(found.path, replace(found.spot, likeness=kept), is_same=is_same and kept < 1.0)

    def _in_other_file(self, past: PastFile, first: int, last: int) -> RelocatedLines | None:
        """Find the very lines in the one other file that has them, if it did not have them then."""
        block = past.page.block(first, last)
        other = self._root.holding(block, past.path, self._citing)
        if not other or len(past.page.within(block)) != 1:
            return None
        before = self._history.page(past.commit, other)
        page = self._root.page(other)
        spot = relocate(past.page, first, last, page)
        # What stood there already is a twin, and not what has moved. One line can be written twice by chance.
        is_certain = first < last or begins_type(past.page.lines[first - 1])
        is_twin = before is not None and bool(before.within(block))
        if not isinstance(spot, Relocation) or spot.likeness < 1.0 or is_twin:
            return None
        is_one = is_certain or is_same_neighbourhood(past.page, first, last, page, spot)
        return RelocatedLines(other, spot) if is_one else None

    def renamed(self, past: PastFile) -> str:
        """Return what a file of the past is called today; empty if it is not clear."""
        path = self._history.renamed(past.commit, past.path)
        if path and self._root.find("/" + path, None, is_link=True).path == path:
            return path
        return self._root.like(past.page, past.path, self._citing)


def _of_definition(path: str, spot: Relocation) -> RelocatedLines:
    return RelocatedLines(path, spot, is_same=spot.likeness >= _SAME_DEFINITION)
