"""Which ferry a parcel takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Ferry:
    """A ferry and what it can still carry."""

    name: str
    island: str
    free_kg: float
    leaves_at: int
    """Minutes after midnight."""


def choose_ferry(ferries: Sequence[Ferry], island: str, weight_kg: float) -> Ferry | None:
    """Choose the earliest ferry to the island that has room; None if there is none today.

    Example:
        >>> choose_ferry([Ferry("Alma", "Sandoy", 5.0, 480)], "Sandoy", 9.0) is None
        True
    """
    fitting = [ferry for ferry in ferries if ferry.island == island and ferry.free_kg >= weight_kg]
    return min(fitting, key=lambda ferry: (ferry.leaves_at, ferry.name), default=None)
