"""What a check says of one citation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

Outcome = Literal["ok", "moved", "changed", "missing file", "out of range", "refused", "unknown", "foreign"]
"""`moved`: the cited lines stand elsewhere now. `changed`: they are gone, or say something else, or it is not
clear where they went. `refused`: the path leads to what is not looked at. `unknown`: nobody can tell what the citation
named when it was written. `foreign`: the repository never had such a file."""

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

Basis = Literal["quote", "history", "names", "new", "range", ""]
"""What decided. `quote`: the text that an answer kept. `history`: the lines as they were when the citation
was written. `names`: names and quotes that stand next to it. `new`: the citation is not committed yet, so that it is
about the lines of today. `range`: the file has no such lines."""


@dataclass(frozen=True, slots=True)
class LineRange:
    """Lines of a file."""

    path: str
    """POSIX path relative to the root."""
    first_line: int
    """1-based."""
    last_line: int
    """1-based, inclusive."""

    def __str__(self) -> str:
        lines = f"{self.first_line}" if self.first_line == self.last_line else f"{self.first_line}-{self.last_line}"
        return f"{self.path}:{lines}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One citation and its verdict."""

    line: int
    """1-based, in the citing file."""
    cited: str
    """As it stands there."""
    verdict: Outcome
    basis: Basis = ""
    place: LineRange | None = None
    """What it names, if there is such a file."""
    now: LineRange | None = None
    """Where the lines are, for `moved`; for `changed` where they might be, if that can be said."""
    reason: str = ""
    """For people; empty if there is nothing to say."""
    doubt: str = ""
    """Why the new place of `moved` is not certain, so that it is reported and not written; empty if it is certain."""
    pinned: bool = False
    """Whether it is a permalink to a commit that has the lines: such a link goes on showing them."""

    @property
    def is_wrong(self) -> bool:
        """Whether someone has to do something about it."""
        if self.verdict in {"ok", "unknown", "foreign"}:
            return False
        return not (self.pinned and self.verdict in {"moved", "changed", "missing file"})

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON values, in the shape that `verify --json` prints."""
        return {
            "line": self.line,
            "cited": self.cited,
            "verdict": self.verdict,
            "wrong": self.is_wrong,
            "basis": self.basis,
            "place": _as_dict(self.place),
            "now": _as_dict(self.now),
            "reason": self.reason,
            "doubt": self.doubt,
            "pinned": self.pinned,
        }


def _as_dict(place: LineRange | None) -> dict[str, Any] | None:
    if place is None:
        return None
    return {"path": place.path, "start_line": place.first_line, "end_line": place.last_line}
