"""Stops the ferries when the wind is too strong."""

from __future__ import annotations


class StormGate:
    """Holds all ferries back while the wind is too strong, and some time after."""

    def __init__(self, limit_knots: float = 41.0, calm_hours: int = 3) -> None:
        self.limit_knots = limit_knots
        self.calm_hours = calm_hours
        self._calm_for_hours = calm_hours

    def measure(self, knots: float) -> None:
        """Take the hourly measurement of the wind."""
        self._calm_for_hours = 0 if knots > self.limit_knots else self._calm_for_hours + 1

    def is_open(self) -> bool:
        """Tell whether ferries may leave: the wind was calm for `calm_hours` hours."""
        return self._calm_for_hours >= self.calm_hours
