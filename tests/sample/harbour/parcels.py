"""Parcels, and what may happen to them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

State = Literal["announced", "received", "at sea", "delivered", "lost"]

# A parcel that nobody has seen for this long is lost. The longest storm on record lasted nine days.
LOST_AFTER_DAYS = 14


class ParcelError(Exception):
    """A parcel cannot do what it is asked to."""


@dataclass(frozen=True)
class Parcel:
    """One parcel, as the quay sees it."""

    number: str
    weight_g: int
    island: str
    state: State = "announced"
    days_unseen: int = 0

    def receive(self) -> Parcel:
        """Take the parcel in at the quay."""
        if self.state != "announced":
            raise ParcelError(f"parcel {self.number} is {self.state}, and cannot be received")
        return replace(self, state="received", days_unseen=0)

    def load(self) -> Parcel:
        """Put the parcel on a ferry."""
        if self.state != "received":
            raise ParcelError(f"parcel {self.number} is {self.state}, and cannot be loaded")
        return replace(self, state="at sea", days_unseen=0)

    def is_lost(self) -> bool:
        """Tell whether a parcel counts as lost: nobody has seen it for LOST_AFTER_DAYS days."""
        return self.state != "delivered" and self.days_unseen > LOST_AFTER_DAYS
