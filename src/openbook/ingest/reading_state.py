"""How far the indexing of new and changed files has come."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadingState:
    """Progress of indexing."""

    done: int = 0
    total: int = 0
    """0 while folders are scanned."""

    def __str__(self) -> str:
        if not self.total:
            return "still looking for new and changed files: what is found may be incomplete or out of date"
        return f"indexed {self.done:,} of {self.total:,} new and changed files: what is found may be incomplete"
