"""The verdict on one citation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

Outcome = Literal["ok", "moved", "changed", "missing file", "out of range", "refused", "unknown", "foreign"]
"""`moved`: the cited lines are at another place now. `changed`: they are gone or say something else, or there are
several places where they could be. `refused`: the path leads out of the root or to a secret. `unknown`: it is not known
what was cited when the citation was written. `foreign`: the repository never had such a file."""

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

Basis = Literal["quote", "history", "names", "new", "range", ""]
"""What the verdict is based on. `quote`: the text stored with an answer. `history`: the lines when the citation was
written. `names`: the names and quotes next to it. `new`: the citation is not committed yet, so it means the current
lines. `range`: the number of lines in the file."""


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
    """As it is written there."""
    verdict: Outcome
    basis: Basis = ""
    place: LineRange | None = None
    """The cited lines, if there is such a file."""
    now: LineRange | None = None
    """Where the lines are now, for `moved`; a possible place, or None, for `changed`."""
    reason: str = ""
    """Explanation for people; may be empty."""
    doubt: str = ""
    """Why the new place of `moved` is uncertain, and written by `--unsafe-fixes` alone; empty if it is certain."""
    pinned: bool = False
    """Whether it is a permalink to a commit that has the lines, and so keeps showing them."""

    @property
    def is_wrong(self) -> bool:
        """Whether the citation has to be corrected."""
        if self.verdict in {"ok", "unknown", "foreign"}:
            return False
        return not (self.pinned and self.verdict in {"moved", "changed", "missing file"})

    def is_fixable(self, *, unsafe: bool) -> bool:
        """Return whether the lines have a new place that may be written: a certain one, or any if `unsafe`."""
        return self.verdict == "moved" and self.now is not None and (unsafe or not self.doubt)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON values, as `verify --json` prints them."""
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


def why_out_of_range(first_line: int, last_line: int, length: str) -> str:
    """Return why a file has no such lines. `length`: how many it has, in words."""
    if last_line < first_line:
        return "the range ends before it begins"
    return "lines are counted from 1" if first_line < 1 else length


def _as_dict(place: LineRange | None) -> dict[str, Any] | None:
    if place is None:
        return None
    return {"path": place.path, "start_line": place.first_line, "end_line": place.last_line}
