"""A clock that tests control."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Clock:
    """Time that passes only when a test says so."""

    now_s: float = 1_700_000_000.0
    """Unix seconds, in 2023."""

    def __call__(self) -> float:
        return self.now_s
