"""Puts the readings of several files together into one: the messages of a mailbox, the pages of an export."""

from __future__ import annotations

from dataclasses import replace

from openbook.sources.readers.reading import Reading, fill_gaps, shifted
from openbook.types import Anchor, Block


class Parts:
    """Collects readings, each below a title and with anchors of its own."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._blocks: list[Block] = []
        self._anchors: list[Anchor] = []
        self._length = 0

    def __len__(self) -> int:
        """Count the characters so far."""
        return self._length

    def add(self, reading: Reading, label: str = "", title: str = "", level: int = 1) -> None:
        """Add a reading. One without words leaves no trace.

        Args:
            reading: Of a part.
            label: Names its place, in front of the names of places within it; empty for none.
            title: Is its heading; empty where it has one of its own.
            level: Of the heading; those of the reading are below it.
        """
        if not reading.text.strip():
            return
        if title:
            self._append(title, [Block(0, len(title), "heading", level, title)], label)
        depth = level if title else 0
        blocks = [replace(one, level=one.level + depth) if one.level else one for one in reading.blocks]
        start = self._append(reading.text, blocks or list(fill_gaps(reading.text, ())), "" if title else label)
        inner = (Anchor(start + one.start_char, f"{label} {one.label}".strip()) for one in reading.anchors)
        self._anchors += inner

    def reading(self, language: str, remarks: tuple[str, ...] = ()) -> Reading:
        """Return what was collected. Of several anchors at one place, the last and closest stays."""
        anchors = {anchor.start_char: anchor for anchor in self._anchors}
        return Reading("".join(self._pieces), "docs", language, tuple(self._blocks), tuple(anchors.values()), remarks)

    def _append(self, text: str, blocks: list[Block], label: str) -> int:
        if self._length:
            self._pieces.append("\n\n")
            self._length += 2
        start = self._length
        if label:
            self._anchors.append(Anchor(start, label))
        self._blocks += shifted(blocks, start)
        self._pieces.append(text)
        self._length += len(text)
        return start
